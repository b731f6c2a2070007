package test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"
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

// twoPrices is an option that takes 10 % off, and 50 % once so many orders were made.
func twoPrices(after int) map[string]any {
	return map[string]any{
		"discountEnabled": true, "discountOffer": 10, "discountType": "PERCENTAGE", "afterCycle1": 0,
		"discountEnabled2": true, "discountOffer2": 50, "discountType2": "PERCENTAGE", "afterCycle2": after,
	}
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
func TestPercentageIsRoundedOneWay(t *testing.T) {
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

// steps are prices by cycle, as bodies have them: a percentage off from an order on.
func steps(pairs ...float64) (list []any) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{"afterCycle": int(pairs[i]), "discountType": "PERCENTAGE", "value": pairs[i+1]})
	}
	return list
}

// wantAmounts asserts what the orders of the contract were over.
func (s *subscription) wantAmounts(want ...string) {
	s.t.Helper()
	var amounts []string
	_, orders := s.ledger()
	for _, o := range orders {
		amounts = append(amounts, o.Amount)
	}
	if !slices.Equal(amounts, want) {
		s.t.Errorf("orders over %v, want %v", amounts, want)
	}
}

// The discount of a line is carried to what replaces it, and never its price.
func TestReplacedLineKeepsDiscount(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		variant int64
		price   string
		plan    float64 // per cent off
		steps   []any   // prices by cycle set by hand
		forget  bool    // the discount is not to be carried
		to      int64
		now     string
		policy  string
		orders  []string
	}{
		{"ten per cent of a plan stay ten per cent", 4015, "89.99", 10, nil, false, 4026, "8.10", "9.00: 0 8.10", []string{"8.10", "8.10"}},
		{"also where a small price was rounded", 4007, "13.45", 10, nil, false, 4015, "89.99", "99.99: 0 89.99", []string{"89.99", "89.99"}},
		{"a price below the catalogue's is a discount", 4001, "14.40", 0, nil, false, 4003, "35.10", "", []string{"35.10", "35.10"}},
		{"on a plan that did not make it too", 4001, "8.00", 10, nil, false, 4003, "19.50", "", []string{"19.50", "19.50"}},
		{"the catalogue's price is none", 4001, "16.00", 0, nil, false, 4015, "99.99", "", []string{"99.99", "99.99"}},
		{"nor is a higher one", 4001, "20.00", 0, nil, false, 4003, "39.00", "", []string{"39.00", "39.00"}},
		{"prices by cycle keep their steps", 4001, "16.00", 0, steps(0, 20, 1, 50), false, 4003, "31.20", "39.00: 0 31.20 1 19.50", []string{"31.20", "19.50"}},
		{"without the wish the plan prices the new line", 4001, "8.00", 10, nil, true, 4003, "35.10", "39.00: 0 35.10", []string{"35.10", "35.10"}},
		{"and without a plan the catalogue does", 4001, "8.00", 0, nil, true, 4003, "39.00", "", []string{"39.00", "39.00"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, one(row.variant, row.price))
			if row.plan > 0 {
				s.cancel(http.StatusNoContent, "")
				plan := s.planned(s.urls.Subscriptions, percent(row.plan))
				s.id = s.checkout(map[string]any{"lines": []any{map[string]any{"variantId": row.variant, "quantity": 1, "currentPrice": row.price, "sellingPlanId": plan}}})
				s.pass("PT1M")
			}
			if row.steps != nil {
				s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), row.steps)
			}
			o := s.change("POST", "/subscription-contract-details/replace-variants-v3", map[string]any{
				"contractId": s.id, "oldVariants": []int64{row.variant}, "newVariants": map[string]int{fmt.Sprint(row.to): 1}, "carryForwardDiscount": !row.forget,
			})
			o.price(t, 0, row.now, row.policy)
			s.pass("P45D")
			s.wantAmounts(row.orders...)
		})
	}
}

