package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
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
	t.Run("orders that do not cost what their lines do are summed as they are charged", func(t *testing.T) {
		w := begin(t, open)
		half, once, swapped := monthly(1), monthly(2), monthly(3)
		half.Discounts = []contract.Discount{{Title: "half", Percent: 50, AllLines: true, CycleLimit: 1}}
		once.OneOffs = 1
		swapped.Lines[0].VariantID = 777
		w.put(half, once, swapped, monthly(4))
		rule := swapRule("dearer", 1)
		rule.Sources, rule.Destinations = []swap.Product{{VariantID: 777, Quantity: 1}}, []swap.Product{{VariantID: 778, Quantity: 1}}
		rule.Variants = map[int64]platform.Variant{778: {ID: 778, Price: money.Amount{Minor: 9900, Currency: swapped.Currency}}}
		rule.Cycle, rule.EveryOrder, rule.FirstOrder, rule.Off, rule.CarryDiscount, rule.Discount = 0, true, true, false, false, swap.None
		rule = w.rule(rule)
		w.shop.Settings.SwapRules = true
		w.in(func(tx *store.Tx) error { return tx.PutShop(t.Context(), w.shop) })
		w.in(func(tx *store.Tx) error {
			return tx.AddSwapNotices(t.Context(), []billing.Notice{{Contract: 3, Notice: swap.Notice{Rule: rule.ID, Variant: 778, Price: rule.Variants[778].Price, From: day}}})
		})
		for n, c := range []contract.Contract{half, half, once, swapped, monthly(4)} {
			w.queue(billing.Attempt{Contract: c.ID, Cycle: 1 + n, Status: billing.Queued, BillingDate: day.Add(time.Duration(n+1) * time.Hour), DueAt: day})
		}
		w.in(func(tx *store.Tx) error {
			return tx.PutOneOffs(t.Context(), []billing.OneOff{{Contract: 2, Cycle: 3, Quantity: 2, Variant: platform.Variant{ID: 9, Price: money.Amount{Minor: 150, Currency: once.Currency}}}})
		})
		w.in(func(tx *store.Tx) error {
			totals, _, err := tx.TotalsToCharge(t.Context(), day, day.AddDate(0, 0, 1))
			first, failed := tx.OrdersToCharge(t.Context(), day, day.AddDate(0, 0, 1), 9)
			var got []string
			for _, o := range first {
				got = append(got, o.Amount.String())
			}
			// monthly contracts cost 20.00
			if want := []string{"10.00", "20.00", "23.00", "198.00", "20.00"}; !slices.Equal(got, want) || failed != nil {
				t.Errorf("the orders come to %v, %v; want %v", got, failed, want)
			}
			if len(totals) != 1 || totals[0].Orders != 5 || totals[0].Amount.String() != "271.00" {
				t.Errorf("together %+v, want 5 orders of 271.00", totals)
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
