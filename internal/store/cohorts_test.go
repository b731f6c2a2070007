package store_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/migrations"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// A database of an earlier version has the revenue of an order in the month of its contract, and
// no subscribers of currencies.
func TestMigrationMovesRevenueToCohortsOfSubscribers(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		open    func(testing.TB) *store.DB
		dialect migrations.Dialect
	}{"SQLite": {storetest.SQLite, migrations.SQLite}, "PostgreSQL": {storetest.Postgres, migrations.Postgres}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := of.open(t)
			s := shop.Shop{Domain: "first.myshopify.com", PlatformID: 77, Token: "token", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: start}
			if err := db.Shops().AddShop(t.Context(), &s); err != nil {
				t.Fatal(err)
			}
			storetest.Cohorts(t, db, s.ID)
			want := storetest.Figures(t, db, s.ID)
			run := func(statements ...string) {
				t.Helper()
				err := db.Update(t.Context(), s.ID, func(tx *store.Tx) error {
					for _, statement := range statements {
						if _, err := tx.Exec(t.Context(), statement); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			run("UPDATE order_outcomes SET cohort = (SELECT h.cohort FROM contract_history AS h WHERE h.contract_id = order_outcomes.contract_id AND h.valid_to = 0)",
				"UPDATE cohort_months SET joined = 0 WHERE currency <> ''", "UPDATE cohort_months SET cohort = cohort + 2, revenue = 1 WHERE currency = 'EUR'")
			if cmp.Diff(want, storetest.Figures(t, db, s.ID)) == "" {
				t.Fatal("the figures are not those of an earlier version")
			}
			run(statementsOf(t, of.dialect, 21)...)
			if diff := cmp.Diff(want, storetest.Figures(t, db, s.ID)); diff != "" {
				t.Errorf("the migration differs from what is kept (-kept +migrated):\n%s", diff)
			}
			r := analytics.Rebuilder{Store: db.AnalyticsRebuild(), Clock: clock.NewManual(start.AddDate(1, 0, 0))}
			if done, err := r.Rebuild(t.Context(), s.ID); err != nil || done.Differs {
				t.Errorf("the rebuild did %+v, %v", done, err)
			}
		})
	}
}

// statementsOf returns what a migration does with rows: that is without CREATE.
func statementsOf(t *testing.T, d migrations.Dialect, version int64) (list []string) {
	t.Helper()
	all, err := d.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		for _, f := range m.Files {
			for statement := range strings.SplitSeq(f.SQL, ";\n") {
				if m.Version == version && strings.TrimSpace(statement) != "" && !strings.Contains(statement, "CREATE ") {
					list = append(list, statement)
				}
			}
		}
	}
	if len(list) < 3 {
		t.Fatalf("migration %d has the statements %q", version, list)
	}
	return list
}
