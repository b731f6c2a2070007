package sandbox

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	profiles "github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// furnished is what the main store has in addition to contracts.
type furnished struct {
	Bundle   bundle.ID
	Profile  profiles.ID
	Location int64
	Swap     swap.ID

	Subscriptions, Memberships plan.ID // groups of plans
}

// furnish gives the main store a bundle and a delivery profile, unless it has
// some. A sandbox that began empty gets none.
func (s *Sandbox) furnish(ctx context.Context) error {
	places, err := s.sim.Locations(demo.Main)
	if err != nil {
		return err
	}
	s.furnished = furnished{Location: places[0].ID}
	if s.options.Empty {
		return nil
	}
	store, err := s.front.running().Store.Shops().ShopByDomain(ctx, demo.Main)
	if err != nil {
		return err
	}
	if err := s.stockHoney(); err != nil {
		return fmt.Errorf("put the honey on sale: %w", err)
	}
	for _, d := range storesOn(s.sim) {
		of, err := s.front.running().Store.Shops().ShopByDomain(ctx, d.Domain)
		if err != nil {
			return err
		}
		subscriptions, memberships, err := s.demoGroups(ctx, of)
		if err != nil {
			return err
		}
		if d.Domain == demo.Main {
			s.furnished.Subscriptions, s.furnished.Memberships = subscriptions, memberships
		}
	}
	if err := s.openAccounts(ctx); err != nil {
		return fmt.Errorf("open the customer accounts: %w", err)
	}
	if s.furnished.Swap, err = s.demoSwap(ctx, store); err != nil {
		return fmt.Errorf("make the demo swap rule: %w", err)
	}
	if s.furnished.Bundle, err = s.demoBundle(ctx, store.ID); err != nil {
		return fmt.Errorf("make the demo bundle: %w", err)
	}
	if s.furnished.Profile, err = s.demoProfile(ctx, store); err != nil {
		return fmt.Errorf("make the demo delivery profile: %w", err)
	}
	if err := s.furnishKinds(ctx, store); err != nil {
		return fmt.Errorf("make a contract of each kind: %w", err)
	}
	return nil
}

func (s *Sandbox) demoBundle(ctx context.Context, of shop.ID) (bundle.ID, error) {
	a := s.front.running()
	list, _, err := a.Store.Bundles(ctx, of, shop.Subscriptions, page.Request{Size: 1})
	if err != nil {
		return 0, err
	}
	if len(list) > 0 {
		return list[0].ID, nil
	}
	wanted := bundle.New()
	wanted.Line = shop.Subscriptions
	wanted.Texts.Title, wanted.Look.ButtonBackgroundColor = "Build your pantry box", "#1f5c3a"
	wanted.Rules.MinProducts, wanted.Rules.MaxProducts = 3, 12
	wanted.Rules.MinValue = money.Amount{Minor: 2500, Currency: "USD"}
	wanted.Rules.CutoffDays, wanted.Rules.MaxSwaps = 2, 3
	wanted.Rules.CategoryLimits = map[string]bundle.Limit{"Coffee": {Max: 6}}
	wanted.Pricing.Volume, wanted.Pricing.Tiers = true, []bundle.Tier{{MinProducts: 6, Percent: 5}, {MinProducts: 10, Percent: 10}}
	made, err := a.Bundles.Create(ctx, of, wanted, activity.System)
	return made.ID, err
}

func (s *Sandbox) demoProfile(ctx context.Context, of shop.Shop) (profiles.ID, error) {
	a := s.front.running()
	var list []profiles.Profile
	err := a.Store.Delivery().Update(ctx, of.ID, func(tx profiles.Tx) (err error) {
		list, err = tx.DeliveryProfiles(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(list) > 0 {
		return list[0].ID, nil
	}
	price := func(cents int64) money.Amount { return money.Amount{Minor: cents, Currency: of.Currency} }
	free := price(5000)
	made, err := a.Delivery.Create(ctx, of.ID, profiles.CreateCommand{
		Name: "Subscription deliveries", Actor: activity.System,
		Places: []profiles.Place{{Location: s.furnished.Location, Zones: []profiles.Zone{
			{Country: "US", Rates: []profiles.Rate{
				{Name: "Standard", Price: price(490)},
				{Name: "Free from $50", Price: price(0), Conditions: []profiles.Condition{{Operator: profiles.Operators[0], Price: &free}}},
			}},
			{Rates: []profiles.Rate{{Name: "International", Price: price(1990)}}},
		}}},
	})
	if fault.Is(err, fault.Unavailable) { // the platform's answer was lost: the sweep finds out
		return 0, nil
	}
	return made.ID, err
}
