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
