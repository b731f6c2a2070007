package contractedit

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// SetBillingInterval changes how often orders are charged. Without prepaid deliveries
// the delivery interval changes with it. It refuses the current interval.
func (s *Service) SetBillingInterval(ctx context.Context, of shop.ID, cmd amend.Command, r terms.Frequency) (contract.Detail, error) {
	return s.setFrequencies(ctx, of, cmd, func(c contract.Contract) (billing, delivery terms.Frequency, err error) {
		if r.Equals(c.Billing) {
			return r, r, fault.New(fault.FailedPrecondition, "subscription contract %d is billed every %s already", c.ID, r).Entity(amend.Entity).Code("sameInterval")
		}
		if c.Prepaid() {
			return r, terms.FrequencyOf(c.Delivery), nil
		}
		return r, r, nil
	})
}

// SetDeliveryInterval changes how often a prepaid contract is delivered; its charges
// stay. For other contracts it is refused, because it would change how often the
// customer is charged. It refuses the current interval too.
func (s *Service) SetDeliveryInterval(ctx context.Context, of shop.ID, cmd amend.Command, r terms.Frequency) (contract.Detail, error) {
	return s.setFrequencies(ctx, of, cmd, func(c contract.Contract) (billing, delivery terms.Frequency, err error) {
		if r.Equals(c.Delivery) {
			return r, r, fault.New(fault.FailedPrecondition, "subscription contract %d is delivered every %s already", c.ID, r).Entity(amend.Entity).Code("sameInterval")
		}
		if !c.Prepaid() {
			return r, r, fault.New(fault.FailedPrecondition, "subscription contract %d is not prepaid: each delivery is charged, every %s. Change both with the billing interval", c.ID, terms.FrequencyOf(c.Billing)).
				Entity(amend.Entity).Code("notPrepaid").Field("interval")
		}
		return terms.FrequencyOf(c.Billing), r, nil
	})
}

// SetBillingDate moves the contract's next order and, if future is set, all later ones.
func (s *Service) SetBillingDate(ctx context.Context, of shop.ID, cmd amend.Command, date time.Time, future bool) (contract.Detail, error) {
	_, err := s.Orders.Reschedule(ctx, of, command.Reschedule{Line: cmd.Line, Contract: cmd.Contract, BillingDate: date, Future: future, Actor: cmd.Actor})
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Show(ctx, of, cmd)
}

// setFrequencies changes both policies of a contract. Anchors are dropped when the
// interval changes.
func (s *Service) setFrequencies(ctx context.Context, of shop.ID, cmd amend.Command, want func(contract.Contract) (billing, delivery terms.Frequency, err error)) (contract.Detail, error) {
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		billed, delivered, err := want(d.Contract)
		if err != nil {
			return amend.Change{}, err
		}
		if err := terms.CheckMultiple(billed, delivered); err != nil {
			return amend.Change{}, err
		}
		var c amend.Change
		if !billed.Equals(d.Billing) {
			c.Edit.Billing = new(terms.PlatformPolicy(billed, d.Billing, d.MinCycles, d.MaxCycles))
			c.Entries = append(c.Entries, amend.Note{Event: activity.BillingIntervalChange, Details: termsDetails{From: terms.FrequencyOf(d.Billing).String(), To: billed.String()}})
		}
		if !delivered.Equals(d.Delivery) {
			c.Edit.Delivery = new(terms.PlatformPolicy(delivered, d.Delivery, 0, 0))
			c.Entries = append(c.Entries, amend.Note{Event: activity.DeliveryIntervalChange, Details: termsDetails{From: terms.FrequencyOf(d.Delivery).String(), To: delivered.String()}})
		}
		return c, nil
	})
}
