package store_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// Each benchmark's operation is one batch; cpu-us/row is this process's share of
// the processor, to which PostgreSQL's own comes.

var start = time.Date(2025, time.January, 31, 9, 0, 0, 0, time.UTC)

func BenchmarkSQLite(b *testing.B)   { benchmark(b, storetest.SQLite) }
func BenchmarkPostgres(b *testing.B) { benchmark(b, storetest.Postgres) }

func benchmark(b *testing.B, open func(testing.TB) *store.DB) {
	const contracts, queue = 2000, 6
	db := open(b)
	s := shop.Shop{Domain: "bench.myshopify.com"}
	if err := db.Shops().AddShop(b.Context(), &s); err != nil {
		b.Fatal(err)
	}
	in := func(fn func(tx *store.Tx) error) {
		b.Helper()
		if err := db.Update(b.Context(), s.ID, fn); err != nil {
			b.Fatal(err)
		}
	}
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	var all [][]billing.Attempt // by hundreds
	for from := 1; from <= contracts; from += 100 {
		var list []contract.Contract
		var attempts []billing.Attempt
		for id := from; id < from+100; id++ {
			list = append(list, contract.Contract{
				ID: contract.ID(id), Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Billing: month, Delivery: month,
				Customer: contract.Customer{ID: int64(id), Name: fmt.Sprint("Customer ", id), Email: fmt.Sprintf("c%d@example.com", id)},
				Lines:    []contract.LineItem{{ID: "gid://shopify/SubscriptionLine/1", ProductID: int64(id % 50), VariantID: int64(id % 90), Quantity: 1, Title: "Coffee"}},
			})
			for cycle := range queue {
				date := start.AddDate(0, cycle, 0)
				attempts = append(attempts, billing.Attempt{Contract: contract.ID(id), Cycle: cycle + 1, Status: billing.Queued, BillingDate: date, DueAt: date})
			}
		}
		in(func(tx *store.Tx) error {
			return tx.PutContracts(b.Context(), append([]contract.Contract(nil), list...))
		})
		in(func(tx *store.Tx) error {
			put := append([]billing.Attempt(nil), attempts...)
			if err := tx.PutAttempts(b.Context(), put); err != nil {
				return err
			}
			attempts = put
			return nil
		})
		all = append(all, attempts[:100])
	}
	measure := func(name string, rows int, op func(n int) error) {
		b.Run(name, func(b *testing.B) {
			n := 0
			before := cpu()
			for b.Loop() {
				if err := op(n); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(cpu()-before)/1e3/float64(n*rows), "cpu-us/row")
			b.ReportMetric(float64(b.Elapsed())/1e3/float64(n*rows), "us/row")
		})
	}
	update := func(fn func(tx *store.Tx) error) error { return db.Update(b.Context(), s.ID, fn) }
	measure("PutAttempts-100", 100, func(n int) error {
		batch := all[n%len(all)]
		for i := range batch {
			batch[i].SentAt, batch[i].Status, batch[i].DueAt = start, billing.Progress, start.Add(time.Duration(n)*time.Minute)
		}
		return update(func(tx *store.Tx) error { return tx.PutAttempts(b.Context(), batch) })
	})
	measure("Record-200", 200, func(int) error {
		return update(func(tx *store.Tx) error {
			entries := make([]activity.Entry, 200)
			for i := range entries {
				entries[i] = activity.Entry{
					EntityID: int64(i), EntityType: activity.EntitySubscriptionBillingAttempt, Event: activity.BillingAttemptTriggered, Status: activity.Success,
					Actor: activity.System, At: start, Info: `{"cycle":7,"try":1,"orderId":5550001,"orderName":"#55501","amount":"12.00","currency":"EUR"}`,
				}
			}
			return tx.Record(b.Context(), entries...)
		})
	})
	ids := make([]contract.ID, 200)
	for i := range ids {
		ids[i] = contract.ID(i + 1)
	}
	measure("Contracts-200", 200, func(int) error {
		return update(func(tx *store.Tx) error { _, err := tx.Contracts(b.Context(), ids); return err })
	})
	measure("AttemptsOf-200x6", 1200, func(int) error {
		return update(func(tx *store.Tx) error {
			_, err := tx.AttemptsOf(b.Context(), ids, billing.Queued, billing.Requesting, billing.Progress, billing.Challenge, billing.PlatformException)
			return err
		})
	})
	measure("Queues-200", 200, func(int) error {
		return update(func(tx *store.Tx) error { _, err := tx.Queues(b.Context(), ids); return err })
	})
	measure("PutProgress-200", 200, func(int) error {
		return update(func(tx *store.Tx) error {
			list, err := tx.Contracts(b.Context(), ids)
			if err != nil {
				return err
			}
			for i := range list {
				list[i].NextBillingDate = list[i].NextBillingDate.Add(time.Hour)
				list[i].UpdatedAt = list[i].UpdatedAt.Add(time.Hour)
			}
			return tx.PutProgress(b.Context(), list)
		})
	})
	inbox := db.Inbox()
	measure("Inbox-200", 200, func(n int) error {
		stored := make(chan error)
		for i := range 200 {
			go func() {
				stored <- inbox.Add(b.Context(), s.ID, platform.Event{ID: fmt.Sprint(n, "-", i), Topic: platform.AttemptSucceeded}, start)
			}()
		}
		for range 200 {
			if err := <-stored; err != nil {
				return err
			}
		}
		return nil
	})
}

// cpu returns the processor time that this process has used, in nanoseconds.
func cpu() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}
