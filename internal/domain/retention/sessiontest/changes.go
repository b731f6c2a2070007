// Package sessiontest has what tests of pages need in the place of what changes contracts.
package sessiontest

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Changes stands in for the services that change contracts, and for the platform's catalogue. It
// notes what was asked for.
type Changes struct {
	Asked  []string
	Err    error // of the next change
	Cancel func(ctx context.Context, of shop.ID, id contract.ID, feedback string) error
}

var (
	_ session.Statuses = (*Changes)(nil)
	_ session.Edits    = (*Changes)(nil)
	_ session.Orders   = (*Changes)(nil)
	_ session.Prices   = (*Changes)(nil)
)

func (c *Changes) did(what string) error {
	if err := c.Err; err != nil {
		c.Err = nil
		return err
	}
	c.Asked = append(c.Asked, what)
	return nil
}

// SetStatus cancels the contract at once, and changes nothing for another status.
func (c *Changes) SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error) {
	if err := c.did(string(w.To)); err != nil || w.To != contract.Cancelled {
		return contract.Detail{}, err
	}
	return contract.Detail{}, c.Cancel(ctx, of, cmd.Contract, w.Feedback)
}

// AddDiscount changes nothing.
func (c *Changes) AddDiscount(context.Context, shop.ID, amend.Command, contractedit.Discount) (contract.Detail, error) {
	return contract.Detail{}, c.did("discount")
}

// ChangeLine changes nothing.
func (c *Changes) ChangeLine(context.Context, shop.ID, amend.Command, contractedit.LineChange) (contract.Detail, error) {
	return contract.Detail{}, c.did("line")
}

// SetSellingPlan changes nothing.
func (c *Changes) SetSellingPlan(context.Context, shop.ID, amend.Command, int64) (contract.Detail, error) {
	return contract.Detail{}, c.did("plan")
}

// SendPaymentUpdate sends nothing.
func (c *Changes) SendPaymentUpdate(context.Context, shop.ID, amend.Command) error {
	return c.did("link")
}

// Skip skips nothing.
func (c *Changes) Skip(context.Context, shop.ID, command.Skip) (billing.Record, error) {
	return billing.Record{}, c.did("skip")
}

// Reschedule moves nothing.
func (c *Changes) Reschedule(context.Context, shop.ID, command.Reschedule) (billing.Record, error) {
	return billing.Record{}, c.did("move")
}

// AddOneOff adds nothing.
func (c *Changes) AddOneOff(context.Context, shop.Shop, command.OneOff) error {
	return c.did("sample")
}

// VariantsOfLines knows every variant, each for 9.90.
func (c *Changes) VariantsOfLines(_ context.Context, _ shop.Shop, lines []contract.LineItem) (map[int64]platform.Variant, error) {
	sold := make(map[int64]platform.Variant)
	for _, l := range lines {
		sold[l.VariantID] = platform.Variant{ID: l.VariantID, ProductTitle: "Mountain Water Decaf", Title: "250 g", Price: money.Amount{Minor: 990, Currency: "USD"}, Available: true}
	}
	return sold, nil
}

// QuoteOf has the variants' own prices.
func (c *Changes) QuoteOf(context.Context, shop.ID, contract.Contract, int64) (terms.Quote, error) {
	return func(v platform.Variant) (money.Amount, *platform.Pricing) { return v.Price, nil }, nil
}
