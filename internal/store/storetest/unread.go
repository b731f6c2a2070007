package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testUnread(t *testing.T, open opener) {
	w := begin(t, open)
	at := day.Truncate(time.Millisecond).UTC()
	later := at.Add(time.Hour)
	want := func(when string, after contract.ID, limit int, want ...contract.Unread) {
		t.Helper()
		w.in(func(tx *store.Tx) error {
			got, err := tx.UnreadContracts(t.Context(), after, limit)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %+v, want %+v", when, got, want)
			}
			return err
		})
	}
	put := func(list ...contract.Unread) {
		t.Helper()
		w.in(func(tx *store.Tx) error { return tx.PutUnread(t.Context(), list) })
	}
	forget := func(before time.Time, ids ...contract.ID) {
		t.Helper()
		w.in(func(tx *store.Tx) error { return tx.DeleteUnread(t.Context(), ids, before) })
	}
	first := contract.Unread{ID: 9001, Reason: "a", Since: at, SeenAt: at}
	second := contract.Unread{ID: 9002, Reason: "b", Since: at, SeenAt: at}
	put()
	put(first, second)
	want("all", 0, 5, first, second)
	want("a page", 0, 1, first)
	want("the next one", 9001, 1, second)
	put(contract.Unread{ID: 9002, Reason: "c", Since: later, SeenAt: later})
	second.Reason, second.SeenAt = "c", later
	want("seen again", 9001, 5, second)
	forget(later, 9001, 9002)
	want("one can be read", 0, 5, second)
	forget(later.Add(time.Hour))
	want("none is named", 0, 5, second)
	other := w.addShop("second.myshopify.com")
	if err := w.db.Intake().Update(t.Context(), other.ID, func(tx intake.Tx) error {
		return tx.DeleteUnread(t.Context(), []contract.ID{9002}, later.Add(time.Hour))
	}); err != nil {
		t.Fatal(err)
	}
	want("another shop's", 0, 5, second)
	w.shop.SubscribeError = "no scope"
	w.putGuard(shop.Guard{})
	if got, err := w.db.Shops().Shop(t.Context(), w.shop.ID); err != nil || got.SubscribeError != "no scope" {
		t.Errorf("the shop has a subscribe error %q, %v", got.SubscribeError, err)
	}
}
