package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// overlap is how far a reconciliation looks back before the last one, for clocks
// that differ and changes that show late. It is longer than any clock of ours may
// be ahead: one that is writes an instant to come, and what happens until then, and
// of which no webhook tells, would never be looked for.
const overlap = 24 * time.Hour

// Reconcile is the task of finding what no webhook told.
type Reconcile struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Reconcile) Kind() string { return "intake_reconcile" }

// Reconcile makes sure that the platform still delivers webhooks, and reads
// every contract that changed since the last time. One that fails is tried again
// soon and goes on where it was: of many pages one will always fail.
func (s *Service) Reconcile(ctx context.Context, of shop.ID) error {
	var store shop.Shop
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		var err error
		store, err = tx.Shop(ctx)
		return err
	})
	if err != nil || !store.Connected {
		return err
	}
	if store.Reading == (shop.Reading{}) {
		store.Reading = begun(store, s.Clock.Now())
	}
	failed := s.find(ctx, &store)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed != nil {
		s.Log.WarnContext(ctx, "the reconciliation is put off", "shop", store.Domain, "error", failed)
	}
	return s.Store.Update(ctx, of, func(tx Tx) error {
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if failed != nil && !away(failed) {
			current.Reading = shop.Reading{} // the cursor itself may be what the platform does not take
		}
		switch {
		case !current.ReconciledAt.Equal(store.ReconciledAt): // somebody else was faster, or all is to be read anew
			return nil
		case failed == nil:
			current.ReconciledAt, current.ReconcileAt = store.Reading.Started, s.Clock.Now().Add(s.ReconcileEvery)
			current.Reading = shop.Reading{}
		case gone(failed) && (!current.Connected || current.Token != store.Token): // somebody else has found it, or mended it
		case gone(failed):
			if err := tx.Record(ctx, activity.ConnectionGone(int64(of), s.Clock.Now())); err != nil {
				return err
			}
			current.Connected = false
		default:
			current.ReconcileAt = s.Clock.Now().Add(s.Policy.Reconcile)
		}
		if current.SubscribeError != store.SubscribeError {
			current.SubscribeError = store.SubscribeError
			if err := tx.Record(ctx, heard(current, s.Clock.Now())); err != nil {
				return err
			}
		}
		if err := tx.PutShop(ctx, current); err != nil {
			return err
		}
		now := s.Clock.Now()
		return errors.Join(tx.ForgetEvents(ctx, now.Add(-remember)), tx.ForgetSignatures(ctx, now.Add(-rememberSignatures)))
	})
}

// heard tells that the platform does not tell of events, or does so again.
func heard(of shop.Shop, now time.Time) activity.Entry {
	e := activity.Entry{
		EntityID: int64(of.ID), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: activity.Failure, Actor: activity.System, At: now,
		Info: activity.Details(note{Reason: "the platform refuses to tell of events, what changes is found by reconciliation: " + of.SubscribeError}),
	}
	if of.SubscribeError == "" {
		e.Status, e.Info = activity.Success, activity.Details(note{Reason: "the platform tells of events again"})
	}
	return e
}

// begun is a reconciliation that begins now.
func begun(of shop.Shop, now time.Time) shop.Reading {
	r := shop.Reading{Started: now}
	if !of.ReconciledAt.IsZero() {
		r.Since = of.ReconciledAt.Add(-overlap)
	}
	return r
}

// find reads what the store is and what changed, noting page by page how far it has
// come, and then what could not be read, or paid, before.
func (s *Service) find(ctx context.Context, store *shop.Shop) error {
	if err := s.listen(ctx, store); err != nil {
		return err
	}
	if err := s.look(ctx, store, nil); err != nil {
		return err
	}
	if err := s.readChanges(ctx, store); err != nil {
		return err
	}
	if err := s.readUnread(ctx, *store); err != nil {
		return err
	}
	return s.readUnpaid(ctx, *store)
}

