package store_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/migrations"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// crossing are the functions that read or write rows of every shop, and why.
var crossing = map[string]string{
	"waitingFor":        "which shops have work that is due",
	"NextDue":           "when anything is due",
	"Backlog":           "how much waits, for the metrics",
	"upcomingEndpoints": "which shops have orders to announce",
	"ShopOfMail":        "which shop has sent a letter that came back",
	"chargedShops":      "which shops have customers to remind",
	"KeyByHash":         "whose an API key is",
	"KnownHash":         "whether an API key is anybody's",
	"ShopOfConnection":  "whose a partner's connection is",
	"ConnectionByCode":  "whose a partner's code is",
	"ShopsOfPhone":      "which shops an answer to an SMS concerns",
	"store":             "events of several shops are stored together",
	"Memberships":       "to which stores a user belongs",
	"resealColumn":      "a new secret key seals what every shop has",
}

// searched are the tables that are read through a view, for the sake of the indexes of
// parts of texts.
var searched = []string{"contract_facets", "customer_counts", "search_terms"}

func TestFunctionsAcrossShopsAreListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`\b(` + strings.Join(searched, "|") + `)\b`)
	found := make(map[string]bool)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if f, ok := d.(*ast.FuncDecl); ok && (n.Sel.Name == "acrossShops" || n.Sel.Name == "updateAcrossShops") {
						found[f.Name.Name] = true
					}
				case *ast.BasicLit:
					if direct.MatchString(n.Value) && !strings.Contains(n.Value, "select:own_") && !strings.Contains(n.Value, "ANALYZE") {
						t.Errorf("%s: read %s as own_…, its view: %s", name, direct.FindString(n.Value), n.Value)
					}
				}
				return true
			})
		}
	}
	for name := range found {
		if crossing[name] == "" {
			t.Errorf("%s reads or writes rows of every shop: bind it to one, or say here why it may", name)
		}
	}
	for name := range crossing {
		if !found[name] {
			t.Errorf("%s crosses no shops any more", name)
		}
	}
}

// tenantTables returns the tables with rows of shops.
func tenantTables(t *testing.T, db *store.DB) []string {
	t.Helper()
	var tables []string
	err := db.Raw().NewRaw(`SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'shop_id'
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname NOT IN (?) ORDER BY 1`, bun.List(shared)).Scan(t.Context(), &tables)
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) < 40 {
		t.Fatalf("the catalogue shows only %q", tables)
	}
	return tables
}

