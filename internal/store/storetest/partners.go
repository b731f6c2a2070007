package storetest

import (
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testPartners(t *testing.T, open opener) {
	app := func(id access.AppID, n byte) partner.App {
		return partner.App{
			ID: id, Name: "Reports", BaseURL: "https://reports.example", Contact: "ada@reports.example", About: "counts", Status: partner.Live,
			Scopes: []access.Scope{access.ContractsRead, access.BillingWrite}, Secret: partner.Credential{Hash: access.Hash{n, 1}},
			Key:     partner.Credential{Hash: access.Hash{n, 2}, Old: access.Hash{n, 3}, OldUntil: day.Add(time.Hour)},
			Signing: "whsec_c2VjcmV0", CreatedAt: day,
		}
	}
	add := func(w world, a partner.App) partner.App {
		w.Helper()
		if err := w.db.Partners().AddApp(w.Context(), &a); err != nil {
			w.Fatal(err)
		}
		return a
	}
	connection := func() partner.Connection {
		return partner.Connection{
			App: "reports", State: partner.Pending, Direction: partner.ByPartner, Scopes: []access.Scope{access.ContractsRead}, Wanted: []access.Scope{access.BillingWrite},
			RequestedBy: "partner app Reports", RequestedAt: day, ExpiresAt: day.Add(time.Hour), DecidedBy: "x", DecidedAt: day, EndedAt: day, EndReason: "y",
			ReturnURL: "https://reports.example/back", ClientState: "s", Code: access.Hash{9}, CodeUntil: day.Add(time.Minute), Token: 4, TokenAt: day,
			Notification: partner.CallApproved, CallID: "msg_1", CallAt: day.Add(time.Minute), Tries: 2, Failure: "no answer",
		}
	}
	put := func(w world, of shop.ID, c partner.Connection) partner.Connection {
		w.Helper()
		var made partner.Connection
		w.inShop(of, func(tx *store.Tx) error {
			made = c
			return tx.PutConnection(w.Context(), &made)
		})
		return made
	}
	t.Run("an application comes back as it was put, by its id and by either of its keys", func(t *testing.T) {
		w := begin(t, open)
		want := add(w, app("reports", 1))
		add(w, app("others", 2))
		for name, find := range map[string]func() (partner.App, error){
			"id":      func() (partner.App, error) { return w.db.Partners().App(t.Context(), "reports") },
			"key":     func() (partner.App, error) { return w.db.Partners().AppByKey(t.Context(), want.Key.Hash) },
			"old key": func() (partner.App, error) { return w.db.Partners().AppByKey(t.Context(), want.Key.Old) },
		} {
			if got, err := find(); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("by %s: %+v, %v\nwant %+v", name, got, err, want)
			}
		}
		if _, err := w.db.Partners().AppByKey(t.Context(), want.Secret.Hash); !fault.Is(err, fault.NotFound) {
			t.Errorf("by its secret: %v", err)
		}
		twin := app("reports", 3)
		w.wantKind(w.db.Partners().AddApp(t.Context(), &twin), fault.Conflict)
		if list, err := w.db.Partners().Apps(t.Context()); err != nil || len(list) != 2 || list[0].ID != "others" {
			t.Errorf("listed %+v, %v", list, err)
		}
		_, err := w.db.Partners().ChangeApp(t.Context(), "nobody", func(*partner.App) error { return nil })
		w.wantKind(err, fault.NotFound)
	})
	t.Run("the token of a suspended application says so", func(t *testing.T) {
		w := begin(t, open)
		add(w, app("reports", 1))
		_, key := access.NewToken(w.shop.ID, "Reports", []access.Scope{access.ContractsRead}, "reports", 77, day)
		w.in(func(tx *store.Tx) error { k := key; return tx.PutKey(t.Context(), &k) })
		for _, status := range []partner.Status{partner.Live, partner.Suspended} {
			if _, err := w.db.Partners().ChangeApp(t.Context(), "reports", func(a *partner.App) error { a.Status = status; return nil }); err != nil {
				t.Fatal(err)
			}
			got, _, err := w.db.Shops().KeyByHash(t.Context(), key.Hash)
			if err != nil || got.AppSuspended != (status == partner.Suspended) || got.App != "reports" || got.Connection != 77 {
				t.Errorf("%s: %+v, %v", status, got, err)
			}
		}
	})
	t.Run("a connection comes back as it was put, under its shop only", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		want := put(w, w.shop.ID, connection())
		w.in(func(tx *store.Tx) error {
			got, err := tx.Connection(t.Context(), want.ID)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			return err
		})
		err := w.db.Update(t.Context(), other.ID, func(tx *store.Tx) error {
			_, err := tx.Connection(t.Context(), want.ID)
			return err
		})
		w.wantKind(err, fault.NotFound)
		stale := want
		put(w, w.shop.ID, want)
		w.wantKind(w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutConnection(t.Context(), &stale) }), fault.Conflict)
	})
	t.Run("its shop is found by its number and by its code, for its application only", func(t *testing.T) {
		w := begin(t, open)
		c := put(w, w.addShop("second.myshopify.com").ID, connection())
		of, err := w.db.Partners().ShopOfConnection(t.Context(), "reports", c.ID)
		if err != nil || of != c.Shop {
			t.Errorf("by number: %d, %v", of, err)
		}
		of, id, err := w.db.Partners().ConnectionByCode(t.Context(), "reports", access.Hash{9})
		if err != nil || of != c.Shop || id != c.ID {
			t.Errorf("by code: %d %d, %v", of, id, err)
		}
		_, err = w.db.Partners().ShopOfConnection(t.Context(), "others", c.ID)
		w.wantKind(err, fault.NotFound)
		_, _, err = w.db.Partners().ConnectionByCode(t.Context(), "others", access.Hash{9})
		w.wantKind(err, fault.NotFound)
		without := connection()
		without.App, without.Code = "others", access.Hash{}
		put(w, w.shop.ID, without)
		_, _, err = w.db.Partners().ConnectionByCode(t.Context(), "others", access.Hash{})
		w.wantKind(err, fault.NotFound)
	})
	t.Run("an application has one open connection with a store, of those that begin at once too", func(t *testing.T) {
		w := begin(t, open)
		var made atomic.Int32
		var together sync.WaitGroup
		for range 8 {
			together.Go(func() {
				err := w.db.Partners().Update(t.Context(), w.shop.ID, func(tx partner.Tx) error {
					c := connection()
					return tx.PutConnection(t.Context(), &c)
				})
				if err == nil {
					made.Add(1)
				} else if !fault.Is(err, fault.Conflict) {
					t.Error(err)
				}
			})
		}
		together.Wait()
		if made.Load() != 1 {
			t.Errorf("%d were made", made.Load())
		}
		ended := connection()
		ended.State = partner.Disconnected
		put(w, w.shop.ID, ended)
		list, total, err := w.db.Partners().Connections(t.Context(), w.shop.ID, "", page.Request{Size: 10})
		if err != nil || total != 2 || len(list) != 2 || list[0].State != partner.Disconnected {
			t.Errorf("listed %+v of %d, %v", list, total, err)
		}
		list, total, err = w.db.Partners().Connections(t.Context(), w.shop.ID, partner.Pending, page.Request{Size: 10})
		if err != nil || total != 1 || len(list) != 1 {
			t.Errorf("pending: %+v of %d, %v", list, total, err)
		}
		w.in(func(tx *store.Tx) error {
			open, err := tx.OpenConnections(t.Context())
			if len(open) != 1 || open[0].State != partner.Pending {
				t.Errorf("open: %+v", open)
			}
			return err
		})
	})
	t.Run("what is owed falls due, and what waits for a decision too", func(t *testing.T) {
		w := begin(t, open)
		c := put(w, w.shop.ID, connection())
		due := func(now time.Time) int {
			w.Helper()
			shops, err := w.db.Shops().DuePartnerShops(t.Context(), now, 10)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			w.in(func(tx *store.Tx) error {
				list, err := tx.DueConnections(t.Context(), now, 10)
				n = len(list)
				return err
			})
			if len(shops) != n {
				t.Errorf("%d shops for %d connections", len(shops), n)
			}
			return n
		}
		if due(day.Add(time.Minute-time.Millisecond)) != 0 || due(day.Add(time.Minute)) != 1 {
			t.Error("the call is due after a minute")
		}
		if next, some, err := w.db.Shops().NextDue(t.Context(), day); err != nil || !some || !next.Equal(day.Add(time.Minute)) {
			t.Errorf("next due: %v %t, %v", next, some, err)
		}
		c.CallAt = time.Time{}
		c = put(w, w.shop.ID, c)
		if due(day.Add(time.Hour-time.Millisecond)) != 0 || due(day.Add(time.Hour)) != 1 {
			t.Error("the decision is due after an hour")
		}
		c.ExpiresAt = time.Time{}
		put(w, w.shop.ID, c)
		if due(day.AddDate(1, 0, 0)) != 0 {
			t.Error("nothing is due any more")
		}
	})
	t.Run("calls add up by day, and an application's use is noted forwards", func(t *testing.T) {
		w := begin(t, open)
		add(w, app("reports", 1))
		midnight := time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC)
		calls := func(n, errors int, on time.Time, at time.Time) []partner.Calls {
			return []partner.Calls{{App: "reports", Connection: 5, Day: on, Count: n, Errors: errors, LastAt: at}}
		}
		for _, c := range [][]partner.Calls{
			calls(2, 1, midnight, midnight.Add(time.Hour)), calls(3, 0, midnight, midnight.Add(time.Minute)), calls(1, 1, midnight.AddDate(0, 0, 1), midnight.AddDate(0, 0, 1)),
			calls(9, 9, midnight.AddDate(0, 0, -1), midnight),
		} {
			if err := w.db.Partners().CountCalls(t.Context(), w.shop.ID, c); err != nil {
				t.Fatal(err)
			}
		}
		want := append(calls(1, 1, midnight.AddDate(0, 0, 1), midnight.AddDate(0, 0, 1)), calls(5, 1, midnight, midnight.Add(time.Hour))...)
		got, err := w.db.Partners().CallsOf(t.Context(), w.shop.ID, "reports", 5, midnight)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		for _, at := range []time.Time{day.Add(time.Hour), day} {
			if err := w.db.Partners().TouchApp(t.Context(), "reports", at); err != nil {
				t.Fatal(err)
			}
		}
		if a, err := w.db.Partners().App(t.Context(), "reports"); err != nil || !a.LastUsedAt.Equal(day.Add(time.Hour)) {
			t.Errorf("used at %v, %v", a.LastUsedAt, err)
		}
	})
}
