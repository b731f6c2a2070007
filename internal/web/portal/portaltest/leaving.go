package portaltest

import (
	"context"
	"log/slog"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// Leaving returns the service of cancelling on the site's database, with what changes contracts in
// the place of the platform. Err fails the next change.
func (s *Site) Leaving() (*session.Service, *Changes) {
	c := &Changes{site: s}
	return &session.Service{Store: s.DB.CancelSessions(), Statuses: c, Edits: c, Orders: c, Prices: c, Clock: s.Clock, Log: slog.New(slog.DiscardHandler)}, c
}

// Publish publishes a flow in the first store, as the next version.
func (s *Site) Publish(f flow.Flow) {
	s.Helper()
	flows := flow.Service{Store: s.DB.CancelFlows(), Clock: s.Clock}
	is, err := flows.Current(s.Context(), s.First.ID)
	s.must(err)
	_, err = flows.Publish(s.Context(), s.First.ID, f, is.Version, activity.Operator)
	s.must(err)
}

// Changes stands in for the services that change contracts: it notes what was asked for, and
// cancels a contract in the database.
type Changes struct {
	site  *Site
	Asked []string
	Err   error
}

func (c *Changes) did(what string) error {
	if err := c.Err; err != nil {
		c.Err = nil
		return err
	}
	c.Asked = append(c.Asked, what)
	return nil
}

// SetStatus cancels the contract at once.
func (c *Changes) SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error) {
	if err := c.did(string(w.To)); err != nil || w.To != contract.Cancelled {
		return contract.Detail{}, err
	}
	return contract.Detail{}, c.site.DB.Update(ctx, of, func(tx *store.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fault.New(fault.NotFound, "contract %d does not exist", cmd.Contract)
		}
		rows[0].Status, rows[0].CancelledAt, rows[0].CancellationFeedback = contract.Cancelled, c.site.Clock.Now(), w.Feedback
		return tx.PutContracts(ctx, rows)
	})
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

// UnitPrice is the variant's own price.
func (c *Changes) UnitPrice(_ context.Context, _ shop.ID, _ contract.Contract, v platform.Variant, _ int64) (money.Amount, *platform.Pricing, error) {
	return v.Price, nil, nil
}
