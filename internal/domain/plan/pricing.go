package plan

import (
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// Steps returns how many prices a contract on the option has in its life.
func (o Option) Steps() int { return max(1, len(o.steps())) }

// Pricing returns how the price of one unit changes with the orders of a
// contract, when a single delivery costs base without a plan; nil when it does
// not.
func (o Option) Pricing(base money.Amount) *platform.Pricing {
	steps := o.steps()
	if len(steps) == 0 {
		return nil
	}
	p := &platform.Pricing{Base: base.Times(o.Deliveries())}
	for _, s := range steps {
		price := platform.CyclePrice{After: s.after, Kind: adjustments[s.kind], Computed: o.PriceAt(base, s.after+1)}
		if s.kind == Percentage {
			price.Percent = s.offer
		} else {
			price.Amount = amount(s.offer, base.Currency)
		}
		p.Cycles = append(p.Cycles, price)
	}
	return p
}

// Counted is Pricing as the platform counts: by cycles, of which the given order of the
// contract is one. Cycles that were skipped are no orders, and that of the checkout may
// be no cycle.
func (o Option) Counted(base money.Amount, order, cycle int) *platform.Pricing {
	p := o.Pricing(base)
	if p == nil {
		return nil
	}
	return new(p.From(order - cycle + 1))
}
