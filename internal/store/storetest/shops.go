package storetest

import (
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// anyPage is a page that holds everything.
var anyPage = page.Request{Size: 1000}

func platformToken(domain string) platform.Token { return platform.Token("secret-of-" + domain) }

func testShops(t *testing.T, open opener) {
	t.Run("a shop comes back as it was put, token included", func(t *testing.T) {
		w := begin(t, open)
		w.shop.Token, w.shop.Connected, w.shop.ReconciledAt = "renewed", false, day.Add(time.Hour)
		w.shop.Reading = shop.Reading{Started: day, Since: day.Add(-time.Hour), Cursor: "a page"}
		w.in(func(tx *store.Tx) error { return tx.PutShop(t.Context(), w.shop) })
		w.shop.Version++
		got, err := w.db.Shops().ShopByDomain(t.Context(), w.shop.Domain)
		if err != nil || !reflect.DeepEqual(got, w.shop) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, w.shop)
		}
		w.in(func(tx *store.Tx) error {
			same, err := tx.Shop(t.Context())
			if !reflect.DeepEqual(same, w.shop) {
				t.Errorf("in a transaction: got %+v\nwant %+v", same, w.shop)
			}
			return err
		})
	})
	t.Run("shops are listed oldest first and an unknown one is not found", func(t *testing.T) {
		w := begin(t, open)
		second := w.addShop("second.myshopify.com")
		all, err := w.db.Shops().All(t.Context())
		all = slices.DeleteFunc(all, func(s shop.Shop) bool { return isNeighbour(s.ID) })
		if err != nil || len(all) != 2 || all[0].ID != w.shop.ID || all[1].ID != second.ID {
			t.Errorf("got %+v, %v", all, err)
		}
		_, err = w.db.Shops().ShopByDomain(t.Context(), "nobody.myshopify.com")
		w.wantKind(err, fault.NotFound)
		_, err = w.db.Shops().Shop(t.Context(), 4711)
		w.wantKind(err, fault.NotFound)
	})
	t.Run("a domain is taken once", func(t *testing.T) {
		w := begin(t, open)
		again := shop.Shop{Domain: w.shop.Domain}
		w.wantKind(w.db.Shops().AddShop(t.Context(), &again), fault.Conflict)
		if again.ID != 0 {
			t.Errorf("the refused shop was given the id %d", again.ID)
		}
	})
	t.Run("a shop that changed meanwhile is not overwritten", func(t *testing.T) {
		w := begin(t, open)
		stale := w.shop
		w.in(func(tx *store.Tx) error { return tx.PutShop(t.Context(), w.shop) })
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutShop(t.Context(), stale) })
		w.wantKind(err, fault.Conflict)
	})
	t.Run("a shop that changes while it is changed is read again", func(t *testing.T) {
		w := begin(t, open)
		var together sync.WaitGroup
		for range 8 {
			together.Go(func() {
				err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
					s, err := tx.Shop(t.Context())
					if err != nil {
						return err
					}
					s.OrderMinute++
					return tx.PutShop(t.Context(), s)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		together.Wait()
		got, err := w.db.Shops().Shop(t.Context(), w.shop.ID)
		if err != nil || got.OrderMinute != 8 {
			t.Errorf("after 8 changes: %d, %v", got.OrderMinute, err)
		}
	})
	t.Run("a database belongs to one kind of installation", func(t *testing.T) {
		db := open.shared(t)
		for range 2 {
			if err := db.Claim(t.Context(), store.Sandbox); err != nil {
				t.Error(err)
			}
		}
		if err := db.Claim(t.Context(), store.Production); !fault.Is(err, fault.FailedPrecondition) {
			t.Errorf("production on a sandbox's database: %v", err)
		}
	})
}

func testKeys(t *testing.T, open opener) {
	key := func(n byte) access.Key {
		return access.Key{
			Name: "Warehouse", Hint: "prn_abcd", Hash: access.Hash{n, 0xff}, Scopes: []access.Scope{access.ContractsRead, access.BillingWrite}, CreatedAt: day.Add(time.Duration(n)),
		}
	}
	put := func(w world, of shop.ID, k access.Key) access.Key {
		w.Helper()
		made := k
		w.inShop(of, func(tx *store.Tx) error {
			made = k
			return tx.PutKey(w.Context(), &made)
		})
		return made
	}
	t.Run("a key is found by its hash, with its shop", func(t *testing.T) {
		w := begin(t, open)
		second := w.addShop("second.myshopify.com")
		put(w, w.shop.ID, key(1))
		want := put(w, second.ID, key(2))
		got, of, err := w.db.Shops().KeyByHash(t.Context(), want.Hash)
		want.CreatedAt = day
		if err != nil || !reflect.DeepEqual(got, want) || of.ID != second.ID || got.Shop != second.ID {
			t.Errorf("got %+v of shop %d, %v\nwant %+v", got, of.ID, err, want)
		}
		_, _, err = w.db.Shops().KeyByHash(t.Context(), access.Hash{9})
		w.wantKind(err, fault.NotFound)
	})
	t.Run("keys are listed oldest first, revoked ones too, and only the shop's", func(t *testing.T) {
		w := begin(t, open)
		first, second := put(w, w.shop.ID, key(1)), put(w, w.shop.ID, key(2))
		put(w, w.addShop("second.myshopify.com").ID, key(3))
		first.RevokedAt = day.Add(time.Hour)
		first = put(w, w.shop.ID, first)
		w.in(func(tx *store.Tx) error {
			if err := tx.LockKeys(t.Context()); err != nil {
				return err
			}
			keys, err := tx.Keys(t.Context())
			if len(keys) != 2 || keys[0].ID != first.ID || keys[1].ID != second.ID || !keys[0].RevokedAt.Equal(first.RevokedAt) || keys[0].Version != 2 {
				t.Errorf("got %+v", keys)
			}
			return err
		})
	})
	t.Run("a stale key and a hash that is taken are conflicts", func(t *testing.T) {
		w := begin(t, open)
		stale := put(w, w.shop.ID, key(1))
		put(w, w.shop.ID, stale)
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutKey(t.Context(), &stale) })
		w.wantKind(err, fault.Conflict)
		twin := key(1)
		err = w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutKey(t.Context(), &twin) })
		w.wantKind(err, fault.Conflict)
	})
	t.Run("the use of a key is noted, forwards only, without a new version", func(t *testing.T) {
		w := begin(t, open)
		k := put(w, w.shop.ID, key(1))
		for from, at := range map[string]time.Time{"203.0.113.7": day.Add(time.Hour), "203.0.113.9": day} {
			if err := w.db.Shops().TouchKey(t.Context(), w.shop.ID, k.ID, at, from); err != nil {
				t.Fatal(err)
			}
		}
		got, _, err := w.db.Shops().KeyByHash(t.Context(), k.Hash)
		if err != nil || !got.LastUsedAt.Equal(day.Add(time.Hour)) || got.LastUsedFrom != "203.0.113.7" || got.Version != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("of changes under the lock, one waits for the other", func(t *testing.T) {
		w := begin(t, open)
		const most = 3
		var together sync.WaitGroup
		for n := range 8 {
			together.Go(func() {
				err := w.db.Access().Update(t.Context(), w.shop.ID, func(tx access.Tx) error {
					if err := tx.LockKeys(t.Context()); err != nil {
						return err
					}
					keys, err := tx.Keys(t.Context())
					if err != nil || len(keys) >= most {
						return err
					}
					k := key(byte(10 + n))
					return tx.PutKey(t.Context(), &k)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		together.Wait()
		w.in(func(tx *store.Tx) error {
			keys, err := tx.Keys(t.Context())
			if len(keys) != most {
				t.Errorf("%d keys where at most %d are allowed", len(keys), most)
			}
			return err
		})
	})
}
