package test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"
)

func TestNextOrderIsSkippedWithoutNumber(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	queue := s.upcoming()
	path := fmt.Sprintf("/subscription-billing-attempts/skip-upcoming-order?subscriptionContractId=%d", s.id)
	for i := range 2 {
		var answer attempt
		if got := s.put(path, nil, &answer); got != http.StatusOK || answer.ID != queue[i].ID || answer.Status != "SKIPPED" {
			t.Fatalf("skipping answered %d with %+v", got, answer)
		}
	}
	if next := s.row().NextBillingDate; next == nil || !next.Equal(queue[2].BillingDate) {
		t.Errorf("the next date is %v, want that of the third order, %s", next, queue[2].BillingDate)
	}
	if got := s.put("/subscription-billing-attempts/skip-upcoming-order?contractId=4711", nil, nil); got != http.StatusNotFound {
		t.Errorf("an unknown contract answered %d", got)
	}
}

func TestLaterOrdersFollowCalendarDate(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil) // due on the 11th of November and of every month after it
	second := s.upcoming()[1]
	var answer attempt
	path := fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=", second.ID)
	if got := s.put(path+"2026-12-01&rescheduleFutureOrder=true", nil, &answer); got != http.StatusOK {
		t.Fatalf("rescheduling answered %d", got)
	}
	if want := time.Date(2026, 12, 1, 14, 0, 0, 0, time.UTC); !answer.BillingDate.Equal(want) {
		t.Errorf("the answer shows %s, want %s", answer.BillingDate, want)
	}
	var days []string
	for _, a := range s.upcoming() {
		days = append(days, a.BillingDate.Format("01-02"))
	}
	if got, want := fmt.Sprint(days), "[11-11 12-01 01-01 02-01 03-01 04-01]"; got != want {
		t.Errorf("upcoming on %s, want %s", got, want)
	}
	if got := s.put(path+"2026-10-01&rescheduleFutureOrder=true", nil, nil); got != http.StatusBadRequest {
		t.Errorf("a date in the past answered %d", got)
	}
	s.pass("P270D") // longer than the queue that was redated
	var orders []string
	for _, o := range s.orders() {
		orders = append(orders, fmt.Sprintf("%d on %s", o.Cycle, o.At.Format("01-02")))
	}
	if got, want := fmt.Sprint(orders), "[1 on 11-11 2 on 12-01 3 on 01-01 4 on 02-01 5 on 03-01 6 on 04-01 7 on 05-01 8 on 06-01 9 on 07-01]"; got != want {
		t.Errorf("orders\n%s, want\n%s", got, want)
	}
}

func TestNoteOfOneOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.upcoming()[0]
	path := fmt.Sprintf("/subscription-billing-attempts-update-order-note/%d", first.ID)
	var agreed bool
	if got := s.put(path+"?orderNote=ring%20twice", nil, &agreed); got != http.StatusOK || !agreed {
		t.Fatalf("the note answered %d %t", got, agreed)
	}
	if note := s.upcoming()[0].OrderNote; note == nil || *note != "ring twice" {
		t.Errorf("the note is %v", note)
	}
	if got := s.put(path, nil, nil); got != http.StatusBadRequest {
		t.Errorf("no note answered %d", got)
	}
	if got := s.put(path+"?orderNote=", nil, &agreed); got != http.StatusOK || s.upcoming()[0].OrderNote != nil {
		t.Errorf("clearing the note answered %d", got)
	}
	s.pass("P11D")
	if got := s.put(path+"?orderNote=late", nil, nil); got != http.StatusBadRequest {
		t.Errorf("the note of an order that was made answered %d", got)
	}
	var report []attempt
	s.get("/subscription-billing-attempts/past-orders/report?status=success&fromDay=2026-11-11&toDay=2026-11-11&attemptCount=1&contractStatus=active", &report)
	if len(report) != 1 || report[0].ID != first.ID {
		t.Errorf("the report shows %+v, want the order that was made", report)
	}
}

// halfOnce takes half off one order, the first that is made.
func (s *subscription) halfOnce() {
	s.t.Helper()
	s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?contractId=%d&percentage=50&discountTitle=Half&recurringCycleLimit=1", s.id), nil)
}

// halfUnpaid subscribes to 25.00 a month, half off once, and lets the first order be
// declined, on the 11th of November. It is the 12th then.
func halfUnpaid(t *testing.T) *subscription {
	s := subscribe(t, nil)
	s.halfOnce()
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.until("2026-11-12")
	return s
}

// A discount for some orders is for those that are made first, wherever they are in
// the calendar.
func TestLimitedDiscountAppliesToFirstMadeOrders(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "DAY", "intervalCount": 10}})
	s.reschedule(0, "2026-11-24", false) // the order of the 21st is made before it
	s.halfOnce()
	var queue []struct {
		BillingDate time.Time `json:"billingDate"`
		OrderAmount float64   `json:"orderAmount"`
	}
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &queue)
	said := make(map[string]string)
	for _, a := range queue[:2] {
		said[a.BillingDate.Format("01-02")] = fmt.Sprintf("%.2f", a.OrderAmount)
	}
	s.until("2026-11-25")
	charged := make(map[string]string)
	for _, o := range s.orders() {
		charged[o.At.Format("01-02")] = o.Amount
	}
	if !maps.Equal(said, charged) || charged["11-21"] != "12.50" {
		t.Errorf("the orders were said to come to %v, and came to %v", said, charged)
	}
}

