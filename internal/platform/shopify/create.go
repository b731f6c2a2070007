package shopify

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

type createInput struct {
	Customer        string         `json:"customerId"`
	Currency        money.Currency `json:"currencyCode"`
	NextBillingDate time.Time      `json:"nextBillingDate"`
	Contract        draftInput     `json:"contract"`
	Lines           []newLineWire  `json:"lines"`
	Codes           []string       `json:"discountCodes,omitempty"`
}

type newLineWire struct {
	Line      lineInput       `json:"line"`
	Discounts []discountInput `json:"discounts,omitempty"`
}

// CreateContract makes a contract in one request, so that it is there with all
// its lines or not at all. Of the discounts that an Edit can add, a new contract
// takes codes, percentages for all lines, and amounts off each item of all
// lines: the others are refused before anything is done, and can be added to the
// contract afterwards.
func (c *Client) CreateContract(ctx context.Context, shop platform.Shop, k platform.NewContract) (platform.Detail, error) {
	d, err := c.session(shop).createContract(ctx, &k)
	return d, about(err, "create a contract of customer %d", k.Customer)
}

func (s session) createContract(ctx context.Context, k *platform.NewContract) (platform.Detail, error) {
	in, refusal := newCreateInput(k)
	if refusal != nil {
		return platform.Detail{}, refusal
	}
	raw, err := s.change(ctx, "CreateContract", admin.CreateContract_Operation, struct {
		Input createInput `json:"input"`
	}{in})
	if err != nil {
		return platform.Detail{}, err
	}
	return s.changed(ctx, 0, raw)
}

func newCreateInput(k *platform.NewContract) (createInput, *platform.Refusal) {
	in := createInput{
		Customer: gid.Of(typeCustomer, k.Customer), Currency: k.Currency, NextBillingDate: k.NextBillingDate.UTC(),
		Lines: []newLineWire{},
	}
	in.Contract, _ = newDraftInput(&k.Edit)
	in.Contract.NextBillingDate, in.Contract.Status = nil, k.Status
	var off []discountInput // of every line
	for _, d := range k.Discounts {
		switch {
		case d.Code != "":
			in.Codes = append(in.Codes, d.Code)
		case d.Add != nil && d.Add.AllLines && !d.Add.FreeShipping && (d.Add.EachItem || d.Add.Amount.Minor == 0):
			off = append(off, discountInput{Title: d.Add.Title, Limit: unlessZero(d.Add.CycleLimit), Value: newValueInput(d.Add)})
		default:
			return in, &platform.Refusal{Code: "INVALID", Field: "discounts", Message: "A new contract takes discount codes, percentages for all lines and amounts off each item of all lines only."}
		}
	}
	for i := range k.Lines {
		in.Lines = append(in.Lines, newLineWire{newLineInput(&k.Lines[i]), off})
	}
	return in, nil
}
