package platformtest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// reading are the promises of platform.Contracts.
var reading = []promise{
	{"a contract is read with everything around it", func(t *testing.T, w World) {
		next := w.Now().Add(24 * time.Hour)
		k := w.Contract(Contract{Next: next, Lines: 2, Customer: "ada@example.com", Note: "ring twice"})
		got, err := w.Platform().Contracts(t.Context(), w.Shop(), []int64{k})
		if err != nil || len(got) != 1 {
			t.Fatalf("got %+v, %v", got, err)
		}
		c := got[0]
		if c.ID != k || c.Revision == 0 || c.Status != "ACTIVE" || c.CreatedAt.IsZero() || c.UpdatedAt.IsZero() || !c.NextBillingDate.Equal(next) || c.Note != "ring twice" {
			t.Errorf("contract %+v", c)
		}
		if c.Billing.Interval != "MONTH" || c.Billing.Count != 1 || c.Delivery.Interval != "MONTH" {
			t.Errorf("policies %+v and %+v", c.Billing, c.Delivery)
		}
		if c.Customer.ID == 0 || c.Customer.Email != "ada@example.com" || c.PaymentMethod.ID == "" || c.PaymentMethod.Kind == "" || c.PaymentMethod.Revoked {
			t.Errorf("customer %+v, payment method %+v", c.Customer, c.PaymentMethod)
		}
		if c.OriginOrder.ID == 0 || c.OriginOrder.Name == "" || c.DeliveryCountry == "" || len(c.Attributes) == 0 {
			t.Errorf("order %+v, country %q, attributes %v", c.OriginOrder, c.DeliveryCountry, c.Attributes)
		}
		if len(c.Lines) != 2 {
			t.Fatalf("lines %+v, want two", c.Lines)
		}
		l := c.Lines[0]
		if l.ID == "" || l.ProductID == 0 || l.VariantID == 0 || l.Title == "" || l.Quantity < 1 || l.Price.Minor <= 0 || l.Price.Currency != c.Currency {
			t.Errorf("line %+v", l)
		}
	}},
	{"contracts come in the order of the ids, and unknown ids are left out", func(t *testing.T, w World) {
		next := w.Now().Add(time.Hour)
		a, b := w.Contract(Contract{Next: next}), w.Contract(Contract{Next: next})
		const unknown = 1 << 40
		got, err := w.Platform().Contracts(t.Context(), w.Shop(), []int64{b, unknown, a})
		if err != nil || len(got) != 2 || got[0].ID != b || got[1].ID != a {
			t.Errorf("got %+v, %v; want contracts %d and %d", got, err, b, a)
		}
	}},
	{"fifty contracts are read in one call", func(t *testing.T, w World) {
		ids := make([]int64, platform.MaxIDs)
		for i := range ids {
			ids[i] = w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		}
		got, err := w.Platform().Contracts(t.Context(), w.Shop(), ids)
		if err != nil || len(got) != len(ids) {
			t.Fatalf("%d contracts, %v; want %d", len(got), err, len(ids))
		}
		for i := range got {
			if got[i].ID != ids[i] {
				t.Errorf("contract %d is %d, want %d", i, got[i].ID, ids[i])
			}
		}
	}},
	{"a contract with many lines is read with all of them", func(t *testing.T, w World) {
		const lines = 120
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour), Lines: lines})
		got, err := w.Platform().Contracts(t.Context(), w.Shop(), []int64{k})
		if err != nil || len(got) != 1 {
			t.Fatalf("got %d contracts, %v", len(got), err)
		}
		seen := map[string]bool{}
		for _, l := range got[0].Lines {
			seen[l.ID] = true
		}
		if len(got[0].Lines) != lines || len(seen) != lines {
			t.Errorf("%d lines, %d different; want %d", len(got[0].Lines), len(seen), lines)
		}
	}},
	{"a change makes the revision grow", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		revision := func() uint64 {
			got, err := w.Platform().Contracts(t.Context(), w.Shop(), []int64{k})
			if err != nil || len(got) != 1 {
				t.Fatalf("got %+v, %v", got, err)
			}
			return got[0].Revision
		}
		before := revision()
		if err := w.Platform().SetNextBillingDate(t.Context(), w.Shop(), k, w.Now().Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if after := revision(); after <= before {
			t.Errorf("revision %d after %d", after, before)
		}
	}},
	{"updated contracts come oldest change first, in pages that miss none", func(t *testing.T, w World) {
		const contracts = 260 // more than a page
		var made []int64
		w.Contract(Contract{Next: w.Now().Add(300 * time.Hour)})
		w.Pass(time.Minute)
		since := w.Now()
		for range contracts {
			made = append(made, w.Contract(Contract{Next: w.Now().Add(300 * time.Hour)}))
		}
		w.Pass(time.Minute)
		if err := w.Platform().SetNextBillingDate(t.Context(), w.Shop(), made[0], w.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		want := append(slices.Clone(made[1:]), made[0])
		var got []int64
		pages := 0
		for cursor := ""; pages == 0 || cursor != ""; pages++ {
			ids, next, err := w.Platform().ContractsUpdatedSince(t.Context(), w.Shop(), since, cursor)
			if err != nil {
				t.Fatal(err)
			}
			got, cursor = append(got, ids...), next
		}
		if pages < 2 {
			t.Errorf("%d pages, want several", pages)
		}
		if len(got) != len(want) || got[len(got)-1] != made[0] {
			t.Errorf("%d ids, the last %d; want %d, the last %d", len(got), got[len(got)-1], len(want), made[0])
		}
		slices.Sort(got)
		if got = slices.Compact(got); len(got) != len(want) {
			t.Errorf("%d different ids, want %d", len(got), len(want))
		}
	}},
	{"cycles come in order, from the first to the last that was asked for", func(t *testing.T, w World) {
		next := w.Now().Add(24 * time.Hour)
		k := w.Contract(Contract{Next: next})
		got, err := w.Platform().Cycles(t.Context(), w.Shop(), k, 1, 4)
		if err != nil || len(got) != 4 {
			t.Fatalf("got %+v, %v; want four cycles", got, err)
		}
		for i, c := range got {
			if c.Index != i+1 || !c.Start.Before(c.End) || c.Expected.IsZero() || c.Billed || c.Skipped || c.Edited {
				t.Errorf("cycle %d: %+v", i+1, c)
			}
			if i > 0 && !c.Expected.After(got[i-1].Expected) {
				t.Errorf("cycle %d is expected at %v, after one at %v", i+1, c.Expected, got[i-1].Expected)
			}
		}
		if !got[0].Expected.Equal(next) {
			t.Errorf("the first cycle is expected at %v, want %v", got[0].Expected, next)
		}
	}},
	{"contracts are found by their payment method", func(t *testing.T, w World) {
		next := w.Now().Add(time.Hour)
		a := w.Contract(Contract{Next: next, Customer: "ada@example.com"})
		w.Contract(Contract{Next: next})
		b := w.Contract(Contract{Next: next, Customer: "ada@example.com"})
		k, err := w.Platform().Contracts(t.Context(), w.Shop(), []int64{a})
		if err != nil || len(k) != 1 {
			t.Fatalf("got %+v, %v", k, err)
		}
		got, err := w.Platform().ContractsPaidWith(t.Context(), w.Shop(), k[0].PaymentMethod.ID)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, []int64{a, b}) {
			t.Errorf("got %v, %v; want %v", got, err, []int64{a, b})
		}
	}},
	{"contracts are found by their customer", func(t *testing.T, w World) {
		next := w.Now().Add(time.Hour)
		a := w.Contract(Contract{Next: next, Customer: "ada@example.com"})
		w.Contract(Contract{Next: next})
		b := w.Contract(Contract{Next: next, Customer: "ada@example.com"})
		got, err := w.Platform().CustomerContracts(t.Context(), w.Shop(), detail(t, w, a).Customer.ID)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, []int64{a, b}) {
			t.Errorf("got %v, %v; want %v", got, err, []int64{a, b})
		}
		if got, err := w.Platform().CustomerContracts(t.Context(), w.Shop(), missing); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("of an unknown customer: %v, %v; want ErrNotFound", got, err)
		}
	}},
	{"an unknown payment method is not found", func(t *testing.T, w World) {
		got, err := w.Platform().ContractsPaidWith(t.Context(), w.Shop(), "gid://shopify/CustomerPaymentMethod/ffffffff")
		if !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("got %v, %v; want ErrNotFound", got, err)
		}
	}},
}
