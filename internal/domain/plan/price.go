package plan

import (
	"strconv"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// step is a price that counts once after orders have been paid for.
type step struct {
	after int
	kind  DiscountKind
	offer float64
}

// steps returns the option's prices in order; none when it has no discount. The
// first counts from the first order. The portal, the platform and billing all use these
// prices.
func (o Option) steps() []step {
	of := func(d Discount, after int) step { return step{after, d.Kind, d.Offer} }
	full := step{0, Percentage, 0}
	switch {
	case o.Trial.Enabled && o.First.Enabled:
		return []step{{0, Percentage, 100}, of(o.First, 1)}
	case o.Trial.Enabled:
		return []step{{0, Percentage, 100}, {1, Percentage, 0}}
	case o.First.Enabled && o.First.After > 0:
		return []step{full, of(o.First, o.First.After)}
	case o.First.Enabled && o.Second.Enabled:
		return []step{of(o.First, 0), of(o.Second, o.Second.After)}
	case o.First.Enabled:
		return []step{of(o.First, 0)}
	case o.Second.Enabled:
		return []step{full, of(o.Second, o.Second.After)}
	}
	return nil
}

// PriceAt returns what one unit costs in the given order of a contract, counted
// from 1 for the one at the checkout, when a single delivery costs base without a
// plan. A payment for several deliveries is for all of them. A percentage is
// taken off each delivery, where half a minor unit is the buyer's; amounts off and
// fixed prices are for the whole payment, are rounded half to even to the currency's
// minor unit, and never go below zero.
func (o Option) PriceAt(base money.Amount, order int) money.Amount {
	current := step{0, Percentage, 0}
	for _, s := range o.steps() {
		if s.after < order {
			current = s
		}
	}
	whole := base.Times(o.Deliveries())
	switch current.kind {
	case Fixed:
		off := amount(current.offer, base.Currency)
		return money.Amount{Minor: max(whole.Minor-off.Minor, 0), Currency: base.Currency}
	case Price:
		return amount(current.offer, base.Currency)
	default:
		return base.PercentOff(current.offer).Times(o.Deliveries())
	}
}

// amount reads an offer in main units. It was checked to be one.
func amount(offer float64, c money.Currency) money.Amount {
	a, err := money.Parse(strconv.FormatFloat(offer, 'f', -1, 64), c)
	if err != nil {
		return money.Amount{Currency: c}
	}
	return a
}

// prices returns the option's prices in the platform's form.
func (o Option) prices(c money.Currency) []platform.PlanPrice {
	var list []platform.PlanPrice
	for _, s := range o.steps() {
		p := platform.PlanPrice{After: s.after, Kind: adjustments[s.kind]}
		if s.kind == Percentage {
			p.Percent = s.offer
		} else {
			p.Amount = amount(s.offer, c)
		}
		list = append(list, p)
	}
	return list
}
