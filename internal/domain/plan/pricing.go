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

// Place is where in the life of a contract an order stands.
type Place struct {
	Order      int   // counted from 1 for the one at the checkout
	Cycle      int   // that the platform counts it as: what was skipped is counted, and the checkout may not be
	Deliveries int64 // that one payment of the contract is for
}

// Sells returns what one unit costs in an order, when a single delivery costs base
// without a plan, and how that goes on, as the platform counts; nil when it does not
// change. Of a contract whose payment is for another number of deliveries than the
// option's it is as much for each of them.
func (o Option) Sells(base money.Amount, at Place) (money.Amount, *platform.Pricing) {
	scaled := func(a money.Amount) money.Amount { return a.Share(at.Deliveries, o.Deliveries()) }
	price, p := scaled(o.PriceAt(base, at.Order)), o.Pricing(base)
	if p == nil {
		return price, nil
	}
	on := p.From(at.Order - at.Cycle + 1)
	on.Base = scaled(on.Base)
	for i := range on.Cycles {
		step := &on.Cycles[i]
		step.Amount, step.Computed = scaled(step.Amount), scaled(step.Computed)
	}
	return price, &on
}
