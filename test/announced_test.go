package test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forecast returns the amounts of the days with orders in the dashboard's forecast of 90 days, and
// those of the same days in its calendar.
func (s *subscription) forecast() (amounts, calendar []string) {
	s.t.Helper()
	user, at := s.merchant()
	rows, err := csv.NewReader(strings.NewReader(user.page(at + "/analytics/forecast.csv?days=90"))).ReadAll()
	if err != nil {
		s.t.Fatal(err)
	}
	cell := regexp.MustCompile(`<td class="num c strong">([0-9.]+) `)
	for _, row := range rows[1:] {
		if row[1] == "0" {
			continue
		}
		amounts = append(amounts, row[2])
		if found := cell.FindStringSubmatch(user.page(at + "/upcoming/" + row[0])); found != nil {
			calendar = append(calendar, found[1])
		}
	}
	return amounts, calendar
}

// What is said of an order before it is made is what the platform charges: by the interface, by
// e-mail and by webhook, in the calendar and in the forecast, with swap rules, prices that change, discounts that end, delivery and
// one-time products together.
func TestOrdersAreChargedAsAnnounced(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(s *subscription){
		"no rule": func(*subscription) {},
		"one order is dear": func(s *subscription) {
			s.swap(products(4001, 2), products(4003, 2), map[string]any{"forBillingCycle": 2})
		},
		"all orders are": func(s *subscription) { s.swap(products(4001, 1), products(4003, 1), nil) },
		"all keep their discount": func(s *subscription) {
			s.swap(products(4001, 1), products(4003, 1), map[string]any{"checkForEveryRecurringOrder": true, "forBillingCycle": 3, "discountCarryForward": "EXISTING_PLAN"})
		},
		"one order later another": func(s *subscription) {
			s.swap(products(4003, 1), products(4002, 1), map[string]any{"checkForEveryRecurringOrder": true})
			s.swap(products(4001, 1), products(4003, 1), map[string]any{"checkForEveryRecurringOrder": true, "changeNextOrderDateBy": 2})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, map[string]any{"deliveryPrice": "4.90"})
			s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), steps(0, 5, 2, 10))
			s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?contractId=%d&percentage=15&discountTitle=Hello&recurringCycleLimit=2", s.id), nil)
			if got := s.put(oneOffPath(s.id, s.upcoming()[1].ID, 4002, "&quantity=2"), nil, nil); got != http.StatusOK {
				t.Fatalf("adding a one-time product answered %d", got)
			}
			add(s)
			s.announcesWhatItCharges()
		})
	}
}

// announcesWhatItCharges compares the orders to come by the interface, by e-mail and by webhook, in the
// calendar and in the forecast, with the platform's, and returns what these cost.
func (s *subscription) announcesWhatItCharges() []string {
	t := s.t
	t.Helper()
	s.pass("PT1M")
	r := listen(s, upcomingOrder)
	const orders = 4
	var said, written, sent []string
	var queue []struct {
		OrderAmount float64 `json:"orderAmount"`
	}
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &queue)
	for _, a := range queue[:orders] {
		said = append(said, fmt.Sprintf("%.2f", a.OrderAmount))
	}
	forecast, calendar := s.forecast()
	for range 20 {
		if len(s.orders()) >= orders {
			break
		}
		s.pass("P10D")
	}
	var charged []string
	for _, o := range s.orders()[:orders] {
		charged = append(charged, o.Amount)
	}
	mails := s.mails("kind=upcoming_order")
	for i, m := range mails[:min(len(mails), orders)] {
		if strings.Contains(m.Text, "$"+charged[i]) {
			written = append(written, charged[i])
		} else {
			written = append(written, m.Text)
		}
	}
	for _, m := range r.messages()[:orders] {
		var data struct {
			OrderAmount float64 `json:"orderAmount"`
		}
		if err := json.Unmarshal(m.says(t).Data, &data); err != nil {
			t.Fatal(err)
		}
		sent = append(sent, fmt.Sprintf("%.2f", data.OrderAmount))
	}
	for how, list := range map[string][]string{"the list of orders": said, "e-mails": written, "webhooks": sent} {
		if !slices.Equal(list, charged) {
			t.Errorf("%s said %v, and %v was charged", how, list, charged)
		}
	}
	for how, list := range map[string][]string{"the forecast": forecast, "the calendar": calendar} {
		if len(list) < 2 || !slices.Equal(list, charged[:min(len(list), orders)]) {
			t.Errorf("%s had %v, and %v was charged", how, list, charged)
		}
	}
	return charged
}