// A line that a rule swaps is sold by a policy of the new product, and charged what
// that says.
func TestSwappedLineHasPolicyOfItsProduct(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		rule   map[string]any
		plan   bool // the line is on a plan of ten per cent off, which sells the new product
		now    string
		policy string
		orders []string
	}{
		{"without the discount there are no steps", nil, false, "99.99", "99.99:", []string{"99.99", "99.99", "99.99"}},
		{"with it they stay", map[string]any{"discountCarryForward": "EXISTING_PLAN"}, false, "79.99", "99.99: 0 79.99 1 49.99", []string{"79.99", "49.99", "49.99"}},
		{"the product's plan has its own", map[string]any{"discountCarryForward": "PRODUCT_PLAN"}, true, "89.99", "99.99: 0 89.99", []string{"89.99", "89.99", "89.99"}},
		{"a plan that does not sell it has none", map[string]any{"discountCarryForward": "PRODUCT_PLAN"}, false, "99.99", "99.99:", []string{"99.99", "99.99", "99.99"}},
		{"a rule for one order leaves the contract's", map[string]any{"forBillingCycle": 1}, false, "11.04", "13.80: 0 11.04 1 6.90", []string{"99.99", "6.90", "6.90"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, later(one(4016, "13.80")))
			if row.plan {
				var made struct {
					ID    int64
					Plans []struct{ IDNew string } `json:"subscriptionPlans"`
				}
				body := monthlyGroup("Litter")
				maps.Copy(body["subscriptionPlans"].([]any)[0].(map[string]any), percent(10))
				body["variantIds"] = "4015"
				if got := s.post("/subscription-groups", body, &made); got != http.StatusCreated {
					t.Fatalf("making a group answered %d", got)
				}
				s.change("PUT", "/subscription-contracts-update-line-item-selling-plan?sellingPlanId="+made.Plans[0].IDNew+"&"+s.line(), nil)
			}
			s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?basePrice=13.80&"+s.line(), steps(0, 20, 1, 50))
			s.swap(products(4016, 1), products(4015, 1), row.rule)
			s.notice()
			s.pass("P11D")
			s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).price(t, 0, row.now, row.policy)
			s.pass("P62D")
			s.wantAmounts(row.orders...)
		})
	}
}

// A price that is set on a line with prices by cycle is the one from which they count:
// what the contract says of coming orders is what they are charged.
func TestSetPriceIsBaseOfPriceSteps(t *testing.T) {
	t.Parallel()
	price := func(after int, amount float64) any {
		return map[string]any{"afterCycle": after, "discountType": "PRICE", "value": amount}
	}
	for _, row := range []struct {
		name   string
		steps  []any
		days   string // that pass before the price is set; empty: none
		now    string
		policy string
		orders []string
		entry  string
	}{
		{"of one step", steps(0, 5), "", "19.00", "20.00: 0 19.00", []string{"19.00", "19.00"}, "PRODUCT_PRICE_CHANGE"},
		{"of two steps", steps(0, 10, 1, 50), "", "18.00", "20.00: 0 18.00 1 10.00", []string{"18.00", "10.00"}, "PRODUCT_PRICE_CHANGE"},
		{"before the first step", steps(1, 50), "", "20.00", "20.00: 1 10.00", []string{"20.00", "10.00"}, "PRODUCT_PRICE_CHANGE"},
		{"at the second step", steps(0, 10, 1, 50), "P11D", "10.00", "20.00: 0 18.00 1 10.00", []string{"14.40", "10.00"}, "PRODUCT_PRICE_CHANGE"},
		{"a step that is a price gives way", []any{price(0, 12)}, "", "20.00", "20.00: 0 20.00", []string{"20.00", "20.00"}, "PRODUCT_PRICE_CHANGE"},
		{"one that is to come stays", []any{price(1, 12)}, "", "20.00", "20.00: 1 12.00", []string{"20.00", "12.00"}, "PRODUCT_PRICE_CHANGE"},
		{"all off is all off", steps(0, 100, 1, 50), "", "0.00", "20.00: 0 0.00 1 10.00", []string{"0.00", "10.00"}, "PRODUCT_PRICING_POLICY_CHANGE"},
		{"without steps it is the price", []any{}, "", "20.00", "20.00:", []string{"20.00", "20.00"}, "PRODUCT_PRICE_CHANGE"},
		{"without a policy too", nil, "", "20.00", "", []string{"20.00", "20.00"}, "PRODUCT_PRICE_CHANGE"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, one(4001, "16.00"))
			want := []string{created}
			if row.steps != nil {
				s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), row.steps)
				want = append(want, api2+"PRODUCT_PRICING_POLICY_CHANGE SUCCESS")
			}
			line := s.line()
			if row.days != "" {
				s.pass(row.days)
			}
			s.change("PUT", "/subscription-contracts-update-line-item-price?basePrice=20&"+line, nil).price(t, 0, row.now, row.policy)
			s.change("PUT", "/subscription-contracts-update-line-item-price?basePrice=20&"+line, nil).price(t, 0, row.now, row.policy)
			if row.days == "" {
				s.wantEntries(append(want, api2+row.entry+" SUCCESS")...)
			}
			s.pass("P45D")
			s.wantAmounts(row.orders...)
		})
	}
}

