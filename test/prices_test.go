package test

import (
	"fmt"
	"net/url"
	"testing"
)

// price asserts what the contract object says of the price of a line: what it costs
// now and, where it has a policy, "base: after price, after price".
func (o object) price(t *testing.T, at int, now, policy string) {
	t.Helper()
	if at >= len(o.Lines.Nodes) {
		t.Fatalf("there is no line %d among %+v", at, o.Lines.Nodes)
	}
	l, text := o.Lines.Nodes[at], ""
	if p := l.Pricing; p != nil {
		text = p.BasePrice.Amount + ":"
		for _, d := range p.CycleDiscounts {
			text += fmt.Sprintf(" %d %s", d.AfterCycle, d.ComputedPrice.Amount)
		}
	}
	if l.CurrentPrice.Amount != now || text != policy {
		t.Errorf("the line costs %s and its policy is %q, want %s and %q", l.CurrentPrice.Amount, text, now, policy)
	}
}

// percent is an option that takes a percentage off every order.
func percent(off float64) map[string]any {
	return map[string]any{"discountEnabled": true, "discountOffer": off, "discountType": "PERCENTAGE"}
}

// line names the first line of the contract in a query.
func (s *subscription) line() string {
	s.t.Helper()
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	return fmt.Sprintf("contractId=%d&lineId=%s", s.id, url.QueryEscape(o.Lines.Nodes[0].ID))
}

// one is a checkout of one piece at a price.
func one(variant int64, price string) map[string]any {
	return map[string]any{"lines": []any{map[string]any{"variantId": variant, "quantity": 1, "currentPrice": price}}}
}

// A plan, a policy by hand and a discount take the same off for the same percentage.
func TestAPercentageIsRoundedInOneWay(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		variant int64
		base    string
		percent float64
		want    string
	}{
		{4008, "12.50", 25, "9.37"}, {4004, "18.50", 25, "13.87"}, {4007, "14.95", 15, "12.71"},
	} {
		t.Run(fmt.Sprintf("%v %% off %s", row.percent, row.base), func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, one(row.variant, row.base))
			byPlan, byHand, discounted := s.id, s.checkout(one(row.variant, row.base)), s.checkout(one(row.variant, row.base))
			plan := s.planned(s.urls.Subscriptions, percent(row.percent))
			o := s.change("PUT", "/subscription-contracts-update-line-item-selling-plan?sellingPlanId="+plan+"&"+s.line(), nil)
			o.price(t, 0, row.want, row.base+": 0 "+row.want)
			s.id = byHand
			o = s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), []any{map[string]any{"afterCycle": 0, "discountType": "PERCENTAGE", "value": row.percent}})
			o.price(t, 0, row.want, row.base+": 0 "+row.want)
			s.id = discounted
			s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?percentage=%v&contractId=%d", row.percent, s.id), nil)
			s.pass("P11D")
			for _, id := range []int64{byPlan, byHand, discounted} {
				s.id = id
				if _, orders := s.ledger(); len(orders) != 1 || orders[0].Amount != row.want {
					t.Errorf("orders of contract %d: %+v, want one over %s", id, orders, row.want)
				}
			}
		})
	}
}
