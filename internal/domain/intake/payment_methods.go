package intake

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

// readByPaymentMethod reads the contracts that use changed payment methods anew, and has
// those of their orders charged again that could not be.
func (s *Service) readByPaymentMethod(ctx context.Context, b batch) error {
	store, events := b.store, b.events
	var told map[contract.ID]time.Time
	err := s.Store.Update(ctx, store.ID, func(tx Tx) (err error) {
		told, err = contractsPaidWith(ctx, tx, events)
		return err
	})
	if err != nil {
		return err
	}
	waits := make(deferredContracts)
	if err := s.read(ctx, store, contractKeys(told), waits); err != nil {
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
		told, err := contractsPaidWith(ctx, tx, slices.DeleteFunc(worked, func(e InboxEvent) bool { return e.Topic != platform.PaymentUpdated }))
		if err != nil {
			return err
		}
		if err := dropKnownCards(ctx, tx, told); err != nil {
			return err
		}
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		return billing.RetryAfter(ctx, tx, current, dunning.NewPayment, contractKeys(told), told, now)
	})
}

// clockSkew is by how much the platform's clock and ours may differ when all is well.
const clockSkew = time.Minute

// dropKnownCards leaves out the contracts of which the card was found after the last event
// happenedAt: whoever found it had the order charged.
func dropKnownCards(ctx context.Context, tx Tx, told map[contract.ID]time.Time) error {
	rows, err := tx.Contracts(ctx, contractKeys(told))
	for _, c := range rows {
		if !c.Card.Since.IsZero() && !told[c.ID].After(c.Card.Since.Add(clockSkew)) {
			delete(told, c.ID)
		}
	}
	return err
}

// contractsPaidWith returns the contracts that use the payment methods of events, with when
// the last of their events happened.
func contractsPaidWith(ctx context.Context, tx Tx, events []InboxEvent) (map[contract.ID]time.Time, error) {
	told := make(map[contract.ID]time.Time)
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
			told[id] = last
		}
	}
	return told, nil
}
