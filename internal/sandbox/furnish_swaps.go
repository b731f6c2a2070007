package sandbox

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
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
	bySKU := make(map[string]int64)
	variants, err := s.sim.Variants(demo.Main)
	if err != nil {
		return 0, err
	}
	for _, v := range variants {
		bySKU[v.SKU] = v.ID
	}
	tin, refill := bySKU[demo.TeaTin], bySKU[demo.TeaRefill]
	if tin == 0 || refill == 0 {
		return 0, fmt.Errorf("the store does not sell %s and %s", demo.TeaTin, demo.TeaRefill)
	}
	made, err := a.Swaps.Create(ctx, of, swap.Rule{
		Line: shop.Subscriptions, Name: "Tea: a tin first, then refills",
		Sources: []swap.Product{{VariantID: tin, Quantity: 1}}, Destinations: []swap.Product{{VariantID: refill, Quantity: 1}},
		EveryOrder: true, Discount: swap.ProductThenExisting,
	}, activity.System)
	return made.ID, err
}