// A box costs what its bundle says, in all that is said of it and in every order: with discounts beside
// it, with other products, and however often it is changed.
func TestBoxesCostWhatTheySay(t *testing.T) {
	t.Parallel()
	fixed := map[string]any{"pricingModel": "FIXED", "fixedBundlePrice": 49}
	tiers := func(list ...float64) map[string]any {
		var all []any
		for i := 0; i < len(list); i += 2 {
			all = append(all, map[string]any{"minProducts": list[i], "discountPercent": list[i+1]})
		}
		return map[string]any{"discounts": map[string]any{"enableVolumeDiscounts": true, "volumeDiscountTiers": all}}
	}
	discount := func(percent, cycles int) func(s *subscription) {
		return func(s *subscription) {
			path := fmt.Sprintf("/subscription-contracts-add-discount?contractId=%d&percentage=%d&discountTitle=Hello&recurringCycleLimit=%d", s.id, percent, cycles)
			s.change("PUT", path, nil)
		}
	}
	for name, row := range map[string]struct { // a box of 5 pieces for 185.00, with delivery for 4.90
		bundle map[string]any
		then   func(s *subscription)
		costs  []string
	}{
		"the sum":                        {map[string]any{"pricingModel": "DYNAMIC"}, nil, []string{"189.90", "189.90"}},
		"one price":                      {fixed, nil, []string{"53.90", "53.90"}},
		"one price above the sum":        {map[string]any{"pricingModel": "FIXED", "fixedBundlePrice": 200}, nil, []string{"189.90", "189.90"}},
		"one price and a discount":       {fixed, discount(10, 2), []string{"49.00", "49.00", "53.90", "53.90"}},
		"a discount of it all":           {fixed, discount(100, 1), []string{"4.90", "53.90"}},
		"a tier that it does not reach":  {tiers(6, 5), nil, []string{"189.90", "189.90"}},
		"the highest tier it reaches":    {tiers(3, 5, 5, 10, 6, 50), nil, []string{"171.40", "171.40"}},
		"a tier of a fraction of a cent": {tiers(5, 7.77), nil, []string{"175.53", "175.53"}}, // 14.3745 off
		"a rule for one order": {fixed, func(s *subscription) {
			s.swap(products(4003, 1), products(4001, 1), map[string]any{"forBillingCycle": 2})
		}, []string{"53.90", "53.90", "53.90"}},
		"a one-time product beside it": {fixed, func(s *subscription) {
			if got := s.put(oneOffPath(s.id, s.upcoming()[1].ID, 4002, "&quantity=2"), nil, nil); got != http.StatusOK {
				s.t.Fatalf("adding a one-time product answered %d", got)
			}
		}, []string{"53.90", "85.90", "53.90"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.refused(http.StatusNoContent, "DELETE", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
			row.bundle["allowModifications"] = true
			plan := s.boxPlan([]int64{4001, 4003}, row.bundle)
			s.id = s.checkout(map[string]any{"deliveryPrice": "4.90", "lines": []any{
				map[string]any{"variantId": 4001, "quantity": 2, "currentPrice": "34.00", "sellingPlanId": plan},
				map[string]any{"variantId": 4003, "quantity": 3, "currentPrice": "39.00", "sellingPlanId": plan},
			}})
			if row.then != nil {
				row.then(s)
			}
			got := s.announcesWhatItCharges()
			if want := row.costs; !slices.Equal(got[:len(want)], want) {
				t.Errorf("charged %v, want %v", got, want)
			}
		})
	}
}

// A rule that makes orders dearer is announced two weeks before its price counts, and until then the
// old price is charged. What takes whose place is said while it can still be refused, and once.
func TestDearerRuleIsAnnouncedBeforeItsPriceCounts(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		more   map[string]any
		prices []string // of the first three orders, in 10 days and one and two months later
		rises  string   // the day that the announcement names
	}{
		"one that lasts":                   {nil, []string{"25.00", "78.00", "78.00"}, "December 11"},
		"one of an order that is too near": {map[string]any{"forBillingCycle": 1}, []string{"25.00", "25.00", "25.00"}, ""},
		"one of a later order":             {map[string]any{"forBillingCycle": 2}, []string{"25.00", "78.00", "25.00"}, "December 11"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.swap(products(4001, 1), products(4003, 1), row.more)
			s.pass("P1D")
			notices := s.mails("kind=price_updated")
			text := ""
			for _, m := range notices {
				text += strings.Join(strings.Fields(m.Text), " ")
			}
			wanted := row.rises + " on, House Blend Coffee - Whole bean, 1 kg costs $39.00 each. Orders before that keep their price. In place of House Blend Coffee - Whole bean, 340 g"
			if said := strings.Contains(text, wanted); said != (row.rises != "") || said != (len(notices) == 1) {
				t.Errorf("of the price was said: %s", text)
			}
			early := len(s.mails("kind=product_replaced"))
			if said := row.more["forBillingCycle"] != 2; said != (early == 1) {
				t.Errorf("of what is replaced in the first order was said: %+v", s.mails("kind=product_replaced"))
			}
			for range 8 {
				s.pass("P10D")
			}
			var charged []string
			for _, o := range s.orders()[:3] {
				charged = append(charged, o.Amount)
			}
			if !slices.Equal(charged, row.prices) {
				t.Errorf("charged %v, want %v", charged, row.prices)
			}
			if n := len(s.mails("kind=product_replaced")); n != 1 {
				t.Errorf("%d e-mails said that a product is replaced", n)
			}
			if n := len(s.mails("kind=price_updated")); n != len(notices) {
				t.Errorf("%d e-mails said that a price changes", n)
			}
		})
	}
}

