package storetest

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/store"
)

func testSyncs(t *testing.T, open opener) {
	t.Run("the sync of the last connection comes back as it was put", func(t *testing.T) {
		w := begin(t, open)
		latest := func() (y intake.Sync, known bool) {
			w.in(func(tx *store.Tx) (err error) {
				y, known, err = tx.LatestSync(t.Context())
				return err
			})
			return y, known
		}
		if y, known := latest(); known {
			t.Errorf("a new store has %+v", y)
		}
		full := intake.Sync{
			StartedAt: day, Stage: intake.Reading, StageAt: day.Add(time.Minute), Done: 3, Total: 9, Worked: 5 * time.Second, NotedAt: day.Add(2 * time.Minute), FinishedAt: day.Add(3 * time.Minute),
			Owner: "a", LeaseUntil: day.Add(4 * time.Minute), Failure: "lost", AwaySince: day.Add(-time.Hour),
		}
		w.in(func(tx *store.Tx) error {
			if err := tx.PutSync(t.Context(), intake.Sync{StartedAt: day.Add(-time.Hour), Stage: intake.Done, StageAt: day, NotedAt: day}); err != nil {
				return err
			}
			return tx.PutSync(t.Context(), full)
		})
		full.Version = 1
		if y, known := latest(); !known || y != full {
			t.Errorf("got %+v, want %+v", y, full)
		}
		full.Done = 4
		w.in(func(tx *store.Tx) error { return tx.PutSync(t.Context(), full) })
		w.wantKind(w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutSync(t.Context(), full) }), fault.Conflict)
		if y, _ := latest(); y.Done != 4 || y.Version != 2 {
			t.Errorf("after a change: %+v", y)
		}
	})
	t.Run("contracts that were cancelled since an instant are named and counted", func(t *testing.T) {
		w := begin(t, open)
		var list []contract.Contract
		for id, at := range map[contract.ID]time.Time{1: day, 2: day.Add(time.Hour), 3: day.Add(-time.Millisecond)} {
			c := monthly(id)
			c.Status, c.CancelledAt = contract.Cancelled, at
			list = append(list, c)
		}
		w.put(append(list, monthly(4))...)
		w.in(func(tx *store.Tx) error {
			ids, n, err := tx.CancelledSince(t.Context(), day, 1)
			if len(ids) != 1 || ids[0] != 1 || n != 2 {
				t.Errorf("%v of %d", ids, n)
			}
			return err
		})
	})
}
