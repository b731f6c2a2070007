package test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestNewContractQueuesSixOrdersAndChargesOnDate(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	queue := s.upcoming()
	if len(queue) != 6 {
		t.Fatalf("%d upcoming attempts, want 6", len(queue))
	}
	first := time.Date(2026, 11, 11, 14, 0, 0, 0, time.UTC) // 9:00 in New York
	for i, a := range queue {
		if a.Status != "QUEUED" || !a.BillingDate.Equal(first.AddDate(0, i, 0)) && i < 4 {
			t.Errorf("attempt %d: %+v, want QUEUED on %s", i, a, first.AddDate(0, i, 0))
		}
	}
	s.pass("P11D")
	past, orders, c := s.past(), s.orders(), s.row()
	if len(orders) != 1 || len(past) != 1 || past[0].Status != "SUCCESS" || past[0].OrderID == nil || *past[0].OrderID != orders[0].ID {
		t.Fatalf("past %+v and orders %+v, want one and the same", past, orders)
	}
	if orders[0].Amount != "25.00" || c.Orders != 1 || c.NextBillingDate == nil || !c.NextBillingDate.Equal(first.AddDate(0, 1, 0)) {
		t.Errorf("order %+v of contract %+v", orders[0], c)
	}
	if n := len(s.upcoming()); n != 6 {
		t.Errorf("the queue has %d attempts after the charge, want 6", n)
	}
	s.wantEntries(created, charged)
}

func TestSkippedCycleIsNotChargedAndCanBeUnskipped(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first, second := s.upcoming()[0], s.upcoming()[1]
	var answer attempt
	path := fmt.Sprintf("/subscription-billing-attempts/skip-order/%d?subscriptionContractId=%d", first.ID, s.id)
	if got := s.put(path, nil, &answer); got != http.StatusOK || answer.Status != "SKIPPED" {
		t.Fatalf("skipping answered %d %+v", got, answer)
	}
	if c := s.row(); !c.NextBillingDate.Equal(second.BillingDate) {
		t.Errorf("the next billing date is %s, want that of the following cycle, %s", c.NextBillingDate, second.BillingDate)
	}
	if got := s.put(path, nil, nil); got != http.StatusBadRequest {
		t.Errorf("skipping twice answered %d", got)
	}
	s.pass("P1D")
	unskip := fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", first.ID)
	if got := s.put(unskip, nil, &answer); got != http.StatusOK || answer.Status != "QUEUED" {
		t.Fatalf("unskipping answered %d %+v", got, answer)
	}
	if got := s.put(path, nil, nil); got != http.StatusOK {
		t.Fatalf("skipping again answered %d", got)
	}
	s.pass("P45D")
	orders := s.orders()
	if len(orders) != 1 || orders[0].Cycle != 2 {
		t.Errorf("orders %+v, want that of cycle 2 alone", orders)
	}
	if got := s.put(unskip, nil, nil); got != http.StatusBadRequest {
		t.Errorf("taking back a skip of the past answered %d", got)
	}
	s.wantEntries(created, skipped, "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_UPDATED SUCCESS", skipped, charged)
}

func TestChosenDateIsChargedAtStoreOrderTime(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.upcoming()[0]
	var answer attempt
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": first.ID, "billingDate": "2026-11-20"}, &answer); got != http.StatusOK {
		t.Fatalf("editing answered %d", got)
	}
	want := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	if !answer.BillingDate.Equal(want) {
		t.Errorf("the answer shows %s, want the effective instant %s", answer.BillingDate, want)
	}
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": first.ID, "billingDate": "2026-10-20"}, nil); got != http.StatusBadRequest {
		t.Errorf("a date in the past answered %d", got)
	}
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": first.ID, "billingDate": "2026-11-03", "orderNote": "ring twice"}, &answer); got != http.StatusOK {
		t.Fatalf("editing answered %d", got)
	}
	s.pass("P3D")
	orders := s.orders()
	if len(orders) != 1 || orders[0].Cycle != 1 || !orders[0].At.Equal(time.Date(2026, 11, 3, 14, 0, 2, 0, time.UTC)) {
		t.Errorf("orders %+v, want that of cycle 1 on November 3", orders)
	}
	if past := s.past(); past[0].OrderNote == nil || *past[0].OrderNote != "ring twice" {
		t.Errorf("past %+v, want the note", past)
	}
	s.pass("P30D")
	if orders := s.orders(); len(orders) != 1 {
		t.Errorf("orders %+v: the calendar of later cycles must not move", orders)
	}
	s.pass("P9D")
	if orders := s.orders(); len(orders) != 2 || orders[1].Cycle != 2 {
		t.Errorf("orders %+v, want that of cycle 2 on December 11", orders)
	}
}

