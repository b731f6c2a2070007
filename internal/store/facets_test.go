package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestFacetsListOnlyValuesInUse(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *store.DB{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			of := shop.Shop{Domain: "first.myshopify.com", PlatformID: 77, Token: "token", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: start}
			if err := db.Shops().AddShop(t.Context(), &of); err != nil {
				t.Fatal(err)
			}
			monthly := contract.Policy{Interval: cadence.Month, Count: 1}
			put := func(version int64, name string, ids ...contract.ID) {
				t.Helper()
				var list []contract.Contract
				for _, id := range ids {
					list = append(list, contract.Contract{
						ID: id, Version: version, Line: shop.Subscriptions, Revision: 1, Status: contract.Active, Currency: "EUR", Billing: monthly, Delivery: monthly,
						Customer: contract.Customer{ID: 901, Email: "ada@example.com", Name: name}, CreatedAt: start, UpdatedAt: start,
					})
				}
				err := db.Update(t.Context(), of.ID, func(tx *store.Tx) error { return tx.PutContracts(t.Context(), list) })
				if err != nil {
					t.Fatal(err)
				}
			}
			want := func(counts string) {
				t.Helper()
				if got := customerCounts(t.Context(), t, db); got != counts {
					t.Errorf("got %q, want %q", got, counts)
				}
			}
			put(0, "Ada", 1, 2)
			want("ada@example.com\nada: 2; ")
			put(1, "Erased", 1)
			want("ada@example.com\nada: 1; ada@example.com\nerased: 1; ")
			put(1, "Erased", 2)
			want("ada@example.com\nerased: 2; ")

			long := "Ada ää" // in the end longer than a key of an index may be, even compressed
			for i := range 20_000 {
				long += fmt.Sprintf(" %xü", i*i)
			}
			put(0, long, 3)
			for part, hits := range map[string]int{"ad": 3, "ä": 1, "ada ää": 1, "erased": 2} {
				f := contract.Filter{Line: shop.Subscriptions, CustomerPart: part}
				if list, n, err := db.Search(t.Context(), of.ID, f, page.Request{Size: 10}); err != nil || n != hits || len(list) != hits {
					t.Errorf("%s: %d contracts of %d, %v, want %d", part, len(list), n, err, hits)
				}
			}
		})
	}
}

// customerCounts returns what customer_counts holds.
func customerCounts(ctx context.Context, t *testing.T, db *store.DB) string {
	t.Helper()
	var told string
	err := db.Raw().QueryRowContext(ctx, "SELECT COALESCE(string_agg(c.customer_folded || ': ' || c.n || '; ', ''), '') FROM (SELECT * FROM customer_counts ORDER BY customer_folded) AS c").Scan(&told)
	if err != nil {
		t.Fatal(err)
	}
	return told
}