// A policy whose base is another price than the line's gives the line its base, and
// its steps after it.
func TestPolicyWithOtherBaseCountsFromIt(t *testing.T) {
	t.Parallel()
	s := subscribe(t, one(4007, "10.00"))
	o := s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?basePrice=8.00&"+s.line(), steps(1, 50))
	o.price(t, 0, "8.00", "8.00: 1 4.00")
	s.pass("P75D")
	s.wantAmounts("8.00", "4.00", "4.00")
}

// The contract that a line is split off to goes on with the line's policy.
func TestSplitKeepsPricingPolicy(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"lines": []any{
		map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "16.00"}, map[string]any{"variantId": 4007, "quantity": 1, "currentPrice": "10.00"},
	}})
	lines := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-pricing-policy?contractId=%d&lineId=%s", s.id, url.QueryEscape(lines[1].ID)), steps(1, 50))
	split := s.change("POST", fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d&isSplitContract=true", s.id), []string{lines[1].ID})
	s.follow(split.ID)
	s.pass("P75D")
	s.wantAmounts("10.00", "5.00", "5.00")
}

// A line that is split off after two orders goes on where it was: a limit, a commitment
// and the prices by order do not start over.
func TestSplitContinuesLimitsAndPrices(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		option map[string]any // of the plan that the line is on; nil: a policy of its own
		want   []string       // the checkout's order is one on the plan
	}{
		"by the policy of its line": {nil, []string{"9.00", "5.00", "5.00"}},
		"by its plan": {map[string]any{
			"discountEnabled": true, "discountOffer": 10, "discountType": "PERCENTAGE", "afterCycle1": 0,
			"discountEnabled2": true, "discountOffer2": 50, "discountType2": "PERCENTAGE", "afterCycle2": 3,
		}, []string{"8.00", "8.00", "8.00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.cancel(http.StatusNoContent, "")
			line := map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "9.00"}
			if test.option != nil {
				plan := s.planned(s.urls.Subscriptions, test.option)
				line["sellingPlanId"], line["currentPrice"] = plan, "14.40"
			}
			s.id = s.checkout(map[string]any{
				"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "minCycles": 4, "maxCycles": 5},
				"lines":         []any{map[string]any{"variantId": 4007, "quantity": 1, "currentPrice": "10.00"}, line},
			})
			s.pass("PT1M")
			is := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes[1].ID
			if test.option == nil {
				s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-pricing-policy?basePrice=10.00&contractId=%d&lineId=%s", s.id, url.QueryEscape(is)), steps(0, 10, 3, 50))
			}
			s.pass("P45D")
			if _, orders := s.ledger(); len(orders) != 2 {
				t.Fatalf("%d orders were made before the split", len(orders))
			}
			split := s.change("POST", fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d&isSplitContract=true", s.id), []string{is})
			if p := split.BillingPolicy; p.MaxCycles == nil || *p.MaxCycles != 3 || p.MinCycles == nil || *p.MinCycles != 1 {
				t.Errorf("the limits of the new contract are %+v", p)
			}
			s.follow(split.ID)
			s.pass("P180D")
			s.wantAmounts(test.want...)
			s.wantPlatform("EXPIRED")
		})
	}
}

