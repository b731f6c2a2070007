package intake

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/platform"
)

// redactRepeat is how long after the request a customer is erased once more, because a
// reading that was in progress may have stored them again.
const redactRepeat = time.Hour

// redactedAtOnce is how many customers are read at once when all of a store are erased.
const redactedAtOnce = 100

// redact erases one customer, or all of a store that uninstalled the service. All are
// erased only while the store is disconnected, which the platform confirms by refusing
// the token.
func (s *Service) redact(ctx context.Context, b batch) error {
	now := s.Clock.Now()
	var done []InboxEvent
	for _, e := range b.events {
		again := e.ReceivedAt.Add(redactRepeat)
		if e.Topic == platform.ShopRedact && b.store.Connected {
			done = append(done, e)
			continue
		}
		kind := erasure(e)
		if err := s.Store.Update(ctx, b.store.ID, func(tx Tx) error {
			return privacy.ReceiveOnce(ctx, tx, b.store.ID, kind, e.Customer, e.ReceivedAt, now)
		}); err != nil {
			return err
		}
		if err := s.redactAll(ctx, b, e); err != nil {
			return err
		}
		if !now.Before(again) {
			done = append(done, e)
			continue
		}
		err := s.Store.Update(ctx, b.store.ID, func(tx Tx) error { return tx.DeferEvents(ctx, []string{e.ID}, again, e.Failures, "") })
		if err != nil {
			return err
		}
	}
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error {
		for _, e := range done {
			if err := privacy.Close(ctx, tx, b.store.ID, erasure(e), e.Customer, now); err != nil {
				return err
			}
		}
		return tx.FinishEvents(ctx, idsOf(done), now)
	})
}

// erasure returns what kind of request an event is.
func erasure(e InboxEvent) privacy.Kind {
	if e.Topic == platform.ShopRedact {
		return privacy.EraseStore
	}
	return privacy.EraseCustomer
}

// redactAll erases the customers of an event, each in one commit.
func (s *Service) redactAll(ctx context.Context, b batch, e InboxEvent) error {
	if e.Topic == platform.CustomerRedact {
		return s.redactOne(ctx, b, e.Customer)
	}
	for last, full := int64(0), true; full; {
		var list []int64
		err := s.Store.View(ctx, b.store.ID, func(tx ReadTx) (err error) {
			list, err = tx.CustomersAfter(ctx, last, redactedAtOnce)
			return err
		})
		if err != nil {
			return err
		}
		for _, customer := range list {
			if err := s.redactOne(ctx, b, customer); err != nil {
				return err
			}
			last = customer
		}
		full = len(list) == redactedAtOnce
	}
	return s.forgetOwner(ctx, b)
}

// forgetOwner erases the address of the owner of a store, and the e-mails to them.
func (s *Service) forgetOwner(ctx context.Context, b batch) error {
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error {
		current, err := tx.Shop(ctx)
		if err != nil || current.Connected || current.OwnerEmail == "" {
			return err
		}
		if err := tx.RedactMailsTo(ctx, current.OwnerEmail); err != nil {
			return err
		}
		current.OwnerEmail = ""
		return tx.PutShop(ctx, current)
	})
}

func (s *Service) redactOne(ctx context.Context, b batch, customer int64) error {
	if customer == 0 {
		return nil
	}
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error {
		ids, err := tx.ContractsOfCustomer(ctx, customer)
		if err != nil {
			return err
		}
		seen, err := tx.ReadContracts(ctx, ids)
		if err != nil {
			return err
		}
		if err := tx.Redact(ctx, customer, seen); err != nil {
			return err
		}
		list, err := tx.Contracts(ctx, ids) // after their attempts, the usual lock order
		if err != nil {
			return err
		}
		for i := range list {
			list[i].Redact()
		}
		return tx.PutContracts(ctx, list)
	})
}

// receiveRequests stores customers' requests for their data, which the merchant answers.
func (s *Service) receiveRequests(ctx context.Context, b batch) error {
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error {
		now := s.Clock.Now()
		for _, e := range b.events {
			if err := privacy.Receive(ctx, tx, b.store.ID, privacy.Export, e.Customer, e.ReceivedAt, now); err != nil {
				return err
			}
		}
		return tx.FinishEvents(ctx, idsOf(b.events), now)
	})
}
