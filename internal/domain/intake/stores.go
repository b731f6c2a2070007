package intake

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// readStore reads the store at the platform and stores a changed time zone or currency,
// together with the events that reported it. An unknown time zone is logged and not
// stored.
func (s *Service) readStore(ctx context.Context, store *shop.Shop, events []InboxEvent) error {
	facts, err := s.Platform.Store(ctx, store.At())
	if err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	if _, err := time.LoadLocation(facts.TimeZone); err != nil {
		s.Log.ErrorContext(ctx, "the store's time zone is unknown here", "shop", store.Domain, "zone", facts.TimeZone, "error", err)
		facts.TimeZone = store.TimeZone
	}
	if len(events) == 0 && facts.TimeZone == store.TimeZone && facts.Currency == store.Currency && facts.Email == store.OwnerEmail {
		return nil
	}
	err = s.Store.Update(ctx, store.ID, func(tx Tx) error {
		before, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if before.Token != store.Token || before.TimeZone != store.TimeZone || before.Currency != store.Currency {
			return fault.New(fault.Conflict, "%s has changed since it was read at the platform", store.Domain)
		}
		current := before
		current.TimeZone, current.Currency, current.OwnerEmail = facts.TimeZone, facts.Currency, facts.Email
		if current.TimeZone != before.TimeZone || current.Currency != before.Currency || current.OwnerEmail != before.OwnerEmail {
			if err := s.putStore(ctx, tx, before, current); err != nil {
				return err
			}
		}
		return tx.FinishEvents(ctx, idsOf(events), s.Clock.Now())
	})
	if err == nil {
		store.TimeZone, store.Currency, store.OwnerEmail = facts.TimeZone, facts.Currency, facts.Email
	}
	return err
}

// putStore writes a store and applies a change of its time zone or currency.
func (s *Service) putStore(ctx context.Context, tx Tx, before, store shop.Shop) error {
	if err := tx.PutShop(ctx, store); err != nil {
		return err
	}
	entry := activity.Entry{EntityID: int64(store.ID), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Info, Actor: activity.Platform, At: s.Clock.Now()}
	if from, to := string(before.Currency), string(store.Currency); from != to {
		entry.Info = activity.Details(entryDetails{Reason: "the store has another currency: its contracts keep theirs", From: from, To: to})
		if err := tx.Record(ctx, entry); err != nil {
			return err
		}
	}
	if before.TimeZone == store.TimeZone {
		return nil
	}
	entry.Info = activity.Details(entryDetails{Reason: "the store has another time zone: its orders keep their days", From: before.TimeZone, To: store.TimeZone})
	if err := tx.Record(ctx, entry); err != nil {
		return err
	}
	return s.relocate(ctx, tx, before, store)
}

// relocatedAtOnce is how many contracts are read at once when a store moves.
const relocatedAtOnce = 500

// relocate moves the calendars of a store to another zone, in the commit that moves the
// store: dates of one zone are never counted on in another.
func (s *Service) relocate(ctx context.Context, tx Tx, before, store shop.Shop) error {
	from, err := before.Calendar()
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	for last, full := contract.ID(0), true; full; {
		list, err := tx.ContractsWithSeries(ctx, last, relocatedAtOnce)
		if err != nil || len(list) == 0 {
			return err
		}
		last, full = list[len(list)-1].ID, len(list) == relocatedAtOnce
		if err := queue.Relocate(ctx, tx, store, list, from, now); err != nil {
			return err
		}
	}
	return nil
}
