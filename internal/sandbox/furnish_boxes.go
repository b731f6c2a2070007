package sandbox

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// boxNames lists the kinds of box, one for each way of pricing.
func boxNames() []string {
	return []string{"boxSum", "boxFixedPrice", "boxTiers", "boxFixedPriceTiers"}
}

// boxPricings returns the prices of the boxes, in the order of boxNames.
func boxPricings() []bundle.Pricing {
	tiers := []bundle.Tier{{MinProducts: 3, Percent: 5}, {MinProducts: 6, Percent: 7.5}}
	return []bundle.Pricing{
		{Model: bundle.Dynamic},
		{Model: bundle.Fixed, Fixed: *dollars(7900)},
		{Model: bundle.Dynamic, Volume: true, Tiers: tiers},
		{Model: bundle.Fixed, Fixed: *dollars(8450), Volume: true, Tiers: tiers},
	}
}

// onOption returns an option that is charged every month as a plan.
func onOption(o plan.Option) demo.Plan {
	return demo.Plan{ID: o.ID, Name: o.Name, Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}}
}

// boxPlans makes a group with a plan for each kind of box, and the bundle that names the plan. It returns
// the plans.
func (s *Sandbox) boxPlans(ctx context.Context, of shop.Shop) ([]demo.Plan, error) {
	coffee, err := s.variantsBySKU(demo.CoffeeBeans, demo.CoffeeGround, demo.CoffeeGuji)
	if err != nil {
		return nil, err
	}
	a, create := s.front.running(), plan.CreateCommand{Line: shop.Subscriptions, Actor: activity.System}
	create.Draft.Name = "Coffee boxes"
	for _, v := range coffee {
		create.Sold.Variants = append(create.Sold.Variants, v.ID)
	}
	every := plan.Frequency{Interval: cadence.Month, Count: 1}
	for i, name := range boxNames() {
		create.Draft.Options = append(create.Draft.Options, plan.Option{Name: "Every month, " + name, Kind: plan.PayAsYouGo, Billing: every, Delivery: every, Sequence: i + 1})
	}
	group, err := a.Plans.Create(ctx, of.ID, create)
	if err != nil {
		return nil, err
	}
	var plans []demo.Plan
	for i, pricing := range boxPricings() {
		option := group.Options[i]
		wanted := bundle.New()
		wanted.Line, wanted.Pricing, wanted.Plans = shop.Subscriptions, pricing, []int64{option.ID}
		wanted.Texts.Title, wanted.Texts.TieredDiscount = "Coffee box", "The more, the cheaper"
		wanted.Rules.MinProducts, wanted.Rules.MaxProducts = 2, 12
		if _, err := a.Bundles.Create(ctx, of.ID, wanted, activity.System); err != nil {
			return nil, fmt.Errorf("make the bundle of %s: %w", boxNames()[i], err)
		}
		plans = append(plans, onOption(option))
	}
	return plans, nil
}
