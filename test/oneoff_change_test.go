package test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// laden is a subscription to 2 A and a B in five days. The next order carries a C
// as well, which is published. The platform dates the order's
// cycle to the midnight before the hour at which the store charges.
type laden struct {
	*subscription
	products []article
	lines    []string // graph ids, as they stand in queries
	date     time.Time
	once     string // the C, as the books show it
}

func load(t *testing.T) *laden {
	t.Helper()
	s := &laden{subscription: subscribe(t, nil)}
	s.products = s.articles()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	y, m, d := s.now().In(zone).Date()
	s.date = time.Date(y, m, d+5, 0, 0, 0, 0, zone)
	s.id = s.checkout(map[string]any{"nextBillingDate": s.date.UTC(), "lines": []any{
		map[string]any{"variantId": s.products[0].VariantID, "quantity": 2, "currentPrice": "20.00"},
		map[string]any{"variantId": s.products[1].VariantID, "quantity": 1, "currentPrice": "10.00"},
	}})
	for _, l := range s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes {
		s.lines = append(s.lines, url.QueryEscape(l.ID))
	}
	s.carry(0)
	return s
}

// carry lets the n-th order from now carry a C, and the platform hear of it.
func (s *laden) carry(n int) {
	s.t.Helper()
	if got := s.put(oneOffPath(s.id, s.upcoming()[n].ID, s.products[2].VariantID, ""), nil, nil); got != http.StatusOK {
		s.t.Fatalf("adding a one-time product answered %d", got)
	}
	s.once = "C×1@" + s.products[2].Price
	s.pass("PT1M")
	if s.ownOrders() == 0 {
		s.t.Fatal("the platform does not show what the order carries")
	}
}

// until lets time pass until so many hours after the cycle's date at the platform.
func (s *laden) until(hours int) {
	s.t.Helper()
	s.pass(fmt.Sprintf("PT%dS", int(s.date.Add(time.Duration(hours)*time.Hour).Sub(s.now()).Seconds())))
}

// make calls an operation that changes the contract.
func (s *laden) make(operation string) {
	s.t.Helper()
	s.change("PUT", fmt.Sprintf("/subscription-contract%s&contractId=%d", operation, s.id), nil)
}

// shown returns what the next order costs, as it is said beforehand.
func (s *laden) shown() string {
	s.t.Helper()
	var queue []struct {
		OrderAmount float64 `json:"orderAmount"`
	}
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &queue)
	return fmt.Sprintf("%.2f", queue[0].OrderAmount)
}

// An edit of a cycle at the platform is a copy of the contract. From the cycle's own
// date on the platform lets the contract be changed without it.
func TestOrderWithOneOffFollowsContract(t *testing.T) {
	t.Parallel()
	early := func(s *laden) { s.until(2) }
	for name, test := range map[string]struct {
		before func(*laden) // the change
		change func(*laden) string
		after  func(*laden)
		want   string
	}{
		"a line is removed":   {early, func(s *laden) string { return "s-remove-line-item?lineId=" + s.lines[0] }, nil, "B×1@10.00"},
		"a quantity is lower": {early, func(s *laden) string { return "s-update-line-item-quantity?quantity=1&lineId=" + s.lines[0] }, nil, "A×1@20.00 B×1@10.00"},
		"a price is lower":    {early, func(s *laden) string { return "s-update-line-item-price?basePrice=5&lineId=" + s.lines[0] }, nil, "A×2@5.00 B×1@10.00"},
		"a variant gives way to another": {early, func(s *laden) string {
			return fmt.Sprintf("s-update-line-item?quantity=2&price=3&lineId=%s&variantId=%d", s.lines[0], s.products[3].VariantID)
		}, nil, "D×2@3.00 B×1@10.00"},
		"the order was moved to a later day": {func(s *laden) {
			day := s.date.AddDate(0, 0, 3).Format(time.DateOnly)
			s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%sT14:00:00Z", s.upcoming()[0].ID, day), nil)
			s.until(33)
		}, func(s *laden) string { return "s-remove-line-item?lineId=" + s.lines[0] }, nil, "B×1@10.00"},
		"a person charges at once": {early, func(s *laden) string { return "s-update-line-item-quantity?quantity=1&lineId=" + s.lines[0] }, func(s *laden) {
			s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", s.upcoming()[0].ID), nil)
			s.pass("PT1M")
		}, "A×1@20.00 B×1@10.00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t)
			test.before(s)
			s.make(test.change(s))
			shown := s.shown()
			if test.after != nil {
				test.after(s)
			}
			s.pass("P4D")
			s.wantLedger(s.book(1, test.want, s.once))
			if orders := s.orders(); len(orders) != 1 || orders[0].Amount != shown {
				t.Errorf("orders %+v, want one over %s, as was shown", orders, shown)
			}
		})
	}
}

