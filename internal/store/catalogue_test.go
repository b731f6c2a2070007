package store_test

import (
	"maps"
	"slices"
	"testing"

	plans "github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestUnchangedCatalogueIsNotReadAgain(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	of := shop.Shop{Domain: "first.myshopify.com", PlatformID: 77, Token: "token", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: start}
	if err := db.Shops().AddShop(t.Context(), &of); err != nil {
		t.Fatal(err)
	}
	change := func(fn func(*store.Tx) error) {
		t.Helper()
		if err := db.Update(t.Context(), of.ID, fn); err != nil {
			t.Fatal(err)
		}
	}
	want := func(sellingPlans ...int64) {
		t.Helper()
		now, err := db.Shops().Shop(t.Context(), of.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, offers, err := db.Catalogue(t.Context(), now, shop.Subscriptions)
		if got := slices.Sorted(maps.Keys(offers)); err != nil || !slices.Equal(got, sellingPlans) {
			t.Errorf("got selling plans %d, %v, want %d", got, err, sellingPlans)
		}
	}
	g := plans.Group{PlatformID: 8001, Line: shop.Subscriptions, State: plans.Synced, Options: []plans.Option{{ID: 51}, {ID: 52}}, CreatedAt: start, UpdatedAt: start}
	change(func(tx *store.Tx) error { return tx.PutPlanGroup(t.Context(), &g) })
	want(51, 52)
	if _, err := db.Raw().ExecContext(t.Context(), "DELETE FROM plan_options WHERE id = 52"); err != nil { // behind everybody's back
		t.Fatal(err)
	}
	want(51, 52)
	change(func(tx *store.Tx) error { return tx.PutShop(t.Context(), of) }) // as it was before there were plans
	want(51, 52)
	g.Options = g.Options[1:]
	change(func(tx *store.Tx) error { return tx.PutPlanGroup(t.Context(), &g) })
	want(52)
}
