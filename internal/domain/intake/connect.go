package intake

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Connect adds a store, or gives a known one a new token, and reads its contracts. The
// order time is local to the store. A new store is not charged before its merchant has
// confirmed it.
func (s *Service) Connect(ctx context.Context, at platform.Shop, orderHour, orderMinute int, settings shop.Settings) (shop.Shop, error) {
	store, err := s.Register(ctx, at, orderHour, orderMinute, settings)
	if err != nil {
		return shop.Shop{}, err
	}
	return store, s.Reconcile(ctx, store.ID)
}

// Register is Connect without reading the contracts: the next sweep reads them. A known
// store keeps its order time and settings.
func (s *Service) Register(ctx context.Context, at platform.Shop, orderHour, orderMinute int, settings shop.Settings) (shop.Shop, error) {
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
		OrderHour: orderHour, OrderMinute: orderMinute, Connected: true, Settings: settings, CreatedAt: s.Clock.Now(), ReconcileAt: s.Clock.Now(), OwnerEmail: facts.Email,
		Guard: shop.Guard{ConfirmBy: s.Clock.Now(), CheckAt: s.Clock.Now(), ConnectedAt: s.Clock.Now(), Consent: shop.Consent{AwaitsSince: s.Clock.Now()}},
	}
	known, err := s.Store.ShopByDomain(ctx, at.Domain)
	switch {
	case fault.Is(err, fault.NotFound):
		if err = s.Store.AddShop(ctx, &store); err == nil {
			err = s.Store.Update(ctx, store.ID, func(tx Tx) error {
				return beginSync(ctx, tx, s.Clock.Now(), time.Time{})
			})
		}
	case err == nil:
		err = s.Store.Update(ctx, known.ID, func(tx Tx) error {
			current, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			before := current
			if err := s.mayContinue(ctx, tx, &current); err != nil {
				return err
			}
			current.Token, current.Connected = at.Token, true
			current.TimeZone, current.Currency, current.OwnerEmail = facts.TimeZone, facts.Currency, facts.Email
			current.ReconcileAt, current.Reading = s.Clock.Now(), shop.Reading{}
			current.Guard.ConfirmBy, current.Guard.CheckAt, current.Guard.ConnectedAt = s.Clock.Now(), s.Clock.Now(), s.Clock.Now()
			store = current
			var away time.Time
			if !before.Connected {
				away = before.Guard.DisconnectedAt
			}
			if err := beginSync(ctx, tx, s.Clock.Now(), away); err != nil {
				return err
			}
			return s.putStore(ctx, tx, before, current)
		})
	}
	if err != nil {
		return shop.Shop{}, err
	}
	return store, nil
}

// mayContinue decides whether a store that is connected again is charged as before. One
// that has missed many orders waits for the merchant's confirmation.
func (s *Service) mayContinue(ctx context.Context, tx Tx, store *shop.Shop) error {
	away := store.Guard.DisconnectedAt
	if store.Connected || away.IsZero() || !store.Guard.AwaitsSince.IsZero() {
		return nil
	}
	now := s.Clock.Now()
	missed, err := tx.MissedOrders(ctx, away, now, shop.MaxMissedOrders+1)
	if err != nil || missed <= shop.MaxMissedOrders {
		return err
	}
	store.Guard.Await(now)
	return tx.Record(ctx, activity.Entry{
		EntityID: int64(store.ID), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: activity.Info, Actor: activity.System, At: now,
		Info: activity.Details(entryDetails{Reason: fmt.Sprintf("the store was disconnected and has missed more than %d orders: nothing is charged until the merchant confirms it", shop.MaxMissedOrders)}),
	})
}
