package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testRetention(t *testing.T, open opener) {
	t.Run("activities of a contract are read newest first, in their shop only, until they are dropped", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		w.put(monthly(1), monthly(2))
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.PutContracts(t.Context(), []contract.Contract{monthly(1)}) })
		add := func(in shop.ID, c contract.ID, action string) retention.Activity {
			a := retention.Activity{Contract: c, Customer: 5, At: day, Details: retention.Details{Action: action, Reason: "ü", Discount: "10OFF", Info: `{"a":1}`}}
			w.inShop(in, func(tx *store.Tx) error { return tx.AddRetention(t.Context(), &a) })
			return a
		}
		of := func(in shop.ID, c contract.ID) (list []retention.Activity) {
			w.inShop(in, func(tx *store.Tx) (err error) {
				list, err = tx.RetentionsOf(t.Context(), c)
				return err
			})
			return list
		}
		first, second, theirs := add(w.shop.ID, 1, "KEPT"), add(w.shop.ID, 1, "SKIPPED"), add(other.ID, 1, "CANCELLED")
		another := add(w.shop.ID, 2, "PAUSED")
		if diff := cmp.Diff([]retention.Activity{second, first}, of(w.shop.ID, 1)); diff != "" || first.ID == 0 {
			t.Errorf("(-want +got):\n%s", diff)
		}
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.DeleteRetentions(t.Context(), []retention.ID{first.ID, second.ID}) })
		if got := of(w.shop.ID, 1); len(got) != 2 {
			t.Errorf("another shop dropped what is not its own: %+v", got)
		}
		w.in(func(tx *store.Tx) error { return tx.DeleteRetentions(t.Context(), []retention.ID{first.ID}) })
		for _, row := range []struct {
			in   shop.ID
			c    contract.ID
			want retention.Activity
		}{{w.shop.ID, 1, second}, {w.shop.ID, 2, another}, {other.ID, 1, theirs}} {
			if diff := cmp.Diff([]retention.Activity{row.want}, of(row.in, row.c)); diff != "" {
				t.Errorf("contract %d of shop %d (-want +got):\n%s", row.c, row.in, diff)
			}
		}
	})
}
