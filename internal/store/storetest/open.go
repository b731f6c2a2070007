// Package storetest states what a store must do, whatever the database, and opens
// stores for tests.
package storetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
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
	content, err := migrated()
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// migrated returns the content of an empty, migrated database.
var migrated = sync.OnceValues(func() (content []byte, err error) {
	folder, err := os.MkdirTemp("", "perennial-schema-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "perennial.db")
	ctx := context.Background()
	db, err := store.Open(ctx, store.Options{URL: path, Create: true, Relaxed: true})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(db.Migrate(ctx), db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

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

// schema prepares the database of which every test on PostgreSQL gets a copy.
type schema struct{}

// Hash changes with the schema.
func (schema) Hash() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(migrations.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := migrations.Files.ReadFile(path)
		sum.Write([]byte(path))
		sum.Write(text)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Migrate applies the schema.
func (schema) Migrate(ctx context.Context, _ *sql.DB, at pgtest.Config) error {
	db, err := store.Open(ctx, store.Options{URL: at.URL()})
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}

// subscribers are those of the service, which the suite relies on.
func subscribers() store.Subscribers {
	return store.Subscribers{
		Entries: []func(context.Context, *store.Tx, []activity.Entry) error{
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error { return webhook.Publish(ctx, tx, e) },
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error {
				return loyalty.NoteOrders(ctx, tx, e)
			},
		},
		Members: []func(context.Context, *store.Tx, []loyalty.Event) error{
			func(ctx context.Context, tx *store.Tx, e []loyalty.Event) error {
				return webhook.PublishMembers(ctx, tx, e)
			},
		},
	}
}
