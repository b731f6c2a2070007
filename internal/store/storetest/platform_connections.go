package storetest

import (
	"reflect"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testPlatformConnections(t *testing.T, open opener) {
	t.Run("a connection comes back as it was written, in its shop and app only", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		c := connection.Connection{
			App: connection.Primary, Access: "shpat_canary", ExpiresAt: day, Refresh: "shprt_canary", RefreshExpiresAt: day.Add(time.Hour), Previous: "shprt_before", Migrating: true,
			Scopes: []string{"read_products", "write_orders"}, Asked: []string{"write_orders"}, GrantedAt: day, RenewedAt: day.Add(time.Minute),
			Holder: "node", HeldUntil: day.Add(2 * time.Minute), Failures: 3, RetryAt: day.Add(3 * time.Minute), Refused: "why",
		}
		read := func(of shop.ID, app connection.AppName) (got connection.Connection) {
			w.inShop(of, func(tx *store.Tx) (err error) {
				got, err = tx.PlatformConnection(t.Context(), app)
				return err
			})
			return got
		}
		w.in(func(tx *store.Tx) error {
			if _, err := tx.PlatformConnection(t.Context(), c.App); err != nil {
				return err
			}
			return tx.PutPlatformConnection(t.Context(), c)
		})
		if got := read(w.shop.ID, c.App); !reflect.DeepEqual(got, c) {
			t.Errorf("got %+v", got)
		}
		for _, got := range []connection.Connection{read(other.ID, c.App), read(w.shop.ID, connection.Memberships)} {
			if got.Access != "" || got.Refresh != "" || got.Holder != "" {
				t.Errorf("elsewhere: %+v", got)
			}
		}
		view := func(of shop.ID, app connection.AppName) (got connection.Connection) {
			err := w.db.PlatformConnections().View(t.Context(), of, func(tx connection.ReadTx) (err error) {
				got, err = tx.PlatformConnection(t.Context(), app)
				return err
			})
			if err != nil {
				t.Errorf("view the connection of %s: %v", app, err)
			}
			return got
		}
		if got := view(w.shop.ID, c.App); !reflect.DeepEqual(got, c) {
			t.Errorf("viewed %+v", got)
		}
		if got := view(w.addShop("third.myshopify.com").ID, connection.Primary); !reflect.DeepEqual(got, connection.Connection{App: connection.Primary}) {
			t.Errorf("viewed where there is none: %+v", got)
		}
		list, err := w.db.PlatformConnections().Connections(t.Context(), w.shop.ID)
		if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], c) {
			t.Errorf("listed %+v, %v", list, err)
		}
		if list, err := w.db.PlatformConnections().Connections(t.Context(), other.ID); err != nil || len(list) != 0 {
			t.Errorf("another shop's: %+v, %v", list, err)
		}
	})
	t.Run("a state is used once, and forgotten when it has expired", func(t *testing.T) {
		w := begin(t, open)
		s := w.db.PlatformConnections()
		use := func(state byte, now, expires time.Time) bool {
			first, err := s.UseState(t.Context(), connection.StateHash{state, 0xfe}, now, expires)
			if err != nil {
				t.Fatal(err)
			}
			return first
		}
		if !use(1, day, day.Add(time.Minute)) || use(1, day, day.Add(time.Minute)) || !use(2, day, day.Add(time.Hour)) {
			t.Error("each counts once")
		}
		if !use(3, day.Add(2*time.Minute), day.Add(time.Hour)) || !use(1, day.Add(2*time.Minute), day.Add(time.Hour)) || use(2, day.Add(2*time.Minute), day.Add(time.Hour)) {
			t.Error("only what has expired is forgotten")
		}
	})
}