// What replaces a product that was sold by prices of its own is not sold by them.
func TestReplacedVariantDropsOldPrices(t *testing.T) {
	t.Parallel()
	s := subscribe(t, one(4016, "13.80"))
	s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), steps(0, 20, 1, 50))
	o := s.change("PUT", fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldVariantId=4016&newVariantId=4015", s.id), nil)
	o.price(t, 0, "99.99", "99.99:")
	s.pass("P45D")
	s.wantAmounts("99.99", "99.99")
}

// A contract that is made on a plan has as many orders as the plan says, unless the
// request says otherwise.
func TestCreatedContractHasPlanLimits(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	var buyer []struct{ CustomerID int64 }
	s.get("/subscription-contract-details?size=1", &buyer)
	plan := s.planned(s.urls.Subscriptions, map[string]any{"minCycles": 2, "maxCycles": 6})
	for name, row := range map[string]struct {
		line        map[string]any
		said        map[string]any
		least, most int
		status      int
	}{
		"nothing is said":          {map[string]any{"sellingPlanId": plan}, nil, 2, 6, http.StatusCreated},
		"another end is wanted":    {map[string]any{"sellingPlanId": plan}, map[string]any{"maxCycles": 9}, 2, 9, http.StatusCreated},
		"no limit is wanted":       {map[string]any{"sellingPlanId": plan}, map[string]any{"minCycles": 0, "maxCycles": 0}, 0, 0, http.StatusCreated},
		"the two cannot both be":   {map[string]any{"sellingPlanId": plan}, map[string]any{"minCycles": 8}, 0, 0, http.StatusBadRequest},
		"there is no plan":         {nil, nil, 0, 0, http.StatusCreated},
		"what is wanted is no end": {nil, map[string]any{"maxCycles": -1}, 0, 0, http.StatusBadRequest},
	} {
		line := map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "10.00"}
		maps.Copy(line, row.line)
		body := map[string]any{
			"customerId": buyer[0].CustomerID, "nextBillingDate": s.now().AddDate(0, 0, 10).Format(time.RFC3339), "billingIntervalType": "MONTH", "billingIntervalCount": 1,
			"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT", "lines": []any{line},
		}
		maps.Copy(body, row.said)
		var o object
		got := s.send("POST", s.urls.Subscriptions+api+"/subscription-contract-details/create-subscription-contract", s.key, body, &o)
		least, most := 0, 0
		if n := o.BillingPolicy.MinCycles; n != nil {
			least = *n
		}
		if n := o.BillingPolicy.MaxCycles; n != nil {
			most = *n
		}
		if got != row.status || least != row.least || most != row.most {
			t.Errorf("%s: answered %d with %d to %d orders, want %d with %d to %d", name, got, least, most, row.status, row.least, row.most)
		}
	}
}

// A contract that takes another plan pays its price, in whichever way it takes the plan.
func TestPlanChangeAppliesPlanPrice(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*subscription, string){
		"by the contract": (*subscription).take,
		"by the line": func(s *subscription, plan string) {
			s.change("PUT", "/subscription-contracts-update-line-item-selling-plan?sellingPlanId="+plan+"&"+s.line(), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, one(4001, "14.40"))
			s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), steps(0, 10, 1, 50))
			five, none := s.offered(percent(5), nil)
			take(s, five)
			s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).price(t, 0, "15.20", "16.00: 0 15.20")
			s.pass("P11D")
			take(s, none)
			s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).price(t, 0, "16.00", "16.00:")
			s.pass("P31D")
			s.wantAmounts("15.20", "16.00")
		})
	}
}

