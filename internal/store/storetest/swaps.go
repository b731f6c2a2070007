package storetest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// swapRule is a rule in which nothing is zero.
func swapRule(name string, sequence int) swap.Rule {
	return swap.Rule{
		Line: shop.Subscriptions, Name: name, Sources: []swap.Product{{VariantID: 1, Name: "Tea 'green' \\ ☕", Image: "https://cdn.example.com/a.png", Quantity: 2}},
		Destinations: []swap.Product{{VariantID: 2, Quantity: 1}, {VariantID: 3, Quantity: 4}}, FirstOrder: true, EveryOrder: true, Cycle: 3, Sequence: sequence,
		CarryDiscount: true, Discount: swap.ProductThenExisting, ShiftDays: new(-7), NoEmail: true, Off: true, CreatedAt: day, UpdatedAt: day.Add(time.Hour),
	}
}

func (w world) rule(r swap.Rule) swap.Rule {
	w.Helper()
	var put swap.Rule
	w.in(func(tx *store.Tx) error {
		put = r
		return tx.PutSwapRule(w.Context(), &put)
	})
	return put
}

func testSwaps(t *testing.T, open opener) {
	t.Run("a rule comes back as it was put, full or bare", func(t *testing.T) {
		w := begin(t, open)
		for _, r := range []swap.Rule{swapRule("full", 5), {Line: shop.Memberships, Sources: []swap.Product{{VariantID: 1, Quantity: 1}}, Destinations: []swap.Product{{VariantID: 2, Quantity: 1}}}} {
			put := w.rule(r)
			if put.ID == 0 || put.Version != 1 {
				t.Errorf("inserted as %d, version %d", put.ID, put.Version)
			}
			got, err := w.db.SwapRuleOf(t.Context(), w.shop.ID, r.Line, put.ID)
			if err != nil || !reflect.DeepEqual(got, put) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, put)
			}
			put.Name, put.ShiftDays, put.Sources = "changed", new(0), []swap.Product{{VariantID: 9, Quantity: 9}}
			changed := w.rule(put)
			if got, err := w.db.SwapRuleOf(t.Context(), w.shop.ID, r.Line, put.ID); err != nil || !reflect.DeepEqual(got, changed) || got.Version != 2 {
				t.Errorf("after a change: got %+v, %v\nwant %+v", got, err, changed)
			}
		}
	})
	t.Run("a rule that changed meanwhile is not overwritten", func(t *testing.T) {
		w := begin(t, open)
		stale := w.rule(swapRule("first", 1))
		w.rule(stale)
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
			r := stale
			return tx.PutSwapRule(t.Context(), &r)
		})
		w.wantKind(err, fault.Conflict)
	})
	t.Run("what a shop sells of a rule's products is kept beside the rule", func(t *testing.T) {
		w := begin(t, open)
		r := w.rule(swapRule("first", 1))
		id := r.Sources[0].VariantID
		sold := map[int64]platform.Variant{id: {ID: id, Price: money.Amount{Minor: 1250, Currency: "USD"}}, 999: {ID: 999}}
		keep := func(of swap.Rule) swap.Rule {
			w.in(func(tx *store.Tx) error { return tx.KeepSold(t.Context(), []swap.Rule{of}, sold) })
			now, err := w.db.SwapRuleOf(t.Context(), w.shop.ID, shop.Subscriptions, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			return now
		}
		now := keep(r)
		if want := map[int64]platform.Variant{id: sold[id]}; !reflect.DeepEqual(now.Variants, want) || now.Version != r.Version {
			t.Errorf("kept %+v at version %d, want %+v at %d", now.Variants, now.Version, want, r.Version)
		}
		delete(sold, id)
		old := now
		old.Version--
		if got := keep(old); len(got.Variants) != 1 {
			t.Error("a rule that has changed since was written")
		}
		if got := keep(now); len(got.Variants) != 0 {
			t.Errorf("what is not sold any more is kept: %+v", got.Variants)
		}
	})
	t.Run("another line and another shop have no part in a rule", func(t *testing.T) {
		w := begin(t, open)
		r, other := w.rule(swapRule("first", 1)), w.addShop("second.myshopify.com")
		_, err := w.db.SwapRuleOf(t.Context(), w.shop.ID, shop.Memberships, r.ID)
		w.wantKind(err, fault.NotFound)
		_, err = w.db.SwapRuleOf(t.Context(), other.ID, shop.Subscriptions, r.ID)
		w.wantKind(err, fault.NotFound)
		w.inShop(other.ID, func(tx *store.Tx) error {
			rules, err := tx.SwapRules(t.Context())
			if err == nil && len(rules) != 0 {
				err = errors.New("the other shop sees the rule")
			}
			if err == nil {
				err = tx.DeleteSwapRule(t.Context(), r.ID)
			}
			return err
		})
		if _, err := w.db.SwapRuleOf(t.Context(), w.shop.ID, shop.Subscriptions, r.ID); err != nil {
			t.Errorf("the other shop removed the rule: %v", err)
		}
	})
	t.Run("rules are listed in the order in which they are looked at, or as asked", func(t *testing.T) {
		w := begin(t, open)
		b, a := w.rule(swapRule("b", 7)), w.rule(swapRule("a", 2))
		names := func(p page.Request) (got []string, total int) {
			list, total, err := w.db.SwapRulesOf(t.Context(), w.shop.ID, shop.Subscriptions, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				got = append(got, r.Name)
			}
			return got, total
		}
		if got, total := names(page.Request{Size: 10}); !reflect.DeepEqual(got, []string{"a", "b"}) || total != 2 {
			t.Errorf("got %v of %d", got, total)
		}
		if got, total := names(page.Request{Size: 1, Page: 1, Sort: []page.Sort{{Field: "name"}}}); !reflect.DeepEqual(got, []string{"b"}) || total != 2 {
			t.Errorf("by name: %v of %d", got, total)
		}
		w.in(func(tx *store.Tx) error {
			rules, err := tx.SwapRules(t.Context())
			if len(rules) != 2 || rules[0].ID != a.ID || rules[1].ID != b.ID {
				t.Errorf("in a transaction: %+v", rules)
			}
			return err
		})
	})
	t.Run("active contracts with a variant are found and counted", func(t *testing.T) {
		w := begin(t, open)
		paused := monthly(3)
		paused.Status = contract.Paused
		w.put(monthly(1), monthly(2), paused)
		variant := monthly(1).Lines[0].VariantID
		list, err := w.db.Holders(t.Context(), w.shop.ID, shop.Subscriptions, variant, 1, 10)
		if err != nil || len(list) != 1 || list[0].ID != 2 {
			t.Errorf("found %+v %v", list, err)
		}
		if n, all, err := w.db.CountHolders(t.Context(), w.shop.ID, shop.Subscriptions, variant); n != 3 || !all || err != nil {
			t.Errorf("counted %d (all: %t) %v", n, all, err)
		}
		if n, _, err := w.db.CountHolders(t.Context(), w.shop.ID, shop.Memberships, variant); n != 0 || err != nil {
			t.Errorf("of the other line %d %v", n, err)
		}
	})
	t.Run("a rule's use is noted once, and goes with the rule", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2))
		r := w.rule(swapRule("first", 1))
		uses := []billing.SwapUse{{Rule: r.ID, Contract: 1}, {Rule: 4711, Contract: 1}}
		for range 2 {
			w.in(func(tx *store.Tx) error { return tx.AddSwapUses(t.Context(), uses) })
		}
		check := func(want map[contract.ID]map[swap.ID]bool) {
			t.Helper()
			w.in(func(tx *store.Tx) error {
				got, err := tx.SwapUses(t.Context(), []contract.ID{1, 2})
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
				return err
			})
		}
		check(map[contract.ID]map[swap.ID]bool{1: {r.ID: true}})
		w.in(func(tx *store.Tx) error { return tx.DeleteSwapRule(t.Context(), r.ID) })
		check(map[contract.ID]map[swap.ID]bool{})
	})
}