// An order that could not be charged comes first: what is left of a discount, and the
// prices of a plan, are counted from it on.
func TestUnpaidOrderCountsBeforeUpcomingOnes(t *testing.T) {
	t.Parallel()
	s := halfUnpaid(t)
	var queue []struct {
		OrderAmount float64 `json:"orderAmount"`
	}
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &queue)
	if len(s.orders()) != 0 || queue[0].OrderAmount != 25 {
		t.Errorf("while the order with the discount is unpaid, the next is said to come to %v, want 25", queue[0].OrderAmount)
	}
	s.until("2026-12-20")
	s.wantAmounts("12.50", "25.00")
}

// What an order that the platform's own pages leave out would have come to counts
// those before it as any other does.
func TestOrderSkippedAtPlatformCountsUnpaidOne(t *testing.T) {
	t.Parallel()
	s := halfUnpaid(t)
	s.mutate(fmt.Sprintf(`mutation { subscriptionBillingCycleSkip(billingCycleInput: {contractId: "gid://shopify/SubscriptionContract/%d", selector: {index: 2}}) { userErrors { message } } }`, s.id))
	s.pass("PT1H")
	var past []struct {
		Status      string
		OrderAmount float64 `json:"orderAmount"`
	}
	s.get(fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d&sort=billingDate,desc", s.id), &past)
	if len(past) == 0 || past[0].Status != "SKIPPED" || past[0].OrderAmount != 25 {
		t.Errorf("the orders are %+v, want the last one SKIPPED, of 25", past)
	}
}

// What is said of an order beforehand is what it then costs: with the delivery,
// with discounts that end, with prices that change with the orders, and with what
// is ordered once.
func TestUpcomingOrdersCostAnnouncedPrice(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"deliveryPrice": "4.90"})
	line := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes[0].ID
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-pricing-policy?contractId=%d&lineId=%s&basePrice=12.50", s.id, url.QueryEscape(line)), []any{
		map[string]any{"afterCycle": 0, "discountType": "PERCENTAGE", "value": 0}, map[string]any{"afterCycle": 2, "discountType": "PRICE", "value": 9.99},
	})
	s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?contractId=%d&percentage=15&discountTitle=Hello&recurringCycleLimit=2", s.id), nil)
	s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?contractId=%d&amount=3&discountTitle=Loyal", s.id), nil)
	v := s.articles()
	second := s.upcoming()[1].ID
	if got := s.put(oneOffPath(s.id, second, v[1].VariantID, "&quantity=2"), nil, nil); got != http.StatusOK {
		t.Fatalf("adding a one-time product answered %d", got)
	}
	type said struct {
		ID          int64
		OrderAmount float64 `json:"orderAmount"`
	}
	amounts := func() (list []string) {
		var queue []said
		s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &queue)
		for _, a := range queue {
			list = append(list, fmt.Sprintf("%.2f", a.OrderAmount))
		}
		return list
	}
	// 15 % and 3.00 off 25.00, and 4.90 for the delivery; with two more products the
	// second time; the third time at 9.99, without the 15 %.
	before := amounts()
	var once float64
	if _, err := fmt.Sscan(v[1].Price, &once); err != nil {
		t.Fatal(err)
	}
	off := math.Round(2*once*15) / 100
	want := []string{"23.15", fmt.Sprintf("%.2f", 23.15+2*once-off), "21.88", "21.88"}
	if !slices.Equal(before[:4], want) {
		t.Errorf("beforehand the orders are said to come to %v, want %v", before[:4], want)
	}
	var changed said
	s.put("/subscription-billing-attempts", map[string]any{"id": second, "orderNote": "ring twice"}, &changed)
	if got := fmt.Sprintf("%.2f", changed.OrderAmount); got != want[1] {
		t.Errorf("a change of the second order says that it comes to %s, want %s", got, want[1])
	}
	s.pass("P45D")
	if rest := amounts(); len(rest) < 2 || rest[0] != want[2] || rest[1] != want[3] {
		t.Errorf("after two orders those to come are said to come to %v, want %v", rest, want[2:])
	}
	s.pass("P60D")
	var charged []string
	for _, o := range s.orders() {
		charged = append(charged, o.Amount)
	}
	if !slices.Equal(charged, want) {
		t.Errorf("the orders came to %v, want %v", charged, want)
	}
}

