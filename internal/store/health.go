package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Unavailable reports whether an error says that the database is away, full, read-only or
// busy: that what was asked may succeed later, and that there is no mistake in it.
func (db *DB) Unavailable(err error) bool { return err != nil && db.engine.unavailable(err) }

// Writable returns an error when the database cannot be written to, as with a full disk.
func (db *DB) Writable(ctx context.Context, now time.Time) error {
	err := db.updateShared(ctx, func(tx *Tx) error {
		_, err := tx.q.NewRaw("INSERT INTO probes (id, written_at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at", now.UnixMilli()).Exec(ctx)
		return err
	})
	if err != nil {
		return fault.Because(fault.Unavailable, db.engine.remedy(err), "the database cannot be written to")
	}
	return nil
}

// CheckIntegrity runs the database's own check of its files. It may take as long as reading them.
func (db *DB) CheckIntegrity(ctx context.Context) error { return db.engine.intact(withoutHurry(ctx)) }

// restore is what to do about files that are damaged.
const restore = "stop every perennial serve, keep a copy of the files, and restore the last backup"

// unavailable says it of what the machine answers, of either database.
func unavailable(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// Classes and codes of PostgreSQL's errors after which the same statement may succeed.
var (
	postgresAway      = []string{"08", "53", "57P", "58"}
	postgresReadOnly  = "25006"
	postgresCorrupted = []string{"XX001", "XX002"}
)

func (e *postgresEngine) unavailable(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || unavailable(err) || pgconn.SafeToRetry(err) {
		return true
	}
	code := codeOf(err)
	for _, class := range postgresAway {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return code == postgresReadOnly
}

func (e *postgresEngine) remedy(err error) error {
	for _, code := range postgresCorrupted {
		if codeOf(err) == code {
			return fmt.Errorf("the database's files are damaged: %s: %w", restore, err)
		}
	}
	return err
}

// ErrNotChecked says that a database cannot check its own files, and what lets it.
var ErrNotChecked = errors.New("not checked")

// intact checks every index against its table with the extension amcheck.
func (e *postgresEngine) intact(ctx context.Context) error {
	var there bool
	if err := e.db.NewRaw("SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'amcheck')").Scan(ctx, &there); err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("%w: CREATE EXTENSION amcheck lets PostgreSQL check its indexes", ErrNotChecked)
	}
	_, err := e.db.NewRaw(`SELECT bt_index_check(c.oid::regclass, true) FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indexrelid JOIN pg_am AS m ON m.oid = c.relam
		WHERE m.amname = 'btree' AND c.relnamespace = current_schema()::regnamespace AND x.indisvalid`).Exec(ctx)
	if codeOf(err) == "42501" {
		return fmt.Errorf("%w: GRANT EXECUTE ON FUNCTION bt_index_check(regclass, boolean) lets this user check indexes", ErrNotChecked)
	}
	return e.remedy(err)
}

func (e *sqliteEngine) unavailable(err error) bool {
	failed, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return unavailable(err)
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}

func (e *sqliteEngine) remedy(err error) error {
	failed, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk of %s is full: make room: %w", e.path, err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%s is read-only: let the user of perennial serve write the file and its folder: %w", e.path, err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%s is damaged: %s: %w", e.path, restore, err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s is no SQLite database, or its beginning is damaged: check the path, or %s: %w", e.path, restore, err)
	}
	return err
}

// intact runs integrity_check, which reads the whole file.
func (e *sqliteEngine) intact(ctx context.Context) error {
	var lines []string
	if err := e.reader.NewRaw("PRAGMA integrity_check(10)").Scan(ctx, &lines); err != nil {
		return e.remedy(err)
	}
	if len(lines) == 1 && lines[0] == "ok" {
		return nil
	}
	return fmt.Errorf("%s is damaged: %s: %s", e.path, restore, strings.Join(lines, "; "))
}