func oneOff(c contract.ID, cycle int, variant int64) billing.OneOff {
	return billing.OneOff{
		Contract: c, Cycle: cycle, Handle: "cold-brew", Quantity: 3, CreatedAt: day, UpdatedAt: day.Add(time.Minute),
		Variant: platform.Variant{
			ID: variant, ProductID: 10, Handle: "brew", SKU: "BREW", Title: "1 l", ProductTitle: "Brew", Image: "https://cdn.example.com/b.png", Taxable: true,
			Price: money.Amount{Minor: 1250, Currency: "EUR"},
		},
	}
}

func (w world) carry(list ...billing.OneOff) []billing.OneOff {
	w.Helper()
	var put []billing.OneOff
	w.in(func(tx *store.Tx) error {
		put = fresh(list)
		return tx.PutOneOffs(w.Context(), put)
	})
	return put
}

func testOneOffs(t *testing.T, open opener) {
	waiting := func(w world, contracts ...contract.ID) (list []billing.OneOff) {
		w.Helper()
		w.in(func(tx *store.Tx) (err error) {
			list, err = tx.OneOffs(w.Context(), contracts)
			return err
		})
		return list
	}
	t.Run("a one-time product comes back as it was put", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		put := w.carry(oneOff(1, 3, 7))
		if got := waiting(w, 1); !reflect.DeepEqual(got, put) || got[0].ID == 0 || got[0].Version != 1 {
			t.Errorf("got  %+v\nwant %+v", got, put)
		}
		put[0].Quantity, put[0].Cycle = 9, 4
		changed := w.carry(put...)
		if got := waiting(w, 1); !reflect.DeepEqual(got, changed) || got[0].Version != 2 {
			t.Errorf("after a change: got %+v\nwant %+v", got, changed)
		}
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutOneOffs(t.Context(), fresh(put)) })
		w.wantKind(err, fault.Conflict)
	})
	t.Run("a cycle has a variant once", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2))
		w.carry(oneOff(1, 3, 7), oneOff(1, 3, 8), oneOff(1, 4, 7), oneOff(2, 3, 7))
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutOneOffs(t.Context(), []billing.OneOff{oneOff(1, 3, 8)}) })
		w.wantKind(err, fault.Conflict)
	})
	t.Run("those that wait are read by contract and cycle, those that are done are not", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2), monthly(3))
		done := oneOff(1, 2, 7)
		done.Done = true
		w.carry(done, oneOff(2, 5, 7), oneOff(1, 4, 7), oneOff(1, 3, 8), oneOff(3, 1, 7))
		var got [][2]int
		for _, o := range waiting(w, 1, 2) {
			got = append(got, [2]int{int(o.Contract), o.Cycle})
		}
		if !reflect.DeepEqual(got, [][2]int{{1, 3}, {1, 4}, {2, 5}}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("lists name the attempt, and upcoming ones are of orders that wait", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		ordered, skipped := queued(1, 2, day), queued(1, 3, day)
		ordered.Status, skipped.Status = billing.Success, billing.Skipped
		attempts := w.queue(ordered, skipped, queued(1, 4, day))
		done := oneOff(1, 2, 7)
		done.Done = true
		w.carry(done, oneOff(1, 3, 7), oneOff(1, 4, 7), oneOff(1, 9, 7))
		check := func(upcoming bool, want ...billing.AttemptID) {
			t.Helper()
			list, total, err := w.db.OneOffsOf(t.Context(), w.shop.ID, billing.OneOffQuestion{Line: shop.Subscriptions, Contract: 1, Upcoming: upcoming}, page.Request{Size: 10})
			if err != nil {
				t.Fatal(err)
			}
			var got []billing.AttemptID
			for _, r := range list {
				got = append(got, r.Attempt)
			}
			if !reflect.DeepEqual(got, want) || total != len(want) || !reflect.DeepEqual(list[0].Variant, oneOff(1, 1, 7).Variant) {
				t.Errorf("upcoming %t: got %v of %d (%+v), want %v", upcoming, got, total, list, want)
			}
		}
		check(true, attempts[2].ID)
		check(false, attempts[0].ID, attempts[1].ID, attempts[2].ID, 0)
		waiting, err := w.db.WaitingOneOffs(t.Context(), w.shop.ID, []contract.ID{1, 2})
		if err != nil || len(waiting) != 1 || waiting[0].Cycle != 4 || !reflect.DeepEqual(waiting[0].Variant, oneOff(1, 1, 7).Variant) {
			t.Errorf("waiting: %+v, %v, want the one of cycle 4", waiting, err)
		}
		_, _, err = w.db.OneOffsOf(t.Context(), w.shop.ID, billing.OneOffQuestion{Line: shop.Memberships, Contract: 1}, anyPage)
		w.wantKind(err, fault.NotFound)
	})
	t.Run("an attempt's record carries what its order does", func(t *testing.T) {
		w := begin(t, open)
		c := monthly(1)
		c.OneOffs = 2
		w.put(c)
		attempt := w.queue(queued(1, 3, day), queued(1, 4, day))[0]
		put := w.carry(oneOff(1, 3, 7), oneOff(1, 4, 8))
		r, err := w.db.Attempt(t.Context(), w.shop.ID, shop.Subscriptions, attempt.ID)
		if err != nil || !reflect.DeepEqual(r.OneOffs, put[:1]) || r.Of.OneOffs != 2 {
			t.Errorf("got %+v, %v", r.OneOffs, err)
		}
		if lines := r.LinesOf(); len(lines) != 2 || lines[1].VariantID != 7 || lines[1].Quantity != 3 {
			t.Errorf("lines %+v", lines)
		}
	})
	t.Run("they can be removed", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		put := w.carry(oneOff(1, 3, 7), oneOff(1, 4, 7))
		other := w.addShop("second.myshopify.com")
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.DeleteOneOffs(t.Context(), []billing.OneOffID{put[0].ID}) })
		w.in(func(tx *store.Tx) error { return tx.DeleteOneOffs(t.Context(), []billing.OneOffID{put[1].ID, 4711}) })
		if got := waiting(w, 1); !reflect.DeepEqual(got, put[:1]) {
			t.Errorf("left: %+v", got)
		}
	})
}

