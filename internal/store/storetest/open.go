// Package storetest states what a store must do, whatever the database, and opens
// stores for tests.
package storetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/migrations"
)

// SecretKey is the key of the stores that this package opens.
var SecretKey = []byte("0123456789abcdef0123456789abcdef")

// SQLite returns an empty, migrated store in a file of the test's own.
func SQLite(t testing.TB) *store.DB {
	t.Helper()
	o := SQLiteOptions(t)
	SQLiteFile(t, o.URL)
	return Open(t, o)
}

// SQLiteFile writes an empty, migrated database to a file. A test process migrates one
// and copies it: that takes a tenth of the time.
func SQLiteFile(t testing.TB, path string) {
	t.Helper()
	write(t, path, migrated)
}

// SharedSQLite returns a migrated store in a file of the test's own, in which
// the neighbours have rows in every table. The test fails if one of them changes.
func SharedSQLite(t testing.TB) *store.DB {
	t.Helper()
	o := SQLiteOptions(t)
	write(t, o.URL, inhabited)
	db := Open(t, o)
	onSQLite.guarded(t, "sqlite", o.URL)
	return db
}

// write writes the content of a database to a file.
func write(t testing.TB, path string, content func() ([]byte, error)) {
	t.Helper()
	text, err := content()
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// migrated returns the content of an empty, migrated database.
var migrated = sync.OnceValues(func() ([]byte, error) {
	return content(func(ctx context.Context, o store.Options) error {
		db, err := store.Open(ctx, o)
		if err != nil {
			return err
		}
		return errors.Join(db.Migrate(ctx), db.Close())
	})
})

// inhabited returns the content of a database that has the neighbours.
var inhabited = sync.OnceValues(func() ([]byte, error) {
	empty, err := migrated()
	if err != nil {
		return nil, err
	}
	return content(func(ctx context.Context, o store.Options) error {
		if err := os.WriteFile(o.URL, empty, 0o600); err != nil {
			return err
		}
		raw, err := sql.Open("sqlite", o.URL)
		if err != nil {
			return err
		}
		return errors.Join(furnish(ctx, o, raw), raw.Close())
	})
})

// content returns the content of the database in a file that prepare makes.
func content(prepare func(context.Context, store.Options) error) (content []byte, err error) {
	folder, err := os.MkdirTemp("", "perennial-schema-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "perennial.db")
	if err := prepare(context.Background(), store.Options{URL: path, SecretKey: SecretKey, Create: true, Relaxed: true}); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// SQLiteOptions returns the options of a database in a file of the test's own, which is
// not there yet.
func SQLiteOptions(t testing.TB) store.Options {
	t.Helper()
	return store.Options{URL: filepath.Join(t.TempDir(), "perennial.db"), SecretKey: SecretKey, Create: true, Relaxed: true, Subscribers: subscribers()}
}

// Postgres returns an empty, migrated store in a database of the test's own. It
// fails the test when there is no PostgreSQL.
func Postgres(t testing.TB) *store.DB {
	t.Helper()
	return open(t, PostgresOptions(t))
}

// PostgresOptions returns the options of a migrated database of the test's own.
func PostgresOptions(t testing.TB) store.Options {
	t.Helper()
	return store.Options{URL: pgtest.New(t, schema{}), SecretKey: SecretKey, Subscribers: subscribers()}
}

// SharedPostgres returns a migrated store in a database of the test's own, in which
// the neighbours have rows in every table. The test fails if one of them changes, and when
// there is no PostgreSQL.
func SharedPostgres(t testing.TB) *store.DB {
	t.Helper()
	return open(t, SharedPostgresOptions(t))
}

// SharedPostgresOptions returns the options of a database as SharedPostgres has it. The
// neighbours' rows of the tables in except may change.
func SharedPostgresOptions(t testing.TB, except ...string) store.Options {
	t.Helper()
	o := store.Options{URL: pgtest.New(t, schema{inhabited: true}), SecretKey: SecretKey, Subscribers: subscribers()}
	onPostgres.guarded(t, "pgx", pgtest.AsSuperuser(t, o.URL), except...)
	return o
}

// Inhabited returns the options of two databases, on SQLite and on PostgreSQL, in which the
// neighbours have rows in every table. A test may change them.
func Inhabited(t testing.TB) map[string]store.Options {
	t.Helper()
	o := SQLiteOptions(t)
	write(t, o.URL, inhabited)
	return map[string]store.Options{
		"SQLite": o, "PostgreSQL": {URL: pgtest.New(t, schema{inhabited: true}), SecretKey: SecretKey, Subscribers: subscribers()},
	}
}

func open(t testing.TB, o store.Options) *store.DB {
	t.Helper()
	db := Open(t, o)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// Open opens a store and closes it when the test ends.
func Open(t testing.TB, o store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return db
}

// schema prepares the database that every test on PostgreSQL gets a copy of.
type schema struct {
	inhabited bool // by the neighbours
}

//go:embed neighbour.go neighbour_rows.go
var theNeighbours embed.FS

// Hash changes with the schema and with the neighbours.
func (s schema) Hash() (string, error) {
	sum := sha256.New()
	all, err := migrations.Postgres.All()
	for _, m := range all {
		for _, f := range m.Files {
			sum.Write([]byte(f.Name + "\n" + f.SQL))
		}
	}
	if s.inhabited {
		for _, name := range []string{"neighbour.go", "neighbour_rows.go"} {
			text, failed := theNeighbours.ReadFile(name)
			sum.Write(text)
			err = errors.Join(err, failed)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Migrate applies the schema and adds the neighbours.
func (s schema) Migrate(ctx context.Context, raw *sql.DB, at pgtest.Config) error {
	o := store.Options{URL: at.URL(), SecretKey: SecretKey}
	db, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	err = errors.Join(db.Migrate(ctx), db.Close())
	if err != nil || !s.inhabited {
		return err
	}
	return furnish(ctx, o, raw)
}

// subscribers are those of the service, which the suite relies on.
func subscribers() store.Subscribers {
	return store.Subscribers{
		Entries: []func(context.Context, *store.Tx, []activity.Entry) error{
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error { return webhook.Publish(ctx, tx, e) },
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error {
				return loyalty.NoteOrders(ctx, tx, e)
			},
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error { return bulk.NoteChanges(ctx, tx, e) },
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error {
				return session.NoteOutcomes(ctx, tx, e)
			},
		},
		Members: []func(context.Context, *store.Tx, []loyalty.Event) error{
			func(ctx context.Context, tx *store.Tx, e []loyalty.Event) error {
				return webhook.PublishMembers(ctx, tx, e)
			},
		},
		Changes: []func(context.Context, *store.Tx, analytics.Changes) error{
			func(ctx context.Context, tx *store.Tx, c analytics.Changes) error {
				return analytics.Record(ctx, tx, c)
			},
			func(ctx context.Context, tx *store.Tx, c analytics.Changes) error {
				return session.NoteLosses(ctx, tx, c.Contracts)
			},
		},
	}
}
