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

// RemainingPrices returns how the price of each line that is split off goes on: by its
// Pricing from the cycle that is the first of its new contract or, where it has none,
// by that of its plan from the order which comes next. A price that neither has made
// was set by somebody, and stays.
func (p *Pricer) RemainingPrices(ctx context.Context, store shop.Shop, of contract.Contract, is platform.Detail, w contract.SplitIntent) (map[string]LinePrice, error) {
	prices := make(map[string]LinePrice, len(w.Lines))
	offers := make(map[string]plan.Offer)
	var planned []contract.Line
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

// LinePrice is a price that goes on, in another contract or of another product.
type LinePrice struct {
	Price   money.Amount
	Pricing *platform.Pricing
}

// continuePricing returns the price of a cycle that is to be counted as another one, and the
// Pricing that counts on from there.
func continuePricing(price money.Amount, policy platform.Pricing, cycle, counted int) LinePrice {
	if begins, ok := policy.At(price, cycle); ok {
		price = begins
	}
	return LinePrice{price, new(policy.From(cycle - counted + 1))}
}

// PlanPrice returns how the price of a line goes on by its plan from the contract's next
// order, which the platform counts as a cycle; false when no step of the plan made it.
// One that came to the plan at a later price does not go back to an earlier one.
func PlanPrice(c contract.Contract, l contract.Line, rule *platform.Pricing, cycle int) (LinePrice, bool) {
	if rule == nil {
		return LinePrice{}, false
	}
	at := slices.IndexFunc(rule.Cycles, func(s platform.CyclePrice) bool { return s.Computed == l.Price })
	if at < 0 {
		return LinePrice{}, false
	}
	return continuePricing(l.Price, *rule, max(c.NextOrder(), rule.Cycles[at].After+1), cycle), true
}