func testAnnotations(t *testing.T, open opener) {
	note := func(target string, due time.Time) billing.Annotation {
		return billing.Annotation{Target: target, Contract: 1, Attempt: 5, Tags: []string{"a, b", "ü"}, Note: "note", DueAt: due, Failures: 2}
	}
	open.twice(t, "annotations are returned when they are due, earliest first", func(t *testing.T, open opener) {
		w := begin(t, open)
		w.put(monthly(1))
		var put []billing.Annotation
		w.in(func(tx *store.Tx) error {
			put = []billing.Annotation{note("late", day.Add(time.Millisecond)), note("second", day), note("first", day.Add(-time.Hour))}
			return tx.PutAnnotations(t.Context(), put)
		})
		due := func() (list []billing.Annotation) {
			w.in(func(tx *store.Tx) (err error) {
				list, err = tx.DueAnnotations(t.Context(), day, 10)
				return err
			})
			return list
		}
		if got := due(); !reflect.DeepEqual(got, []billing.Annotation{put[2], put[1]}) {
			t.Errorf("got  %+v\nwant %+v", got, []billing.Annotation{put[2], put[1]})
		}
		if shops, err := w.across(w.db.Shops().DueAnnotationShops, day, 10); err != nil || !reflect.DeepEqual(shops, []shop.ID{w.shop.ID}) {
			t.Errorf("shops %v, %v", shops, err)
		}
		w.wantNext(day, day.Add(-time.Hour))
		w.in(func(tx *store.Tx) error {
			put[2].DueAt = day.Add(time.Hour)
			if err := tx.PutAnnotations(t.Context(), put[2:]); err != nil {
				return err
			}
			return tx.DeleteAnnotations(t.Context(), []billing.AnnotationID{put[1].ID})
		})
		if got := due(); len(got) != 0 {
			t.Errorf("still due: %+v", got)
		}
	})
	t.Run("a customer subscribes to the plans of what is active", func(t *testing.T) {
		w := begin(t, open)
		on := func(id contract.ID, customer int64, status contract.Status, plans ...int64) contract.Contract {
			c := monthly(id)
			c.Customer.ID, c.Status, c.Lines = customer, status, nil
			for i, p := range plans {
				l := line(int64(i+1), 100)
				l.SellingPlanID = p
				c.Lines = append(c.Lines, l)
			}
			return c
		}
		for _, c := range []contract.Contract{
			on(1, 5, contract.Active, 11, 0, 12), on(2, 5, contract.Paused, 13), on(3, 6, contract.Active, 14), on(4, 7, contract.Active, 15), on(5, 5, contract.Active, 11),
		} {
			w.put(c)
		}
		w.in(func(tx *store.Tx) error {
			got, err := tx.Subscribed(t.Context(), []int64{5, 6})
			want := []billing.Subscribed{{Customer: 5, Contract: 1, Plan: 11}, {Customer: 5, Contract: 1, Plan: 12}, {Customer: 6, Contract: 3, Plan: 14}, {Customer: 5, Contract: 5, Plan: 11}}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			return err
		})
	})
}
