package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// countedFilters are filters whose numbers are kept or remembered, and what passes
// each.
func countedFilters() map[string]struct {
	f      contract.Filter
	passes func(c contract.Contract) bool
} {
	week, yes, no, amount := cadence.Week, true, false, int64(15_000)
	type filter = struct {
		f      contract.Filter
		passes func(c contract.Contract) bool
	}
	return map[string]filter{
		"all":          {contract.Filter{}, func(contract.Contract) bool { return true }},
		"paused":       {contract.Filter{Status: contract.Paused}, func(c contract.Contract) bool { return c.Status == contract.Paused }},
		"weekly":       {contract.Filter{DeliveryInterval: &week}, func(c contract.Contract) bool { return c.Delivery.Interval == cadence.Week }},
		"every second": {contract.Filter{DeliveryCount: 2}, func(c contract.Contract) bool { return c.Delivery.Count == 2 }},
		"prepaid":      {contract.Filter{Prepaid: &yes}, contract.Contract.PrepaidByCount},
		"not imported": {contract.Filter{Imported: &no}, func(c contract.Contract) bool { return c.ImportedID == "" }},
		"weekly, paused": {contract.Filter{DeliveryInterval: &week, Status: contract.Paused}, func(c contract.Contract) bool {
			return c.Delivery.Interval == cadence.Week && c.Status == contract.Paused
		}},
		"dear":          {contract.Filter{MinAmount: &amount}, func(c contract.Contract) bool { return c.Amount().Milli() >= amount }},
		"dear, paused":  {contract.Filter{MinAmount: &amount, Status: contract.Paused}, func(c contract.Contract) bool { return c.Amount().Milli() >= amount && c.Status == contract.Paused }},
		"cheap":         {contract.Filter{MaxAmount: &amount}, func(c contract.Contract) bool { return c.Amount().Milli() <= amount }},
		"named":         {contract.Filter{CustomerPart: "bo"}, func(c contract.Contract) bool { return c.Customer.Name == "Bo" }},
		"of an address": {contract.Filter{CustomerPart: "X@Ex"}, func(c contract.Contract) bool { return c.Customer.Email == "x@example.com" }},
		"named, paused": {contract.Filter{CustomerPart: "cy", Status: contract.Paused}, func(c contract.Contract) bool { return c.Customer.Name == "Cy" && c.Status == contract.Paused }},
		"of a product":  {contract.Filter{ProductID: 12}, func(c contract.Contract) bool { return c.Lines[0].ProductID == 12 }},
	}
}

// changed returns a contract with something about it that is searched for, at
// random.
func changed(c contract.Contract, r *rand.Rand) contract.Contract {
	switch r.IntN(7) {
	case 0:
		c.Status = []contract.Status{contract.Active, contract.Paused, contract.Cancelled}[r.IntN(3)]
	case 1:
		c.Delivery = contract.Policy{Interval: []cadence.Interval{cadence.Week, cadence.Month}[r.IntN(2)], Count: 1 + r.IntN(2)}
	case 2:
		c.ImportedID = []string{"", "old"}[r.IntN(2)]
	case 3:
		c.Lines = []contract.LineItem{line(1+r.Int64N(2), 500+500*r.Int64N(2))}
	case 4:
		c.Customer.Name, c.Customer.Email = []string{"Bo", "Cy"}[r.IntN(2)], "x@example.com"
	case 5:
		c.Line = []shop.Line{shop.Subscriptions, shop.Memberships}[r.IntN(2)]
	case 6: // nothing that is searched for
		c.Note += "."
	}
	return c
}

