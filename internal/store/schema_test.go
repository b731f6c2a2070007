package store_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// shared are the tables that belong to no shop: they are copied to every node or
// stay on one.
var shared = []string{"installation", "id_blocks", "shops", "schema_versions", "sqlite_sequence", "partner_apps", "webhook_signatures", "probes", "oauth_states", "users", "user_sessions", "user_resets", "user_throttles"}

// index is a primary key, a unique index or the near side of a foreign key.
type index struct {
	Table   string
	Name    string
	Columns string
	Far     string // table to which a foreign key points
}

// ofTenants leaves out what belongs to no shop.
func ofTenants(found []index) []index {
	return slices.DeleteFunc(found, func(i index) bool {
		return slices.Contains(shared, i.Table) || strings.HasPrefix(i.Table, "river_") || strings.HasPrefix(i.Table, "search_parts")
	})
}

// checkSharding checks the rules by which the tables can be spread over nodes.
func checkSharding(t *testing.T, keys, foreign []index) {
	t.Helper()
	if keys, foreign = ofTenants(keys), ofTenants(foreign); len(keys) < 11 || len(foreign) < 6 {
		t.Fatalf("the catalogue shows only %d keys and %d foreign keys", len(keys), len(foreign))
	}
	for _, i := range keys {
		if i.Columns != "shop_id" && !strings.HasPrefix(i.Columns, "shop_id,") {
			t.Errorf("%s.%s is unique by (%s): it must begin with shop_id", i.Table, i.Name, i.Columns)
		}
	}
	for _, i := range foreign {
		if !strings.HasPrefix(i.Columns, "shop_id,") && (i.Columns != "shop_id" || !slices.Contains(shared, i.Far)) {
			t.Errorf("%s.%s points with (%s) to %s: it must stay within the shop", i.Table, i.Name, i.Columns, i.Far)
		}
	}
}

func TestTenantTablesCanBeSpreadByShopOnPostgres(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t).Raw()
	var keys, foreign []index
	err := db.NewRaw(`SELECT t.relname AS "table", i.relname AS name,
		(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(x.indkey) WITH ORDINALITY AS k (attnum, n) JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = k.attnum) AS columns
		FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
		WHERE x.indisunique AND t.relnamespace = 'public'::regnamespace`).Scan(t.Context(), &keys)
	if err != nil {
		t.Fatal(err)
	}
	err = db.NewRaw(`SELECT t.relname AS "table", c.conname AS name, f.relname AS far,
		(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY AS k (attnum, n) JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = k.attnum) AS columns
		FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = c.conrelid JOIN pg_class AS f ON f.oid = c.confrelid
		WHERE c.contype = 'f' AND t.relnamespace = 'public'::regnamespace`).Scan(t.Context(), &foreign)
	if err != nil {
		t.Fatal(err)
	}
	checkSharding(t, keys, foreign)
	var without []string
	err = db.NewRaw(`SELECT t.relname FROM pg_class AS t WHERE t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace
		AND NOT EXISTS (SELECT 1 FROM pg_index AS x WHERE x.indrelid = t.oid AND x.indisprimary)`).Scan(t.Context(), &without)
	if err != nil || len(without) > 0 {
		t.Errorf("tables without a primary key: %v, %v", without, err)
	}
}

func TestTenantTablesCanBeSpreadByShopOnSQLite(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t).Raw()
	var keys, foreign []index
	err := db.NewRaw(`SELECT t.name AS "table", i.name AS name,
		(SELECT group_concat(c.name, ',') FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno) AS c) AS columns
		FROM sqlite_schema AS t, pragma_index_list(t.name) AS i WHERE t.type = 'table' AND i."unique"`).Scan(t.Context(), &keys)
	if err != nil {
		t.Fatal(err)
	}
	err = db.NewRaw(`SELECT t.name AS "table", f.id AS name, f."table" AS far, group_concat(f."from", ',' ORDER BY f.seq) AS columns
		FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f WHERE t.type = 'table' GROUP BY t.name, f.id, f."table"`).Scan(t.Context(), &foreign)
	if err != nil {
		t.Fatal(err)
	}
	checkSharding(t, keys, foreign)
}

func TestBothSchemasHaveTheSameTablesAndColumns(t *testing.T) {
	t.Parallel()
	var postgres, sqlite []string
	err := storetest.Postgres(t).Raw().NewRaw(`SELECT table_name || '.' || column_name FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name)
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'river%' AND table_name NOT IN ('schema_versions', 'rate_buckets')`).Scan(t.Context(), &postgres)
	if err != nil {
		t.Fatal(err)
	}
	err = storetest.SQLite(t).Raw().NewRaw(`SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND t.name NOT LIKE 'river%' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE 'search_parts%' AND t.name <> 'schema_versions'`).Scan(t.Context(), &sqlite)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(postgres)
	slices.Sort(sqlite)
	if len(postgres) < 100 || !slices.Equal(postgres, sqlite) {
		only := func(these, those []string) []string {
			return slices.DeleteFunc(slices.Clone(these), func(column string) bool { return slices.Contains(those, column) })
		}
		t.Errorf("PostgreSQL has %d columns, SQLite lacks %v of them; SQLite has %d, PostgreSQL lacks %v of them", len(postgres), only(postgres, sqlite), len(sqlite), only(sqlite, postgres))
	}
}