// A plan's prices count the orders of a contract, that of the checkout too. What comes to
// the plan later costs what the plan asks of the next order, and changes with what was
// there before.
func TestLineAddedToPlanCostsPriceOfNextOrder(t *testing.T) {
	t.Parallel()
	add := func(s *subscription, _ string) {
		s.change("PUT", fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=4003&quantity=1", s.id), nil)
	}
	split := func(s *subscription, n int) { // and add a product to what is split off
		line := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes[n].ID
		s.follow(s.change("POST", fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d&isSplitContract=true", s.id), []string{line}).ID)
		s.change("PUT", fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=4004&quantity=1", s.id), nil)
	}
	take := func(s *subscription, plan string) {
		s.change("PUT", "/subscription-contracts-update-line-item-selling-plan?sellingPlanId="+plan+"&"+s.line(), nil)
	}
	for _, row := range []struct {
		name   string
		option map[string]any // of the plan
		bought bool           // on the plan, at the checkout; otherwise on none
		days   string         // until the product comes to the plan
		skips  int
		do     func(s *subscription, plan string)
		at     int // the line
		now    string
		policy string
		orders []string // after it
	}{
		{"before the second order", twoPrices(1), true, "PT1M", 0, add, 1, "19.50", "39.00: 0 19.50", []string{"27.50", "27.50"}},
		{"before the third", twoPrices(3), true, "P11D", 0, add, 1, "35.10", "39.00: 0 35.10 2 19.50", []string{"49.50", "27.50"}},
		{"after two that were skipped", twoPrices(2), true, "PT1M", 2, add, 1, "35.10", "39.00: 0 35.10 3 19.50", []string{"49.50", "27.50"}},
		{"what was free for a trial is not", map[string]any{"discountEnabled": false, "freeTrialEnabled": true, "freeTrialCount": 5, "freeTrialInterval": "DAY"}, true, "PT1M", 0, add, 1, "39.00", "39.00: 0 39.00", []string{"53.40", "53.40"}},
		{"nor is it in a contract that was split off", map[string]any{"discountEnabled": false, "freeTrialEnabled": true, "freeTrialCount": 5, "freeTrialInterval": "DAY"}, true, "PT1M", 0, func(s *subscription, plan string) {
			add(s, plan)
			split(s, 1)
		}, 1, "18.50", "18.50: 0 18.50", []string{"57.50", "57.50"}},
		{"in a contract that was split off after three orders", twoPrices(3), true, "P42D", 0, func(s *subscription, plan string) {
			add(s, plan)
			split(s, 1)
		}, 1, "9.25", "18.50: 0 9.25", []string{"28.75", "28.75"}},
		{"in one that was split off before there was an order", twoPrices(1), true, "PT1M", 0, func(s *subscription, plan string) {
			var buyer []struct{ CustomerID int64 }
			s.get("/subscription-contract-details?size=1", &buyer)
			var made object
			if got := s.post("/subscription-contract-details/create-subscription-contract", map[string]any{
				"customerId": buyer[0].CustomerID, "nextBillingDate": s.now().AddDate(0, 0, 10).Format(time.RFC3339), "billingIntervalType": "MONTH", "billingIntervalCount": 1,
				"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT",
				"lines": []any{map[string]any{"variantId": 4001, "quantity": 1, "sellingPlanId": plan}, map[string]any{"variantId": 4003, "quantity": 1, "sellingPlanId": plan}},
			}, &made); got != http.StatusCreated {
				s.t.Fatalf("making a contract answered %d", got)
			}
			s.follow(made.ID)
			split(s, 1)
		}, 1, "16.65", "18.50: 0 16.65 1 9.25", []string{"51.75", "28.75"}},
		{"while an order is unpaid, which comes first", twoPrices(1), true, "PT1M", 0, func(s *subscription, plan string) {
			s.declines("INSUFFICIENT_FUNDS", 1)
			s.pass("P11D")
			add(s, plan)
		}, 1, "19.50", "39.00: 0 19.50", []string{"27.50", "27.50"}},
		{"the plan is taken", twoPrices(1), false, "PT1M", 0, take, 0, "8.00", "16.00: 0 8.00", []string{"8.00", "8.00"}},
		{"it replaces a product with its discount", twoPrices(3), true, "PT1M", 0, func(s *subscription, _ string) { s.replace(4001, 4003, true) }, 0, "35.10", "39.00: 0 35.10 2 19.50", []string{"35.10", "35.10", "19.50"}},
		{"a rule brings it", twoPrices(3), true, "PT1M", 0, func(s *subscription, _ string) {
			s.swap(products(4001, 1), products(4003, 1), map[string]any{"discountCarryForward": "PRODUCT_PLAN"})
			s.reschedule(0, "2026-11-25", true) // after the notice of its price
		}, 0, "14.40", "", []string{"35.10", "35.10", "19.50"}},
		{"in place of one with prices by hand", twoPrices(3), true, "PT1M", 0, func(s *subscription, _ string) {
			s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), steps(0, 20))
			s.swap(products(4001, 1), products(4003, 1), map[string]any{"discountCarryForward": "PRODUCT_PLAN"})
			s.reschedule(0, "2026-11-25", true) // after the notice of its price
		}, 0, "11.52", "14.40: 0 11.52", []string{"35.10", "35.10", "19.50"}},
		{"what it replaces was to cost less", twoPrices(1), true, "PT1M", 0, func(s *subscription, _ string) { s.replace(4001, 4003, true) }, 0, "19.50", "39.00: 0 19.50", []string{"19.50", "19.50"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.cancel(http.StatusNoContent, "")
			var made group
			body := monthlyGroup("Club")
			maps.Copy(body["subscriptionPlans"].([]any)[0].(map[string]any), row.option)
			body["variantIds"] = "4003"
			if got := s.post("/subscription-groups", body, &made); got != http.StatusCreated {
				t.Fatalf("making a group answered %d", got)
			}
			plan := made.Plans[0].IDNew
			line := map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "16.00"}
			if row.bought {
				line["sellingPlanId"], line["currentPrice"] = plan, "14.40"
			}
			s.id = s.checkout(map[string]any{"lines": []any{line}})
			s.pass(row.days)
			for range row.skips {
				s.skipNumber(0)
			}
			row.do(s, plan)
			_, before := s.ledger()
			s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).price(t, row.at, row.now, row.policy)
			s.until("2027-03-01")
			var amounts []string
			_, orders := s.ledger()
			for _, o := range orders[len(before):] {
				amounts = append(amounts, o.Amount)
			}
			if got := amounts[:len(row.orders)]; !slices.Equal(got, row.orders) {
				t.Errorf("orders over %v, want %v", got, row.orders)
			}
		})
	}
}