// A subscriber declines a replacement for one order: that order has its products and its price, and
// the rule acts on the next one.
func TestSubscriberDeclinesReplacementForOneOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"lines": []any{map[string]any{"variantId": 4003, "quantity": 1, "currentPrice": "39.00"}}})
	s.swap(products(4003, 1), products(4001, 1), nil)
	p := s.visit(s.payer(s.id))
	path := fmt.Sprintf("/subscription-billing-attempts/keep-products/%d", s.upcoming()[0].ID)
	p.want(http.StatusOK, "PUT", path, nil, nil)
	p.want(http.StatusBadRequest, "PUT", path, nil, nil)
	for range 6 {
		s.pass("P10D")
	}
	for i, want := range []string{"39.00", "16.00"} {
		if o := s.orders()[i]; o.Amount != want {
			t.Errorf("order %d cost %s, want %s", i+1, o.Amount, want)
		}
	}
}

// A reminder says what takes whose place, in the order that a rule changes and in no other.
func TestReminderSaysWhatTakesWhosePlace(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.swap(products(4001, 1), products(4003, 1), map[string]any{"forBillingCycle": 2})
	for range 20 {
		if len(s.mails("kind=upcoming_order")) >= 3 {
			break
		}
		s.pass("P10D")
	}
	for i, m := range s.mails("kind=upcoming_order")[:3] {
		if got := strings.Contains(m.HTML, "In place of House Blend Coffee"); got != (i == 1) {
			t.Errorf("reminder %d says that something takes the place of the coffee: %t", i, got)
		}
	}
}

// The order of a box that its rules do not allow is not made: its subscriber is asked to complete the
// box, the merchant sees it, and once it is complete the order is charged. One that is never
// completed is skipped when the next one is due.
func TestIncompleteBoxIsNotRenewed(t *testing.T) {
	t.Parallel()
	for name, completed := range map[string]bool{"completed late": true, "never completed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.refused(http.StatusNoContent, "DELETE", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
			plan := s.boxPlan([]int64{4001, 4003}, map[string]any{"pricingModel": "FIXED", "fixedBundlePrice": 20, "minProducts": 3, "allowModifications": true})
			s.id = s.checkout(map[string]any{"lines": []any{map[string]any{"variantId": 4001, "quantity": 2, "currentPrice": "12.50", "sellingPlanId": plan}}})
			for range 12 {
				s.pass("P1D")
			}
			if n := len(s.orders()); n != 0 {
				t.Fatalf("%d orders were made of an incomplete box", n)
			}
			if got := s.upcoming()[0]; got.Status != "QUEUED" {
				t.Errorf("the order is %s", got.Status)
			}
			asked := 0
			for _, m := range s.mails("kind=upcoming_order") {
				if strings.Contains(m.Subject, "Complete your box") && strings.Contains(strings.Join(strings.Fields(m.Text), " "), "The box holds too few products. Your order of") {
					asked++
				}
			}
			if asked != 2 {
				t.Errorf("the subscriber was asked %d times: %+v", asked, s.mails("kind=upcoming_order"))
			}
			user, at := s.merchant()
			if home := user.page(at); !strings.Contains(home, "waits for its box") {
				t.Errorf("the merchant does not see it: %s", home)
			}
			p := s.visit(s.payer(s.id))
			if !completed {
				for range 5 {
					s.pass("P7D")
				}
				if orders, past := s.orders(), s.past(); len(orders) != 0 || past[0].Status != "SKIPPED" {
					t.Errorf("%d orders were made, and the last attempt is %+v", len(orders), past[0])
				}
				return
			}
			p.want(http.StatusOK, "PUT", fmt.Sprintf("/contracts/%d/box", s.id), map[string]any{"products": []any{map[string]any{"variantId": 4001, "quantity": 3}}}, nil)
			s.pass("PT2H")
			if orders := s.orders(); len(orders) != 1 || orders[0].Amount != "20.00" {
				t.Errorf("the orders are %+v, want one for 20.00", orders)
			}
			events := strings.Join(s.did(s.log, "CUSTOMER_PORTAL"), " ")
			for _, want := range []string{"BAB_QUANTITY_CHANGE", "BAB_DISCOUNT_ADJUSTMENT"} {
				if !strings.Contains(events, want) {
					t.Errorf("%s is not among %s", want, events)
				}
			}
		})
	}
}
