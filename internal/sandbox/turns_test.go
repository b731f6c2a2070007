package sandbox

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/store"
)

// subscribeMany makes contracts in a store, all due at the same time.
func subscribeMany(t *testing.T, s *Sandbox, n int, due time.Time) {
	t.Helper()
	variants, err := s.sim.Variants(demo.Main)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		_, err := s.sim.Checkout(simulator.ContractSpec{
			Shop: demo.Main, Customer: simulator.CustomerSpec{Email: fmt.Sprintf("c%d@shopper.example", i)}, Currency: "USD", NextBillingDate: due,
			Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, PaymentMethod: simulator.MethodValid,
			Lines: []simulator.LineSpec{{VariantID: variants[0].ID, Quantity: 1}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.steps.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func advance(t *testing.T, s *Sandbox, to time.Time) {
	t.Helper()
	if err := s.steps.Advance(t.Context(), func(time.Time) (time.Time, error) { return to, nil }); err != nil {
		t.Fatal(err)
	}
}

func TestBusyStoreYieldsToOthers(t *testing.T) {
	t.Parallel()
	const contracts = 450
	s, err := Start(t.Context(), Options{DataDir: t.TempDir(), Listen: "127.0.0.1:0", Empty: true, MainOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	now := s.clock.Now()
	due := time.Date(now.Year(), now.Month(), now.Day()+3, 14, 0, 0, 0, time.UTC)
	subscribeMany(t, s, contracts, due)
	advance(t, s, due.Add(-time.Minute))
	a := s.front.running()
	id, err := a.Store.Shops().IDOf(t.Context(), demo.Main)
	if err != nil {
		t.Fatal(err)
	}
	err = s.steps.alone(t.Context(), func() error {
		if err := s.setClock(due); err != nil {
			return err
		}
		// A run that goes well may send as much as it likes.
		err := a.Store.Update(t.Context(), id, func(tx *store.Tx) error {
			return tx.AddChargeStats(t.Context(), due, billing.ChargeStats{Sent: 5000, Ended: 5000, Paid: 5000})
		})
		if err != nil {
			return err
		}
		stop, cancel := context.WithTimeout(t.Context(), closing)
		defer cancel()
		if err := a.Stop(stop); err != nil {
			return err
		}
		if err := a.Charge.Work(t.Context(), id); err != nil {
			return err
		}
		waiting, err := waits(t.Context(), a.Store, id, due)
		if waiting != contracts-400 {
			t.Errorf("%d of %d orders wait after one turn, want all but two batches", waiting, contracts)
		}
		if idle, err := a.Idle(t.Context()); idle || err != nil {
			t.Errorf("nothing asks for the others: idle %t, %v", idle, err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// waits counts the attempts that are due and were not taken up.
func waits(ctx context.Context, db *store.DB, of shop.ID, at time.Time) (n int, err error) {
	err = db.Update(ctx, of, func(tx *store.Tx) error {
		due, err := tx.DueAttempts(ctx, at, 10_000)
		n = 0
		for _, a := range due {
			if a.Status == billing.Queued {
				n++
			}
		}
		return err
	})
	return n, err
}

func TestReconnectedStoreContinues(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{DataDir: t.TempDir(), Listen: "127.0.0.1:0", Empty: true, MainOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	now := s.clock.Now()
	due := time.Date(now.Year(), now.Month(), now.Day()+3, 14, 0, 0, 0, time.UTC)
	subscribeMany(t, s, 3, due)
	a := s.front.running()
	id, err := a.Store.Shops().IDOf(t.Context(), demo.Main)
	if err != nil {
		t.Fatal(err)
	}
	known, err := a.Store.Shops().Shop(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	_, before, err := a.Store.Entries(t.Context(), id, nil, page.Request{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	// The token is dead: the platform says so to the first who uses it.
	err = a.Store.Update(t.Context(), id, func(tx *store.Tx) error {
		dead, err := tx.Shop(t.Context())
		if err == nil {
			dead.Token = "shpat_dead"
			err = tx.PutShop(t.Context(), dead)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	advance(t, s, due.AddDate(0, 0, 2))
	if is, err := a.Store.Shops().Shop(t.Context(), id); err != nil || is.Connected {
		t.Errorf("the store counts as connected: %t, %v", is.Connected, err)
	}
	if n := len(s.sim.Orders(simulator.OrderFilter{})); n != 0 {
		t.Errorf("%d orders without a connection", n)
	}
	if _, err := a.Intake.Connect(t.Context(), platform.Shop{Domain: demo.Main, Token: known.Token}, 9, 0, shop.Settings{}); err != nil {
		t.Fatal(err)
	}
	advance(t, s, due.AddDate(0, 1, 1))
	orders := s.sim.Orders(simulator.OrderFilter{})
	cycles := make(map[int]int)
	for _, o := range orders {
		cycles[o.Cycle]++
	}
	if cycles[2] != 3 || len(orders) != cycles[1]+3 || cycles[1] > 3 {
		t.Errorf("orders by cycle %v, want the second of all three contracts and no more than one each of the first", cycles)
	}
	entries, after, err := a.Store.Entries(t.Context(), id, nil, page.Request{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int)
	for _, e := range entries[:min(len(entries), after-before)] {
		if e.Event == "SEND_UPCOMING_ORDER_EMAIL" {
			continue
		}
		got[fmt.Sprint(e.Actor.Source, " ", e.Event, " ", e.Status)]++
	}
	want := map[string]int{
		"SHOPIFY_EVENT UPDATED INFO": 1, "SYSTEM_EVENT BILLING_ATTEMPT_TRIGGERED SUCCESS": cycles[1] + 3,
		"SYSTEM_EVENT INFORMATIONAL_EVENT SUCCESS": 2, // the e-mails to the merchant: at once, and shortly before the platform cancels contracts
	}
	if left := 3 - cycles[1]; left > 0 { // what fell due without a connection ended, and says so
		want["SYSTEM_EVENT BILLING_ATTEMPT_SKIPPED SKIPPED"] = left
	}
	if !maps.Equal(got, want) {
		t.Errorf("entries %v, want %v", got, want)
	}
}
