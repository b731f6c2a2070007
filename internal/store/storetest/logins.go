package storetest

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

func testLogins(t *testing.T, open opener) {
	t.Run("a subscriber is the customer of the newest contract, by number or address in any case", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		of := func(id contract.ID, customer int64, email string) contract.Contract {
			c := monthly(id)
			c.Customer.ID, c.Customer.Email = customer, email
			return c
		}
		w.put(of(1, 5, "Ada@Example.com"), of(2, 6, "bob@example.com"), of(3, 5, "ada@example.com"), of(4, 0, "nobody@example.com"))
		find := func(in shop.ID, email string, number int64) (found login.Subscriber, err error) {
			w.inShop(in, func(tx *store.Tx) error {
				if email != "" {
					found, err = tx.SubscriberByEmail(t.Context(), "", email)
				} else {
					found, err = tx.SubscriberByID(t.Context(), shop.Subscriptions, number)
				}
				return nil
			})
			return found, err
		}
		for _, ask := range []struct {
			email  string
			number int64
		}{{"ADA@example.COM", 0}, {"", 5}} {
			if got, err := find(w.shop.ID, ask.email, ask.number); err != nil || got.Customer.ID != 5 || got.Contract != 3 || got.Customer.Email != "ada@example.com" {
				t.Errorf("%+v: %+v, %v", ask, got, err)
			}
			_, err := find(other.ID, ask.email, ask.number)
			w.wantKind(err, fault.NotFound)
		}
		for _, ask := range []string{"eve@example.com", "ada", "%@example.com", "nobody@example.com", "a\x00b@example.com"} {
			_, err := find(w.shop.ID, ask, 0)
			w.wantKind(err, fault.NotFound)
		}
		_, err := find(w.shop.ID, "", 0)
		w.wantKind(err, fault.NotFound)
		w.in(func(tx *store.Tx) error { // who subscribes is no member
			_, err := tx.SubscriberByEmail(t.Context(), shop.Memberships, "ada@example.com")
			w.wantKind(err, fault.NotFound)
			_, err = tx.SubscriberByID(t.Context(), shop.Memberships, 5)
			w.wantKind(err, fault.NotFound)
			return nil
		})

		list, err := w.db.Login().ContractsOf(t.Context(), w.shop.ID, 5, 10)
		if err != nil || len(list) != 2 || list[0].ID != 3 || list[1].ID != 1 {
			t.Errorf("contracts %+v, %v", list, err)
		}
		if one, err := w.db.Login().ContractsOf(t.Context(), w.shop.ID, 5, 1); err != nil || len(one) != 1 {
			t.Errorf("one contract: %+v, %v", one, err)
		}
		if none, err := w.db.Login().ContractsOf(t.Context(), other.ID, 5, 10); err != nil || len(none) != 0 {
			t.Errorf("another shop's contracts: %+v, %v", none, err)
		}
	})
	t.Run("a link comes back as it was kept, in its shop only, and is used once for all", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		l := login.Link{Hash: login.Hash{1, 0xff}, Customer: 5, Contract: 3, CreatedAt: day, ExpiresAt: day.Add(2 * time.Hour)}
		w.in(func(tx *store.Tx) error { return tx.AddLink(t.Context(), l) })
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.UseLink(t.Context(), l.Hash, day) })
		if got, err := w.db.Login().LinkByHash(t.Context(), w.shop.ID, l.Hash); err != nil || !reflect.DeepEqual(got, l) {
			t.Errorf("got %+v, %v", got, err)
		}
		w.in(func(tx *store.Tx) error { return tx.UseLink(t.Context(), l.Hash, day.Add(time.Minute)) })
		l.UsedAt = day.Add(time.Minute)
		w.in(func(tx *store.Tx) error {
			got, err := tx.Link(t.Context(), l.Hash)
			if !reflect.DeepEqual(got, l) {
				t.Errorf("got %+v", got)
			}
			return err
		})
		_, err := w.db.Login().LinkByHash(t.Context(), other.ID, l.Hash)
		w.wantKind(err, fault.NotFound)
		err = w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
			_, err := tx.Link(t.Context(), login.Hash{9})
			return err
		})
		w.wantKind(err, fault.NotFound)
	})
	t.Run("a session comes back, is touched forwards only, and ends, in its shop only", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		s := login.Session{Hash: login.Hash{2}, Customer: 5, Via: login.ByAccount, IDToken: "a.b.c", CreatedAt: day, SeenAt: day, ExpiresAt: day.Add(time.Hour)}
		w.in(func(tx *store.Tx) error { return tx.AddSession(t.Context(), s) })
		for _, at := range []time.Time{day.Add(time.Minute), day} {
			w.in(func(tx *store.Tx) error { return tx.TouchSession(t.Context(), s.Hash, at) })
		}
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.TouchSession(t.Context(), s.Hash, day.Add(time.Hour)) })
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.EndSession(t.Context(), s.Hash) })
		s.SeenAt = day.Add(time.Minute)
		if got, err := w.db.Login().SessionByHash(t.Context(), w.shop.ID, s.Hash); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("got %+v, %v", got, err)
		}
		_, err := w.db.Login().SessionByHash(t.Context(), other.ID, s.Hash)
		w.wantKind(err, fault.NotFound)
		for range 2 {
			w.in(func(tx *store.Tx) error { return tx.EndSession(t.Context(), s.Hash) })
		}
		_, err = w.db.Login().SessionByHash(t.Context(), w.shop.ID, s.Hash)
		w.wantKind(err, fault.NotFound)
	})
	t.Run("a sign-in with an account comes back as it was kept, in its shop only, and leaves no secrets after its use", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		a := login.AccountSignIn{
			State: login.Hash{3, 0xfe}, Browser: login.Hash{4}, Nonce: "a nonce", Verifier: "a verifier", CreatedAt: day, ExpiresAt: day.Add(login.AccountLife),
		}
		w.in(func(tx *store.Tx) error { return tx.AddAccountSignIn(t.Context(), a) })
		w.inShop(other.ID, func(tx *store.Tx) error { return tx.UseAccountSignIn(t.Context(), a.State, day) })
		read := func(of shop.ID, state login.Hash) (got login.AccountSignIn, err error) {
			w.inShop(of, func(tx *store.Tx) error {
				got, err = tx.AccountSignIn(t.Context(), state)
				return nil
			})
			return got, err
		}
		if got, err := read(w.shop.ID, a.State); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("got %+v, %v", got, err)
		}
		_, err := read(other.ID, a.State)
		w.wantKind(err, fault.NotFound)
		w.in(func(tx *store.Tx) error { return tx.UseAccountSignIn(t.Context(), a.State, day.Add(time.Minute)) })
		a.Nonce, a.Verifier, a.UsedAt = "", "", day.Add(time.Minute)
		if got, err := read(w.shop.ID, a.State); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("after its use: %+v, %v", got, err)
		}
		later := a
		later.State, later.CreatedAt = login.Hash{5}, day.AddDate(0, 0, 2)
		w.in(func(tx *store.Tx) error { return tx.AddAccountSignIn(t.Context(), later) })
		_, err = read(w.shop.ID, a.State)
		w.wantKind(err, fault.NotFound)
	})
	t.Run("a store's client of customer accounts is what its settings of the portal say", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		if got, err := w.db.Login().AccountClient(t.Context(), w.shop.ID); err != nil || got != (platform.AccountClient{}) {
			t.Errorf("without settings: %+v, %v", got, err)
		}
		for _, set := range []platform.AccountClient{{ID: "shp_1", Secret: "hush"}, {ID: "shp_2"}} {
			w.in(func(tx *store.Tx) error {
				s, err := tx.PortalSettings(t.Context())
				if err != nil {
					return err
				}
				s.AccountClient, s.AccountSecret = set.ID, set.Secret
				return tx.PutPortalSettings(t.Context(), &s)
			})
			if got, err := w.db.Login().AccountClient(t.Context(), w.shop.ID); err != nil || got != set {
				t.Errorf("got %s with secret %q, %v", got.ID, string(got.Secret), err)
			}
		}
		if got, err := w.db.Login().AccountClient(t.Context(), other.ID); err != nil || got.ID != "" {
			t.Errorf("another store's: %+v, %v", got, err)
		}
	})
	t.Run("what has expired goes when something new comes", func(t *testing.T) {
		w := begin(t, open)
		add := func(n byte, created time.Time) {
			w.in(func(tx *store.Tx) error {
				if err := tx.AddLink(t.Context(), login.Link{Hash: login.Hash{n}, CreatedAt: created, ExpiresAt: created.Add(2 * time.Hour)}); err != nil {
					return err
				}
				return tx.AddSession(t.Context(), login.Session{Hash: login.Hash{n}, CreatedAt: created, ExpiresAt: created.Add(2 * time.Hour)})
			})
		}
		left := func(n byte) (link, session bool) {
			_, err := w.db.Login().LinkByHash(t.Context(), w.shop.ID, login.Hash{n})
			_, gone := w.db.Login().SessionByHash(t.Context(), w.shop.ID, login.Hash{n})
			return err == nil, gone == nil
		}
		add(1, day)
		add(2, day.Add(24*time.Hour))
		if link, session := left(1); !link || session {
			t.Errorf("a day later: link %t, session %t; links are remembered for a while", link, session)
		}
		add(3, day.Add(8*24*time.Hour))
		if link, session := left(1); link || session {
			t.Errorf("a week later: link %t, session %t", link, session)
		}
		if link, session := left(3); !link || !session {
			t.Errorf("the new ones: link %t, session %t", link, session)
		}
	})
	t.Run("who counts for a subject waits for others who do", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		var together sync.WaitGroup
		for n := range 8 {
			together.Go(func() {
				err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
					counted, err := tx.Throttle(t.Context(), "a")
					if err != nil {
						return err
					}
					counted.Times = append(counted.Times, day.Add(time.Duration(n)*time.Second))
					return tx.PutThrottle(t.Context(), counted, day)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		together.Wait()
		for of, want := range map[shop.ID]int{w.shop.ID: 8, other.ID: 0} {
			w.inShop(of, func(tx *store.Tx) error {
				counted, err := tx.Throttle(t.Context(), "a")
				if len(counted.Times) != want || counted.Subject != "a" || want > 0 && counted.Times[0].Before(day) {
					t.Errorf("shop %d: %+v", of, counted)
				}
				return err
			})
		}
	})
}