func TestEveryTenantTableHasRowSecurity(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	walls := func(table string) (list []string) {
		t.Helper()
		err := db.Raw().NewRaw(`SELECT concat_ws(' ', p.polname, p.polcmd, p.polpermissive, p.polroles, pg_get_expr(p.polqual, c.oid), 'CHECK', pg_get_expr(p.polwithcheck, c.oid))
			FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid WHERE c.oid = ?::regclass AND c.relrowsecurity AND c.relforcerowsecurity ORDER BY 1`, table).Scan(t.Context(), &list)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	want := walls("contracts")
	if len(want) != 1 || !strings.Contains(want[0], "perennial.shop") {
		t.Fatalf("contracts is behind %q", want)
	}
	for _, table := range tenantTables(t, db) {
		got := walls(table)
		if slices.Contains(searched, table) {
			got = slices.DeleteFunc(got, func(p string) bool { return p == "read_by_view r t {0} true CHECK" })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has no row-level security: add after CREATE TABLE\n\t{{.RowSecurity \"%s\"}}\nIt has %q", table, table, got)
		}
	}
	for _, table := range searched {
		var differ int
		err := db.Raw().NewRaw(`SELECT count(*) FROM (SELECT attname FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0 AND NOT attisdropped
			EXCEPT SELECT attname FROM pg_attribute WHERE attrelid = ?::regclass) AS a`, table, "own_"+table).Scan(t.Context(), &differ)
		if err != nil || differ != 0 {
			t.Errorf("own_%s lacks %d columns of %s, %v: make it again", table, differ, table, err)
		}
	}
}

// lacksScope reports whether a migration after the first reads or writes rows without a scope:
// it would find none.
func lacksScope(version int64, text string) bool {
	rows := regexp.MustCompile(`(?i)\b(UPDATE \w+ SET|DELETE FROM|INSERT INTO|SELECT .+ FROM)\b`)
	return version > 1 && rows.MatchString(text) && !strings.Contains(text, migrations.Postgres.AllShops())
}

func TestMigrationsDeclareRowSecurity(t *testing.T) {
	t.Parallel()
	all, err := migrations.Postgres.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		for _, f := range m.Files {
			if lacksScope(m.Version, f.SQL) {
				t.Errorf("%s reads or writes rows of shops and finds none: begin it with\n\t{{.AllShops}}", f.Name)
			}
		}
	}
	const change = "UPDATE contracts SET note = '';"
	if !lacksScope(3, change) || lacksScope(3, migrations.Postgres.AllShops()+"\n"+change) || lacksScope(3, "ALTER TABLE contracts ADD COLUMN x text;") {
		t.Error("lacksScope does not tell migrations apart")
	}
}

func TestRowSecurityHoldsForOrdinaryRole(t *testing.T) {
	t.Parallel()
	o := storetest.PostgresOptions(t)
	if err := storetest.Open(t, o).CheckRowSecurity(t.Context()); err != nil {
		t.Errorf("the tests' user: %v", err)
	}
	if err := storetest.SQLite(t).CheckRowSecurity(t.Context()); err != nil {
		t.Errorf("on SQLite: %v", err)
	}
	o.URL = pgtest.AsSuperuser(t, o.URL)
	if err := storetest.Open(t, o).CheckRowSecurity(t.Context()); !fault.Is(err, fault.FailedPrecondition) || !strings.Contains(err.Error(), "connect as") {
		t.Errorf("a superuser: %v", err)
	}
}

// refused reports whether an error is the wall's.
func refused(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && failed.Code == "42501"
}

// TestRowSecurityNeedsNoCondition has a row of two shops in every tenant table and
// asks for, changes and deletes all rows, without any condition.
func TestRowSecurityNeedsNoCondition(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	tables := tenantTables(t, db)
	bare(t, db, tables)
	rows := make(map[string]string) // what inserts a row of shop %d
	for _, table := range tables {
		rows[table] = rowOf(t, db, table)
		err := db.UpdateEverywhere(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), fmt.Sprintf(rows[table], 1)+"; "+fmt.Sprintf(rows[table], 2))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	roll := errors.New("roll back")
	count := func(q bun.IDB, from string) (n int) {
		t.Helper()
		if err := q.NewRaw("SELECT count(*) FROM "+from).Scan(t.Context(), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, table := range tables {
		from := table
		if slices.Contains(searched, table) {
			from = "own_" + table
		}
		// try runs a statement in a transaction and takes it back.
		try := func(update func(fn func(*store.Tx) error) error, statement string) (n int64, err error) {
			_ = update(func(tx *store.Tx) error {
				n, err = tx.Exec(t.Context(), statement)
				return roll
			})
			return n, err
		}
		mine := func(fn func(*store.Tx) error) error { return db.Update(t.Context(), 1, fn) }
		nobodys := func(fn func(*store.Tx) error) error { return db.UpdateShared(t.Context(), fn) }
		everybodys := func(fn func(*store.Tx) error) error { return db.UpdateEverywhere(t.Context(), fn) }
		if own, none := count(db.In(1), from), count(db.Raw(), from); own != 1 || none != 0 {
			t.Errorf("%s: a shop reads %d rows, and who names none %d", table, own, none)
		}
		if all := count(db.Everywhere(), table); all != 2 {
			t.Errorf("%s: all shops have %d rows", table, all)
		}
		for _, statement := range []string{"SELECT FROM " + from, "UPDATE " + table + " SET shop_id = shop_id", "DELETE FROM " + table} {
			for _, as := range []struct {
				who    string
				update func(fn func(*store.Tx) error) error
				want   int64
			}{{"a shop", mine, 1}, {"nobody", nobodys, 0}, {"everybody", everybodys, 2}} {
				if from != table && as.who == "everybody" && statement == "SELECT FROM "+from {
					continue // the view is for one shop
				}
				if n, err := try(as.update, statement); n != as.want || err != nil {
					t.Errorf("%s of %s: %d rows, want %d, %v", statement, as.who, n, as.want, err)
				}
			}
		}
		for what, statement := range map[string]string{
			"inserts a row": strings.Replace(fmt.Sprintf(rows[table], 2), "'x'", "'y'", 1), "gives a row away": "UPDATE " + table + " SET shop_id = 3",
		} {
			if _, err := try(mine, statement); !refused(err) {
				t.Errorf("%s: a shop %s of another: %v", table, what, err)
			}
		}
		if _, err := try(nobodys, fmt.Sprintf(rows[table], 3)); !refused(err) {
			t.Errorf("%s: a row of a shop cannot be inserted: %v", table, err)
		}
	}
	for _, table := range tables { // so that it was the wall
		if _, err := db.Raw().ExecContext(t.Context(), "ALTER TABLE "+table+" DISABLE ROW LEVEL SECURITY"); err != nil {
			t.Fatal(err)
		}
		if n := count(db.In(1), table); n != 2 {
			t.Errorf("%s: %d rows without the wall", table, n)
		}
	}
}

// bare takes from tables what keeps rows from being made up.
func bare(t *testing.T, db *store.DB, tables []string) {
	t.Helper()
	var statements []string
	err := db.Raw().NewRaw(`SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, c.conname) FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = c.conrelid
		WHERE c.contype IN ('f', 'c') AND t.relname IN (?)
		UNION ALL SELECT format('ALTER TABLE %I DISABLE TRIGGER USER', t.relname) FROM pg_class AS t WHERE t.relname IN (?) AND t.relkind = 'r'`, bun.List(tables), bun.List(tables)).
		Scan(t.Context(), &statements)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Raw().ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// rowOf returns what inserts a row of shop %d, with something in every column that must
// have a value.
func rowOf(t *testing.T, db *store.DB, table string) string {
	t.Helper()
	var columns []struct{ Name, Kind string }
	err := db.Raw().NewRaw(`SELECT attname AS name, format_type(atttypid, NULL) AS kind FROM pg_attribute
		WHERE attrelid = ?::regclass AND attnum > 0 AND NOT attisdropped AND attnotnull AND attgenerated = '' AND attname <> 'shop_id'`, table).Scan(t.Context(), &columns)
	if err != nil {
		t.Fatal(err)
	}
	names, values := "shop_id", "%d"
	for _, c := range columns {
		names += ", " + c.Name
		switch c.Kind {
		case "boolean":
			values += ", false"
		case "text":
			values += ", 'x'"
		default:
			values += ", 1"
		}
	}
	return "INSERT INTO " + table + " (" + names + ") VALUES (" + values + ")"
}