// One payment for three months is for three deliveries of whatever the contract has.
func TestLineAddedToPrepaidContractIsPaidForEveryDelivery(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		paid   string // 41.40 is what the store asks for three deliveries
		change func(*subscription)
		want   string
	}{
		"a rule replaces the product": {"41.40", func(s *subscription) { s.swap(products(4016, 1), products(4015, 1), nil) }, "299.97"},
		"a rule carries half off": {"20.70", func(s *subscription) {
			s.swap(products(4016, 1), products(4015, 1), map[string]any{"carryDiscountForward": true})
		}, "149.98"},
		"a rule is for one order": {"41.40", func(s *subscription) {
			s.swap(products(4016, 1), products(4015, 1), map[string]any{"forBillingCycle": 1})
		}, "299.97"},
		"a product is added": {"41.40", func(s *subscription) {
			s.change("PUT", fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=4015&quantity=1", s.id), nil)
		}, "341.37"},
		"one replaces another":           {"41.40", func(s *subscription) { s.replace(4016, 4015, false) }, "299.97"},
		"one replaces another, half off": {"20.70", func(s *subscription) { s.replace(4016, 4015, true) }, "149.98"},
		"a one-time product comes once": {"41.40", func(s *subscription) {
			if got := s.put(oneOffPath(s.id, s.upcoming()[0].ID, 4015, ""), nil, nil); got != http.StatusOK {
				s.t.Fatalf("adding a one-time product answered %d", got)
			}
		}, "141.39"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quarterly := later(one(4016, test.paid))
			quarterly["billingPolicy"] = map[string]any{"interval": "MONTH", "intervalCount": 3}
			quarterly["deliveryPolicy"] = map[string]any{"interval": "MONTH", "intervalCount": 1}
			s := subscribe(t, quarterly)
			test.change(s)
			s.notice()
			s.pass("P11D")
			s.wantAmounts(test.want)
		})
	}
}

