package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/store/migrations"
)

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string
	Applied bool
}

const (
	// queueVersion is the migration that creates the tables of the job queue. A later queue that
	// changes its tables needs a further migration, with its own number.
	queueVersion = 2
	// migrationTable records the migrations that were applied.
	migrationTable = "schema_versions"
	// draftTable recorded them before the first release, under numbers that have other meanings now.
	draftTable = "schema_migrations"
)

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
	ctx = withoutHurry(ctx)
	p, err := e.provider(ctx)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

func (e *postgresEngine) status(ctx context.Context) ([]Migration, error) {
	p, err := e.provider(ctx)
	if err != nil {
		return nil, err
	}
	return statusOf(ctx, p, migrations.Postgres)
}

func (e *postgresEngine) provider(ctx context.Context) (*goose.Provider, error) {
	if err := checkDraft(ctx, e.db, "SELECT to_regclass(?) IS NOT NULL"); err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	queue := goose.NewGoMigration(queueVersion, &goose.GoFunc{RunDB: func(ctx context.Context, _ *sql.DB) error {
		return e.queue.Migrate(ctx)
	}}, nil)
	return newProvider(goose.DialectPostgres, e.db.DB, migrations.Postgres, queue, goose.WithSessionLocker(locker))
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
	p, err := e.provider(ctx)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

func (e *sqliteEngine) status(ctx context.Context) ([]Migration, error) {
	p, err := e.provider(ctx)
	if err != nil {
		return nil, err
	}
	return statusOf(ctx, p, migrations.SQLite)
}

func (e *sqliteEngine) provider(ctx context.Context) (*goose.Provider, error) {
	if err := checkDraft(ctx, e.writer, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)"); err != nil {
		return nil, err
	}
	queue := goose.NewGoMigration(queueVersion, &goose.GoFunc{RunTx: e.queue.MigrateTx}, nil)
	return newProvider(goose.DialectSQLite3, e.writer.DB, migrations.SQLite, queue)
}

// checkDraft returns an error for a database of a version from before the first release, whose
// schema no migration continues. The query asks whether a table exists.
func checkDraft(ctx context.Context, db bun.IDB, query string) error {
	var found bool
	if err := db.NewRaw(query, draftTable).Scan(ctx, &found); err != nil {
		return fmt.Errorf("look for the table %s: %w", draftTable, err)
	}
	if found {
		return fault.New(fault.FailedPrecondition,
			"the database has the schema of a version from before the first release, which cannot be upgraded: create a new database with perennial migrate, or continue with the version that made this one")
	}
	return nil
}

func newProvider(of goose.Dialect, db *sql.DB, d migrations.Dialect, queue *goose.Migration, more ...goose.ProviderOption) (*goose.Provider, error) {
	all, err := d.All()
	if err != nil {
		return nil, err
	}
	steps := []*goose.Migration{queue}
	for _, m := range all {
		steps = append(steps, goose.NewGoMigration(m.Version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			for _, f := range m.Files {
				if _, err := tx.ExecContext(ctx, f.SQL); err != nil {
					return fmt.Errorf("%s: %w", f.Name, err)
				}
			}
			return nil
		}}, nil))
	}
	options := append([]goose.ProviderOption{
		goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true), goose.WithTableName(migrationTable),
	}, more...)
	return goose.NewProvider(of, db, nil, options...)
}

func statusOf(ctx context.Context, p *goose.Provider, d migrations.Dialect) ([]Migration, error) {
	all, err := d.All()
	if err != nil {
		return nil, err
	}
	names := map[int64]string{queueVersion: "job queue"}
	for _, m := range all {
		names[m.Version] = m.Name()
	}
	found, err := p.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state of the schema: %w", err)
	}
	list := make([]Migration, len(found))
	for i, m := range found {
		list[i] = Migration{Version: m.Source.Version, Name: names[m.Source.Version], Applied: m.State == goose.StateApplied}
	}
	return list, nil
}
