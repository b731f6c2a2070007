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
	"github.com/perennialhq/perennial/internal/platform"
)

// Connect adds a store, or gives a known one a new token, and brings in what it
// has. Times at which orders are charged are local to the store.
func (s *Service) Connect(ctx context.Context, at platform.Shop, orderHour, orderMinute int, settings shop.Settings) (shop.Shop, error) {
	if orderHour < 0 || orderHour > 23 || orderMinute < 0 || orderMinute > 59 {
		return shop.Shop{}, fault.New(fault.Invalid, "%d:%d is not a time of day", orderHour, orderMinute)
	}
	facts, err := s.Platform.Store(ctx, at)
	if err != nil {
		return shop.Shop{}, fmt.Errorf("read the store %s: %w", at.Domain, err)
	}
	if _, err := time.LoadLocation(facts.TimeZone); err != nil {
		return shop.Shop{}, fault.Because(fault.Invalid, err, "the time zone %q of %s is unknown here", facts.TimeZone, at.Domain)
	}
	store := shop.Shop{
		Domain: at.Domain, PlatformID: facts.ID, Token: at.Token, TimeZone: facts.TimeZone, Currency: facts.Currency,
		OrderHour: orderHour, OrderMinute: orderMinute, Connected: true, Settings: settings, CreatedAt: s.Clock.Now(), ReconcileAt: s.Clock.Now(),
		Guard: shop.Guard{ConfirmBy: s.Clock.Now(), CheckAt: s.Clock.Now(), ConnectedAt: s.Clock.Now()},
	}
	known, err := s.Store.ShopByDomain(ctx, at.Domain)
	switch {
	case fault.Is(err, fault.NotFound):
		err = s.Store.AddShop(ctx, &store)
	case err == nil:
		err = s.Store.Update(ctx, known.ID, func(tx Tx) error {
			current, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			before := current
			current.Token, current.Connected = at.Token, true
			current.TimeZone, current.Currency = facts.TimeZone, facts.Currency
			current.ReconcileAt, current.Reading = s.Clock.Now(), shop.Reading{}
			current.Guard.ConfirmBy, current.Guard.CheckAt, current.Guard.ConnectedAt = s.Clock.Now(), s.Clock.Now(), s.Clock.Now()
			store = current
			return s.restate(ctx, tx, before, current)
		})
	}
	if err != nil {
		return shop.Shop{}, err
	}
	return store, s.Reconcile(ctx, store.ID)
}

// look reads what a store says of itself at the platform, and takes over what is another
// time zone or currency than ours, with which events that told of it are worked. A zone
// that this machine does not know is logged, and the one of before stays.
func (s *Service) look(ctx context.Context, store *shop.Shop, events []InboxEvent) error {
	facts, err := s.Platform.Store(ctx, store.At())
	if err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	if _, err := time.LoadLocation(facts.TimeZone); err != nil {
		s.Log.ErrorContext(ctx, "the store's time zone is unknown here", "shop", store.Domain, "zone", facts.TimeZone, "error", err)
		facts.TimeZone = store.TimeZone
	}
	if len(events) == 0 && facts.TimeZone == store.TimeZone && facts.Currency == store.Currency {
		return nil
	}
	err = s.Store.Update(ctx, store.ID, func(tx Tx) error {
		before, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if before.Token != store.Token || before.TimeZone != store.TimeZone || before.Currency != store.Currency {
			return fault.New(fault.Conflict, "%s has changed since the platform was asked for it", store.Domain)
		}
		current := before
		if current.TimeZone, current.Currency = facts.TimeZone, facts.Currency; current.TimeZone != before.TimeZone || current.Currency != before.Currency {
			if err := s.restate(ctx, tx, before, current); err != nil {
				return err
			}
		}
		return tx.FinishEvents(ctx, idsOf(events), s.Clock.Now())
	})
	if err == nil {
		store.TimeZone, store.Currency = facts.TimeZone, facts.Currency
	}
	return err
}

// restate writes a store, with what follows from another time zone or currency than it
// had before.
func (s *Service) restate(ctx context.Context, tx Tx, before, store shop.Shop) error {
	if err := tx.PutShop(ctx, store); err != nil {
		return err
	}
	told := activity.Entry{EntityID: int64(store.ID), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Info, Actor: activity.Platform, At: s.Clock.Now()}
	if from, to := string(before.Currency), string(store.Currency); from != to {
		told.Info = activity.Details(note{Reason: "the store has another currency: its contracts keep theirs", From: from, To: to})
		if err := tx.Record(ctx, told); err != nil {
			return err
		}
	}
	if before.TimeZone == store.TimeZone {
		return nil
	}
	told.Info = activity.Details(note{Reason: "the store has another time zone: its orders keep their days", From: before.TimeZone, To: store.TimeZone})
	if err := tx.Record(ctx, told); err != nil {
		return err
	}
	return s.relocate(ctx, tx, before, store)
}

// relocatedAtOnce is how many contracts are read together when a store moves.
const relocatedAtOnce = 500

// relocate moves the calendars of a store to another zone. All move in the commit that
// moves the store: dates of one zone are never counted on in another.
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