// A plan whose payment is for another number of deliveries than the contract's is paid for
// as many as the contract's payment covers.
func TestPlanPricesFollowContractsDeliveries(t *testing.T) {
	t.Parallel()
	quarterly := map[string]any{"billingFrequencyCount": 3, "billingFrequencyInterval": "MONTH", "planType": "PREPAID"}
	for _, row := range []struct {
		name    string
		prepaid bool // three deliveries are paid at once
		option  map[string]any
		now     string
		policy  string
		order   string // with another product of the same plan
	}{
		{"a plan of one delivery, for three", true, percent(10), "37.26", "41.40: 0 37.26", "307.23"},
		{"an amount off each", true, map[string]any{"discountEnabled": true, "discountOffer": 1, "discountType": "FIXED"}, "38.40", "41.40: 0 38.40", "335.37"},
		{"a plan of three deliveries, for one", false, with(quarterly, "discountOffer", 10), "12.42", "13.80: 0 12.42", "102.41"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			bought := one(4016, "13.80")
			if row.prepaid {
				bought = one(4016, "41.40")
				bought["billingPolicy"] = map[string]any{"interval": "MONTH", "intervalCount": 3}
				bought["deliveryPolicy"] = map[string]any{"interval": "MONTH", "intervalCount": 1}
			}
			s := subscribe(t, bought)
			plan := s.planned(s.urls.Subscriptions, row.option)
			s.change("PUT", "/subscription-contracts-update-line-item-selling-plan?sellingPlanId="+plan+"&"+s.line(), nil).price(t, 0, row.now, row.policy)
			s.change("PUT", fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=4015&quantity=1", s.id), nil)
			s.pass("P11D")
			s.wantAmounts(row.order)
		})
	}
}

// A line that is on the plan already is paid for as many deliveries as the contract's payment
// covers once the contract takes the plan's intervals.
func TestFirstPlanLineIsPaidForItsDeliveries(t *testing.T) {
	t.Parallel()
	s := subscribe(t, one(4016, "13.80"))
	plan := s.planned(s.urls.Subscriptions, map[string]any{"billingFrequencyCount": 3, "billingFrequencyInterval": "MONTH", "planType": "PREPAID", "discountOffer": 10})
	s.change("PUT", "/subscription-contracts-update-line-item-selling-plan?sellingPlanId="+plan+"&"+s.line(), nil).price(t, 0, "12.42", "13.80: 0 12.42")
	s.pass("PT1M")
	s.take(plan)
	s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).price(t, 0, "37.26", "41.40: 0 37.26")
	s.pass("P11D")
	s.wantAmounts("37.26")
	s.wantEntries(created, grouped, api2+"PRODUCT_SELLING_PLAN_CHANGE SUCCESS", api2+"PRODUCT_PRICE_CHANGE SUCCESS", tagged, api2+"PRODUCT_PRICE_CHANGE SUCCESS", api2+"BILLING_INTERVAL_CHANGE SUCCESS", charged)
}

func TestCreatedPrepaidContractCostsEveryDelivery(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	var buyer []struct{ CustomerID int64 }
	s.get("/subscription-contract-details?size=1", &buyer)
	var o object
	code := s.post("/subscription-contract-details/create-subscription-contract", map[string]any{
		"customerId": buyer[0].CustomerID, "nextBillingDate": s.now().AddDate(0, 0, 5).Format(time.RFC3339), "status": "ACTIVE",
		"billingIntervalType": "MONTH", "billingIntervalCount": 3, "deliveryIntervalType": "MONTH", "deliveryIntervalCount": 1,
		"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT",
		"lines": []any{map[string]any{"variantId": 4016, "quantity": 1}},
	}, &o)
	if code != http.StatusCreated {
		t.Fatalf("creating answered %d", code)
	}
	o.price(t, 0, "41.40", "")
}

// replace lets one variant take the place of another, with or without its discount.
func (s *subscription) replace(old, by int64, carry bool) {
	s.t.Helper()
	s.change("POST", "/subscription-contract-details/replace-variants-v3", map[string]any{
		"contractId": s.id, "oldVariants": []int64{old}, "newVariants": map[string]int{fmt.Sprint(by): 1}, "carryForwardDiscount": carry,
	})
}

