package test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestTheNextOrderIsSkippedWithoutItsNumber(t *testing.T) {
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

func TestLaterOrdersFollowADateThatIsTheCalendars(t *testing.T) {
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

func TestTheNoteOfOneOrder(t *testing.T) {
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
