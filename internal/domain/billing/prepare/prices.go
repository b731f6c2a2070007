package prepare

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// priced gives lines of a contract the prices that begin with an order of it, which is
// counted from 1 for the one at the checkout.
func priced(lines []swap.LineItem, c contract.Contract, cycle, order int) (become []swap.LineItem, prices []billing.Price) {
	become = slices.Clone(lines)
	for i, l := range become {
		price := c.PriceAt(l.LineItem, cycle, order)
		if price == l.Price {
			continue
		}
		prices = append(prices, billing.Price{Variant: l.VariantID, From: l.Price.String(), To: price.String()})
		become[i].Price = price
	}
	return become, prices
}

// PlanPrices returns the prices that our plans give lines, by contract and line, if those change
// with the orders. The lines are those of the contracts.
func (s *Service) PlanPrices(ctx context.Context, of shop.Shop, contracts []contract.Contract) (map[contract.ID]map[string]contract.Pricing, error) {
	if s.Plans == nil {
		return nil, nil
	}
	offers := make(map[shop.Line]map[int64]plan.Offer)
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
		offers[side] = steps
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
		for _, l := range c.Lines {
			o, changes := offers[c.Line][l.SellingPlanID]
			v, exists := sold[l.VariantID]
			if !changes || !exists || v.Price.Currency != l.Price.Currency {
				continue
			}
			if prices[c.ID] == nil {
				prices[c.ID] = make(map[string]contract.Pricing)
			}
			prices[c.ID][l.ID] = *o.Pricing(v.Price)
		}
	}
	return prices, nil
}

// stepped returns the selling plans that are options of ours and whose prices change with the
// orders.
func (s *Service) stepped(ctx context.Context, of shop.ID, line shop.Line, sellingPlans []int64) (map[int64]plan.Offer, error) {
	if len(sellingPlans) == 0 {
		return nil, nil
	}
	offers, err := s.Plans.OffersOf(ctx, of, line, sellingPlans)
	if err != nil {
		return nil, fmt.Errorf("read the options of %d selling plans: %w", len(sellingPlans), err)
	}
	steps := make(map[int64]plan.Offer, len(offers))
	for _, o := range offers {
		if o.Steps() > 1 {
			steps[o.ID] = o
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
