package storetest

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/access"
)

// testBuckets checks the buckets that nodes share, where the database has any.
func testBuckets(t *testing.T, open opener) {
	slow := access.Rate{PerSecond: 0.001, Burst: 40} // nothing comes back while a test runs
	take := func(w world, b access.Bucket, want, back int) access.Grant {
		w.Helper()
		bank := w.db.SharedBuckets()
		if bank == nil {
			w.Skip("one node needs no bank")
		}
		loan, err := bank.Take(w.Context(), b, want, back)
		if err != nil {
			w.Fatal(err)
		}
		return loan
	}
	t.Run("tokens are taken from the key's bucket and the shop's, never more than there are", func(t *testing.T) {
		w := begin(t, open)
		first, second := access.Bucket{Shop: w.shop.ID, Key: 1, Rate: slow}, access.Bucket{Shop: w.shop.ID, Key: 2, Rate: slow}
		for i, step := range []struct {
			of            access.Bucket
			want, back    int
			granted, left int
		}{
			{first, 30, 0, 30, 10}, {second, 8, 0, 8, 2}, {first, 8, 0, 2, 0}, {second, 1, 0, 0, 0},
			{first, 1, 3, 1, 2}, // three given back: one is taken again
			{second, 0, 1000, 0, 40},
		} {
			if got := take(w, step.of, step.want, step.back); got.Granted != step.granted || int(math.Round(got.Remains)) != step.left {
				t.Errorf("step %d: %+v, want %d and %d left", i, got, step.granted, step.left)
			}
		}
		other := w.addShop("second.myshopify.com")
		if got := take(w, access.Bucket{Shop: other.ID, Key: 1, Rate: slow}, 1, 0); got.Granted != 1 || math.Round(got.Remains) != 39 {
			t.Errorf("another shop: %+v", got)
		}
	})
	t.Run("tokens come back with time, up to the burst", func(t *testing.T) {
		w := begin(t, open)
		fast := access.Bucket{Shop: w.shop.ID, Key: 1, Rate: access.Rate{PerSecond: 1e6, Burst: 5}}
		take(w, fast, 5, 0)
		if got := take(w, fast, 100, 0); got.Granted != 5 {
			t.Errorf("after a while: %+v", got)
		}
	})
	t.Run("a lower rate holds at once", func(t *testing.T) {
		w := begin(t, open)
		take(w, access.Bucket{Shop: w.shop.ID, Key: 1, Rate: slow}, 1, 0)
		if got := take(w, access.Bucket{Shop: w.shop.ID, Key: 1, Rate: access.Rate{PerSecond: 0.001, Burst: 3}}, 8, 0); got.Granted != 3 {
			t.Errorf("granted %+v", got)
		}
	})
	t.Run("many takers at once get the burst and what time brought", func(t *testing.T) {
		w := begin(t, open)
		if w.db.SharedBuckets() == nil {
			t.Skip("one node needs no bank")
		}
		rate := access.Rate{PerSecond: 10, Burst: 40}
		began := clock.System{}.Now()
		var granted sync.Map
		var together sync.WaitGroup
		for n := range 40 {
			together.Go(func() {
				got := 0
				for range 5 {
					loan, err := w.db.SharedBuckets().Take(t.Context(), access.Bucket{Shop: w.shop.ID, Key: access.KeyID(1 + n%3), Rate: rate}, 8, 0)
					if err != nil {
						t.Error(err)
					}
					got += loan.Granted
				}
				granted.Store(n, got)
			})
		}
		together.Wait()
		sum := 0
		granted.Range(func(_, n any) bool { sum += n.(int); return true })
		most := 40 + int(math.Ceil(10*(clock.System{}.Now().Sub(began)+time.Millisecond).Seconds()))
		if sum < 40 || sum > most {
			t.Errorf("%d tokens were granted, of 40 to %d", sum, most)
		}
	})
}