// What stands in the way of a change is found wherever it is: orders that are skipped
// make the queue longer than it is for others.
func TestContractChangesThoughOrdersAfterOneOffAreSkipped(t *testing.T) {
	t.Parallel()
	s := load(t)
	for range 4 {
		s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", s.upcoming()[1].ID), nil)
	}
	s.make("s-update-line-item-quantity?quantity=3&lineId=" + s.lines[0])
	s.pass("P6D")
	s.wantLedger(s.book(1, "A×3@20.00 B×1@10.00", s.once))
}

// What is taken back of an order is its lines. A date that the platform has kept, and
// would not take any more since the orders come at another interval, blocks no change.
func TestContractChangesThoughMovedOrderHasOldInterval(t *testing.T) {
	t.Parallel()
	s := load(t)
	s.id = s.checkout(map[string]any{"nextBillingDate": s.date.UTC(), "billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	third := s.upcoming()[2]
	day := third.BillingDate.AddDate(0, 0, -3).Format(time.DateOnly)
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s", third.ID, day), nil)
	s.pass("PT1M")
	s.carry(2)
	s.interval("WEEK", 2)
	s.pass("PT1M")
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-contracts-update-order-note/%d?orderNote=Ring+twice", s.id), nil)
	s.pass("PT1M")
	if got := s.ownOrders(); got != 1 {
		t.Errorf("%d orders carry something at the platform, want 1", got)
	}
}

func TestOrderWithOneOffHasContractsDiscount(t *testing.T) {
	t.Parallel()
	s := load(t)
	s.until(2)
	s.make("s-add-discount?percentage=50&discountTitle=Half")
	shown := s.shown()
	s.pass("P1D")
	if orders := s.orders(); len(orders) != 1 || orders[0].Amount != shown || shown >= "50.00" {
		t.Errorf("orders %+v, want one over %s, as was shown", orders, shown)
	}
}

func TestDeclinedOrderWithOneOffIsRetriedWithChangedContract(t *testing.T) {
	t.Parallel()
	s := load(t)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "CARD_DECLINED"}, nil)
	s.until(12)
	past := s.past()
	if len(past) != 1 || past[0].Status != "FAILURE" {
		t.Fatalf("past %+v, want a decline", past)
	}
	s.make("s-update-line-item-quantity?quantity=1&lineId=" + s.lines[0])
	if got := s.explain(past[0].ID).Prices.LinesTotal; fmt.Sprintf("%.2f", got) != s.total(1, 1) {
		t.Errorf("the lines are said to come to %.2f, want %s", got, s.total(1, 1))
	}
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", past[0].ID), nil)
	s.pass("PT1M")
	s.wantLedger(s.book(1, "A×1@20.00 B×1@10.00", s.once))
	if got := s.explain(past[0].ID).Prices.LinesTotal; fmt.Sprintf("%.2f", got) != s.total(1, 1) {
		t.Errorf("afterwards the lines are said to have come to %.2f, want %s", got, s.total(1, 1))
	}
}

// book returns an order as the books show it.
func (s *laden) book(cycle int, has ...string) string {
	all := strings.Fields(strings.Join(has, " "))
	slices.Sort(all)
	return fmt.Sprintf("%d: %s", cycle, strings.Join(all, " "))
}

func TestContractCopyIsRebuiltUnderFaults(t *testing.T) {
	t.Parallel()
	for name, kinds := range map[string][]string{
		"answers are lost": {"timeout_after"},
		"nothing is sure":  {"timeout_after", "timeout_before", "http_500", "throttled", "connection_reset", "webhook_lost", "webhook_duplicated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t)
			s.until(2)
			s.make("s-update-line-item-quantity?quantity=1&lineId=" + s.lines[0])
			s.call("POST", "/platform/faults", map[string]any{"rate": 0.25, "kinds": kinds, "seed": 5, "for": "P1D"}, nil)
			s.pass("P2D")
			s.call("DELETE", "/platform/faults", nil, nil)
			s.pass("P3D")
			s.wantLedger(s.book(1, "A×1@20.00 B×1@10.00", s.once))
		})
	}
}

