package terms

import (
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// PricingOf returns a line's prices by cycle; nil when it has none.
func PricingOf(d contract.Detail, at int) *platform.Pricing {
	if at < 0 || at >= len(d.LineDetails) {
		return nil
	}
	return d.LineDetails[at].Pricing
}

// ReplacePricing returns the prices by cycle that replace others. If there are none of
// its own, it returns an empty policy, so that the old prices are removed.
func ReplacePricing(own, was *platform.Pricing, price money.Amount) *platform.Pricing {
	if own == nil && was != nil {
		return &platform.Pricing{Base: price}
	}
	return own
}

// Rebase returns a line's price after some cycles, and its prices by cycle, when its
// base price changes. A step with a fixed price gets the new base as its price.
func Rebase(p *platform.Pricing, base money.Amount, cycles int) (*money.Amount, *platform.Pricing) {
	if p == nil {
		return &base, nil
	}
	on, now := p.On(base), base
	if i := stepAfter(&on, cycles); i >= 0 {
		step := &on.Cycles[i]
		if step.Kind == platform.FixedPrice {
			step.Amount, step.Computed = base, base
		}
		now = step.Computed
	}
	return &now, &on
}

// CheckPricing refuses invalid prices by cycle.
func CheckPricing(cycles []contract.CyclePrice) error {
	if len(cycles) > platform.MaxCyclePrices {
		return fault.New(fault.Invalid, "at most %d prices by cycle can be given", platform.MaxCyclePrices).Entity(amend.Entity).Code("pricingPolicy")
	}
	for i, step := range cycles {
		if step.After < 0 || i > 0 && step.After <= cycles[i-1].After {
			return fault.New(fault.Invalid, "afterCycle must be 0 or more and grow from one price to the next").Entity(amend.Entity).Code("pricingPolicy").Field("afterCycle")
		}
		if step.Kind == platform.PercentOff && (step.Percent < 0 || step.Percent > 100) {
			return fault.New(fault.Invalid, "a percentage is from 0 to 100").Entity(amend.Entity).Code("pricingPolicy").Field("value")
		}
		if step.Amount.Minor < 0 || step.Amount.Milli() > MaxPriceMilli {
			return fault.New(fault.Invalid, "an amount of a price by cycle must be from 0 to 999999.99").Entity(amend.Entity).Code("pricingPolicy").Field("value")
		}
	}
	return nil
}

// ComputePricing computes unit prices from prices by cycle.
func ComputePricing(base money.Amount, cycles []contract.CyclePrice) *platform.Pricing {
	on := platform.Pricing{Cycles: cycles}.On(base)
	return &on
}

// PriceAfter returns the price after some cycles; false when no step applies yet.
func PriceAfter(p *platform.Pricing, cycles int) (now money.Amount, ok bool) {
	if i := stepAfter(p, cycles); i >= 0 {
		return p.Cycles[i].Computed, true
	}
	return money.Amount{}, false
}

// stepAfter returns the index of the step that applies after some cycles; -1 when none
// does yet.
func stepAfter(p *platform.Pricing, cycles int) int {
	now := -1
	for i, step := range p.Cycles {
		if step.After <= cycles {
			now = i
		}
	}
	return now
}

// SetCyclePriceKind sets the kind of a price by cycle by the platform's name:
// PERCENTAGE, FIXED_AMOUNT or PRICE.
func SetCyclePriceKind(p *contract.CyclePrice, kind string) { p.Kind = platform.Adjustment(kind) }
