package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/perennialhq/perennial/internal/store/migrations"
)

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string
	Applied bool
}

// queueVersion is the migration that brings the tables of the job queue. A later
// queue that changes its tables needs a further migration, with its own number.
const queueVersion = 1

// Migrate brings the schema up to date. It may be called again at any time, and
// by several processes at once: one works and the others wait.
func (db *DB) Migrate(ctx context.Context) error {
	if err := db.engine.migrate(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}

// Migrations returns every step of the schema, in order, and whether the
// database has it.
func (db *DB) Migrations(ctx context.Context) ([]Migration, error) { return db.engine.status(ctx) }

func (e *postgresEngine) migrate(ctx context.Context) error {
	p, err := e.provider()
	if err != nil {
		return err
	}
	_, err = p.Up(withoutHurry(ctx))
	return err
}

func (e *postgresEngine) status(ctx context.Context) ([]Migration, error) {
	return statusOf(ctx, e.provider)
}

func (e *postgresEngine) provider() (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	queue := goose.NewGoMigration(queueVersion, &goose.GoFunc{RunDB: func(ctx context.Context, _ *sql.DB) error {
		return e.queue.Migrate(ctx)
	}}, nil)
	return newProvider(goose.DialectPostgres, e.db.DB, "postgres", queue, goose.WithSessionLocker(locker))
}

// migrate holds a lock that other processes wait for, in a file of its own: a
// lock on the database itself would lock out the migration too.
func (e *sqliteEngine) migrate(ctx context.Context) (err error) {
	lock := e.path + "-migration"
	if err := present(lock, true); err != nil {
		return err
	}
	guard, err := sql.Open("sqlite", (&url.URL{
		Scheme: "file", Path: lock, RawQuery: "_txlock=exclusive&_pragma=busy_timeout(60000)",
	}).String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guard.Close()) }()
	held, err := guard.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("wait for another migration: %w", err)
	}
	defer held.Rollback() //nolint:errcheck // nothing is written: the end of the lock is all
	p, err := e.provider()
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

func (e *sqliteEngine) status(ctx context.Context) ([]Migration, error) {
	return statusOf(ctx, e.provider)
}

func (e *sqliteEngine) provider() (*goose.Provider, error) {
	queue := goose.NewGoMigration(queueVersion, &goose.GoFunc{RunTx: e.queue.MigrateTx}, nil)
	return newProvider(goose.DialectSQLite3, e.writer.DB, "sqlite", queue)
}

func newProvider(d goose.Dialect, db *sql.DB, folder string, queue *goose.Migration, more ...goose.ProviderOption) (*goose.Provider, error) {
	files, err := fs.Sub(migrations.Files, folder)
	if err != nil {
		return nil, err
	}
	options := append([]goose.ProviderOption{
		goose.WithGoMigrations(queue), goose.WithDisableGlobalRegistry(true), goose.WithTableName("schema_migrations"),
	}, more...)
	return goose.NewProvider(d, db, files, options...)
}

func statusOf(ctx context.Context, provider func() (*goose.Provider, error)) ([]Migration, error) {
	p, err := provider()
	if err != nil {
		return nil, err
	}
	found, err := p.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state of the schema: %w", err)
	}
	list := make([]Migration, len(found))
	for i, m := range found {
		name := m.Source.Path
		if m.Source.Version == queueVersion {
			name = "job queue"
		}
		list[i] = Migration{Version: m.Source.Version, Name: name, Applied: m.State == goose.StateApplied}
	}
	return list, nil
}
