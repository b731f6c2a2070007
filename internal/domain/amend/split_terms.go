package amend

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// limitsLeft returns the terms of a contract with the limits that are left of it when a
// cycle is the first of another one: an order that was made counts once.
func limitsLeft(billed platform.Policy, of contract.Contract, cycle int) platform.Policy {
	billed.MinCycles = min(of.Committed(), billed.MinCycles)
	if billed.MaxCycles > 0 {
		billed.MaxCycles = max(1, billed.MaxCycles+of.PassedCycles-(cycle-1)) // of one for life none is left
		billed.MinCycles = min(billed.MinCycles, billed.MaxCycles-1)          // the platform wants fewer
	}
	return billed
}

// pricesLeft returns how the price of each line that is split off goes on: by its
// policy from the cycle that is the first of its new contract or, where it has none,
// by that of its plan from the order which comes next. A price that neither has made
// was set by somebody, and stays.
func (s *Service) pricesLeft(ctx context.Context, store shop.Shop, of contract.Contract, is platform.Detail, w contract.SplitIntent) (map[string]going, error) {
	prices := make(map[string]going, len(w.Lines))
	offers := make(map[string]plan.Offer)
	var planned []contract.Line
	for at, l := range is.Lines {
		if !slices.Contains(w.Lines, l.ID) {
			continue
		}
		if at < len(is.LineDetails) && is.LineDetails[at].Pricing != nil {
			prices[l.ID] = goingOn(l.Price, *is.LineDetails[at].Pricing, w.Cycle, 1)
			continue
		}
		offer, ours, err := s.offer(ctx, store.ID, of.Line, l.SellingPlanID)
		if err != nil {
			return nil, err
		}
		if ours && offer.Steps() > 1 {
			offers[l.ID] = offer
			planned = append(planned, contract.NewLine(l))
		}
	}
	sold, err := s.soldNow(ctx, store, planned)
	if err != nil {
		return nil, err
	}
	for _, l := range planned {
		v, known := sold[l.VariantID]
		if !known {
			continue
		}
		if on, ok := byPlan(of, l, offers[l.ID].Pricing(v.Price), 1); ok {
			prices[l.ID] = on
		}
	}
	return prices, nil
}

// going is a price that goes on, in another contract or of another product.
type going struct {
	price  money.Amount
	policy *platform.Pricing
}

// goingOn returns the price of a cycle that is to be counted as another one, and the
// policy that counts on from there.
func goingOn(price money.Amount, policy platform.Pricing, cycle, counted int) going {
	if begins, ok := policy.At(price, cycle); ok {
		price = begins
	}
	return going{price, new(policy.From(cycle - counted + 1))}
}

// byPlan returns how the price of a line goes on by its plan from the contract's next
// order, which the platform counts as a cycle; false when no step of the plan made it.
// One that came to the plan at a later price does not go back to an earlier one.
func byPlan(c contract.Contract, l contract.Line, rule *platform.Pricing, cycle int) (going, bool) {
	if rule == nil {
		return going{}, false
	}
	at := slices.IndexFunc(rule.Cycles, func(s platform.CyclePrice) bool { return s.Computed == l.Price })
	if at < 0 {
		return going{}, false
	}
	return goingOn(l.Price, *rule, max(c.NextOrder(), rule.Cycles[at].After+1), cycle), true
}