// Integrations name the way in which a discount is carried.
func TestDiscountCarryingIsNamed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		carry any
		plan  float64
		now   string
	}{
		{"EXISTING_PLAN", 10, "19.50"},
		{"existing_plan", 0, "19.50"},
		{"PRODUCT_THEN_EXISTING", 10, "35.10"},
		{"PRODUCT_THEN_EXISTING", 0, "19.50"},
		{"PRODUCT_PLAN", 10, "35.10"},
		{"PRODUCT_PLAN", 0, "39.00"},
		{"NONE", 0, "39.00"},
		{nil, 0, "39.00"},
	} {
		t.Run(fmt.Sprint(row.carry, row.plan), func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, one(4001, "8.00"))
			if row.plan > 0 {
				s.cancel(http.StatusNoContent, "")
				plan := s.planned(s.urls.Subscriptions, percent(row.plan))
				s.id = s.checkout(map[string]any{"lines": []any{map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "8.00", "sellingPlanId": plan}}})
				s.pass("PT1M")
			}
			body := map[string]any{"contractId": s.id, "oldVariants": []int64{4001}, "newVariants": map[string]int{"4003": 1}, "carryForwardDiscount": row.carry}
			s.refused(http.StatusBadRequest, "POST", "/subscription-contract-details/replace-variants-v3", with(body, "carryForwardDiscount", "COUPON"))
			o := s.change("POST", "/subscription-contract-details/replace-variants-v3", body)
			if n := o.Lines.Nodes; len(n) != 1 || n[0].CurrentPrice.Amount != row.now {
				t.Errorf("the lines are %+v, want one at %s", n, row.now)
			}
		})
	}
}

// The prices of a plan go by the orders that were made. One that is paid late, after
// the next, is the later of both.
func TestLatePaidOrderHasPriceOfItsTurn(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.cancel(http.StatusNoContent, "")
	s.settings(map[string]any{"mode": "SIMPLE", "retries": 0, "finalAction": "PAUSE"})
	plan := s.planned(s.urls.Subscriptions, twoPrices(2))
	s.id = s.checkout(map[string]any{"nextBillingDate": "2026-12-05", "lines": []any{
		map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "14.40", "sellingPlanId": plan},
	}})
	s.declines("CARD_DECLINED", 1)
	s.until("2026-12-10")
	s.status(http.StatusNoContent, "ACTIVE") // it was paused for the decline
	s.until("2027-01-10")
	s.wantAmounts("14.40") // of January; December's was declined
	past := s.past()
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", past[len(past)-1].ID), nil)
	s.until("2027-02-10")
	s.wantAmounts("14.40", "8.00", "8.00")
}

// The price that is set is that of the next order, whatever was skipped before it.
func TestSetPriceAppliesToNextOrderAfterSkip(t *testing.T) {
	t.Parallel()
	s := subscribe(t, one(4001, "16.00"))
	line := s.line()
	s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+line, []any{
		map[string]any{"afterCycle": 0, "discountType": "PERCENTAGE", "value": 50}, map[string]any{"afterCycle": 2, "discountType": "PRICE", "value": 14},
	})
	s.until("2026-11-12")
	s.skipNumber(0)
	s.change("PUT", "/subscription-contracts-update-line-item-price?basePrice=9&"+line, nil).price(t, 0, "9.00", "9.00: 0 4.50 2 9.00")
	s.until("2027-01-20")
	s.wantOrders(1, 3)
	s.wantAmounts("8.00", "9.00")
}

// Of two orders that are made on one day each has the price of its own cycle.
func TestTwoOrdersOnOneDayHaveTheirOwnPrices(t *testing.T) {
	t.Parallel()
	s := subscribe(t, one(4001, "16.00"))
	s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), steps(0, 50, 1, 10))
	s.reschedule(0, "2026-12-11", false)
	s.until("2027-01-20")
	s.wantOrderDays("[12-11 12-12 01-11]")
	s.wantAmounts("8.00", "14.40", "14.40")
}

// An order that is charged again costs what it did, though the price of a later one
// was set meanwhile.
func TestRetryHasPriceOfItsCycle(t *testing.T) {
	t.Parallel()
	s := subscribe(t, one(4001, "16.00"))
	s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), steps(0, 50, 1, 10))
	for _, cycle := range []int{1, 2} {
		s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "cycles": []int{cycle}, "code": "CARD_DECLINED"}, nil)
	}
	s.until("2026-11-11")
	if got := s.trigger(s.upcoming()[0].ID); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	s.until("2026-12-20")
	s.wantOrders(1, 2)
	s.wantAmounts("8.00", "14.40")
}
