package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"modernc.org/sqlite"
)

// counter opens connections that count the statements they prepare and close.
type counter struct {
	driver.Connector
	prepared, closed int
}

func (c *counter) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return countedConn{inner.(sqliteConn), c}, nil
}

type countedConn struct {
	sqliteConn
	by *counter
}

func (c countedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.by.prepared++
	return countedStmt{s.(sqliteStmt), c.by}, nil
}

type countedStmt struct {
	sqliteStmt
	by *counter
}

func (s countedStmt) Close() error {
	s.by.closed++
	return s.sqliteStmt.Close()
}

// keptDB opens a database whose one connection caches statements.
func keptDB(t *testing.T) (*bun.DB, *counter) {
	t.Helper()
	inner, err := sqlite.NewConnector("file:" + filepath.Join(t.TempDir(), "kept.db"))
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{Connector: inner}
	db := sql.OpenDB(keeping{c})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil || c.prepared != c.closed {
			t.Errorf("%d statements prepared, %d closed in the end, %v", c.prepared, c.closed, err)
		}
	})
	run(t, db, "CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
	run(t, db, "INSERT INTO things VALUES (1, 'one'), (2, 'two'), (3, 'three')")
	return bun.NewDB(db, sqlitedialect.New()), c
}

func run(t *testing.T, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, query string, args ...any,
) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func TestRepeatedStatementIsCached(t *testing.T) {
	t.Parallel()
	db, c := keptDB(t)
	prepared, closed := c.prepared, c.closed
	for i := range 10 {
		var name string
		if err := db.DB.QueryRowContext(t.Context(), "SELECT name FROM things WHERE id = ?", 1+i%3).Scan(&name); err != nil || name != []string{"one", "two", "three"}[i%3] {
			t.Fatalf("%q, %v", name, err)
		}
	}
	if n, gone := c.prepared-prepared, c.closed-closed; n != 2 || gone != 1 {
		t.Errorf("prepared %d times and closed %d times, want it kept from the second time on", n, gone)
	}
}

func TestCachedStatementMayBeUsedConcurrently(t *testing.T) {
	t.Parallel()
	db, c := keptDB(t)
	tx, err := db.DB.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const ask = "SELECT name FROM things WHERE id >= ? ORDER BY id"
	names := func(from int) (list []string) {
		rows, err := tx.QueryContext(t.Context(), ask, from)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() //nolint:errcheck // nothing is written
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				t.Fatal(err)
			}
			list = append(list, name)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return list
	}
	for range 3 {
		outer, err := tx.QueryContext(t.Context(), ask, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer outer.Close() //nolint:errcheck // it is closed by its last row
		for i := 0; outer.Next(); i++ {
			var name string
			if err := outer.Scan(&name); err != nil || name != []string{"one", "two", "three"}[i] {
				t.Fatalf("%q, %v", name, err)
			}
			if inner := names(2); !slices.Equal(inner, []string{"two", "three"}) {
				t.Fatalf("%q while others are read", inner)
			}
		}
		if err := outer.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if open := c.prepared - c.closed; open != 1 {
		t.Errorf("%d statements are open, want the one that came again", open)
	}
}

func TestCachedStatementSurvivesFailureAndTableChange(t *testing.T) {
	t.Parallel()
	db, _ := keptDB(t)
	const add = "INSERT INTO things (id, name) VALUES (?, ?)"
	for i := 4; i < 10; i++ {
		run(t, db.DB, add, i, "more")
		if _, err := db.DB.ExecContext(t.Context(), add, i, "again"); err == nil {
			t.Fatalf("%d was added twice", i)
		}
	}
	run(t, db.DB, "ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 7")
	for range 3 {
		var n, size int
		if err := db.DB.QueryRowContext(t.Context(), "SELECT COUNT(*), MIN(size) FROM things").Scan(&n, &size); err != nil || n != 9 || size != 7 {
			t.Errorf("%d of size %d, %v", n, size, err)
		}
		run(t, db.DB, "ALTER TABLE things RENAME TO others")
		run(t, db.DB, "ALTER TABLE others RENAME TO things")
	}
}

func TestStatementCacheKeepsMostRecent(t *testing.T) {
	t.Parallel()
	db, c := keptDB(t)
	for range 2 {
		for i := range 3 * keptTexts {
			run(t, db.DB, fmt.Sprintf("SELECT %d", i))
			run(t, db.DB, fmt.Sprintf("SELECT %d", i))
		}
	}
	if open := c.prepared - c.closed; open < keptTexts || open > 2*keptTexts {
		t.Errorf("%d statements are open, want %d to %d", open, keptTexts, 2*keptTexts)
	}
}

func TestBoundValuesMatchStatement(t *testing.T) {
	t.Parallel()
	db, c := keptDB(t)
	prepared := c.prepared
	for _, name := range []string{"", "plain", "it's", "a ? b", "?1", "'", "''", `"[]"`, "ü", "-- no comment"} {
		var got string
		var n int64
		err := db.NewSelect().ColumnExpr("?, ?", bound{name}, bound{int64(-5)}).Scan(t.Context(), &got, &n)
		if err != nil || got != name || n != -5 {
			t.Errorf("%q came back as %q, -5 as %d, %v", name, got, n, err)
		}
	}
	for _, list := range [][]string{{}, {"two"}, {"one", "it's", "three"}, {`"two"`, "[", "x\\"}} {
		var got []string
		err := db.NewSelect().Table("things").Column("name").Where("name IN (?)", boundList[string](list)).Where("id < ?", bound{3}).Order("id").Scan(t.Context(), &got)
		want := slices.DeleteFunc([]string{"one", "two"}, func(name string) bool { return !slices.Contains(list, name) })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("of %q: %q, %v", list, got, err)
		}
	}
	if n := c.prepared - prepared; n != 4 {
		t.Errorf("prepared %d statements, want each of the two twice", n)
	}
	run(t, db, "UPDATE things SET name = ? WHERE id IN (?)", bound{"new"}, boundList[int64]{1, 3})
	var left []string
	if err := db.NewSelect().Table("things").Column("name").Order("id").Scan(t.Context(), &left); err != nil || !slices.Equal(left, []string{"new", "two", "new"}) {
		t.Errorf("%q, %v", left, err)
	}
}
