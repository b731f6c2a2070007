package test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestDateTooEarlyForPlatformIsRefused(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(s *subscription, second attempt, date string) reply{
		"as the contract's next date": func(s *subscription, _ attempt, date string) reply {
			return s.demand("PUT", fmt.Sprintf("/subscription-contracts-update-billing-date?contractId=%d&nextBillingDate=%s", s.id, date), s.key, nil)
		},
		"for the order, with all that follow": func(s *subscription, second attempt, date string) reply {
			return s.demand("PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s&rescheduleFutureOrder=true", second.ID, date), s.key, nil)
		},
		"as an edit of the attempt": func(s *subscription, second attempt, date string) reply {
			return s.demand("PUT", "/subscription-billing-attempts", s.key, map[string]any{"id": second.ID, "billingDate": date})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil) // the second cycle begins at the platform on November 11 at 12:00
			first, second := s.upcoming()[0], s.upcoming()[1]
			if got := s.put(fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", first.ID), nil, nil); got != http.StatusOK {
				t.Fatalf("skipping answered %d", got)
			}
			no := ask(s, second, "2026-11-05")
			want(t, no, http.StatusBadRequest, "billingDateTooEarly")
			for _, instant := range []string{"before 2026-11-10T12:01:01Z", "earliest possible billingDate is 2026-11-10T14:00:00Z"} {
				if !strings.Contains(string(no.body), instant) {
					t.Errorf("%q is not in %s", instant, no.body)
				}
			}
			if shown := s.upcoming()[0]; !shown.BillingDate.Equal(second.BillingDate) {
				t.Errorf("the order is due %s, want its own date, %s", shown.BillingDate, second.BillingDate)
			}
			want(t, ask(s, second, "2026-11-10"), http.StatusOK, "")
			s.pass("P12D")
			orders := s.orders()
			if len(orders) != 1 || orders[0].Cycle != 2 || !orders[0].At.Equal(time.Date(2026, 11, 10, 14, 0, 2, 0, time.UTC)) {
				t.Errorf("orders %+v, want that of cycle 2 on November 10", orders)
			}
			s.wantEntries(created, skipped, "MERCHANT_EXTERNAL_API NEXT_BILLING_DATE_CHANGE SUCCESS", charged)
		})
	}
}

func TestEarlierDateIsRefusedWhilePlatformIsDown(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	second := s.upcoming()[1]
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"http_500"}}, nil)
	edit := map[string]any{"id": second.ID, "billingDate": "2026-11-20"}
	if got := s.put("/subscription-billing-attempts", edit, nil); got != http.StatusServiceUnavailable {
		t.Errorf("while the platform is away an earlier date answered %d", got)
	}
	s.call("DELETE", "/platform/faults", nil, nil)
	if shown := s.upcoming()[1]; !shown.BillingDate.Equal(second.BillingDate) {
		t.Errorf("the order is due %s, want its own date, %s", shown.BillingDate, second.BillingDate)
	}
	if got := s.put("/subscription-billing-attempts", edit, nil); got != http.StatusOK {
		t.Errorf("afterwards it answered %d", got)
	}
	s.wantEntries(created, "MERCHANT_EXTERNAL_API NEXT_BILLING_DATE_CHANGE SUCCESS")
}

func TestChargeTooEarlyForPlatformIsRefused(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil) // the second cycle begins at the platform on November 11 at 12:00
	second := s.upcoming()[1]
	trigger := func() reply {
		return s.demand("PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", second.ID), s.key, nil)
	}
	for range 6 { // none of them counts
		no := trigger()
		want(t, no, http.StatusBadRequest, "chargeTooEarly")
		if !strings.Contains(string(no.body), "before 2026-11-10T12:01:01Z") {
			t.Fatalf("the instant is not in %s", no.body)
		}
	}
	if queue := s.upcoming(); queue[1].ID != second.ID || !queue[1].BillingDate.Equal(second.BillingDate) || queue[1].Status != "QUEUED" || queue[1].AttemptCount != 0 {
		t.Errorf("queue %+v, want the second cycle as it was", queue)
	}
	s.pass("P9DT2M") // to November 10, 12:02
	want(t, trigger(), http.StatusOK, "")
	s.pass("P40D")
	if orders := s.orders(); len(orders) != 2 || orders[0].Cycle != 2 || orders[1].Cycle != 1 {
		t.Errorf("orders %+v, want that of cycle 2 when it was asked for and that of cycle 1 on its date", orders)
	}
	s.wantEntries(created, triggered, charged, charged)
}

func TestLateRefusalAsTooEarlyIsNoDecline(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	second := s.upcoming()[1]
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"http_500"}}, nil)
	want(t, s.demand("PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", second.ID), s.key, nil), http.StatusOK, "")
	s.call("DELETE", "/platform/faults", nil, nil)
	s.pass("PT3H") // a call that was not answered may arrive for an hour
	queue := s.upcoming()
	if len(queue) < 6 || queue[1].ID != second.ID || !queue[1].BillingDate.Equal(second.BillingDate) || queue[1].Status != "QUEUED" {
		t.Fatalf("queue %+v, want the second cycle back in it, on its own date", queue)
	}
	if why := queue[1].ResponseMessage; why == nil || !strings.Contains(*why, "takes no charge for cycle 2") {
		t.Errorf("the attempt says %v, want why it was not charged", why)
	}
	s.pass("P45D")
	if orders := s.orders(); len(orders) != 2 || orders[0].Cycle != 1 || orders[1].Cycle != 2 {
		t.Errorf("orders %+v, want those of cycles 1 and 2 on their dates", orders)
	}
	for _, a := range s.past() {
		if a.Status != "SUCCESS" || a.ResponseMessage != nil {
			t.Errorf("attempt %+v, want a success that says nothing", a)
		}
	}
	s.wantEntries(created, triggered, declined, charged, charged)
}
