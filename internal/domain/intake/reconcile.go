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
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// overlap is how far a reconciliation looks back before the last one, for clocks that
// differ and changes that appear late. It is longer than our clock may be ahead:
// otherwise changes before that instant would never be read.
const overlap = 24 * time.Hour

// Reconcile is the task of finding what no webhook reported.
type Reconcile struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Reconcile) Kind() string { return "intake_reconcile" }

// Reconcile renews the webhook subscriptions and reads every contract that changed since
// the last time. After a failure it is tried again soon and continues where it was: with
// many pages, one call will often fail. The first one of a connection is done by one node
// at a time.
func (s *Service) Reconcile(ctx context.Context, of shop.ID) error {
	first, err := s.lease(ctx, of)
	if errors.Is(err, errOthers) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx = inFirstSync(ctx, first)
	var store shop.Shop
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		var err error
		store, err = tx.Shop(ctx)
		return err
	})
	if err != nil || !store.Connected {
		return err
	}
	if store.Reading == (shop.Reading{}) {
		store.Reading = newReading(store, s.Clock.Now())
	}
	failed := s.reconcile(ctx, &store, first)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(failed, errOthers) {
		return nil
	}
	if failed != nil {
		s.Log.WarnContext(ctx, "the reconciliation is put off", "shop", store.Domain, "error", failed)
	}
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if failed != nil && !unreachable(failed) {
			current.Reading = shop.Reading{} // the cursor may be what the platform refuses
		}
		if failed != nil {
			if err := s.endTry(ctx, tx, first, failed); err != nil {
				return err
			}
		}
		switch {
		case !current.ReconciledAt.Equal(store.ReconciledAt): // another run has finished, or everything must be read again
			return s.endBeside(ctx, tx, current, first, failed == nil)
		case failed == nil:
			if err := s.finishSync(ctx, tx, &current, first, s.Clock.Now()); err != nil {
				return err
			}
			current.ReconciledAt, current.ReconcileAt = store.Reading.Started, s.Clock.Now().Add(s.ReconcileEvery)
			current.Reading = shop.Reading{}
		case disconnected(failed) && (!current.Connected || current.Token != store.Token): // another run has found or repaired it
		case disconnected(failed):
			if err := tx.Record(ctx, activity.ConnectionGone(int64(of), s.Clock.Now())); err != nil {
				return err
			}
			current.Disconnect(s.Clock.Now())
			if err := notify.Disconnected(ctx, tx, current, s.Clock.Now()); err != nil {
				return err
			}
		default:
			current.ReconcileAt = s.Clock.Now().Add(s.Policy.Reconcile)
		}
		if current.SubscribeError != store.SubscribeError {
			current.SubscribeError = store.SubscribeError
			if err := tx.Record(ctx, subscriptionEntry(current, s.Clock.Now())); err != nil {
				return err
			}
		}
		if err := tx.PutShop(ctx, current); err != nil {
			return err
		}
		now := s.Clock.Now()
		return errors.Join(tx.DeleteEvents(ctx, now.Add(-keepEvents)), tx.DeleteSignatures(ctx, now.Add(-keepSignatures)))
	})
	if errors.Is(err, errOthers) { // the lease of this run has expired, and the other one finishes
		return nil
	}
	return err
}

// subscriptionEntry is the entry for a refused webhook subscription, or one that works
// again.
func subscriptionEntry(of shop.Shop, now time.Time) activity.Entry {
	e := activity.Entry{
		EntityID: int64(of.ID), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: activity.Failure, Actor: activity.System, At: now,
		Info: activity.Details(entryDetails{Reason: "the platform refuses the webhook subscription, changes are found by reconciliation: " + of.SubscribeError}),
	}
	if of.SubscribeError == "" {
		e.Status, e.Info = activity.Success, activity.Details(entryDetails{Reason: "the platform accepts the webhook subscription again"})
	}
	return e
}

// newReading starts a reconciliation.
func newReading(of shop.Shop, now time.Time) shop.Reading {
	r := shop.Reading{Started: now}
	if !of.ReconciledAt.IsZero() {
		r.Since = of.ReconciledAt.Add(-overlap)
	}
	return r
}

