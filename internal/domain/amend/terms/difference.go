package terms

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// Term is what a payment covers: the time until the next one is due.
type Term struct{ From, To time.Time }

// PaidTerm returns the term of a contract that is paid for; false when none runs, or nothing was paid for
// it, as in a free trial.
func PaidTerm(c contract.Contract, now time.Time) (Term, bool) {
	t := Term{c.LastOrderAt, c.NextBillingDate}
	if t.From.IsZero() && c.OriginOrderID != 0 && c.Trial == nil {
		t.From = c.CreatedAt
	}
	runs := c.Status == contract.Active && c.Dunning == nil && !t.From.IsZero() && !t.From.After(now) && t.To.After(now)
	return t, runs
}

// Rest returns the part of an amount that falls on the rest of the term, rounded down: a charge to less,
// and a credit, which is below zero, to more.
func (t Term) Rest(of money.Amount, now time.Time) money.Amount {
	left, whole := int64(t.To.Sub(now)/time.Second), int64(t.To.Sub(t.From)/time.Second)
	if whole <= 0 {
		return money.Amount{Currency: of.Currency}
	}
	part, over := of.Minor*left/whole, of.Minor*left%whole
	if over < 0 {
		part--
	}
	return money.Amount{Minor: part, Currency: of.Currency}
}

// PaidPrice returns the unit price of a line in the contract's last order, which charged an amount for it:
// without a difference that the order has settled beside it.
func PaidPrice(charged money.Amount, p *platform.Pricing) money.Amount {
	if settles(p) && charged == p.Cycles[0].Computed {
		return p.Cycles[1].Computed
	}
	return charged
}

// DifferenceWaits reports whether the next order, after some cycles, settles a difference of a line.
func DifferenceWaits(p *platform.Pricing, cycles int) bool {
	return settles(p) && p.Cycles[0].After == cycles
}

// settles reports whether prices by cycle are those of SettledWithNextOrder.
func settles(p *platform.Pricing) bool {
	return p != nil && len(p.Cycles) == 2 && p.Cycles[0].Kind == platform.FixedPrice && p.Cycles[1].After == p.Cycles[0].After+1 &&
		p.Cycles[0].Computed.Minor > p.Cycles[1].Computed.Minor
}

// SettledWithNextOrder returns prices by cycle with which a unit costs more in the next order, after some
// cycles, and from then on what it costs otherwise; false when that changes with a later order, for which
// the platform has no third price.
func SettledWithNextOrder(p *platform.Pricing, price, more money.Amount, cycles int) (*platform.Pricing, bool) {
	base, then := price, platform.CyclePrice{Kind: platform.FixedPrice, Amount: price, Computed: price}
	if p != nil && len(p.Cycles) > 0 {
		i := stepAfter(p, cycles)
		if i != len(p.Cycles)-1 {
			return nil, false
		}
		base, then = p.Base, p.Cycles[i]
	}
	then.After = cycles + 1
	once := price.Plus(more)
	return &platform.Pricing{Base: base, Cycles: []platform.CyclePrice{{After: cycles, Kind: platform.FixedPrice, Amount: once, Computed: once}, then}}, true
}

// CreditOver spreads a credit over as many orders as it takes, when each can be cheaper by an amount at
// most; false when it takes too many. Each order gives up to a minor unit more than its share.
func CreditOver(credit, most money.Amount) (each money.Amount, orders int, ok bool) {
	if most.Minor <= 0 {
		return money.Amount{}, 0, false
	}
	n := (credit.Minor + most.Minor - 1) / most.Minor
	return money.Amount{Minor: (credit.Minor + n - 1) / n, Currency: credit.Currency}, int(n), n <= MaxCycleLimit
}