// What is said of an order of a contract that was bought on a plan is what the plan asks
// of it, also when the platform keeps no prices of the line, and after the plan has
// changed or an order is left out.
func TestUpcomingPlanOrdersCostAnnouncedPrice(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		do   func(s *subscription, plan string)
		want []string
	}{
		"as it was bought":    {func(*subscription, string) {}, []string{"14.40", "8.00", "8.00"}},
		"an order is skipped": {func(s *subscription, _ string) { s.skipNumber(0) }, []string{"14.40", "8.00", "8.00"}},
		"the plan has changed": {func(s *subscription, plan string) {
			var groups []group
			s.get("/subscription-groups", &groups)
			if got := s.put(fmt.Sprintf("/subscription-groups/%d", groups[0].ID), map[string]any{"subscriptionPlans": []any{map[string]any{"idNew": plan, "discountOffer2": 25}}}, nil); got != http.StatusOK {
				s.t.Fatalf("changing the plan answered %d", got)
			}
		}, []string{"14.40", "8.00", "8.00"}},
		"there is a discount for one order": {func(s *subscription, _ string) {
			s.halfOnce()
		}, []string{"7.20", "8.00", "8.00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.cancel(http.StatusNoContent, "")
			plan := s.planned(s.urls.Subscriptions, twoPrices(2))
			s.id = s.checkout(map[string]any{"lines": []any{map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "14.40", "sellingPlanId": plan}}})
			row.do(s, plan)
			var said []string
			var queue []struct {
				OrderAmount float64 `json:"orderAmount"`
			}
			s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &queue)
			for _, a := range queue[:len(row.want)] {
				said = append(said, fmt.Sprintf("%.2f", a.OrderAmount))
			}
			if !slices.Equal(said, row.want) {
				t.Errorf("beforehand the orders are said to come to %v, want %v", said, row.want)
			}
			s.until("2027-03-01")
			s.wantAmounts(append(row.want, row.want[len(row.want)-1])[:len(s.orders())]...)
			if n := len(s.orders()); n < 3 {
				t.Errorf("there are %d orders, want at least 3", n)
			}
		})
	}
}

// What an order that is left out would have come to stays what it was, whatever becomes
// of the contract. One that is taken back is that of the contract again.
func TestSkippedOrderKeepsItsAmount(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"deliveryPrice": "4.90"})
	type order struct {
		ID          int64
		Status      string
		OrderAmount float64 `json:"orderAmount"`
		VariantList []struct{ Quantity int }
	}
	order0 := func(path string) order {
		var list []order
		s.get(fmt.Sprintf("/subscription-billing-attempts/%s?contractId=%d", path, s.id), &list)
		return list[0]
	}
	id := s.upcoming()[0].ID
	s.halfOnce()
	if got := s.put(oneOffPath(s.id, id, 4003, ""), nil, nil); got != http.StatusOK {
		t.Fatalf("adding a one-time product answered %d", got)
	}
	want := func(when string, o order, status string, amount float64, quantities ...int) {
		t.Helper()
		var got []int
		for _, v := range o.VariantList {
			got = append(got, v.Quantity)
		}
		if o.ID != id || o.Status != status || o.OrderAmount != amount || !slices.Equal(got, quantities) {
			t.Errorf("%s it is %+v, want %s over %v with %v pieces", when, o, status, amount, quantities)
		}
	}
	var answer order
	s.put(fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", id), nil, &answer)
	want("when it is skipped", answer, "SKIPPED", 17.40, 2) // the one-time product goes to the next order
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item?variantId=%d&quantity=3&price=10&%s", s.variants()[0], s.line()), nil)
	s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?contractId=%d&amount=3&discountTitle=More", s.id), nil)
	want("after the contract has changed", order0("past-orders"), "SKIPPED", 17.40, 2)
	answer = order{}
	s.put(fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", id), nil, &answer)
	want("when it is taken back", answer, "QUEUED", 16.90, 3)
	want("among those to come", order0("top-orders"), "QUEUED", 16.90, 3)
	s.until("2026-11-12")
	want("when it is charged", order0("past-orders"), "SUCCESS", 16.90, 3)
	s.wantAmounts("16.90")
}

// A date that the platform refuses is ours all the same: what it shows of the cycle is the
// date before, and a change of the cycle that has nothing to do with it brings that not
// back.
func TestOrderEditsSurviveDateRefusedByPlatform(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	order := s.upcoming()[1]
	for _, away := range []int{-6, 9} { // within its cycle, and beyond
		s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s", order.ID, order.BillingDate.AddDate(0, 0, away).Format(time.DateOnly)), nil)
		s.pass("PT10M")
	}
	chosen := s.upcoming()[1].BillingDate
	product := oneOffPath(s.id, order.ID, s.articles()[1].VariantID, "")
	if got := s.put(product, nil, nil); got != http.StatusOK {
		t.Fatalf("adding a product answered %d", got)
	}
	s.pass("PT10M")
	if got := s.delete(product, nil); got != http.StatusOK {
		t.Fatalf("taking it out again answered %d", got)
	}
	s.pass("PT10M")
	if is := s.upcoming()[1].BillingDate; !is.Equal(chosen) || !is.After(order.BillingDate) {
		t.Errorf("the order is on %s, and the chosen date is %s", is, chosen)
	}
}
