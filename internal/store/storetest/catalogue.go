package storetest

import (
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// catalogue returns the titles of the bundles and the selling plans of a line as a request
// sees them now.
func (w world) catalogue(of shop.ID, line shop.Line) (titles []string, plans []int64) {
	w.Helper()
	s, err := w.db.Shops().Shop(w.Context(), of)
	if err != nil {
		w.Fatal(err)
	}
	bundles, offers, err := w.db.Catalogue(w.Context(), s, line)
	if err != nil {
		w.Fatal(err)
	}
	for _, b := range bundles {
		titles = append(titles, b.Texts.Title)
	}
	for id, offer := range offers {
		if offer.ID != id || offer.GroupName != "Coffee" || offer.CustomerTag != "subscriber" {
			w.Errorf("selling plan %d: got %+v", id, offer)
		}
		plans = append(plans, id)
	}
	slices.Sort(plans)
	return titles, plans
}

func testCatalogue(t *testing.T, open opener) {
	t.Run("every change of plan groups and bundles is in it at once", func(t *testing.T) {
		w := begin(t, open)
		want := func(titles []string, plans ...int64) {
			t.Helper()
			if gotTitles, gotPlans := w.catalogue(w.shop.ID, shop.Subscriptions); !slices.Equal(gotTitles, titles) || !slices.Equal(gotPlans, plans) {
				t.Errorf("got %q and %d, want %q and %d", gotTitles, gotPlans, titles, plans)
			}
		}
		want(nil)
		g := w.plan(coffee(51, 52), plan.Items{})
		want(nil, 51, 52)
		g.Options = g.Options[1:]
		w.in(func(tx *store.Tx) error { return tx.PutPlanGroup(t.Context(), &g) })
		want(nil, 52)
		box := w.putBundle(w.shop.ID, fullBundle("Box", 1001))
		want([]string{"Box"}, 52)
		box.Texts.Title = "Bigger box"
		box = w.putBundle(w.shop.ID, box)
		want([]string{"Bigger box"}, 52)
		w.in(func(tx *store.Tx) error { return tx.DeletePlanGroup(t.Context(), g.ID) })
		want([]string{"Bigger box"})
		w.in(func(tx *store.Tx) error { return tx.DeleteBundle(t.Context(), box) })
		want(nil)
	})
	t.Run("it is each line's and each store's own", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		member := coffee(71)
		member.Line = shop.Memberships
		w.plan(member, plan.Items{})
		w.putBundle(other.ID, fullBundle("Theirs", 1001))
		for _, row := range []struct {
			of     shop.ID
			line   shop.Line
			titles []string
			plans  []int64
		}{
			{w.shop.ID, shop.Subscriptions, nil, nil}, {w.shop.ID, shop.Memberships, nil, []int64{71}},
			{other.ID, shop.Subscriptions, []string{"Theirs"}, nil}, {other.ID, shop.Memberships, nil, nil},
		} {
			if titles, plans := w.catalogue(row.of, row.line); !slices.Equal(titles, row.titles) || !slices.Equal(plans, row.plans) {
				t.Errorf("shop %d, %s: got %q and %d, want %q and %d", row.of, row.line, titles, plans, row.titles, row.plans)
			}
		}
	})
}
