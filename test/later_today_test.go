package test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

// Who moves an order to an instant later today gets it then, also when the store's
// order time has passed: neither at once nor at another time of day.
func TestOrderMovedToLaterTodayWaitsForIt(t *testing.T) {
	t.Parallel()
	evening, asked := time.Date(2026, 11, 10, 20, 0, 0, 0, time.UTC), time.Date(2026, 11, 10, 23, 0, 0, 0, time.UTC)
	for name, move := range map[string]func(s *subscription, to string) int{
		"reschedule-order": func(s *subscription, to string) int {
			return s.put(fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s", s.upcoming()[0].ID, to), nil, nil)
		},
		"a billing attempt": func(s *subscription, to string) int {
			return s.put("/subscription-billing-attempts", map[string]any{"id": s.upcoming()[0].ID, "billingDate": to}, nil)
		},
		"update-billing-date": func(s *subscription, to string) int {
			return s.put(fmt.Sprintf("/subscription-contracts-update-billing-date?contractId=%d&nextBillingDate=%s", s.id, to), nil, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil) // due on the 11th of November at 14:00 UTC, and of every month after it
			until := func(at time.Time) { s.pass(fmt.Sprintf("PT%dS", int(at.Sub(s.now()).Seconds()))) }
			until(evening)
			if got := move(s, "2026-11-10"); got != http.StatusBadRequest {
				t.Errorf("today, whose order time has passed, answered %d, want 400", got)
			}
			if got := move(s, asked.Format(time.RFC3339)); got != http.StatusOK {
				t.Fatalf("later today answered %d", got)
			}
			if next := s.upcoming()[0]; !next.BillingDate.Equal(asked) {
				t.Errorf("it is due at %s, want %s", next.BillingDate, asked)
			}
			until(asked.Add(-time.Minute))
			if n := len(s.orders()); n != 0 {
				t.Fatalf("%d orders a minute before, want none", n)
			}
			until(asked.AddDate(0, 1, 2))
			second := map[string]string{"update-billing-date": "12-10 14:00"}[name] // the calendar follows
			if second == "" {
				second = "12-11 14:00"
			}
			s.wantOrderTimes("11-10 23:00", second)
		})
	}
}

// A contract whose first order is due later today has it then, from whichever source it
// comes, also when its webhook was lost and when it becomes active only now.
func TestContractStartingLaterTodayWaitsForIt(t *testing.T) {
	t.Parallel()
	evening, asked := time.Date(2026, 11, 10, 20, 0, 0, 0, time.UTC), time.Date(2026, 11, 10, 23, 0, 0, 0, time.UTC)
	for name, status := range map[string]string{"made active": "ACTIVE", "made paused, and activated now": "PAUSED"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			until := func(at time.Time) { s.pass(fmt.Sprintf("PT%dS", int(at.Sub(s.now()).Seconds()))) }
			s.change("PUT", fmt.Sprintf("/subscription-contracts-update-billing-date?contractId=%d&nextBillingDate=2027-03-01", s.id), nil)
			until(evening)
			var made struct{ ID string }
			if status == "" {
				s.id = s.checkout(map[string]any{"nextBillingDate": asked})
			} else if got := s.post("/subscription-contract-details/create-subscription-contract", map[string]any{
				"customerId": s.ana().CustomerID, "nextBillingDate": asked, "status": status, "billingIntervalType": "MONTH", "billingIntervalCount": 1,
				"lines":            []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": 9}},
				"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT",
			}, &made); got != http.StatusCreated {
				t.Fatalf("making it answered %d", got)
			} else {
				s.follow(made.ID)
			}
			if status == "PAUSED" {
				s.put(fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=ACTIVE", s.id), nil, nil)
			}
			if next := s.upcoming()[0]; !next.BillingDate.Equal(asked) {
				t.Errorf("it is due at %s, want %s", next.BillingDate, asked)
			}
			until(asked.AddDate(0, 1, 2))
			s.wantOrderTimes("11-10 23:00", "12-10 14:00")
		})
	}
}

// A contract that was made paused and begins to run when its first date has passed has
// its first order on the next one.
func TestContractCreatedAfterItsDateStartsOnTheNext(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	var made struct{ ID string }
	if got := s.post("/subscription-contract-details/create-subscription-contract", map[string]any{
		"customerId": s.ana().CustomerID, "nextBillingDate": "2026-11-10", "status": "PAUSED", "billingIntervalType": "MONTH", "billingIntervalCount": 1,
		"lines":            []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": 9}},
		"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT",
	}, &made); got != http.StatusCreated {
		t.Fatalf("making it answered %d", got)
	}
	s.follow(made.ID)
	s.until("2026-11-20")
	s.put(fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=ACTIVE", s.id), nil, nil)
	s.until("2027-01-15")
	s.wantOrderDays("[12-10 01-10]")
}

// Another interval leaves the order that waits for an instant later today where it is.
func TestIntervalChangeKeepsOrderOfLaterToday(t *testing.T) {
	t.Parallel()
	evening, asked := time.Date(2026, 11, 10, 20, 0, 0, 0, time.UTC), time.Date(2026, 11, 10, 23, 0, 0, 0, time.UTC)
	s := subscribe(t, nil)
	until := func(at time.Time) { s.pass(fmt.Sprintf("PT%dS", int(at.Sub(s.now()).Seconds()))) }
	until(evening)
	s.put(fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s", s.upcoming()[0].ID, asked.Format(time.RFC3339)), nil, nil)
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-billing-interval?contractId=%d&interval=WEEK&intervalCount=2", s.id), nil)
	until(asked.AddDate(0, 0, 16))
	s.wantOrderTimes("11-10 23:00", "11-24 14:00")
}

// wantOrderTimes asserts when orders were made.
func (s *subscription) wantOrderTimes(want ...string) {
	s.t.Helper()
	var got []string
	for _, o := range s.orders() {
		got = append(got, o.At.Truncate(time.Minute).Format("01-02 15:04"))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("orders on %v, want %v", got, want)
	}
}
