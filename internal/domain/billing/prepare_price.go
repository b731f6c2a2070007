package billing

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// Price is a price of a line that begins with an order.
type Price struct {
	Variant int64  `json:"variant"`
	From    string `json:"from"`
	To      string `json:"to"`
}

// priced gives lines the prices that their policies have for a cycle. The platform
// shows policies and applies none: the price of a line does not change by itself. A
// price that is none of the policy's was set by somebody, and stays.
func priced(lines []contract.Line, d platform.Detail, cycle int) (become []contract.Line, prices []Price) {
	become = slices.Clone(lines)
	for i, l := range become {
		at := slices.IndexFunc(d.Lines, func(is platform.Line) bool { return is.ID == l.ID })
		if at < 0 || at >= len(d.LineDetails) || d.LineDetails[at].Pricing == nil {
			continue
		}
		price, ok := policyPrice(*d.LineDetails[at].Pricing, l.Price, cycle)
		if !ok || price == l.Price {
			continue
		}
		prices = append(prices, Price{Variant: l.VariantID, From: l.Price.String(), To: price.String()})
		become[i].Price = price
	}
	return become, prices
}

// policyPrice returns what a policy says of a cycle; false when it says nothing, or
// the price as it is was not made by it.
func policyPrice(p platform.Pricing, is money.Amount, cycle int) (price money.Amount, ok bool) {
	step, ok := stepOf(p, cycle)
	return step.Computed, ok && madeBy(p, is)
}

// stepOf returns what a policy says of a cycle; false when it says nothing.
func stepOf(p platform.Pricing, cycle int) (step platform.CyclePrice, ok bool) {
	for _, s := range p.Cycles {
		if s.After < cycle {
			step, ok = s, true
		}
	}
	return step, ok
}

// madeBy reports whether a price is one of a policy's.
func madeBy(p platform.Pricing, is money.Amount) bool {
	return is == p.Base || slices.ContainsFunc(p.Cycles, func(s platform.CyclePrice) bool { return is == s.Computed })
}

// MarkPriced notes which contracts are on plans of which the prices change with the
// orders, so that their orders are prepared.
func MarkPriced(ctx context.Context, tx Tx, contracts []contract.Contract) error {
	var plans []int64
	for _, c := range contracts {
		plans = append(plans, plansOf(c.Lines)...)
	}
	groups, err := groupsOf(ctx, tx, plans)
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
