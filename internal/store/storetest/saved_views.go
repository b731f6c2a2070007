package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/store"
)

func testSavedViews(t *testing.T, open opener) {
	w := begin(t, open)
	own := savedview.View{Owner: 3, Name: "Coffee", Query: "productId=11&sort=id,desc", CreatedAt: day}
	shared := savedview.View{Owner: 4, Name: "All of them", Shared: true, CreatedAt: day}
	other := savedview.View{Owner: 4, Name: "Coffee", CreatedAt: day}
	w.in(func(tx *store.Tx) error {
		own.ID, shared.ID, other.ID = 0, 0, 0
		for _, v := range []*savedview.View{&own, &shared, &other} {
			if err := tx.PutSavedView(t.Context(), v); err != nil {
				return err
			}
		}
		return nil
	})
	read := func() (list []savedview.View) {
		err := w.db.SavedViews().View(t.Context(), w.shop.ID, func(tx savedview.ReadTx) (err error) {
			list, err = tx.SavedViews(t.Context(), 3)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return list
	}
	if diff := cmp.Diff([]savedview.View{own, shared}, read()); diff != "" {
		t.Error(diff)
	}
	stale := own
	own.Name = "Tea"
	w.in(func(tx *store.Tx) error {
		v := own
		if err := tx.PutSavedView(t.Context(), &v); err != nil {
			return err
		}
		return tx.DeleteSavedView(t.Context(), shared.ID)
	})
	own.Version++
	if diff := cmp.Diff([]savedview.View{own}, read()); diff != "" {
		t.Error(diff)
	}
	err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutSavedView(t.Context(), &stale) })
	w.wantKind(err, fault.Conflict)
}
