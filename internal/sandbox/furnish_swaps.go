package sandbox

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// demoSwap makes the demo swap rule, unless the store has one: who began with a
// tin of tea gets refills from the next order on.
func (s *Sandbox) demoSwap(ctx context.Context, of shop.Shop) (swap.ID, error) {
	a := s.front.running()
	rules, _, err := a.Store.SwapRulesOf(ctx, of.ID, shop.Subscriptions, page.Request{Size: 1})
	if err != nil {
		return 0, err
	}
	if len(rules) > 0 {
		return rules[0].ID, nil
	}
	tea, err := s.variantsBySKU(demo.TeaTin, demo.TeaRefill)
	if err != nil {
		return 0, err
	}
	made, err := a.Swaps.Create(ctx, of, swap.Rule{
		Line: shop.Subscriptions, Name: "Tea: a tin first, then refills",
		Sources: []swap.Product{{VariantID: tea[0].ID, Quantity: 1}}, Destinations: []swap.Product{{VariantID: tea[1].ID, Quantity: 1}},
		EveryOrder: true, Discount: swap.ProductThenExisting,
	}, activity.System)
	return made.ID, err
}

// lastingSwap makes a rule that replaces a product by another one, from the next order on.
func (s *Sandbox) lastingSwap(ctx context.Context, of shop.Shop, name string, from, to simulator.Variant) error {
	_, err := s.front.running().Swaps.Create(ctx, of, swap.Rule{
		Line: shop.Subscriptions, Name: name, Discount: swap.ExistingPlan,
		Sources: []swap.Product{{VariantID: from.ID, Quantity: 1}}, Destinations: []swap.Product{{VariantID: to.ID, Quantity: 1}},
	}, activity.System)
	return err
}
