package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestUnavailableSeparatesOutageFromError(t *testing.T) {
	t.Parallel()
	postgres, sqlite := storetest.Postgres(t), storetest.SQLite(t)
	code := func(c string) error { return fmt.Errorf("read: %w", &pgconn.PgError{Code: c}) }
	for name, row := range map[string]struct {
		err  error
		want bool
	}{
		"none":                   {nil, false},
		"refused":                {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		"cut":                    {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		"a connection that died": {driver.ErrBadConn, true},
		"shut down":              {code("57P01"), true},
		"starting up":            {code("57P03"), true},
		"too many connections":   {code("53300"), true},
		"a full disk":            {code("53100"), true},
		"a failed-over standby":  {code("25006"), true},
		"a duplicate":            {code("23505"), false},
		"no such column":         {code("42703"), false},
		"a bug":                  {errors.New("nil"), false},
		"a refusal":              {fault.New(fault.FailedPrecondition, "no"), false},
	} {
		if got := postgres.Unavailable(row.err); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if err := sqlite.Raw().NewRaw("SELECT nothing").Scan(t.Context()); err == nil || sqlite.Unavailable(err) {
		t.Errorf("a mistake in a statement: %v", err)
	}
	if _, err := sqlite.Raw().NewRaw("DELETE FROM probes").Exec(t.Context()); !sqlite.Unavailable(err) {
		t.Errorf("a connection that is read-only: %v", err)
	}
}

func TestHealthyDatabaseIsWritableAndIntact(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]*store.DB{"PostgreSQL": storetest.Postgres(t), "SQLite": storetest.SQLite(t)} {
		for range 2 {
			if err := db.Writable(t.Context(), time.Now()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := db.CheckIntegrity(t.Context()); err != nil && !errors.Is(err, store.ErrNotChecked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	db := storetest.Postgres(t)
	_, without := db.Raw().NewRaw("CREATE EXTENSION amcheck").Exec(t.Context()) // some packages of PostgreSQL lack it
	if err := db.CheckIntegrity(t.Context()); errors.Is(err, store.ErrNotChecked) != (without != nil) || err != nil && without == nil {
		t.Errorf("with amcheck (%v): %v", without, err)
	}
}

// Messages about damage say what to do.
func TestDamagedSQLiteFileNamesRemedy(t *testing.T) {
	t.Parallel()
	damaged := func(at, length int64) string {
		path := filepath.Join(t.TempDir(), "perennial.db")
		storetest.SQLiteFile(t, path)
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt([]byte(strings.Repeat("x", int(length))), at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const remedy = "restore the last backup"
	if _, err := store.Open(context.Background(), store.Options{URL: damaged(0, 16)}); err == nil || !strings.Contains(err.Error(), remedy) {
		t.Errorf("a beginning that is damaged: %v", err)
	}
	db, err := store.Open(t.Context(), store.Options{URL: damaged(8192, 40<<10)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.CheckIntegrity(t.Context()); err == nil || !strings.Contains(err.Error(), remedy) {
		t.Errorf("pages that are damaged: %v", err)
	}
}