// readUnpaid reads the contracts anew of which an order could not be paid: a card that
// took the place of the old one changes the payment method and not the contract, and
// its word may be lost.
func (s *Service) readUnpaid(ctx context.Context, store shop.Shop) error {
	for last, full := contract.ID(0), true; full; {
		var list []contract.Contract
		err := s.Store.Update(ctx, store.ID, func(tx Tx) (err error) {
			list, err = tx.ActiveContractsInDunning(ctx, last, platform.MaxIDs)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		var ids []contract.ID
		for _, c := range list {
			if dunning.NewPayment.Helps(c.Dunning.Class) {
				ids = append(ids, c.ID)
			}
		}
		if err := s.read(ctx, store, ids, nil); err != nil {
			return err
		}
		last, full = list[len(list)-1].ID, len(list) == platform.MaxIDs
	}
	return nil
}

// listen has the platform tell of events. That it refuses to is kept for a person to
// see: what changes is found all the same.
func (s *Service) listen(ctx context.Context, store *shop.Shop) error {
	if s.Callback == "" {
		return nil
	}
	err := s.Platform.Subscribe(ctx, store.At(), s.Callback, platform.Topics)
	if _, no := errors.AsType[*platform.Refusal](err); no {
		s.Log.WarnContext(ctx, "the platform refuses to tell of events", "shop", store.Domain, "error", err)
		store.SubscribeError = err.Error()
		return nil
	}
	if err != nil {
		return fmt.Errorf("subscribe to webhooks: %w", err)
	}
	store.SubscribeError = ""
	err = s.Platform.Subscribe(ctx, store.At(), s.Callback, platform.SpareTopics)
	if _, no := errors.AsType[*platform.Refusal](err); err != nil && !no {
		return fmt.Errorf("subscribe to webhooks that are not needed: %w", err)
	}
	return nil
}

// readUnread reads the contracts again that could not be taken over, and forgets what
// was noted of those that can be now.
func (s *Service) readUnread(ctx context.Context, store shop.Shop) error {
	for last, full := contract.ID(0), true; full; {
		began := s.Clock.Now()
		var list []contract.Unread
		err := s.Store.Update(ctx, store.ID, func(tx Tx) (err error) {
			list, err = tx.UnreadContracts(ctx, last, platform.MaxIDs)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		ids := make([]contract.ID, len(list))
		for i, u := range list {
			ids[i] = u.ID
		}
		if err := s.read(ctx, store, ids, nil); err != nil {
			return err
		}
		if err := s.Store.Update(ctx, store.ID, func(tx Tx) error { return tx.ForgetUnread(ctx, ids, began) }); err != nil {
			return err
		}
		last, full = ids[len(ids)-1], len(ids) == platform.MaxIDs
	}
	return nil
}

// readChanges reads what changed and notes page by page how far it has come.
func (s *Service) readChanges(ctx context.Context, store *shop.Shop) error {
	for {
		numbers, next, err := s.Platform.ContractsUpdatedSince(ctx, store.At(), store.Reading.Since, store.Reading.Cursor)
		if err != nil {
			return fmt.Errorf("list changed contracts: %w", err)
		}
		ids := make([]contract.ID, len(numbers))
		for i, n := range numbers {
			ids[i] = contract.ID(n)
		}
		if err := s.read(ctx, *store, ids, nil); err != nil {
			return err
		}
		if next == "" {
			return nil
		}
		if err := s.noteReading(ctx, store, next); err != nil {
			return err
		}
	}
}

// noteReading keeps how far a reconciliation has come. Two that run at once may go
// back a page, and never leave one out: each notes what it has read itself.
func (s *Service) noteReading(ctx context.Context, store *shop.Shop, cursor string) error {
	store.Reading.Cursor = cursor
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if !current.ReconciledAt.Equal(store.ReconciledAt) || current.Token != store.Token {
			return fault.New(fault.Conflict, "the reconciliation of %s has ended elsewhere, or must begin anew", current.Domain)
		}
		current.Reading = store.Reading
		return tx.PutShop(ctx, current)
	})
}