func testCounts(t *testing.T, open opener) {
	t.Run("numbers that are kept or remembered are those of the contracts, whatever changes", func(t *testing.T) {
		w := begin(t, open)
		r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test, not a secret
		now := map[contract.ID]contract.Contract{}
		for round := range 12 {
			var put []contract.Contract
			for id := contract.ID(1); id <= 9; id++ {
				c, there := now[id]
				if !there {
					c = monthly(id)
				}
				if !there || r.IntN(3) == 0 {
					put = append(put, changed(c, r))
				}
			}
			w.in(func(tx *store.Tx) error {
				written := fresh(put)
				if err := tx.PutContracts(t.Context(), written); err != nil {
					return err
				}
				for _, c := range written {
					now[c.ID] = c
				}
				return nil
			})
			for name, tt := range countedFilters() {
				for _, line := range []shop.Line{shop.Subscriptions, shop.Memberships} {
					want := 0
					for _, c := range now {
						if c.Line == line && tt.passes(c) {
							want++
						}
					}
					tt.f.Line = line
					for range 2 { // counted, and remembered
						list, total, err := w.db.Search(t.Context(), w.shop.ID, tt.f, page.Request{Size: 100})
						if err != nil || total != want || len(list) != want {
							t.Fatalf("round %d, %s of %s: %d contracts of %d, %v, want %d", round, name, line, len(list), total, err, want)
						}
					}
				}
			}
		}
	})
	t.Run("a change that is not committed leaves the numbers alone", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		_ = w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
			if err := tx.PutContracts(t.Context(), []contract.Contract{monthly(2)}); err != nil {
				return err
			}
			return fmt.Errorf("never mind")
		})
		if _, total := w.search(contract.Filter{Line: shop.Subscriptions}, anyPage); total != 1 {
			t.Errorf("%d contracts", total)
		}
	})
	t.Run("shops are counted apart", func(t *testing.T) {
		w := begin(t, open)
		amount := int64(1)
		dear := contract.Filter{Line: shop.Subscriptions, MinAmount: &amount}
		w.put(monthly(1), monthly(2))
		w.search(dear, anyPage)
		other := w.addShop("second.myshopify.com")
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.PutContracts(t.Context(), []contract.Contract{monthly(1)}) })
		for of, want := range map[shop.ID]int{w.shop.ID: 2, other.ID: 1} {
			for _, f := range []contract.Filter{{Line: shop.Subscriptions}, dear} {
				if _, total, err := w.db.Search(t.Context(), of, f, anyPage); err != nil || total != want {
					t.Errorf("shop %d: %d, %v", of, total, err)
				}
			}
		}
	})
	t.Run("what billing changes is counted each time", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		later := contract.Filter{Line: shop.Subscriptions, NextFrom: day.AddDate(0, 0, 1)}
		renewed := contract.Filter{Line: shop.Subscriptions, OrderPart: "#7001"}
		for _, f := range []contract.Filter{later, renewed} {
			if _, total := w.search(f, anyPage); total != 0 {
				t.Errorf("found %d", total)
			}
		}
		w.in(func(tx *store.Tx) error {
			c := w.otherVersion(1)
			c.NextBillingDate = day.AddDate(0, 1, 0)
			if err := tx.PutProgress(t.Context(), []contract.Contract{c}); err != nil {
				return err
			}
			made := queued(1, 2, day)
			made.Status, made.OrderName = billing.Success, "#7001"
			return tx.PutAttempts(t.Context(), []billing.Attempt{made})
		})
		for _, f := range []contract.Filter{later, renewed} {
			if _, total := w.search(f, anyPage); total != 1 {
				t.Errorf("found %d", total)
			}
		}
	})
	t.Run("few hits and many have the same order, by every field", func(t *testing.T) {
		w := begin(t, open)
		var put []contract.Contract
		for id := contract.ID(1); id <= 60; id++ { // many for a page of 3, for 60² > 4·3·60
			c := monthly(id)
			c.Customer.ID, c.Customer.Name, c.OriginOrderName = int64(id%7), fmt.Sprint("Name ", id%11), fmt.Sprint("#", id%5)
			c.NextBillingDate, c.UpdatedAt = day.AddDate(0, 0, int(id%9)), day.AddDate(0, 0, int(id%4))
			put = append(put, c)
		}
		w.put(put...)
		amount := int64(1)
		for _, field := range contract.SortFields {
			for _, f := range []contract.Filter{{}, {MinAmount: &amount}, {UpdatedFrom: day.AddDate(-1, 0, 0)}, {CustomerPart: "name"}, {ProductID: 11}} {
				f.Line = shop.Subscriptions
				sort := []page.Sort{{Field: field, Desc: true}}
				whole, _ := w.search(f, page.Request{Size: 100, Sort: sort}) // as few as fit the page
				var pages []contract.ID
				for number := range 20 {
					some, total := w.search(f, page.Request{Page: number, Size: 3, Sort: sort})
					if pages = append(pages, some...); total != 60 {
						t.Errorf("%s: %d in all", field, total)
					}
				}
				if fmt.Sprint(whole) != fmt.Sprint(pages) {
					t.Errorf("%s with %+v:\n%v in pages\n%v at once", field, f, pages, whole)
				}
			}
		}
	})
}
