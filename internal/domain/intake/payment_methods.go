package intake

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing/cases"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

// readByPaymentMethod reads the contracts that use changed payment methods, and retries
// their declined orders.
func (s *Service) readByPaymentMethod(ctx context.Context, b batch) error {
	store, events := b.store, b.events
	var changed map[contract.ID]time.Time
	err := s.Store.View(ctx, store.ID, func(tx ReadTx) (err error) {
		changed, err = contractsPaidWith(ctx, tx, events)
		return err
	})
	if err != nil {
		return err
	}
	waits := make(deferredContracts)
	if err := s.read(ctx, store, contractKeys(changed), waits); err != nil {
		return err
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		now := s.Clock.Now()
		held, err := waits.methods(ctx, tx)
		if err != nil {
			return err
		}
		worked, err := s.finishEvents(ctx, tx, events, func(e InboxEvent) time.Time { return held[e.PaymentMethod] })
		if err != nil {
			return err
		}
		changed, err := contractsPaidWith(ctx, tx, slices.DeleteFunc(worked, func(e InboxEvent) bool { return e.Topic != platform.PaymentUpdated }))
		if err != nil {
			return err
		}
		if err := dropKnownCards(ctx, tx, changed); err != nil {
			return err
		}
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		return cases.RetryAfter(ctx, tx, current, dunning.NewPayment, contractKeys(changed), changed, now)
	})
}

// clockSkew is the normal difference between the platform's clock and ours.
const clockSkew = time.Minute

// dropKnownCards removes the contracts whose card was found after the last event
// happened: finding it has already retried the order.
func dropKnownCards(ctx context.Context, tx Tx, changed map[contract.ID]time.Time) error {
	rows, err := tx.Contracts(ctx, contractKeys(changed))
	for _, c := range rows {
		if !c.Card.Since.IsZero() && !changed[c.ID].After(c.Card.Since.Add(clockSkew)) {
			delete(changed, c.ID)
		}
	}
	return err
}

// contractsPaidWith returns the contracts that use the payment methods of events, with
// the time of the last event of each.
func contractsPaidWith(ctx context.Context, tx ReadTx, events []InboxEvent) (map[contract.ID]time.Time, error) {
	changed := make(map[contract.ID]time.Time)
	for _, method := range distinct(events, func(e InboxEvent) string { return e.PaymentMethod }) {
		paid, err := tx.ContractsPaidWith(ctx, method)
		if err != nil {
			return nil, err
		}
		var last time.Time
		for _, e := range events {
			if e.PaymentMethod == method && e.happenedAt().After(last) {
				last = e.happenedAt()
			}
		}
		for _, id := range paid { // a contract has one method
			changed[id] = last
		}
	}
	return changed, nil
}
