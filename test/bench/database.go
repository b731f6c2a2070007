package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers of the bare statements
	_ "modernc.org/sqlite"

	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/test/process"
)

// database is a fresh database, open beside the service for bare SQL.
type database struct {
	kind string // postgres or sqlite
	url  string
	bare *sql.DB
	drop func()
}

// fresh makes an empty database.
func (s settings) fresh(ctx context.Context, kind string) (database, error) {
	name := fmt.Sprintf("bench_%x", rand.Uint64()) //nolint:gosec // a name, not a secret
	if kind == "sqlite" {
		path := filepath.Join(s.folder, name+".db")
		bare, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		return database{kind, path, bare, func() { _ = bare.Close() }}, err
	}
	at, err := url.Parse(s.postgres)
	if err != nil {
		return database{}, err
	}
	server, err := sql.Open("pgx", s.postgres)
	if err != nil {
		return database{}, err
	}
	// The service may not be a superuser, who is behind no policy.
	role := name + "_role"
	for _, statement := range []string{"CREATE ROLE " + role + " LOGIN PASSWORD '" + role + "'", "CREATE DATABASE " + name + " OWNER " + role} {
		if _, err := server.ExecContext(ctx, statement); err != nil {
			return database{}, err
		}
	}
	at.Path = "/" + name
	bare, err := sql.Open("pgx", at.String())
	at.User = url.UserPassword(role, role)
	return database{kind, at.String(), bare, func() {
		_ = bare.Close()
		_, _ = server.ExecContext(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)")
		_, _ = server.ExecContext(context.WithoutCancel(ctx), "DROP ROLE "+role)
		_ = server.Close()
	}}, err
}

// cpu returns what the server has used so far; 0 when the database has none.
func (d database) cpu(ctx context.Context) (time.Duration, error) {
	if d.kind == "sqlite" {
		return 0, nil
	}
	var pid int
	if err := d.bare.QueryRowContext(ctx, `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int`).Scan(&pid); err != nil {
		return 0, fmt.Errorf("find the process of the database: %w", err)
	}
	return familyCPU(pid)
}

// open opens the store on the database and migrates it.
func (d database) open(ctx context.Context) (*store.DB, error) {
	db, err := store.Open(ctx, store.Options{URL: d.url, SecretKey: process.SecretKey(), Create: true})
	if err != nil {
		return nil, err
	}
	return db, db.Migrate(ctx)
}

// analyze updates the planner's statistics, as PostgreSQL would automatically after a while. The
// service has SQLite do so as it grows.
func (d database) analyze(ctx context.Context) error {
	if d.kind == "sqlite" {
		return nil
	}
	_, err := d.bare.ExecContext(ctx, "ANALYZE")
	return err
}
