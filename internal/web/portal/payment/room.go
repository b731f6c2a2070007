// Package payment is the screen on which subscribers change what a subscription is charged to, and
// the use of discount codes.
package payment

import (
	"context"
	"embed"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Sheets reads what the screen shows. What is not the caller's is NotFound.
type Sheets interface {
	Sheet(ctx context.Context, who do.Caller, id contract.ID, past int) (overview.Sheet, error)
}

// Changes asks the platform for payment methods, and carries out what subscribers want. Failures are
// faults.
type Changes interface {
	PaymentMethods(ctx context.Context, who do.Caller) ([]contract.PaymentMethod, error)
	SetPaymentMethod(ctx context.Context, who do.Caller, ref do.ContractRef, id string) (contract.Detail, error)
	SendPaymentUpdate(ctx context.Context, who do.Caller, ref do.ContractRef) error
	ApplyDiscount(ctx context.Context, who do.Caller, ref do.ContractRef, code string) (contract.Detail, error)
	RemoveDiscount(ctx context.Context, who do.Caller, ref do.ContractRef, id string) (contract.Detail, error)
}

// Options are what the room needs.
type Options struct {
	Sheets  Sheets
	Changes Changes
}

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{
			{Pattern: "GET /s/{contract}/payment", Show: r.show},
			{Pattern: "POST /s/{contract}/payment", Show: r.change},
			{Pattern: "POST /s/{contract}/payment/link", Show: r.sendLink},
			{Pattern: "POST /s/{contract}/discount", Show: r.redeem},
			{Pattern: "GET /s/{contract}/discount/remove", Show: r.askRemove},
			{Pattern: "POST /s/{contract}/discount/remove", Show: r.remove},
		},
		Pages: pages,
		Said:  map[string]string{"payment": "done.payment", "payment-link": "done.paymentLink", "discount": "done.discount", "discount-removed": "done.discountRemoved"},
	}
}

type room struct{ Options }

// method is the field of the payment method, as the interface names it.
const method = "paymentMethodId"

// screen is what the page shows.
type screen struct {
	At      string // path of the page
	Version int64  // of the contract
	Choice  portal.Field
	Unread  bool   // the platform did not answer
	Email   string // to which the link goes; empty: not known
}

func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	p, err := m.page(r, v)
	if err != nil {
		return err
	}
	return v.Answer(w, p)
}

// page reads the contract and the saved payment methods. Without those the rest of the page is of use
// still.
func (m room) page(r *http.Request, v portal.Visit) (portal.Page, error) {
	id, err := portal.ContractOf(r)
	if err != nil {
		return portal.Page{}, err
	}
	s, err := m.Sheets.Sheet(r.Context(), v.Caller(r), id, 0)
	if err != nil {
		return portal.Page{}, err
	}
	c := s.Contract
	if !s.Can.Allows(do.EditPaymentMethod) {
		if refusal := s.Can[do.EditPaymentMethod]; refusal != nil {
			return portal.Page{}, refusal
		}
		return portal.Page{}, fault.New(fault.FailedPrecondition, "the payment method of subscription contract %d cannot be changed", c.ID).Code("portalActionDisabled")
	}
	name := words.Name(v, c)
	is := screen{At: words.Path(c.ID) + "/payment", Version: c.Fingerprint(), Email: c.Customer.Email}
	is.Choice = portal.Field{Name: method, Type: "radio", Label: v.T("payment.use"), Required: true}
	methods, err := m.Changes.PaymentMethods(r.Context(), v.Caller(r))
	switch {
	case fault.Is(err, fault.Unavailable):
		is.Unread = true
	case err != nil:
		return portal.Page{}, err
	}
	is.Choice.Choices = choices(v, c, methods, r.PostForm.Get(method))
	lead := v.T("payment.change.now", "product", name, "payment", words.Payment(v, c))
	if s.Unpaid != nil {
		lead = v.T("payment.change.due", "amount", words.Cost(v, s.Unpaid.Record))
	}
	return portal.Page{
		Name: "payment", Title: v.T("payment.change.title"), Lead: lead, Crumb: &portal.Crumb{Name: name, Path: words.Path(c.ID)}, Email: c.Customer.Email, Content: is,
	}, nil
}

// choices are the payment methods that can be charged and are not the contract's.
func choices(v portal.Visit, c contract.Contract, methods []contract.PaymentMethod, chosen string) []portal.Choice {
	var list []portal.Choice
	for _, one := range methods {
		if one.Revoked || one.ID == c.PaymentMethod && c.PaymentUsable {
			continue
		}
		name := words.Instrument(v, contract.Card{Kind: one.Kind, Brand: one.Brand, LastDigits: one.LastDigits})
		if one.ExpiryYear > 0 {
			name += ". " + words.Expires(v, one.ExpiryMonth, one.ExpiryYear)
		}
		list = append(list, portal.Choice{Value: one.ID, Name: name, Selected: one.ID == chosen})
	}
	return list
}

func (m room) change(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.do(w, r, v, func(ctx context.Context, ref do.ContractRef) (string, error) {
		_, err := m.Changes.SetPaymentMethod(ctx, v.Caller(r), ref, r.PostForm.Get(method))
		return "payment", err
	})
}

func (m room) sendLink(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.do(w, r, v, func(ctx context.Context, ref do.ContractRef) (string, error) {
		return "payment-link", m.Changes.SendPaymentUpdate(ctx, v.Caller(r), ref)
	})
}

// do carries out a form of the page, which is shown again when it fails.
func (m room) do(w http.ResponseWriter, r *http.Request, v portal.Visit, work func(context.Context, do.ContractRef) (done string, err error)) error {
	return v.Change(w, r, work, func(err error) error {
		p, failed := m.page(r, v)
		if failed != nil {
			return failed
		}
		return v.Refuse(w, r, p, err)
	})
}
