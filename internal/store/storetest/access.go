package storetest

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
)

// testKeyLimit checks the life of keys over a real store.
func testKeyLimit(t *testing.T, open opener) {
	at := func(w world) (*access.Service, *clock.Manual) {
		c := clock.NewManual(day)
		s := &access.Service{Store: w.db.Access(), Clock: c, Log: slog.New(slog.DiscardHandler)}
		w.Cleanup(s.Wait)
		return s, c
	}
	t.Run("of thirty keys that are made at once ten are", func(t *testing.T) {
		w := begin(t, open)
		s, _ := at(w)
		var made, refused atomic.Int32
		var together sync.WaitGroup
		for range 30 {
			together.Go(func() {
				_, _, err := s.Create(t.Context(), w.shop.ID, access.NewKey{Name: "ERP"})
				switch {
				case err == nil:
					made.Add(1)
				case fault.Is(err, fault.FailedPrecondition):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		together.Wait()
		list, err := s.List(t.Context(), w.shop.ID)
		if err != nil || made.Load() != access.MaxKeys || refused.Load() != 30-access.MaxKeys || len(list) != access.MaxKeys {
			t.Errorf("%d made, %d refused, %d listed, %v", made.Load(), refused.Load(), len(list), err)
		}
		if entries := w.entries(w.shop.ID); len(entries) != access.MaxKeys {
			t.Errorf("%d entries", len(entries))
		}
	})
	t.Run("a key that follows another has its name and scopes, and ends it after the grace", func(t *testing.T) {
		w := begin(t, open)
		s, c := at(w)
		value, old, err := s.Create(t.Context(), w.shop.ID, access.NewKey{Name: "ERP", Scopes: []access.Scope{access.ContractsRead}})
		if err != nil {
			t.Fatal(err)
		}
		grace := time.Hour
		next, made, err := s.Rotate(t.Context(), w.shop.ID, access.Rotation{Key: old.ID, Grace: &grace, Actor: activity.System})
		if err != nil || made.Name != "ERP" || len(made.Scopes) != 1 || made.Scopes[0] != access.ContractsRead {
			t.Fatalf("made %+v, %v", made, err)
		}
		opens := func(value string) bool {
			_, err := s.Authenticate(t.Context(), value, "203.0.113.7")
			if err != nil && !fault.Is(err, fault.Unauthenticated) {
				t.Error(err)
			}
			return err == nil
		}
		c.Set(day.Add(grace - time.Millisecond))
		if !opens(value) || !opens(next) {
			t.Error("during the grace both must open the store")
		}
		c.Set(day.Add(grace))
		if opens(value) || !opens(next) {
			t.Error("after the grace only the new one may")
		}
		if _, _, err := s.Rotate(t.Context(), w.shop.ID, access.Rotation{Key: old.ID}); !fault.Is(err, fault.FailedPrecondition) {
			t.Errorf("a key that has ended was followed: %v", err)
		}
	})
	t.Run("a shop with ten keys rotates one of them, and another one when the first has ended", func(t *testing.T) {
		w := begin(t, open)
		s, c := at(w)
		var keys []access.Key
		for range access.MaxKeys {
			_, k, err := s.Create(t.Context(), w.shop.ID, access.NewKey{Name: "ERP"})
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, k)
		}
		grace := time.Hour
		rotate := func(k access.Key) error {
			_, _, err := s.Rotate(t.Context(), w.shop.ID, access.Rotation{Key: k.ID, Grace: &grace})
			return err
		}
		if err := rotate(keys[0]); err != nil {
			t.Errorf("the first: %v", err)
		}
		if err := rotate(keys[1]); !fault.Is(err, fault.FailedPrecondition) {
			t.Errorf("the second beside it: %v", err)
		}
		c.Set(day.Add(grace))
		if err := rotate(keys[1]); err != nil {
			t.Errorf("the second after it: %v", err)
		}
	})
	t.Run("an imported key authenticates its store and no other", func(t *testing.T) {
		w := begin(t, open)
		s, _ := at(w)
		const legacy = "Zm9vYmFyYmF6-0123/legacy+key=="
		if _, err := s.Authenticate(t.Context(), legacy, "203.0.113.7"); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("before: %v", err)
		}
		key, err := s.Import(t.Context(), w.shop.ID, legacy, access.NewKey{Name: "old ERP"})
		if err != nil {
			t.Fatal(err)
		}
		if caller, err := s.Authenticate(t.Context(), legacy, "203.0.113.7"); err != nil || caller.Key.ID != key.ID || caller.Shop.ID != w.shop.ID {
			t.Errorf("after: %+v, %v", caller, err)
		}
		other := w.addShop("second.myshopify.com")
		if _, err := s.Import(t.Context(), other.ID, legacy, access.NewKey{Name: "stolen"}); !fault.Is(err, fault.FailedPrecondition) {
			t.Errorf("in another shop: %v", err)
		}
		for _, bad := range []string{"short", "with a space", "prn_pretends"} {
			if _, err := s.Import(t.Context(), w.shop.ID, bad, access.NewKey{Name: "x"}); !fault.Is(err, fault.Invalid) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	})
}