func TestConcurrentMigrationsOfEmptyDatabase(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]func(*testing.T) store.Options{
		"on SQLite":     func(t *testing.T) store.Options { return storetest.SQLiteOptions(t) },
		"on PostgreSQL": func(t *testing.T) store.Options { return store.Options{URL: pgtest.Empty(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			var together sync.WaitGroup
			for range 4 {
				db := storetest.Open(t, o)
				together.Go(func() {
					if err := db.Migrate(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			together.Wait()
			if err := storetest.Open(t, o).Claim(t.Context(), store.Production); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNodesNeverIssueSameNumber(t *testing.T) {
	t.Parallel()
	o := storetest.SQLiteOptions(t)
	nodes := []*store.DB{storetest.Open(t, o), storetest.Open(t, o)}
	if err := nodes[0].Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries := make([]activity.Entry, 400)
	for i := range entries {
		entries[i] = activity.Entry{EntityType: activity.EntityShopInfo, Event: activity.Updated, At: start}
	}
	for range 8 {
		for _, node := range nodes { // a number that is given twice is a key that exists
			if err := node.Update(t.Context(), 1, func(tx *store.Tx) error { return tx.Record(t.Context(), entries...) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, total, err := nodes[0].Entries(t.Context(), 1, nil, page.Request{Size: 1}); err != nil || total != 8*2*400 {
		t.Errorf("%d entries, %v", total, err)
	}
}

func TestDatabaseOfEarlierNumberingIsRejected(t *testing.T) {
	t.Parallel()
	for driver, options := range map[string]func(*testing.T) store.Options{
		"sqlite": func(t *testing.T) store.Options { return storetest.SQLiteOptions(t) },
		"pgx":    func(t *testing.T) store.Options { return store.Options{URL: pgtest.Empty(t)} },
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			db := storetest.Open(t, o)
			exec(t, driver, o, "CREATE TABLE schema_migrations (version_id bigint); INSERT INTO schema_migrations VALUES (1), (2), (62)")
			_, err := db.Migrations(t.Context())
			for _, err := range []error{err, db.Migrate(t.Context())} {
				if !fault.Is(err, fault.FailedPrecondition) || !strings.Contains(err.Error(), "create a new database") {
					t.Errorf("got %v", err)
				}
			}
			exec(t, driver, o, "CREATE TABLE schema_versions (id bigint); CREATE TABLE shops (id bigint)") // neither is there
		})
	}
}

func TestUnmigratedDatabaseIsReported(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLiteOptions(t))
	steps, err := db.Migrations(t.Context())
	if err != nil || len(steps) < 2 || steps[0].Applied || steps[1].Applied {
		t.Errorf("%+v, %v", steps, err)
	}
}

func TestInvalidDatabaseURLsAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		o    store.Options
	}{
		{"no address", store.Options{}},
		{"another kind of database", store.Options{URL: "mysql://localhost/perennial"}},
		{"an address that cannot be read", store.Options{URL: "postgres://localhost:notaport/"}},
		{"a secret key of the wrong length", store.Options{URL: "x.db", SecretKey: []byte("short")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if db, err := store.Open(t.Context(), tt.o); !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v, %v", db, err)
			}
		})
	}
}

func TestDatabaseFileMayHaveAnyName(t *testing.T) {
	t.Parallel()
	o := store.Options{URL: "sqlite://" + filepath.Join(t.TempDir(), "a b?c=d#e%20ü.db"), Create: true, Relaxed: true}
	if err := storetest.Open(t, o).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, err := filepath.Glob(filepath.Join(filepath.Dir(strings.TrimPrefix(o.URL, "sqlite://")), "a b?c=d#e%20ü.db")); err != nil || len(found) != 1 {
		t.Errorf("files: %v, %v", found, err)
	}
}

func TestTokensAreSealed(t *testing.T) {
	t.Parallel()
	o := storetest.SQLiteOptions(t)
	db := storetest.Open(t, o)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, second := shop.Shop{Domain: "first", Token: "shpat_open"}, shop.Shop{Domain: "second", Token: "shpat_sesame"}
	for _, s := range []*shop.Shop{&first, &second} {
		if err := db.Shops().AddShop(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	var kept []string
	if err := db.Raw().NewRaw("SELECT token FROM shops ORDER BY id").Scan(t.Context(), &kept); err != nil {
		t.Fatal(err)
	}
	if len(kept) != 2 || kept[0] == kept[1] || strings.Contains(kept[0], "open") {
		t.Errorf("kept as %q", kept)
	}
	wrong := o
	wrong.SecretKey = []byte("another key, which is 32 bytes !")
	if _, err := storetest.Open(t, wrong).Shops().Shop(t.Context(), first.ID); !fault.Is(err, fault.Internal) {
		t.Errorf("with another key: %v", err)
	}
	keyless := o
	keyless.SecretKey = nil
	if _, err := storetest.Open(t, keyless).Shops().Shop(t.Context(), first.ID); !fault.Is(err, fault.Internal) {
		t.Errorf("without a key: %v", err)
	}
	if err := storetest.Open(t, keyless).Shops().AddShop(t.Context(), &shop.Shop{Domain: "third", Token: "x"}); !fault.Is(err, fault.Internal) {
		t.Errorf("writing without a key: %v", err)
	}
	exec(t, "sqlite", o, "UPDATE shops SET token = (SELECT token FROM shops WHERE id = 1) WHERE id = 2")
	if s, err := db.Shops().Shop(t.Context(), second.ID); !fault.Is(err, fault.Internal) {
		t.Errorf("a token that was moved to another shop opens: %q, %v", string(s.Token), err)
	}
}

// exec changes a database behind the store's back.
func exec(t *testing.T, driver string, o store.Options, statements string) {
	t.Helper()
	raw, err := sql.Open(driver, o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}
