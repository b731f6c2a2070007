package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/store"
)

func testConsent(t *testing.T, open opener) {
	t.Run("what will be charged is summed by currency", func(t *testing.T) {
		w := begin(t, open)
		paused, manual, yen := monthly(3), monthly(4), monthly(5)
		paused.Status, manual.AutoCharge = contract.Paused, false
		yen.Currency, yen.Lines[0].Price.Currency, yen.DeliveryPrice.Currency, yen.Lifetime.Currency, yen.LastOrderAmount.Currency = "JPY", "JPY", "JPY", "JPY", "JPY"
		delivered := monthly(2)
		delivered.DeliveryPrice.Minor = 250
		w.put(monthly(1), delivered, paused, manual, yen)
		at := func(c contract.ID, cycle int, date time.Time) billing.Attempt {
			return billing.Attempt{Contract: c, Cycle: cycle, Status: billing.Queued, BillingDate: date, DueAt: date}
		}
		later := day.AddDate(0, 0, 7)
		w.queue(
			at(1, 1, day.AddDate(0, -2, 0)), at(1, 2, day.AddDate(0, -1, 0)), at(1, 3, day.Add(time.Hour)), // the first is passed over
			at(2, 1, later), at(2, 2, later.Add(time.Millisecond)),
			at(3, 1, day), at(4, 1, day), at(5, 1, day),
			billing.Attempt{Contract: 2, Cycle: 9, Status: billing.Failure, BillingDate: day, DueAt: day},
		)
		w.in(func(tx *store.Tx) error {
			totals, overdue, err := tx.TotalsToCharge(t.Context(), day, later)
			var got string
			for _, total := range totals {
				got += fmt.Sprintf("%d %s %s; ", total.Orders, total.Amount, total.Amount.Currency)
			}
			if want := "3 62.50 EUR; 1 2000 JPY; "; got != want || overdue != 2 || err != nil {
				t.Errorf("got %q, %d overdue, %v; want %q, 2", got, overdue, err, want)
			}
			first, err := tx.OrdersToCharge(t.Context(), day, later, 3)
			got = ""
			for _, o := range first {
				got += fmt.Sprintf("%d/%d %s %s; ", o.Contract, o.Cycle, o.Amount, o.Date.Sub(day))
			}
			if want := "1/2 20.00 -744h0m0s; 5/1 2000 0s; 1/3 20.00 1h0m0s; "; got != want {
				t.Errorf("first %q, %v; want %q", got, err, want)
			}
			return err
		})
	})
	t.Run("orders that were missed are counted", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2))
		w.queue(
			billing.Attempt{Contract: 1, Cycle: 1, Status: billing.ConnectionGone, BillingDate: day.Add(-time.Hour)},
			billing.Attempt{Contract: 1, Cycle: 2, Status: billing.ConnectionGone, BillingDate: day},
			billing.Attempt{Contract: 1, Cycle: 3, Status: billing.Queued, BillingDate: day.Add(time.Hour)},
			billing.Attempt{Contract: 1, Cycle: 4, Status: billing.Queued, BillingDate: day.Add(3 * time.Hour)},
			billing.Attempt{Contract: 2, Cycle: 1, Status: billing.Success, BillingDate: day},
		)
		w.in(func(tx *store.Tx) error {
			for limit, want := range map[int]int{10: 2, 1: 1} {
				if got, err := tx.MissedOrders(t.Context(), day, day.Add(2*time.Hour), limit); got != want || err != nil {
					t.Errorf("up to %d: %d, %v", limit, got, err)
				}
			}
			return nil
		})
	})
}
