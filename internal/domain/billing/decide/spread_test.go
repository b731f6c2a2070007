package decide

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration, change ...func(*billing.Attempt)) billing.Attempt {
		return billingtest.Due(append(change, func(a *billing.Attempt) { a.DueAt = billingtest.Now.Add(-d) })...)
	}
	for _, row := range []struct {
		name string
		a    billing.Attempt
		want bool
	}{
		{"what is due is not put off", at(time.Minute), false},
		{"a delay of less than two hours is none", at(2*time.Hour - time.Millisecond), false},
		{"what is overdue is put off", at(2 * time.Hour), true},
		{"what a person asked for is not", at(48*time.Hour, func(a *billing.Attempt) { a.Manual = true }), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			v, off := spread(row.a, shop.Shop{Domain: "a.myshopify.com"}, billingtest.Now)
			if off != row.want || off && (v.Action != Wait || !v.Until.After(billingtest.Now) || v.Until.After(billingtest.Now.Add(6*time.Hour))) {
				t.Errorf("put off: %t (%+v), want %t", off, v, row.want)
			}
		})
	}
	if v := Due(at(72*time.Hour), monthly(), billingtest.Now); v.Action != Wait {
		t.Errorf("decided %+v on an order that is overdue by three days, want it to wait", v)
	}
}

func TestSlotsAreEvenAndStable(t *testing.T) {
	t.Parallel()
	const contracts, window, parts = 12_000, 6 * time.Hour, 12
	var perPart [parts]int
	for c := range contract.ID(contracts) {
		first := turn("a.myshopify.com", c, window, billingtest.Now)
		if first.Before(billingtest.Now) || !first.Before(billingtest.Now.Add(window)) {
			t.Fatalf("the turn of contract %d is %s, outside the window from %s", c, first, billingtest.Now)
		}
		if again := turn("a.myshopify.com", c, window, first); !again.Equal(first) {
			t.Fatalf("at its own turn, %s, contract %d waits until %s", first, c, again)
		}
		if later := turn("a.myshopify.com", c, window, billingtest.Now.Add(first.Sub(billingtest.Now)/2)); !later.Equal(first) {
			t.Fatalf("another node finds the turn %s, the first one %s", later, first)
		}
		perPart[first.Sub(billingtest.Now)*parts/window]++
	}
	for i, n := range perPart {
		if n < contracts/parts*9/10 || n > contracts/parts*11/10 {
			t.Errorf("%d turns in part %d of the window: %v", n, i, perPart)
		}
	}
}