func TestImmediateChargeHappensOnceAndCounts(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.upcoming()[0]
	trigger := func(id int64) int {
		return s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", id), nil, nil)
	}
	if got := trigger(first.ID); got != http.StatusOK {
		t.Fatalf("charging now answered %d", got)
	}
	if got := trigger(first.ID); got != http.StatusConflict {
		t.Errorf("charging what is being charged answered %d", got)
	}
	s.pass("PT1M")
	if orders := s.orders(); len(orders) != 1 || orders[0].Cycle != 1 {
		t.Fatalf("orders %+v, want that of cycle 1", orders)
	}
	if got := trigger(first.ID); got != http.StatusBadRequest {
		t.Errorf("charging a successful attempt answered %d", got)
	}
	if got := trigger(999_999); got != http.StatusNotFound {
		t.Errorf("charging an unknown attempt answered %d", got)
	}
	s.pass("P15D")
	if orders := s.orders(); len(orders) != 1 {
		t.Errorf("orders %+v: the date of the cycle that was charged early has come and charged it again", orders)
	}
	s.wantEntries(created, triggered, charged)
}

func TestDeclinedAttemptCanBeChargedAgain(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "INSUFFICIENT_FUNDS"}, nil)
	s.pass("P11D")
	past := s.past()
	if len(past) != 1 || past[0].Status != "FAILURE" || past[0].ResponseMessage == nil {
		t.Fatalf("past %+v, want a failure with its message", past)
	}
	for range 5 {
		s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "CARD_DECLINED"}, nil)
		if got := s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", past[0].ID), nil, nil); got != http.StatusOK {
			t.Fatalf("charging a failed attempt answered %d", got)
		}
		s.pass("PT1M")
	}
	if got := s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", past[0].ID), nil, nil); got != http.StatusBadRequest {
		t.Errorf("the sixth charge within an hour answered %d", got)
	}
	s.pass("PT1H")
	if got := s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", past[0].ID), nil, nil); got != http.StatusOK {
		t.Errorf("a charge after an hour answered %d", got)
	}
	s.pass("PT1M")
	if past = s.past(); past[0].Status != "SUCCESS" || past[0].AttemptCount != 7 {
		t.Errorf("past %+v, want the success of the seventh try", past)
	}
	keys := make(map[string]bool)
	for _, a := range s.contract(s.id).Attempts {
		keys[a.Key] = true
	}
	if len(keys) != 7 || len(s.orders()) != 1 {
		t.Errorf("%d keys and %d orders, want 7 keys and 1 order", len(keys), len(s.orders()))
	}
	want := []string{created, declined, "SYSTEM_EVENT SEND_TRANSACTION_FAILED_EMAIL SUCCESS"}
	for range 5 {
		want = append(want, triggered, declined)
	}
	s.wantEntries(append(want, "MERCHANT_EXTERNAL_API IMMEDIATE_ORDER_RATE_LIMIT_BLOCKED FAILURE", triggered, charged)...)
}

func TestPendingChargeDelaysLaterCyclesForTwoDays(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "NEVER"}, nil)
	s.pass("P11D")
	if past := s.past(); len(past) != 1 || past[0].Status != "PROGRESS" {
		t.Errorf("past %+v, want the attempt under way", past)
	}
	s.pass("P34D")
	past := s.past()
	if len(past) != 2 || past[1].Status != "SHOPIFY_EXCEPTION" || past[0].Status != "SUCCESS" {
		t.Errorf("past %+v, want the first attempt shown as an exception and the second charged", past)
	}
	if orders := s.orders(); len(orders) != 1 || orders[0].Cycle != 2 {
		t.Errorf("orders %+v, want that of cycle 2", orders)
	}
	if n := len(s.contract(s.id).Attempts); n != 2 {
		t.Errorf("%d charges were sent, want one for each cycle", n)
	}
	s.wantEntries(created, "SYSTEM_EVENT BILLING_ATTEMPT_NOTIFICATION FAILURE", "SYSTEM_EVENT INFORMATIONAL_EVENT FAILURE", charged)
}

