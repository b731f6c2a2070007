package storetest

import (
	"reflect"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// putGuard gives the first shop a guard.
func (w *world) putGuard(g shop.Guard) {
	w.Helper()
	w.shop.Guard = g
	w.in(func(tx *store.Tx) error { return tx.PutShop(w.Context(), w.shop) })
	w.shop.Version++
}

func testGuards(t *testing.T, open opener) {
	t.Run("a guard comes back as it was put", func(t *testing.T) {
		w := begin(t, open)
		w.putGuard(shop.Guard{
			FrozenAt: day, ConfirmBy: day.Add(time.Hour), CheckAt: day.Add(2 * time.Hour), Reason: "a copy", Epoch: "a", NextEpoch: "b", PlatformEpoch: "c",
			ComparedAt: day.Add(3 * time.Hour), CoveredTo: day.Add(4 * time.Hour), ConnectedAt: day.Add(9 * time.Hour),
			Consent:   shop.Consent{AwaitsSince: day.Add(10 * time.Hour), ConfirmedAt: day.Add(11 * time.Hour), ConfirmedBy: "ana", DisconnectedAt: day.Add(12 * time.Hour)},
			Comparing: shop.Reading{Started: day, Since: day.Add(-time.Hour), Cursor: "a page"},
			Hold:      shop.Hold{Until: day.Add(5 * time.Hour), Since: day.Add(6 * time.Hour), Times: 7, From: day.Add(8 * time.Hour)},
		})
		got, err := w.db.Shops().Shop(t.Context(), w.shop.ID)
		if err != nil || !reflect.DeepEqual(got, w.shop) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, w.shop)
		}
		if n, err := w.db.Shops().Frozen(t.Context()); n != 1 || err != nil {
			t.Errorf("%d shops are frozen, %v", n, err)
		}
	})
	open.twice(t, "of a shop that is not charged only what is in flight is due", func(t *testing.T, open opener) {
		for name, g := range map[string]shop.Guard{
			"frozen":      {FrozenAt: day},
			"unconfirmed": {ConfirmBy: day},
			"awaited":     {Consent: shop.Consent{AwaitsSince: day}},
			"held":        {Hold: shop.Hold{Until: day.Add(time.Minute)}},
		} {
			w := begin(t, open)
			w.put(monthly(1), monthly(2))
			w.queue(billing.Attempt{Contract: 1, Cycle: 1, Status: billing.Queued, BillingDate: day, DueAt: day.Add(-time.Hour)})
			w.putGuard(g)
			if ids, err := w.across(w.db.Shops().DueShops, day, 10); len(ids) != 0 || err != nil {
				t.Errorf("%s: shops %v are due, %v", name, ids, err)
			}
			w.wantNext(day, g.Hold.Until)
			flying := w.queue(billing.Attempt{Contract: 2, Cycle: 1, Status: billing.Progress, BillingDate: day, DueAt: day.Add(-time.Minute)})
			if ids, err := w.across(w.db.Shops().DueShops, day, 10); len(ids) != 1 || err != nil {
				t.Errorf("%s: shops %v are due while a charge is in flight, %v", name, ids, err)
			}
			w.wantNext(day, day.Add(-time.Minute)) // the charge in flight
			w.in(func(tx *store.Tx) error {
				due, err := tx.DueInFlight(t.Context(), day, 10)
				if len(due) != 1 || due[0].ID != flying[0].ID {
					t.Errorf("%s: in flight %+v", name, due)
				}
				return err
			})
		}
	})
	open.twice(t, "shops are compared when it is their time", func(t *testing.T, open opener) {
		w := begin(t, open)
		for _, row := range []struct {
			at   time.Time
			want int
		}{{time.Time{}, 0}, {day, 1}, {day.Add(time.Millisecond), 0}} {
			w.putGuard(shop.Guard{CheckAt: row.at})
			if ids, err := w.across(w.db.Shops().UncheckedShops, day, 10); len(ids) != row.want || err != nil {
				t.Errorf("to be compared at %v: %v, %v", row.at, ids, err)
			}
		}
		w.wantNext(day, day.Add(time.Millisecond))
	})
	t.Run("who reads a shop to charge it keeps it from being frozen meanwhile", func(t *testing.T) {
		w := begin(t, open)
		frozen := make(chan error, 1)
		w.in(func(tx *store.Tx) error {
			if _, err := tx.ShopToCharge(t.Context()); err != nil {
				return err
			}
			go func() {
				frozen <- w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
					s, err := tx.Shop(t.Context())
					if err == nil {
						s.Freeze("a copy", day)
						err = tx.PutShop(t.Context(), s)
					}
					return err
				})
			}()
			select {
			case err := <-frozen:
				t.Errorf("the shop was frozen while it was charged: %v", err)
				frozen <- err
			case <-time.After(50 * time.Millisecond):
			}
			return nil
		})
		if err := <-frozen; err != nil {
			t.Error(err)
		}
	})
	t.Run("runs are counted by slots and forgotten after a day", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("other.myshopify.com")
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.AddChargeStats(t.Context(), day, billing.ChargeStats{Sent: 1000}) })
		w.in(func(tx *store.Tx) error {
			for _, at := range []time.Time{day.Add(-25 * time.Hour), day.Add(-time.Minute), day, day} {
				if err := tx.AddChargeStats(t.Context(), at, billing.ChargeStats{Sent: 5, Ended: 4, Paid: 1, Declined: 2, Gateway: 1}); err != nil {
					return err
				}
			}
			for since, want := range map[time.Time]int{day: 2, day.Add(-time.Minute): 3, day.Add(-48 * time.Hour): 3, day.Add(time.Millisecond): 0} {
				run, err := tx.ChargeStatsSince(t.Context(), since)
				if err != nil || run != (billing.ChargeStats{Sent: 5 * want, Ended: 4 * want, Paid: want, Declined: 2 * want, Gateway: want}) {
					t.Errorf("since %s: %+v, %v; want %d slots", since, run, err, want)
				}
			}
			return nil
		})
	})
	t.Run("the installation knows where it lives, and the database its name", func(t *testing.T) {
		w := begin(t, open)
		if err := w.db.Claim(t.Context(), store.Production); err != nil {
			t.Fatal(err)
		}
		s := w.db.Repair()
		if p, err := s.Place(t.Context()); err != nil || p != (repair.Place{}) {
			t.Errorf("a new installation lives at %v, %v", p, err)
		}
		name, err := w.db.Place(t.Context())
		if err != nil || name == "" {
			t.Fatalf("the database is called %q, %v", name, err)
		}
		want := repair.Place{Database: name, Host: "a.example"}
		if err := s.SetPlace(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if p, err := s.Place(t.Context()); err != nil || p != want {
			t.Errorf("it lives at %v, %v; want %v", p, err, want)
		}
	})
	t.Run("findings are kept once", func(t *testing.T) {
		w := begin(t, open)
		first := repair.Finding{Kind: repair.UnknownOrder, Contract: 1, Cycle: 2, Object: "a", What: "x", FirstSeen: day, LastSeen: day}
		second := repair.Finding{Kind: repair.NoUpcoming, Contract: 1, What: "y", FirstSeen: day, LastSeen: day, ResolvedAt: day}
		w.in(func(tx *store.Tx) error { return tx.PutFindings(t.Context(), []repair.Finding{first, second}) })
		w.in(func(tx *store.Tx) error {
			open, err := tx.OpenFindings(t.Context(), 10)
			if err != nil || len(open) != 1 || open[0].Object != "a" || open[0].ID == 0 {
				t.Errorf("open %+v, %v", open, err)
			}
			like, err := tx.FindingsLike(t.Context(), []repair.Finding{first, second, {Kind: repair.NoUpcoming, Contract: 2}})
			if err != nil || len(like) != 2 {
				t.Errorf("like them %+v, %v", like, err)
			}
			open[0].ResolvedAt = day
			return tx.PutFindings(t.Context(), open)
		})
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutFindings(t.Context(), []repair.Finding{first}) })
		if err == nil {
			t.Error("a finding was written twice")
		}
	})
	t.Run("contracts that nothing waits for are found, and those that wait are not", func(t *testing.T) {
		w := begin(t, open)
		with := func(id contract.ID, change func(*contract.Contract)) contract.Contract {
			c := monthly(id)
			c.Status, c.NextBillingDate = contract.Active, day.Add(time.Hour)
			change(&c)
			return c
		}
		w.put(
			with(1, func(*contract.Contract) {}),
			with(2, func(c *contract.Contract) { c.NextBillingDate = day.Add(-time.Hour) }),
			with(3, func(c *contract.Contract) { c.NextBillingDate = time.Time{} }),
			with(4, func(c *contract.Contract) { c.NextBillingDate, c.Status = time.Time{}, contract.Cancelled }),
			with(5, func(c *contract.Contract) { c.NextBillingDate = day.Add(-time.Hour) }),
			with(6, func(c *contract.Contract) { c.NextBillingDate, c.MaxCycles, c.Orders = time.Time{}, 2, 2 }),
			with(7, func(c *contract.Contract) { c.NextBillingDate, c.Lifelong = time.Time{}, true }),
			with(8, func(c *contract.Contract) {
				c.NextBillingDate, c.Ending = time.Time{}, &contract.Ending{Why: contract.EndOfTerm}
			}),
		)
		put := w.queue(
			billing.Attempt{Contract: 5, Cycle: 1, Status: billing.Progress, BillingDate: day, SentAt: day.Add(-time.Hour)},
			billing.Attempt{Contract: 2, Cycle: 1, Status: billing.Success, BillingDate: day, UpdatedAt: day},
			billing.Attempt{Contract: 4, Cycle: 1, Status: billing.SkippedDunning, BillingDate: day, UpdatedAt: day, ErrorCode: dunning.ChallengeExpired},
			billing.Attempt{Contract: 4, Cycle: 2, Status: billing.Failure, BillingDate: day, UpdatedAt: day, ErrorCode: dunning.EarlierChargeOpen},
			billing.Attempt{Contract: 4, Cycle: 3, Status: billing.Failure, BillingDate: day, UpdatedAt: day, ErrorCode: "CARD_DECLINED"},
		)
		w.in(func(tx *store.Tx) error {
			ids, err := tx.Unscheduled(t.Context(), day, 10)
			if err != nil || len(ids) != 2 || ids[0]+ids[1] != 5 {
				t.Errorf("strays %v, %v; want 3 and 2", ids, err)
			}
			open, err := tx.OpenSince(t.Context(), day, 10, billing.Progress)
			if err != nil || len(open) != 1 || open[0].ID != put[0].ID {
				t.Errorf("open %+v, %v", open, err)
			}
			if open, err = tx.OpenSince(t.Context(), day.Add(-time.Hour), 10, billing.Progress); err != nil || len(open) != 0 {
				t.Errorf("open for longer %+v, %v", open, err)
			}
			paid, err := tx.PaidSince(t.Context(), day, billing.Attempt{}, 10)
			if err != nil || len(paid) != 1 || paid[0].ID != put[1].ID {
				t.Errorf("paid %+v, %v", paid, err)
			}
			if paid, err = tx.PaidSince(t.Context(), day.Add(time.Millisecond), billing.Attempt{}, 10); err != nil || len(paid) != 0 {
				t.Errorf("paid later %+v, %v", paid, err)
			}
			left, err := tx.LeftOpenSince(t.Context(), day, billing.Attempt{}, 10)
			if err != nil || len(left) != 2 || left[0].ID != put[2].ID || left[1].ID != put[3].ID {
				t.Errorf("left open %+v, %v", left, err)
			}
			if left, err = tx.LeftOpenSince(t.Context(), day, put[2], 10); err != nil || len(left) != 1 || left[0].ID != put[3].ID {
				t.Errorf("left open, on the next page %+v, %v", left, err)
			}
			given, err := tx.DiscardedEvents(t.Context(), 10)
			if err != nil || len(given) != 0 {
				t.Errorf("given up %+v, %v", given, err)
			}
			tasks, err := tx.DiscardedTasks(t.Context(), 10)
			if err != nil || len(tasks) != 0 {
				t.Errorf("discarded %+v, %v", tasks, err)
			}
			return nil
		})
	})
}
