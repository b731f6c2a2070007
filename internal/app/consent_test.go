package app

import (
	"errors"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
)

// subscribe makes a contract whose first renewal is on a day.
func (l *life) subscribe(day time.Time) {
	l.t.Helper()
	on, err := l.sim.Variants(l.of.Domain)
	l.must(err)
	_, err = l.sim.Checkout(simulator.ContractSpec{
		Customer: simulator.CustomerSpec{Email: "ben@shopper.example"}, NextBillingDate: day,
		Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: []simulator.LineSpec{{VariantID: on[0].ID, Quantity: 1}},
	})
	l.must(err)
	l.settle()
}

// changeShop changes the store's row.
func (l *life) changeShop(change func(*shop.Shop)) {
	l.t.Helper()
	l.must(l.app.Store.Update(l.t.Context(), l.of.ID, func(tx *store.Tx) error {
		of, err := tx.Shop(l.t.Context())
		if err != nil {
			return err
		}
		change(&of)
		return tx.PutShop(l.t.Context(), of)
	}))
}

func TestMerchantConfirmsNothingButWhatWasShown(t *testing.T) {
	t.Parallel()
	l := live(t)
	l.until("2026-11-05")
	l.changeShop(func(of *shop.Shop) { of.Guard.Await(l.clock.Now()) })
	shown := func() confirm.Fingerprint {
		t.Helper()
		p, err := l.app.Confirm.Preview(t.Context(), l.of.ID)
		l.must(err)
		return p.Fingerprint()
	}
	wants := func(when string, seen confirm.Fingerprint, confirmed bool, code string) {
		t.Helper()
		got, err := l.app.Confirm.Confirm(t.Context(), l.of.ID, seen, activity.Operator)
		refused, _ := errors.AsType[*fault.Error](err)
		if got != confirmed || (err != nil) != (code != "") || refused != nil && refused.ErrorKey != code {
			t.Errorf("%s: confirmed %t, %v; want %t, %q", when, got, err, confirmed, code)
		}
		l.settle()
	}
	p, err := l.app.Confirm.Preview(t.Context(), l.of.ID)
	l.must(err)
	if p.Orders() != 1 {
		t.Fatalf("%+v", p)
	}
	seen := shown()
	wants("without having seen anything", "", false, confirm.PreviewChanged)
	wants("with a text that is no fingerprint", confirm.Fingerprint("9223372036854775807-"+string(seen)), false, confirm.PreviewChanged)
	l.subscribe(l.clock.Now().AddDate(0, 0, 2))
	wants("after another contract was made", seen, false, confirm.PreviewChanged)

	seen = shown()
	l.changeShop(func(of *shop.Shop) { of.ReconciledAt = time.Time{} })
	wants("while the contracts are read", seen, false, confirm.SyncRuns)
	l.changeShop(func(of *shop.Shop) { of.ReconciledAt = l.clock.Now() })

	l.subscribe(l.clock.Now().Add(confirm.Ahead + 12*time.Hour))
	l.clock.Set(l.clock.Now().Add(19 * time.Hour)) // another order is within 7 days of now
	if shown() == seen {
		t.Fatal("the preview has not grown")
	}
	if n := len(l.sim.Orders(simulator.OrderFilter{})); n != 0 {
		t.Fatalf("%d orders before the confirmation", n)
	}
	wants("when nothing but time has passed", seen, true, "")
	wants("once more", seen, false, "")
	l.until("2026-11-12")
	if n := len(l.sim.Orders(simulator.OrderFilter{})); n != 2 {
		t.Errorf("%d orders after the confirmation, want 2", n)
	}

	l.changeShop(func(of *shop.Shop) { of.Guard.Await(l.clock.Now()) })
	seen = shown()
	l.clock.Set(l.clock.Now().Add(25 * time.Hour))
	wants("a day later", seen, false, confirm.PreviewChanged)
}
