package billing

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Price is a price of a line that begins with an order.
type Price struct {
	Variant int64  `json:"variant"`
	From    string `json:"from"`
	To      string `json:"to"`
}

// priced gives lines the prices that begin with the order: those of their policies
// at the platform for its cycle or, where a line has none, those of the plan on
// which it is for the contract's order, counted from 1 for the one at the checkout.
// The platform shows policies and applies none: the price of a line does not change
// by itself. A price that is none of the policy's was set by somebody, and stays.
func priced(lines []swap.Line, policies map[string]platform.Pricing, cycle int, plans map[string]platform.Pricing, order int) (become []swap.Line, prices []Price) {
	become = slices.Clone(lines)
	for i, l := range become {
		var price money.Amount
		ok := false
		if policy, has := policies[l.ID]; has {
			price, ok = policy.At(l.Price, cycle)
		} else if policy, has := plans[l.ID]; has {
			price, ok = planStep(policy, l.Price, order)
		}
		if !ok || price == l.Price {
			continue
		}
		prices = append(prices, Price{Variant: l.VariantID, From: l.Price.String(), To: price.String()})
		become[i].Price = price
	}
	return become, prices
}

// planStep returns what a plan says of an order; false when it says nothing new, or
// the price as it is was not made by it. A line that came to the plan at a later
// price, as imported ones do, does not go back to an earlier one.
func planStep(p platform.Pricing, is money.Amount, order int) (price money.Amount, ok bool) {
	has, due := -1, -1
	for i, step := range p.Cycles {
		if is == step.Computed {
			has = i
		}
		if step.After < order {
			due = i
		}
	}
	if due <= has || has < 0 && is != p.Base {
		return money.Amount{}, false
	}
	return p.Cycles[due].Computed, true
}

// policiesOf returns the pricing policies that lines have at the platform, by line.
func policiesOf(d platform.Detail) map[string]platform.Pricing {
	policies := make(map[string]platform.Pricing)
	for i, l := range d.Lines {
		if i < len(d.LineDetails) && d.LineDetails[i].Pricing != nil {
			policies[l.ID] = *d.LineDetails[i].Pricing
		}
	}
	return policies
}

// planPolicies returns how the prices of lines that have no policy at the platform
// change on the plans of ours that they are on, by line.
func (s *Service) planPolicies(ctx context.Context, of shop.Shop, line shop.Line, lines []contract.Line, but map[string]platform.Pricing) (map[string]platform.Pricing, error) {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l contract.Line) bool { _, has := but[l.ID]; return has || l.SellingPlanID == 0 })
	sellingPlans := plansOf(lines)
	if s.Plans == nil || len(sellingPlans) == 0 {
		return nil, nil
	}
	offers, err := s.Plans.OffersOf(ctx, of.ID, line, sellingPlans)
	if err != nil {
		return nil, fmt.Errorf("read the options of %d selling plans: %w", len(sellingPlans), err)
	}
	steps := make(map[int64]plan.Offer, len(offers))
	for _, o := range offers {
		if o.Steps() > 1 {
			steps[o.ID] = o
		}
	}
	variants := make([]int64, 0, len(lines))
	for _, l := range lines {
		if _, changes := steps[l.SellingPlanID]; changes {
			variants = append(variants, l.VariantID)
		}
	}
	sold, err := s.sold(ctx, of, unique(variants))
	if err != nil {
		return nil, err
	}
	policies := make(map[string]platform.Pricing, len(variants))
	for _, l := range lines {
		o, changes := steps[l.SellingPlanID]
		v, exists := sold[l.VariantID]
		if changes && exists && v.Price.Currency == l.Price.Currency {
			policies[l.ID] = *o.Pricing(v.Price)
		}
	}
	return policies, nil
}

// MarkPriced notes which contracts are on plans of which the prices change with the
// orders, so that their orders are prepared.
func MarkPriced(ctx context.Context, tx Tx, contracts []contract.Contract) error {
	groups, err := groupsOfAll(ctx, tx, contracts)
	if err != nil {
		return err
	}
	for i, c := range contracts {
		for _, p := range plansOf(c.Lines) {
			if option, ok := groups[p].Option(p); ok && option.Steps() > 1 {
				contracts[i].Priced = true
			}
		}
	}
	return nil
}
