package prepare

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// priced gives lines of a contract the prices that begin with its next order, which is that of a
// cycle.
func priced(lines []swap.LineItem, c contract.Contract, cycle int) (become []swap.LineItem, prices []billing.Price) {
	become = slices.Clone(lines)
	for i, l := range c.PricedAt(swap.Plain(lines), cycle, 0) {
		if was := lines[i].Price; l.Price != was {
			prices = append(prices, billing.Price{Variant: l.VariantID, From: was.String(), To: l.Price.String()})
			become[i].Price = l.Price
		}
	}
	return become, prices
}

// raised adds the prices that begin with the order because their notice is over.
func (e Order) raised(lines []swap.LineItem, prices []billing.Price) ([]swap.LineItem, []billing.Price) {
	if e.Prep.Lasted {
		return lines, prices
	}
	become, at := e.swapOrder(lines).Raised(lines)
	for _, i := range at {
		prices = append(prices, billing.Price{Variant: become[i].VariantID, From: lines[i].Price.String(), To: become[i].Price.String()})
	}
	return become, prices
}

// PlanPrices returns the prices that our plans give lines, by contract and line, if those change
// with the orders. The lines are those of the contracts.
func (s *Service) PlanPrices(ctx context.Context, of shop.Shop, contracts []contract.Contract) (map[contract.ID]map[string]contract.Pricing, error) {
	if s.Plans == nil {
		return nil, nil
	}
	stepped := make(map[shop.Line]map[int64]order.Plan)
	var variants []int64
	for _, side := range []shop.Line{shop.Subscriptions, shop.Memberships} {
		var lines []contract.LineItem
		for _, c := range contracts {
			if c.Line == side {
				lines = append(lines, c.Lines...)
			}
		}
		steps, err := s.stepped(ctx, of.ID, side, billing.SellingPlans(lines))
		if err != nil {
			return nil, err
		}
		stepped[side] = steps
		for _, l := range lines {
			if _, changes := steps[l.SellingPlanID]; changes {
				variants = append(variants, l.VariantID)
			}
		}
	}
	sold, err := swap.Sold(ctx, s.Platform, of, billing.Unique(variants))
	if err != nil {
		return nil, err
	}
	prices := make(map[contract.ID]map[string]contract.Pricing)
	for _, c := range contracts {
		if of := (order.Catalogue{Variants: sold, Plans: stepped[c.Line]}).PlanPricing(c.Lines); len(of) > 0 {
			prices[c.ID] = of
		}
	}
	return prices, nil
}

// stepped returns the selling plans that are options of ours and whose prices change with the
// orders.
func (s *Service) stepped(ctx context.Context, of shop.ID, line shop.Line, sellingPlans []int64) (map[int64]order.Plan, error) {
	if len(sellingPlans) == 0 {
		return nil, nil
	}
	offers, err := s.Plans.OffersOf(ctx, of, line, sellingPlans)
	if err != nil {
		return nil, fmt.Errorf("read the options of %d selling plans: %w", len(sellingPlans), err)
	}
	steps := make(map[int64]order.Plan, len(offers))
	for _, o := range offers {
		if o.Steps() > 1 {
			steps[o.ID] = order.Plan{Option: o.Option}
		}
	}
	return steps, nil
}

// KnowPrices completes the prices that a contract has of its lines, where it had fewer lines, or
// others, before.
func (s *Service) KnowPrices(ctx context.Context, of shop.Shop, c *contract.Contract, before contract.Contract) error {
	unpriced := *c
	if unpriced.Lines = c.Unpriced(&before); len(unpriced.Lines) == 0 {
		return nil
	}
	prices, err := s.PlanPrices(ctx, of, []contract.Contract{unpriced})
	c.SetPlanPricing(prices[c.ID])
	return err
}