// total returns what so many A and B and a C come to.
func (s *laden) total(a, b int) string {
	var once float64
	if _, err := fmt.Sscan(s.products[2].Price, &once); err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%.2f", float64(20*a+10*b)+once)
}

func TestPriceStepsSwapsAndDowngradesReachOrderWithOneOff(t *testing.T) {
	t.Parallel()
	t.Run("a step of a price rule", func(t *testing.T) {
		t.Parallel()
		s := load(t)
		s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-pricing-policy?contractId=%d&lineId=%s&basePrice=10", s.id, s.lines[1]),
			[]any{map[string]any{"afterCycle": 1, "discountType": "PERCENTAGE", "value": 50}})
		s.carry(1)
		s.pass("P45D")
		s.wantLedger(s.book(1, "A×2@20.00 B×1@10.00", s.once), s.book(2, "A×2@20.00 B×1@5.00", s.once))
	})
	t.Run("a swap that lasts", func(t *testing.T) {
		t.Parallel()
		s := load(t)
		s.swap(products(s.products[1].VariantID, 1), products(s.products[3].VariantID, 1), nil)
		s.pass("P6D")
		s.wantLedger(s.book(1, "A×2@20.00", s.once, "D×1@10.00")) // the old price, until two weeks after its notice
	})
	t.Run("a downgrade that waited", func(t *testing.T) {
		t.Parallel()
		s := load(t)
		s.make("s-update-line-item-selling-plan?sellingPlanId=" + s.stepped(true) + "&lineId=" + s.lines[1])
		s.make("s-update-line-item-price?basePrice=99&lineId=" + s.lines[1])
		s.make(fmt.Sprintf("-update-variant?oldVariantId=%d&newVariantId=%d&prorateDowngrade=false", s.products[1].VariantID, s.products[3].VariantID))
		s.pass("P6D")
		s.wantLedger(s.book(1, "A×2@20.00", s.once, "D×1@16.65")) // as the plan sells it
	})
}

// The platform refuses every change of a contract while an order with a content of its own
// is being charged ahead of its date. That is no fault of the request, which may come
// again.
func TestContractChangeWaitsForEarlyChargeWithOneOff(t *testing.T) {
	t.Parallel()
	s := load(t)
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", s.upcoming()[0].ID), nil)
	s.pass("PT1S")
	for _, operation := range []string{"s-update-line-item-quantity?quantity=1&lineId=" + s.lines[0], "s-remove-line-item?lineId=" + s.lines[1], fmt.Sprintf("s-update-order-note/%d?orderNote=Ring+twice", s.id)} {
		r := s.demand("PUT", "/subscription-contract"+operation+fmt.Sprintf("&contractId=%d", s.id), s.key, nil)
		if r.status != http.StatusConflict || r.errorKey() != "billingInProgress" || r.header.Get("Retry-After") == "" {
			t.Errorf("%s answered %d %s", operation, r.status, r.body)
		}
	}
	s.pass("PT2M")
	s.make("s-update-line-item-quantity?quantity=1&lineId=" + s.lines[0])
	s.pass("P40D")
	s.wantLedger(s.book(1, "A×2@20.00 B×1@10.00", s.once), "2: A×1@20.00 B×1@10.00")
}

// What was sent stays noted as it was sent, whatever becomes of the contract before
// the end of the charge is known.
func TestOrderIsRecordedWithLinesAsSent(t *testing.T) {
	t.Parallel()
	s := load(t)
	s.refused(http.StatusOK, "DELETE", oneOffPath(s.id, s.upcoming()[0].ID, s.products[2].VariantID, ""), nil)
	s.pass("PT1M")
	first := s.upcoming()[0].ID
	s.until(2)
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"webhook_lost"}, "seed": 1, "for": "P1D"}, nil)
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", first), nil)
	s.pass("PT3S")
	if past := s.past(); len(past) != 1 || past[0].Status != "PROGRESS" {
		t.Fatalf("past %+v, want a charge whose end is not known", past)
	}
	s.make("s-update-line-item-quantity?quantity=7&lineId=" + s.lines[0])
	s.call("DELETE", "/platform/faults", nil, nil)
	s.pass("PT1H")
	s.wantLedger("1: A×2@20.00 B×1@10.00")
	s.wantPaid(first, 50, 2, 1)
}

