package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func fullBundle(title string, plans ...int64) bundle.Settings {
	s := bundle.New()
	s.Line = shop.Subscriptions
	s.Texts.Title, s.Look.BundleTopHTML, s.Page.SkipFirstPage, s.Custom = title, "<b>ü</b>", true, []string{`{"a":1}`}
	s.Rules.CategoryLimits = map[string]bundle.Limit{"Tee": {Min: 1, Max: 3}}
	s.Rules.MinValue, s.Pricing.Tiers = money.Amount{Minor: 500, Currency: "EUR"}, []bundle.Tier{{MinProducts: 3, Percent: 7.5}}
	s.Plans, s.CreatedAt, s.UpdatedAt = plans, day, day
	return s
}

func (w world) putBundle(of shop.ID, s bundle.Settings) bundle.Settings {
	w.Helper()
	var put bundle.Settings
	w.inShop(of, func(tx *store.Tx) error {
		put = s
		return tx.PutBundle(w.Context(), &put)
	})
	return put
}

func testBundles(t *testing.T, open opener) {
	t.Run("a bundle is read as it was written", func(t *testing.T) {
		w := begin(t, open)
		put := w.putBundle(w.shop.ID, fullBundle("Box", 1001))
		got, err := w.db.Bundle(t.Context(), w.shop.ID, shop.Subscriptions, put.ID)
		if diff := cmp.Diff(put, got, cmpopts.EquateEmpty()); diff != "" || err != nil || put.ID == 0 || got.Version != 1 {
			t.Errorf("%v (-put +got):\n%s", err, diff)
		}
		put.Texts.Title = "Bigger box"
		put = w.putBundle(w.shop.ID, put)
		got, err = w.db.Bundle(t.Context(), w.shop.ID, shop.Subscriptions, put.ID)
		if diff := cmp.Diff(put, got, cmpopts.EquateEmpty()); diff != "" || err != nil || got.Version != 2 {
			t.Errorf("%v (-put +got):\n%s", err, diff)
		}
	})
	t.Run("a bundle of another shop does not exist", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		theirs := w.putBundle(other.ID, fullBundle("Theirs", 1001))
		_, err := w.db.Bundle(t.Context(), w.shop.ID, shop.Subscriptions, theirs.ID)
		w.wantKind(err, fault.NotFound)
		if list, total, err := w.db.Bundles(t.Context(), w.shop.ID, shop.Subscriptions, page.Request{Size: 5}); len(list) != 0 || total != 0 || err != nil {
			t.Errorf("%d of %d, %v", len(list), total, err)
		}
		c := monthly(1)
		if _, found, err := w.db.BundleOf(t.Context(), w.shop.ID, c); found || err != nil {
			t.Errorf("found %t, %v", found, err)
		}
		err = w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.DeleteBundle(t.Context(), theirs) })
		w.wantKind(err, fault.Conflict)
	})
	t.Run("a bundle of another line does not exist, and its contracts are no boxes", func(t *testing.T) {
		w := begin(t, open)
		club := fullBundle("Club", 1001)
		club.Line = shop.Memberships
		club = w.putBundle(w.shop.ID, club)
		_, err := w.db.Bundle(t.Context(), w.shop.ID, shop.Subscriptions, club.ID)
		w.wantKind(err, fault.NotFound)
		if list, total, err := w.db.Bundles(t.Context(), w.shop.ID, shop.Subscriptions, page.Request{Size: 5}); len(list) != 0 || total != 0 || err != nil {
			t.Errorf("%d of %d, %v", len(list), total, err)
		}
		if got, err := w.db.Bundle(t.Context(), w.shop.ID, shop.Memberships, club.ID); err != nil || got.Line != shop.Memberships {
			t.Errorf("on its own line: %q, %v", got.Line, err)
		}
		if _, found, err := w.db.BundleOf(t.Context(), w.shop.ID, monthly(1)); found || err != nil {
			t.Errorf("found %t, %v", found, err)
		}
		w.in(func(tx *store.Tx) error {
			_, found, err := tx.BundleOf(t.Context(), monthly(1))
			if found {
				t.Error("found in a transaction")
			}
			return err
		})
	})
	t.Run("a bundle takes no plan of another line", func(t *testing.T) {
		w := begin(t, open)
		s := bundle.Service{Store: w.db.BundleKeeping(), Clock: clock.NewManual(day)}
		members := coffee(52)
		members.Line = shop.Memberships
		w.plan(members, plan.Items{})
		_, err := s.Create(t.Context(), w.shop.ID, fullBundle("Box", 7, 52), clerk)
		w.wantKind(err, fault.FailedPrecondition)
		club := fullBundle("Club", 7, 52)
		club.Line = shop.Memberships
		made, err := s.Create(t.Context(), w.shop.ID, club, clerk)
		if err != nil {
			t.Fatal(err)
		}
		made.Line = shop.Subscriptions
		_, err = s.Update(t.Context(), w.shop.ID, made, clerk)
		w.wantKind(err, fault.FailedPrecondition)
	})
	t.Run("bundles are listed page by page", func(t *testing.T) {
		w := begin(t, open)
		a, b, c := w.putBundle(w.shop.ID, fullBundle("A")), w.putBundle(w.shop.ID, fullBundle("B")), w.putBundle(w.shop.ID, fullBundle("C"))
		ids := func(p page.Request) (ids []bundle.ID) {
			list, total, err := w.db.Bundles(t.Context(), w.shop.ID, shop.Subscriptions, p)
			if err != nil || total != 3 {
				t.Fatalf("%d in all, %v", total, err)
			}
			for _, s := range list {
				ids = append(ids, s.ID)
			}
			return ids
		}
		if diff := cmp.Diff([]bundle.ID{c.ID}, ids(page.Request{Page: 1, Size: 2})); diff != "" {
			t.Errorf("second page (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]bundle.ID{c.ID, b.ID, a.ID}, ids(page.Request{Size: 9, Sort: []page.Sort{{Field: "id", Desc: true}}})); diff != "" {
			t.Errorf("backwards (-want +got):\n%s", diff)
		}
	})
	t.Run("the bundle of a contract is found by its selling plan", func(t *testing.T) {
		w := begin(t, open)
		w.putBundle(w.shop.ID, fullBundle("Others", 5))
		mine := w.putBundle(w.shop.ID, fullBundle("Mine", 7, 1001)) // the plan of monthly's line
		got, found, err := w.db.BundleOf(t.Context(), w.shop.ID, monthly(1))
		if !found || err != nil || got.ID != mine.ID {
			t.Errorf("bundle %d, %t, %v", got.ID, found, err)
		}
		w.in(func(tx *store.Tx) error {
			got, found, err := tx.BundleOf(t.Context(), monthly(1))
			if !found || got.ID != mine.ID {
				t.Errorf("in a transaction: bundle %d, %t", got.ID, found)
			}
			return err
		})
	})
	t.Run("what was read earlier does not overwrite and is not removed", func(t *testing.T) {
		w := begin(t, open)
		s := w.putBundle(w.shop.ID, fullBundle("Box"))
		w.putBundle(w.shop.ID, s)
		for _, late := range []func(tx *store.Tx) error{
			func(tx *store.Tx) error { return tx.PutBundle(t.Context(), new(s)) },
			func(tx *store.Tx) error { return tx.DeleteBundle(t.Context(), s) },
		} {
			w.wantKind(w.db.Update(t.Context(), w.shop.ID, late), fault.Conflict)
		}
		s.Version = 2
		w.in(func(tx *store.Tx) error { return tx.DeleteBundle(t.Context(), s) })
		_, err := w.db.Bundle(t.Context(), w.shop.ID, shop.Subscriptions, s.ID)
		w.wantKind(err, fault.NotFound)
	})
}