// reconcile reads the store and what changed, storing its progress after each page, and
// then the contracts that were unread or in dunning.
func (s *Service) reconcile(ctx context.Context, store *shop.Shop, first *Sync) error {
	if err := s.subscribe(ctx, store); err != nil {
		return err
	}
	if err := s.readStore(ctx, store, nil); err != nil {
		return err
	}
	if err := s.readChanges(ctx, store, first); err != nil {
		return err
	}
	if err := s.readUnread(ctx, *store); err != nil {
		return err
	}
	return s.readUnpaid(ctx, *store)
}

// readUnpaid reads the contracts in dunning: a replaced card changes the payment method
// and not the contract, and its event may be lost.
func (s *Service) readUnpaid(ctx context.Context, store shop.Shop) error {
	for last, full := contract.ID(0), true; full; {
		var list []contract.Contract
		err := s.Store.View(ctx, store.ID, func(tx ReadTx) (err error) {
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

// subscribe subscribes to webhooks. A refusal is stored for an operator to see; changes
// are found by reconciliation.
func (s *Service) subscribe(ctx context.Context, store *shop.Shop) error {
	if s.Callback == "" {
		return nil
	}
	err := s.Platform.Subscribe(ctx, store.At(), s.Callback, platform.Topics)
	if _, no := errors.AsType[*platform.Refusal](err); no {
		s.Log.WarnContext(ctx, "the platform refuses the webhook subscription", "shop", store.Domain, "error", err)
		store.SubscribeError = err.Error()
		return nil
	}
	if err != nil {
		return fmt.Errorf("subscribe to webhooks: %w", err)
	}
	store.SubscribeError = ""
	err = s.Platform.Subscribe(ctx, store.At(), s.Callback, platform.SpareTopics)
	if _, no := errors.AsType[*platform.Refusal](err); err != nil && !no {
		return fmt.Errorf("subscribe to optional webhooks: %w", err)
	}
	return nil
}

// readUnread reads the unread contracts again and removes those that can be read now.
func (s *Service) readUnread(ctx context.Context, store shop.Shop) error {
	for last, full := contract.ID(0), true; full; {
		began := s.Clock.Now()
		var list []contract.Unread
		err := s.Store.View(ctx, store.ID, func(tx ReadTx) (err error) {
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
		if err := s.Store.Update(ctx, store.ID, func(tx Tx) error { return tx.DeleteUnread(ctx, ids, began) }); err != nil {
			return err
		}
		last, full = ids[len(ids)-1], len(ids) == platform.MaxIDs
	}
	return nil
}

// readChanges reads changed contracts and stores its progress after each page.
func (s *Service) readChanges(ctx context.Context, store *shop.Shop, first *Sync) error {
	for {
		numbers, next, err := s.Platform.ContractsUpdatedSince(ctx, store.At(), store.Reading.Since, store.Reading.Cursor)
		if err != nil {
			return fmt.Errorf("list changed contracts: %w", err)
		}
		if err := s.total(ctx, store, first, len(numbers), next); err != nil {
			return err
		}
		ids := make([]contract.ID, len(numbers))
		for i, n := range numbers {
			ids[i] = contract.ID(n)
		}
		if err := s.read(ctx, *store, ids, nil); err != nil {
			return err
		}
		if err := s.noteReading(ctx, store, first, len(ids), next); err != nil || next == "" {
			return err
		}
	}
}

// noteReading stores the progress of a reconciliation. Two concurrent ones may read a
// page twice but never skip one, because each stores only what it has read itself.
func (s *Service) noteReading(ctx context.Context, store *shop.Shop, first *Sync, stored int, cursor string) error {
	if cursor == "" && first == nil {
		return nil
	}
	store.Reading.Cursor = cursor
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		if err := s.noteSync(ctx, tx, first, func(y *Sync, now time.Time) {
			y.note(stored, now)
			if cursor == "" {
				y.enter(Ending, now)
			}
		}); err != nil || cursor == "" {
			return err
		}
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if !current.ReconciledAt.Equal(store.ReconciledAt) || current.Token != store.Token {
			return fault.New(fault.Conflict, "the reconciliation of %s has ended on another node, or must start again", current.Domain)
		}
		current.Reading = store.Reading
		return tx.PutShop(ctx, current)
	})
}
