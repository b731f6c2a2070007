package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// neighbours are shops that every database of the suites has beside those of the test.
// Each has rows in every table of tenants, under the ids that the tests use, and all that
// can be due is due: a statement that forgets its shop finds them. One has a lower number
// than the shops of the test and one has a higher number, so that it does not matter
// which of two rows a statement takes.
var neighbours = map[string]shop.ID{"before.myshopify.com": 1, "behind.myshopify.com": 1 << 40}

// crowd is how many contracts and members a neighbour has, and keeps of what the store
// numbers itself, where a test has few: so many numbers are in use in several shops.
const crowd = 12

// furnish adds the neighbours to a database. Their search terms keep numbers of their
// own, since on SQLite the index of their parts is shared; what else the store numbers is
// numbered as the store will number the rows of a test.
func furnish(ctx context.Context, o store.Options, raw *sql.DB) error {
	db, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // what matters was committed
	number := func(name string, next int64) error {
		_, err := raw.ExecContext(ctx, fmt.Sprintf("UPDATE id_blocks SET next = %d WHERE name = '%s'", next, name))
		return err
	}
	for domain, id := range neighbours {
		if err := number("shop", int64(id)); err != nil {
			return err
		}
		of := shop.Shop{
			Domain: domain, PlatformID: 77, Token: "shpat_neighbour", TimeZone: "Europe/Berlin", Currency: "EUR", OrderHour: 9,
			Connected: true, Settings: shop.Settings{ImmediateOrders: true}, CreatedAt: day,
		}
		if err := db.Shops().AddShop(ctx, &of); err != nil {
			return err
		}
		if err := db.Update(ctx, of.ID, func(tx *store.Tx) error { return tx.PutContracts(ctx, itsContracts()) }); err != nil {
			return fmt.Errorf("contracts: %w", err)
		}
	}
	var next int64
	if err := raw.QueryRowContext(ctx, "SELECT next FROM id_blocks WHERE name = 'row'").Scan(&next); err != nil {
		return err
	}
	for _, id := range neighbours {
		for _, part := range parts(id) {
			if err := number("row", next); err != nil {
				return err
			}
			if err := part.put(ctx, db.Fork(nil)); err != nil {
				return fmt.Errorf("%s: %w", part.of, err)
			}
		}
	}
	if _, err := raw.ExecContext(ctx, "DELETE FROM river_job"); err != nil {
		return err
	}
	return errors.Join(number("row", next), number("shop", 2))
}

// leastTables is fewer than there are tables of tenants: a catalogue that shows less is
// read wrongly.
const leastTables = 45

// watch is how the rows of the neighbours are read behind the store's back.
type watch struct {
	columns string // SQL that lists the columns of the tables of tenants, in order
	row     func(columns []string) string
	concat  string // SQL that puts texts together, the same way each time

	once   sync.Once
	query  string
	before map[itsTable]string
	err    error
}

var onSQLite = &watch{
	columns: `SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' ORDER BY t.name, c.cid`,
	row:     func(columns []string) string { return `concat_ws(' ', "` + strings.Join(columns, `", "`) + `")` },
	concat:  "group_concat(%s, char(10))",
}

var onPostgres = &watch{
	columns: `SELECT c.table_name, c.column_name FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name)
		WHERE table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position`,
	row:    func([]string) string { return "t::text" },
	concat: `string_agg(%[1]s, E'\n' ORDER BY %[1]s)`,
}

// itsTable names a table of a neighbour.
type itsTable struct {
	name string
	shop shop.ID
}

// rows returns the neighbours' rows as text, by table.
func (w *watch) rows(ctx context.Context, raw *sql.DB) (map[itsTable]string, error) {
	found, err := raw.QueryContext(ctx, w.query)
	if err != nil {
		return nil, fmt.Errorf("read the neighbours' rows: %w", err)
	}
	defer found.Close() //nolint:errcheck // Err tells
	byTable := make(map[itsTable]string)
	for found.Next() {
		var of itsTable
		var text string
		if err := found.Scan(&of.name, &of.shop, &text); err != nil {
			return nil, err
		}
		byTable[of] = text
	}
	return byTable, found.Err()
}

// look reads the catalogue and the neighbours' rows as they are in a new database. It
// fails if a neighbour has no row in one of the tables.
func (w *watch) look(ctx context.Context, raw *sql.DB) error {
	found, err := raw.QueryContext(ctx, w.columns)
	if err != nil {
		return fmt.Errorf("read the catalogue: %w", err)
	}
	defer found.Close() //nolint:errcheck // Err tells
	columns := make(map[string][]string)
	for found.Next() {
		var table, column string
		if err := found.Scan(&table, &column); err != nil {
			return err
		}
		columns[table] = append(columns[table], column)
	}
	if err := found.Err(); err != nil {
		return err
	}
	var ids, tables, selects []string
	for _, id := range neighbours {
		ids = append(ids, fmt.Sprint(id))
	}
	for _, table := range slices.Sorted(maps.Keys(columns)) {
		key := "shop_id"
		if table == "shops" {
			key = "id"
		} else if !slices.Contains(columns[table], key) {
			continue
		}
		tables = append(tables, table)
		selects = append(selects, fmt.Sprintf("SELECT '%[1]s', %[2]s, %[3]s FROM %[1]s AS t WHERE %[2]s IN (%[4]s) GROUP BY %[2]s",
			table, key, fmt.Sprintf(w.concat, w.row(columns[table])), strings.Join(ids, ", ")))
	}
	if len(tables) < leastTables {
		return fmt.Errorf("the catalogue shows only %d tables of tenants", len(tables))
	}
	w.query = strings.Join(selects, " UNION ALL ")
	if w.before, err = w.rows(ctx, raw); err != nil {
		return err
	}
	for _, table := range tables {
		for domain, id := range neighbours {
			if w.before[itsTable{table, id}] == "" {
				return fmt.Errorf("%s has no row in %s: add one to parts", domain, table)
			}
		}
	}
	return nil
}

// guarded fails the test if it changes a row of a neighbour.
func (w *watch) guarded(t testing.TB, driver, address string, except ...string) {
	t.Helper()
	raw, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	w.once.Do(func() { w.err = w.look(t.Context(), raw) }) // every database begins alike
	if w.err != nil {
		t.Fatal(w.err)
	}
	t.Cleanup(func() {
		after, err := w.rows(context.WithoutCancel(t.Context()), raw)
		if err != nil {
			t.Error(err)
		}
		for table, text := range w.before {
			if after[table] != text && !slices.Contains(except, table.name) {
				t.Errorf("the rows of shop %d in %s were\n%s\nand are\n%s", table.shop, table.name, text, after[table])
			}
		}
	})
}