func TestQueueIsFullWhileChargeIsPending(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"NEVER", "CHALLENGE"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": code}, nil)
			s.pass("P11D")
			queue := s.upcoming()
			if past := s.past(); len(past) != 1 || len(queue) != 6 {
				t.Fatalf("past %+v and %d upcoming orders, want the charge and the next 6", past, len(queue))
			}
			if next := s.row().NextBillingDate; next == nil || !next.Equal(queue[0].BillingDate) {
				t.Errorf("the next date is %v, want that of the next order, %s", next, queue[0].BillingDate)
			}
		})
	}
}

func TestUnansweredChallengeFails(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "CHALLENGE"}, nil)
	s.pass("P11D")
	if past := s.past(); len(past) != 1 || past[0].Status != "SECURITY_CHALLENGE" {
		t.Errorf("past %+v, want the challenge", past)
	}
	s.pass("P3D")
	if past := s.past(); len(past) != 1 || past[0].Status != "FAILURE" {
		t.Errorf("past %+v, want the failure", past)
	}
	toldToConfirm := "SYSTEM_EVENT SEND_SECURITY_CHALLENGE_EMAIL SUCCESS"
	s.wantEntries(created, "SYSTEM_EVENT BILLING_ATTEMPT_UPDATED INFO", toldToConfirm, declined, toldToConfirm)
}

func TestFailedAttemptIsChargedOnItsNewDate(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "INSUFFICIENT_FUNDS"}, nil)
	s.pass("P11D")
	failed := s.past()[0]
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": failed.ID, "billingDate": "2026-11-20"}, nil); got != http.StatusOK {
		t.Fatalf("giving a failed attempt a date answered %d", got)
	}
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": failed.ID, "billingDate": "2090-01-01"}, nil); got != http.StatusBadRequest {
		t.Errorf("a date far ahead answered %d", got)
	}
	s.pass("P10D")
	if orders := s.orders(); len(orders) != 1 || orders[0].Cycle != 1 || !orders[0].At.Equal(time.Date(2026, 11, 20, 14, 0, 2, 0, time.UTC)) {
		t.Errorf("orders %+v, want that of cycle 1 on November 20", orders)
	}
	s.wantEntries(created, declined, "SYSTEM_EVENT SEND_TRANSACTION_FAILED_EMAIL SUCCESS", "MERCHANT_EXTERNAL_API NEXT_BILLING_DATE_CHANGE SUCCESS", charged)
}

func TestPlatformShowsNextDateAfterOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.pass("P11D")
	if shown, next := s.contract(s.id).NextBillingDate, s.row().NextBillingDate; shown == nil || !shown.Equal(*next) {
		t.Errorf("the platform shows %v, the service %v", shown, next)
	}
}

// The sandbox answers questions to the platform after the service has published everything.
func TestPlatformShowsOrderEditsAtOnce(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	shows := func(what string, want time.Time) {
		t.Helper()
		if shown := s.contract(s.id).NextBillingDate; shown == nil || !shown.Equal(want) {
			t.Errorf("after %s the platform shows %v, want %s", what, shown, want)
		}
	}
	for range 3 {
		first, second := s.upcoming()[0], s.upcoming()[1]
		s.skipNumber(0)
		shows("a skip", second.BillingDate)
		s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", first.ID), nil)
		shows("taking it back", first.BillingDate)
	}
}

func TestAttemptsOfUnknownContractAreNotFound(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	for _, list := range []string{"top-orders", "past-orders"} {
		path := fmt.Sprintf("/subscription-billing-attempts/%s?contractId=", list)
		want(t, s.demand("GET", path+fmt.Sprint(s.id), s.key, nil), http.StatusOK, "")
		want(t, s.demand("GET", path+"123456", s.key, nil), http.StatusNotFound, "contractNotFound")
	}
}

func TestDateWithoutTimeIsADayOfTheStore(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"nextBillingDate": "2026-12-15"})
	if first := s.upcoming()[0].BillingDate; !first.Equal(time.Date(2026, 12, 15, 14, 0, 0, 0, time.UTC)) {
		t.Errorf("the first order is due %s, want December 15 at 9:00 in New York", first)
	}
}
