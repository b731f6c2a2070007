package amend

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Split says which lines of a contract become a contract of their own.
type Split struct {
	Lines []string
	Once  bool // the new contract ends after one order
	Now   bool // its first order is charged at once
}

// Split moves lines into a contract of their own. The new contract is made
// PAUSED, so that nothing is charged twice while the lines are in both; then the
// old contract loses them, and the new one gets the old one's status. What is
// left undone when this process dies is done by Work.
func (s *Service) Split(ctx context.Context, of shop.ID, cmd Command, w Split) (contract.Detail, error) {
	ctx = platform.Interactive(ctx)
	store, known, err := s.known(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	if w.Now && !store.Settings.ImmediateOrders {
		return contract.Detail{}, fault.New(fault.Refused, "the store does not permit immediate orders: switch on enableImmediatePlaceOrder").
			On(entity).Keyed("immediateOrderNotAllowed").At("attemptBilling")
	}
	is, err := s.Platform.Detail(ctx, store.At(), int64(cmd.Contract))
	if err != nil {
		return contract.Detail{}, unanswered(err)
	}
	n, err := splitOff(known, is, w)
	if err != nil {
		return contract.Detail{}, err
	}
	origin := contract.Split
	if w.Once {
		origin = contract.SplitAttempt
	}
	made, err := s.create(ctx, store, cmd.Actor, n, func(c *contract.Contract) {
		c.Origin, c.SplitFrom, c.SplitLines, c.AmendAt = origin, known.ID, w.Lines, s.Clock.Now().Add(Leash)
	})
	if err != nil {
		return contract.Detail{}, err
	}
	return s.finish(ctx, of, made.Contract, cmd.Actor, w.Now)
}

// splitOff is the contract that the lines become.
func splitOff(known contract.Contract, is platform.Detail, w Split) (platform.NewContract, error) {
	if known.Status != contract.Active && known.Status != contract.Paused {
		return platform.NewContract{}, fault.New(fault.Refused, "subscription contract %d is %s and cannot be split", known.ID, known.Status).
			On(entity).Keyed("contractNotActive")
	}
	if len(w.Lines) == 0 {
		return platform.NewContract{}, fault.New(fault.Invalid, "name at least one line to split off").On(entity).Keyed("linesCount")
	}
	billed, delivered := is.Billing, is.Delivery
	if w.Once {
		billed.MinCycles, billed.MaxCycles = 0, 1
	}
	n := platform.NewContract{
		Customer: is.Customer.ID, Currency: is.Currency, NextBillingDate: known.NextBillingDate, Status: string(contract.Paused),
		Edit: platform.Edit{Billing: &billed, Delivery: &delivered, DeliveryPrice: &is.DeliveryPrice},
	}
	if n.NextBillingDate.IsZero() {
		n.NextBillingDate = is.NextBillingDate
	}
	if is.PaymentMethod.ID != "" {
		n.PaymentMethod = &is.PaymentMethod.ID
	}
	if is.Method.Kind != "" {
		n.Method = &is.Method
	}
	for at, l := range is.Lines {
		if !slices.Contains(w.Lines, l.ID) {
			continue
		}
		edit := platform.LineEdit{Variant: &l.VariantID, Quantity: &l.Quantity, Price: &l.Price}
		if l.SellingPlanID != 0 {
			edit.SellingPlanID, edit.SellingPlanName = &l.SellingPlanID, &l.SellingPlanName
		}
		if at < len(is.LineDetails) {
			edit.Pricing = is.LineDetails[at].Pricing
			if len(is.LineDetails[at].Attributes) > 0 {
				edit.Attributes = &is.LineDetails[at].Attributes
			}
		}
		n.Lines = append(n.Lines, edit)
	}
	switch {
	case len(n.Lines) < len(w.Lines):
		return platform.NewContract{}, lineNotFound()
	case len(n.Lines) == len(is.Lines):
		return platform.NewContract{}, lastLine()
	}
	return n, nil
}

// finish lets the old contract lose the lines and the new one run.
func (s *Service) finish(ctx context.Context, of shop.ID, c contract.Contract, by activity.Actor, now bool) (contract.Detail, error) {
	old := Command{Line: c.Line, Contract: c.SplitFrom, Actor: by}
	left, err := s.amend(ctx, of, old, func(_ shop.Shop, d contract.Detail) (change, error) {
		var loses change
		for _, id := range c.SplitLines {
			if at := d.LineByID(id); at >= 0 {
				loses.edit.Lines = append(loses.edit.Lines, platform.LineEdit{Line: id, Remove: true})
			}
		}
		if len(loses.edit.Lines) > 0 {
			loses.entries = []note{{activity.SplitContract, splitNote{To: int64(c.ID), Lines: c.SplitLines}}}
		}
		return loses, nil
	})
	if err != nil {
		return contract.Detail{}, err
	}
	store, err := s.store(ctx, of)
	if err != nil {
		return contract.Detail{}, err
	}
	after, err := s.Platform.SetStatus(ctx, store.At(), int64(c.ID), string(left.Status))
	if err != nil {
		return contract.Detail{}, unanswered(err)
	}
	made, err := s.adopt(ctx, store, Command{Line: c.Line, Contract: c.ID, Actor: by}, after, change{
		also:    func(c *contract.Contract) { c.SplitLines, c.AmendAt = nil, time.Time{} },
		entries: []note{{activity.ContractCreated, splitNote{From: int64(c.SplitFrom), Lines: c.SplitLines}}},
	})
	if err != nil || !now {
		return made, err
	}
	next, err := s.next(ctx, of, made.Contract)
	if err != nil {
		return made, err
	}
	return made, s.Orders.Trigger(ctx, of, billing.TriggerCommand{Line: made.Line, Attempt: next, Actor: by})
}

// splitNote is the information of an entry about a split.
type splitNote struct {
	From  int64    `json:"fromContractId,omitempty"`
	To    int64    `json:"toContractId,omitempty"`
	Lines []string `json:"lineIds"`

	Reason string `json:"reason,omitempty"`
}
