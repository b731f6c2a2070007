package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
)

func testAnnouncing(t *testing.T, open opener) {
	const upcoming = webhook.Type("subscription.upcoming-order-notification")
	date := day.AddDate(0, 0, 10)
	at := date.AddDate(0, 0, -3) // when the customer is notified
	next := func(id contract.ID, change func(*contract.Contract)) contract.Contract {
		c := monthly(id)
		c.NextBillingDate = date
		if change != nil {
			change(&c)
		}
		return c
	}
	listener := func(w world, of shop.ID, enabled bool, types ...webhook.Type) webhook.Endpoint {
		w.Helper()
		e := webhook.Endpoint{Shop: of, URL: "https://erp.example.com", Types: types, Secret: "whsec_new", Enabled: enabled, Created: day, Updated: day}
		w.inShop(of, func(tx *store.Tx) error { return tx.PutEndpoint(w.Context(), &e) })
		return e
	}
	due := func(w world, now time.Time) (list []webhook.Upcoming) {
		w.Helper()
		w.in(func(tx *store.Tx) (err error) {
			list, err = tx.UpcomingOrders(w.Context(), now, 10)
			return err
		})
		return list
	}
	done := func(w world, list []webhook.Upcoming) {
		w.Helper()
		w.in(func(tx *store.Tx) error { return tx.MarkPublished(w.Context(), list) })
	}
	one := func(w world, now time.Time, attempts ...billing.AttemptID) []webhook.Upcoming {
		w.Helper()
		list := due(w, now)
		if len(list) != 1 || list[0].Contract != 42 || list[0].Line != shop.Subscriptions || len(list[0].Attempts) != len(attempts) {
			w.Fatalf("due are %+v, want attempts %d of contract 42", list, attempts)
		}
		for i, a := range attempts {
			if list[0].Attempts[i] != int64(a) {
				w.Errorf("attempt %d, want %d", list[0].Attempts[i], a)
			}
		}
		return list
	}
	// put writes a contract again, as after a change.
	put := func(w world, change func(*contract.Contract)) {
		w.Helper()
		w.in(func(tx *store.Tx) error {
			list, err := tx.Contracts(w.Context(), []contract.ID{42})
			if err != nil {
				return err
			}
			change(&list[0])
			return tx.PutProgress(w.Context(), list)
		})
	}

	open.twice(t, "a shop that reads events has orders to announce while it does", func(t *testing.T, open opener) {
		w := begin(t, open)
		w.put(next(42, nil))
		w.queue(billing.Attempt{Contract: 42, Cycle: 3, Status: billing.Queued, BillingDate: date, DueAt: date})
		found := func(now time.Time, want ...shop.ID) {
			t.Helper()
			if shops, err := w.across(w.db.Shops().UpcomingOrderShops, now, 10); err != nil || !slices.Equal(shops, want) {
				t.Errorf("at %s they are announced in %v, %v; want %v", now, shops, err, want)
			}
		}
		found(date)
		w.in(func(tx *store.Tx) error {
			return tx.PutFeed(t.Context(), webhook.Feed{Generation: 1, Ready: true, CloseAt: date})
		})
		found(date.Add(-time.Millisecond), w.shop.ID)
		found(date)
	})
	t.Run("an order is due once, at its instant, with the attempt that waits for its date", func(t *testing.T) {
		w := begin(t, open)
		w.put(
			next(42, nil), next(43, func(c *contract.Contract) { c.Status = contract.Paused }), next(44, func(c *contract.Contract) { c.AutoCharge = false }),
			next(45, func(c *contract.Contract) { c.NextBillingDate = date.AddDate(0, 0, 5) }),
		)
		skipped := queued(42, 3, date)
		skipped.Status, skipped.DueAt = billing.Skipped, time.Time{}
		put := w.queue(queued(42, 2, date), skipped, queued(42, 4, date.AddDate(0, 1, 0)), queued(43, 2, date), queued(44, 2, date))
		if list := due(w, at.Add(-time.Millisecond)); len(list) != 0 {
			t.Errorf("too early: %+v", list)
		}
		list := one(w, at, put[0].ID)
		if !list[0].Date.Equal(date) {
			t.Errorf("its date is %s", list[0].Date)
		}
		w.inShop(w.addShop("second.myshopify.com").ID, func(tx *store.Tx) error {
			if list, err := tx.UpcomingOrders(t.Context(), at, 10); err != nil || len(list) != 0 {
				t.Errorf("another shop has %+v, %v", list, err)
			}
			return nil
		})
		done(w, list)
		if list := due(w, date); len(list) != 0 {
			t.Errorf("once more: %+v", list)
		}
	})
	t.Run("an order that moves is due for its new date, and is notified once", func(t *testing.T) {
		w := begin(t, open)
		w.put(next(42, nil))
		a := w.queue(queued(42, 2, date))[0]
		move := func(to time.Time) {
			a.BillingDate = to
			w.in(func(tx *store.Tx) error {
				list := []billing.Attempt{a}
				defer func() { a = list[0] }()
				return tx.PutAttempts(t.Context(), list)
			})
			put(w, func(c *contract.Contract) { c.NextBillingDate = to })
		}
		later := date.AddDate(0, 0, 2)
		move(later)
		if list := due(w, at); len(list) != 0 {
			t.Errorf("at the instant of the date before: %+v", list)
		}
		done(w, one(w, at.AddDate(0, 0, 2), a.ID))
		move(date.AddDate(0, 0, 20))
		done(w, one(w, date.AddDate(0, 0, 17)))
		if list := due(w, date.AddDate(0, 0, 18)); len(list) != 0 {
			t.Errorf("once more: %+v", list)
		}
	})
	t.Run("what was charged meanwhile, or has another date by now, is not among it", func(t *testing.T) {
		w := begin(t, open)
		w.put(next(42, nil))
		a := w.queue(queued(42, 2, date))[0]
		a.Status = billing.Requesting
		w.in(func(tx *store.Tx) error { return tx.PutAttempts(t.Context(), []billing.Attempt{a}) })
		list := one(w, at)
		put(w, func(c *contract.Contract) { c.NextBillingDate = date.AddDate(0, 0, -1) })
		done(w, list) // for the date that it had
		put(w, func(c *contract.Contract) { c.NextBillingDate = date })
		one(w, at)
	})
	t.Run("concurrent sweeps notify each order once", func(t *testing.T) {
		w := begin(t, open)
		const many = 20
		var want []int64
		for id := range contract.ID(many) {
			w.put(next(id+1, nil))
			want = append(want, int64(w.queue(queued(id+1, 2, date))[0].ID))
		}
		var mu sync.Mutex
		var notified []int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for left := true; left; {
					var list []webhook.Upcoming
					err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) (err error) {
						if list, err = tx.UpcomingOrders(t.Context(), at, 1); err != nil {
							return err
						}
						return tx.MarkPublished(t.Context(), list)
					})
					if err != nil {
						t.Error(err)
						return
					}
					left = len(list) > 0
					mu.Lock()
					for _, u := range list {
						notified = append(notified, u.Attempts...)
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		slices.Sort(notified)
		if !slices.Equal(notified, want) {
			t.Errorf("notified %d, want %d, each once", notified, want)
		}
	})
	open.twice(t, "only shops that ask are looked at", func(t *testing.T, open opener) {
		w := begin(t, open)
		shops := w.db.Shops()
		w.put(next(42, nil))
		e := listener(w, w.shop.ID, false, upcoming)
		listener(w, w.shop.ID, true, "subscription.created")
		listener(w, w.addShop("second.myshopify.com").ID, true, upcoming)
		want := func(now time.Time, ids ...shop.ID) {
			t.Helper()
			if list, err := w.across(shops.UpcomingOrderShops, now, 10); err != nil || !slices.Equal(list, ids) {
				t.Errorf("found %v, %v, want %v", list, err, ids)
			}
		}
		next := func() time.Time {
			t.Helper()
			n, _, err := shops.NextDue(t.Context(), day)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		want(at)
		if w.alone && next().Equal(at) {
			t.Error("something is due although no endpoint subscribes to it")
		}
		e.Enabled = true
		w.in(func(tx *store.Tx) error { return tx.PutEndpoint(t.Context(), &e) })
		want(at, w.shop.ID)
		want(at.Add(-time.Millisecond))
		if n := next(); w.alone && !n.Equal(at) {
			t.Errorf("due next at %s, want %s", n, at)
		}
		freeze := func(frozen time.Time) {
			w.in(func(tx *store.Tx) error {
				of, err := tx.Shop(t.Context())
				if err != nil {
					return err
				}
				of.Guard.FrozenAt = frozen
				return tx.PutShop(t.Context(), of)
			})
		}
		freeze(day)
		want(at)
		if w.alone && next().Equal(at) {
			t.Error("a frozen shop has something due")
		}
		freeze(time.Time{})
		done(w, due(w, at))
		want(date)
		if w.alone && next().Equal(at) {
			t.Error("it is due still")
		}
	})
}
