package platformtest

import (
	"errors"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// rewarding are the promises of platform.Rewards.
var rewarding = []promise{
	{"a discount code is made once, however often it is asked for", func(t *testing.T, w World) {
		code := codeFor(t, w)
		id := createCode(t, w, code)
		if again := createCode(t, w, code); again != id || id == "" {
			t.Errorf("the first call made %q, the second %q", id, again)
		}
		code.Code = "LOYAL-2"
		if other := createCode(t, w, code); other == id {
			t.Errorf("two codes are one discount %q", id)
		}
	}},
	{"a discount code whose answer was lost is found by asking again", func(t *testing.T, w World) {
		code := codeFor(t, w)
		w.Break(AnswerLost, func() {
			if _, err := w.Platform().CreateDiscountCode(t.Context(), w.Shop(), code); !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("got %v, want ErrUnknown", err)
			}
		})
		if id := createCode(t, w, code); id == "" {
			t.Error("it is not found")
		}
	}},
	{"a percentage is taken off a contract that redeems the code", func(t *testing.T, w World) {
		code := codeFor(t, w)
		code.Amount, code.Percent = money.Amount{}, 20
		createCode(t, w, code)
		k := due(w, Contract{})
		d := edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Code: code.Code}}})
		if got := d.LineDetails[0].Discounted; got != *usd(1000) {
			t.Errorf("the line costs %s, want 20 %% less than 12.50", got)
		}
	}},
	{"an amount is taken off a contract that redeems the code", func(t *testing.T, w World) {
		createCode(t, w, codeFor(t, w))
		k := due(w, Contract{})
		d := edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Code: "LOYAL-1"}}})
		if got := d.LineDetails[0].Discounted; got != *usd(750) {
			t.Errorf("the line costs %s, want 5.00 less than 12.50", got)
		}
	}},
	{"the order that used a code is found by it", func(t *testing.T, w World) {
		createCode(t, w, codeFor(t, w))
		k := due(w, Contract{})
		edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Code: "LOYAL-1"}}})
		find := func(code string) (platform.OrderRef, time.Time) {
			t.Helper()
			order, at, err := w.Platform().OrderWithCode(t.Context(), w.Shop(), code)
			if err != nil {
				t.Fatal(err)
			}
			return order, at
		}
		if order, at := find("LOYAL-1"); order != (platform.OrderRef{}) || !at.IsZero() {
			t.Errorf("before any order: %+v, %s", order, at)
		}
		wantNextOrder(t, w, first(k), 750, "")
		second := platform.CycleRef{Contract: k, Index: 2}
		untilCycle(t, w, second)
		wantNextOrder(t, w, second, 1250, "")
		order, at := find("loyal-1")
		if all := w.LastOrder(k); order.ID == 0 || order.ID == all.ID || order.Name == "" || at.IsZero() || !at.Before(w.Now()) {
			t.Errorf("found %+v of %s, and the second order is %+v", order, at, all)
		}
		if other, _ := find("LOYAL"); other != (platform.OrderRef{}) {
			t.Errorf("another code is found on %+v", other)
		}
	}},
	{"a code for an unknown customer is refused", func(t *testing.T, w World) {
		code := codeFor(t, w)
		code.Customer = 1
		if _, err := w.Platform().CreateDiscountCode(t.Context(), w.Shop(), code); !isRefusal(err) {
			t.Errorf("got %v, want a refusal", err)
		}
	}},
	{"a code that ends before it starts is refused", func(t *testing.T, w World) {
		code := codeFor(t, w)
		code.EndsAt = code.StartsAt.Add(-time.Hour)
		if _, err := w.Platform().CreateDiscountCode(t.Context(), w.Shop(), code); !isRefusal(err) {
			t.Errorf("got %v, want a refusal", err)
		}
	}},
	{"a code that was ended is no longer accepted, and can be ended again", func(t *testing.T, w World) {
		id := createCode(t, w, codeFor(t, w))
		for range 2 {
			if err := w.Platform().EndDiscountCode(t.Context(), w.Shop(), id); err != nil {
				t.Fatal(err)
			}
		}
		k := due(w, Contract{})
		_, err := w.Platform().EditContract(t.Context(), w.Shop(), k, platform.Edit{Discounts: []platform.DiscountEdit{{Code: "LOYAL-1"}}})
		if !isRefusal(err) {
			t.Errorf("got %v, want a refusal", err)
		}
	}},
}

// codeFor returns a code to be made for a customer of the store, 5.00 off.
func codeFor(t *testing.T, w World) platform.DiscountCode {
	t.Helper()
	found, err := w.Platform().Contracts(t.Context(), w.Shop(), []int64{w.Contract(Contract{Next: w.Now().AddDate(0, 1, 0)})})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d contracts, %v", len(found), err)
	}
	return platform.DiscountCode{
		Code: "LOYAL-1", Title: "Loyalty reward 1", Customer: found[0].Customer.ID, Amount: *usd(500), MinPurchase: *usd(100),
		StartsAt: w.Now(), EndsAt: w.Now().AddDate(0, 0, 90),
	}
}

func createCode(t *testing.T, w World, c platform.DiscountCode) string {
	t.Helper()
	id, err := w.Platform().CreateDiscountCode(t.Context(), w.Shop(), c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
