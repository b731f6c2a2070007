package terms

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// RemainingPrices returns the prices of lines in a new contract: from the line's prices
// by cycle, starting with the cycle that becomes the new contract's first, or else from
// the selling plan's, starting with the next order. A price that comes from neither was
// set by hand and stays.
func (p *Pricer) RemainingPrices(ctx context.Context, store shop.Shop, of contract.Contract, is platform.Detail, w contract.SplitIntent) (map[string]LinePrice, error) {
	prices := make(map[string]LinePrice, len(w.Lines))
	offers := make(map[string]plan.Offer)
	var planned []contract.LineItem
	for at, l := range is.Lines {
		if !slices.Contains(w.Lines, l.ID) {
			continue
		}
		if at < len(is.LineDetails) && is.LineDetails[at].Pricing != nil {
			prices[l.ID] = continuePricing(l.Price, *is.LineDetails[at].Pricing, w.Cycle, 1)
			continue
		}
		offer, ours, err := p.Offer(ctx, store.ID, of.Line, l.SellingPlanID)
		if err != nil {
			return nil, err
		}
		if ours && offer.Steps() > 1 {
			offers[l.ID] = offer
			planned = append(planned, contract.NewLine(l))
		}
	}
	sold, err := p.VariantsOfLines(ctx, store, planned)
	if err != nil {
		return nil, err
	}
	for _, l := range planned {
		v, known := sold[l.VariantID]
		if !known {
			continue
		}
		if on, ok := PlanPrice(of, l, offers[l.ID].Pricing(v.Price), 1); ok {
			prices[l.ID] = on
		}
	}
	return prices, nil
}

// LinePrice is a price and how it continues.
type LinePrice struct {
	Price   money.Amount
	Pricing *platform.Pricing
}

// continuePricing returns the price of a cycle that will be counted as another one, and
// the policy shifted accordingly.
func continuePricing(price money.Amount, policy platform.Pricing, cycle, counted int) LinePrice {
	if begins, ok := policy.At(price, cycle); ok {
		price = begins
	}
	return LinePrice{price, new(policy.From(cycle - counted + 1))}
}

// PlanPrice returns how a line's price continues by its plan from the contract's next
// order, which the platform counts as cycle; false when no step of the plan set the
// price. A line that joined the plan at a later step does not go back to an earlier one.
func PlanPrice(c contract.Contract, l contract.LineItem, rule *platform.Pricing, cycle int) (LinePrice, bool) {
	if rule == nil {
		return LinePrice{}, false
	}
	at := slices.IndexFunc(rule.Cycles, func(s platform.CyclePrice) bool { return s.Computed == l.Price })
	if at < 0 {
		return LinePrice{}, false
	}
	return continuePricing(l.Price, *rule, max(c.NextOrder(), rule.Cycles[at].After+1), cycle), true
}
