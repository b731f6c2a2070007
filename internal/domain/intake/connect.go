package intake

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Connect adds a store, or gives a known one a new token, and reads its contracts. The
// order time is local to the store.
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
			return s.putStore(ctx, tx, before, current)
		})
	}
	if err != nil {
		return shop.Shop{}, err
	}
	return store, nil
}