// The platform makes an order of what the contract has when the charge comes to its
// end: while its customer was asked to confirm it, the contract may have changed.
func TestOrderIsRecordedWithLinesAsMade(t *testing.T) {
	t.Parallel()
	s := load(t)
	s.refused(http.StatusOK, "DELETE", oneOffPath(s.id, s.upcoming()[0].ID, s.products[2].VariantID, ""), nil)
	first := s.upcoming()[0].ID
	s.declines("CHALLENGE", 1)
	s.until(12)
	s.make("s-update-line-item-price?basePrice=5&lineId=" + s.lines[0])
	s.make("s-remove-line-item?lineId=" + s.lines[1])
	s.call("POST", "/platform/faults", map[string]any{"rate": 0.5, "kinds": []string{"throttled", "http_500", "timeout_after"}, "seed": 3, "for": "P1D"}, nil)
	s.ended("SUCCESS")
	s.pass("P1D")
	s.wantLedger("1: A×2@5.00")
	s.wantPaid(first, 10, 2)
}

// wantPaid compares the quantities of the only past order, which was paid, and what
// its lines are said to have come to.
func (s *laden) wantPaid(attempt int64, total float64, quantities ...int) {
	s.t.Helper()
	var past []struct {
		Status      string
		VariantList []struct{ Quantity int }
	}
	s.get(fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d", s.id), &past)
	var got []int
	if len(past) == 1 {
		for _, v := range past[0].VariantList {
			got = append(got, v.Quantity)
		}
	}
	if len(past) != 1 || past[0].Status != "SUCCESS" || !slices.Equal(got, quantities) {
		s.t.Errorf("past orders %+v, want one that was paid, of %d", past, quantities)
	}
	if e := s.explain(attempt); e.Prices.LinesTotal != total {
		s.t.Errorf("the lines are said to have come to %.2f, want %.2f", e.Prices.LinesTotal, total)
	}
}

// A price that is said for a product of one order is asked for it, also when the order
// carries the product already.
func TestOneOffCostsAnnouncedPrice(t *testing.T) {
	t.Parallel()
	s := load(t)
	add := func(letter, quantity int, price string) {
		s.change("PUT", fmt.Sprintf("/subscription-contract-add-line-item?contractId=%d&variantId=%d&quantity=%d&isOneTimeProduct=true&price=%s",
			s.id, s.products[letter].VariantID, quantity, price), nil)
	}
	add(3, 2, "1.25")
	add(2, 1, "3")
	s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf("/subscription-contract-add-line-item?contractId=%d&variantId=%d&quantity=1&isOneTimeProduct=true&price=-1", s.id, s.products[3].VariantID), nil)
	s.pass("P40D")
	s.wantLedger("1: A×2@20.00 B×1@10.00 C×1@3.00 D×2@1.25", "2: A×2@20.00 B×1@10.00")
}

// A contract is paused because an order cannot be paid: what that order carried comes with
// the first one after the pause.
func TestOneOffOfUnpaidOrderMovesToTheNext(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.settings(map[string]any{"mode": "SIMPLE", "retries": 1, "everyDays": 3, "finalAction": "PAUSE"})
	v := s.articles()
	s.put(oneOffPath(s.id, s.upcoming()[0].ID, v[1].VariantID, ""), nil, nil)
	s.declines("INSUFFICIENT_FUNDS", 2)
	s.pass("P20D") // declined twice: the contract is paused
	if got := s.put(fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=ACTIVE", s.id), nil, nil); got != http.StatusNoContent {
		t.Fatalf("starting it again answered %d", got)
	}
	s.pass("P60D")
	s.wantLedger("2: A×2@12.50 B×1@"+v[1].Price, "3: A×2@12.50")
}

// An order that was given up while the customer was asked to confirm its payment may be
// paid long afterwards. What it carries stays with it for as long, and comes once.
func TestOneOffOfLatePaidOrderComesOnce(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		days string // until the payment is confirmed
		with []int  // the orders that are made, in their order
	}{
		"before the next order": {"P10D", []int{1, 2}},
		"after it":              {"P40D", []int{2, 1, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t)
			s.settings(map[string]any{"mode": "SIMPLE", "retries": 0, "finalAction": "SKIP"})
			s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "cycles": []int{1}, "code": "CHALLENGE"}, nil)
			s.pass(row.days)
			s.call("POST", fmt.Sprintf("/platform/attempts/%d", s.contract(s.id).Attempts[0].ID), map[string]any{"code": "SUCCESS"}, nil)
			s.pass("P30D")
			var want []string
			for _, cycle := range row.with {
				has := "A×2@20.00 B×1@10.00"
				if cycle == 1 {
					has += " " + s.once
				}
				want = append(want, s.book(cycle, has))
			}
			s.wantLedger(want...)
		})
	}
}
