package webhook_test

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
)

// expect gives the store a contract whose next order is due after a while.
func (w *world) expect(id contract.ID, in time.Duration) {
	w.Helper()
	now, month := w.clock.Now(), contract.Policy{Interval: cadence.Month, Count: 1}
	c := contract.Contract{
		ID: id, Line: shop.Subscriptions, Status: contract.Active, AutoCharge: true, Currency: "USD", Billing: month, Delivery: month, NextBillingDate: now.Add(in), CreatedAt: now,
	}
	err := w.db.Update(w.Context(), w.here, func(tx *store.Tx) error {
		if err := tx.PutContracts(w.Context(), []contract.Contract{c}); err != nil {
			return err
		}
		return tx.PutAttempts(w.Context(), []billing.Attempt{{Contract: id, Cycle: 2, Status: billing.Queued, BillingDate: c.NextBillingDate, CreatedAt: now}})
	})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) freeze(at time.Time) {
	w.Helper()
	err := w.db.Update(w.Context(), w.here, func(tx *store.Tx) error {
		of, err := tx.Shop(w.Context())
		if err != nil {
			return err
		}
		of.Guard.FrozenAt = at
		return tx.PutShop(w.Context(), of)
	})
	if err != nil {
		w.Fatal(err)
	}
}

func TestUpcomingOrdersArePublished(t *testing.T) {
	t.Parallel()
	w := begin(t)
	work := func(want int, why string) {
		t.Helper()
		if err := w.Work(t.Context(), w.here); err != nil {
			t.Fatal(err)
		}
		if len(w.sent) != want {
			t.Fatalf("%s: %d are sent, want %d", why, len(w.sent), want)
		}
	}
	w.expect(1, 50*time.Hour)
	w.expect(2, 0) // its date has come
	w.expect(3, 100*time.Hour)
	work(0, "no endpoint subscribes")
	_, err := w.Add(t.Context(), w.here, webhook.NewEndpoint{URL: "https://erp.example.com", Types: []webhook.Type{"subscription.upcoming-order-notification"}})
	if err != nil {
		t.Fatal(err)
	}
	w.freeze(w.clock.Now())
	work(0, "the store is frozen")
	w.freeze(time.Time{})
	work(1, "the first is to come, the second is late, and the third far away")
	work(1, "once more")
	w.clock.Set(w.clock.Now().Add(30 * time.Hour))
	work(2, "the third is near")
}

func TestManyUpcomingOrdersAreAllPublished(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, err := w.Add(t.Context(), w.here, webhook.NewEndpoint{URL: "https://erp.example.com", Types: []webhook.Type{"subscription.upcoming-order-notification"}})
	if err != nil {
		t.Fatal(err)
	}
	const many = 120 // more than are looked at together
	for id := range contract.ID(many) {
		w.expect(id+1, 50*time.Hour)
	}
	if err := w.Work(t.Context(), w.here); err != nil || len(w.sent) != many {
		t.Errorf("%d are sent, %v, want %d", len(w.sent), err, many)
	}
}
