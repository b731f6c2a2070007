package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// A key is rotated while nodes that know both keys go on; afterwards the new one alone
// opens everything.
func TestResealEncryptsWithTheNewKey(t *testing.T) {
	t.Parallel()
	old, next, strange := []byte(strings.Repeat("o", 32)), []byte(strings.Repeat("n", 32)), []byte(strings.Repeat("s", 32))
	for name, options := range map[string]func(testing.TB) store.Options{"SQLite": storetest.SQLiteOptions, "PostgreSQL": storetest.PostgresOptions} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			with := func(key []byte, others ...[]byte) *store.DB {
				o.SecretKey, o.OtherKeys = key, others
				db := storetest.Open(t, o)
				if err := db.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
				return db
			}
			before := with(old)
			const shops = 1100 // more than are read together
			for i := range shops {
				s := shop.Shop{Domain: strings.Repeat("a", i/26+1) + string(rune('a'+i%26)) + ".myshopify.com", Token: "token", TimeZone: "UTC", Currency: "USD", CreatedAt: time.Unix(1, 0)}
				if err := before.Shops().AddShop(t.Context(), &s); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := with(next).Shops().All(t.Context()); err == nil {
				t.Error("the new key alone opens what the old one has sealed")
			}
			both := with(next, old)
			if done, err := both.Reseal(t.Context()); err != nil || done != (store.Resealed{Texts: shops}) {
				t.Errorf("done %+v, %v", done, err)
			}
			if done, err := both.Reseal(t.Context()); err != nil || done != (store.Resealed{}) {
				t.Errorf("done again: %+v, %v", done, err)
			}
			list, err := with(next).Shops().All(t.Context())
			if err != nil || len(list) != shops || list[7].Token != platform.Token("token") {
				t.Errorf("with the new key alone: %d shops, %v", len(list), err)
			}
			if done, err := with(strange, old).Reseal(t.Context()); err != nil || done != (store.Resealed{Lost: shops}) {
				t.Errorf("with keys that open nothing: %+v, %v", done, err)
			}
		})
	}
}

func TestResealedColumnsExist(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	for _, c := range store.SealedColumns() {
		var n int
		if err := db.Raw().NewRaw("SELECT count(*) FROM pragma_table_info(?) WHERE name = ?", c[0], c[1]).Scan(t.Context(), &n); err != nil || n != 1 {
			t.Errorf("there is no column %s.%s (%v)", c[0], c[1], err)
		}
	}
}

func TestDropUnreadableRemovesUndecryptableRowsOfShop(t *testing.T) {
	t.Parallel()
	old, next := []byte(strings.Repeat("o", 32)), []byte(strings.Repeat("n", 32))
	for name, options := range map[string]func(testing.TB) store.Options{"SQLite": storetest.SQLiteOptions, "PostgreSQL": storetest.PostgresOptions} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			o.SecretKey = old
			before := storetest.Open(t, o)
			if err := before.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			var shops [2]shop.Shop
			for i, domain := range []string{"one.myshopify.com", "two.myshopify.com"} {
				shops[i] = shop.Shop{Domain: domain, Token: "token", TimeZone: "UTC", Currency: "USD", CreatedAt: time.Unix(1, 0)}
				if err := before.Shops().AddShop(t.Context(), &shops[i]); err != nil {
					t.Fatal(err)
				}
				if err := before.Update(t.Context(), shops[i].ID, func(tx *store.Tx) error {
					return tx.PutEndpoint(t.Context(), &webhook.Endpoint{Shop: shops[i].ID, URL: "https://erp.example.com", Secret: "whsec_a", Enabled: true})
				}); err != nil {
					t.Fatal(err)
				}
			}
			if lost, err := before.DropUnreadable(t.Context(), shops[0].Domain); lost != nil || err != nil {
				t.Errorf("with its key: %+v, %v", lost, err)
			}
			o.SecretKey = next
			after := storetest.Open(t, o)
			if lost, err := after.DropUnreadable(t.Context(), "unknown.myshopify.com"); lost != nil || err != nil {
				t.Errorf("of a shop that is not there: %+v, %v", lost, err)
			}
			if lost, err := after.DropUnreadable(t.Context(), shops[0].Domain); err != nil || lost == nil || *lost != (store.Unreadable{Endpoints: 1}) {
				t.Fatalf("lost %+v, %v", lost, err)
			}
			for i, db := range []*store.DB{after, before} {
				list, err := db.Webhooks().Endpoints(t.Context(), shops[i].ID)
				if err != nil || len(list) != 1 || list[0].Enabled != (i == 1) || (list[0].Secret == "whsec_a") != (i == 1) {
					t.Errorf("shop %d has %+v, %v", i, list, err)
				}
			}
			if s, err := after.Shops().ShopByDomain(t.Context(), shops[0].Domain); err != nil || s.Token != "" {
				t.Errorf("its token is %q, %v", s.Token, err)
			}
		})
	}
}
