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
func TestAnOrderThatIsMovedToLaterTodayWaitsForIt(t *testing.T) {
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
			var orders []string
			for _, o := range s.orders() {
				orders = append(orders, o.At.Truncate(time.Minute).Format("01-02 15:04"))
			}
			second := map[string]string{"update-billing-date": "12-10 14:00"}[name] // the calendar follows
			if second == "" {
				second = "12-11 14:00"
			}
			if want := []string{"11-10 23:00", second}; !slices.Equal(orders, want) {
				t.Errorf("orders on %v, want %v", orders, want)
			}
		})
	}
}
