package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/job"
)

// sqliteEngine has one connection that writes and several that read.
type sqliteEngine struct {
	path   string
	writer *bun.DB
	reader *bun.DB
	queue  *job.Queue[*sql.Tx]
}

const sqliteReaders = 4

func openSQLite(ctx context.Context, o Options) (engine, *bun.DB, error) {
	path, _, err := SQLitePath(o.URL)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", o.URL, err)
	}
	if err := present(path, o.Create); err != nil {
		return nil, nil, err
	}
	synchronous := "FULL"
	if o.Relaxed {
		synchronous = "NORMAL"
	}
	pragmas := []string{"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)", "temp_store(MEMORY)"}
	open := func(extra ...string) (*bun.DB, error) {
		v := url.Values{"_txlock": {"immediate"}, "_pragma": append(extra, pragmas...)}
		c, err := sqlite.NewConnector((&url.URL{Scheme: "file", Path: path, RawQuery: v.Encode()}).String())
		if err != nil {
			return nil, err
		}
		return bun.NewDB(sql.OpenDB(keeping{c}), sqlitedialect.New()), nil
	}
	writer, err := open("synchronous(" + synchronous + ")")
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	writer.SetMaxOpenConns(1)
	e := &sqliteEngine{path: path, writer: writer}
	// The file and its journal mode must exist before anybody reads.
	if err := writer.PingContext(ctx); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", path, e.remedy(err)), writer.Close())
	}
	if e.reader, err = open("query_only(1)"); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", path, err), writer.Close())
	}
	readers := o.MaxConns
	if readers == 0 {
		readers = sqliteReaders
	}
	e.reader.SetMaxOpenConns(readers)
	e.reader.SetMaxIdleConns(readers)
	e.reader.SetConnMaxLifetime(readerLife)
	if e.queue, err = job.OnSQLite(writer.DB); err != nil {
		return nil, nil, errors.Join(err, e.close())
	}
	return e, e.reader, nil
}

// SQLitePath returns the absolute path of the file that Options.URL names; false when it
// names a PostgreSQL database.
func SQLitePath(url string) (path string, ok bool, err error) {
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		return "", false, nil
	}
	path, err = filepath.Abs(strings.TrimPrefix(url, "sqlite://"))
	return path, true, err
}

// present makes sure that a database's file is there, creating it where that is wanted:
// it holds customers' data, so that only its owner may read it. SQLite gives its other
// files the same rights.
func present(path string, create bool) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err // mostly nil
	}
	if !create {
		return fault.New(fault.Invalid, "there is no database at %s: check the path, or create it with perennial migrate --database %s", path, path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	return f.Close()
}

func (e *sqliteEngine) dialect() dialect { return sqliteDialect }

func (e *sqliteEngine) begin(ctx context.Context, _ scope, mode txMode) (transaction, error) {
	db := e.writer
	if mode == readOnly {
		db = e.reader
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: bool(mode)}) // without ReadOnly it takes the write lock
	if err != nil {
		return transaction{}, err
	}
	asked := false
	return transaction{
		q:    tx,
		many: func(ctx context.Context, query string, b batch) (int64, error) { return runRows(ctx, tx.Tx, query, b) },
		enqueue: func(ctx context.Context, tasks ...task.Task) error {
			asked = asked || len(tasks) > 0
			return e.queue.Add(ctx, tx.Tx, tasks...)
		},
		commit: func(context.Context) error {
			err := tx.Commit()
			if err == nil && asked {
				e.queue.Wake()
			}
			return err
		},
		rollback: func() { _ = tx.Rollback() }, // does nothing after the commit
	}, nil
}

// runRows runs a statement for each row of a batch: here no network lies between,
// and a statement with thousands of values takes longer to read than to run.
func runRows(ctx context.Context, tx *sql.Tx, query string, b batch) (int64, error) {
	stmt, err := tx.PrepareContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer stmt.Close() //nolint:errcheck // the transaction closes it too
	var written int64
	for i := range b.len() {
		result, err := stmt.ExecContext(ctx, b.row(i)...)
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		written += n
	}
	return written, nil
}

func (e *sqliteEngine) retryable(err error) bool {
	failed, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	primary := failed.Code() & 0xff
	return primary == sqlite3.SQLITE_BUSY || primary == sqlite3.SQLITE_LOCKED
}

func (e *sqliteEngine) readOnly(err error) bool {
	failed, ok := errors.AsType[*sqlite.Error](err)
	return ok && failed.Code()&0xff == sqlite3.SQLITE_READONLY
}

func (e *sqliteEngine) duplicate(err error) bool {
	failed, ok := errors.AsType[*sqlite.Error](err)
	return ok && (failed.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || failed.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

func (e *sqliteEngine) violation(err error) bool {
	failed, ok := errors.AsType[*sqlite.Error](err)
	return ok && failed.Code()&0xff == sqlite3.SQLITE_CONSTRAINT && !e.duplicate(err)
}

// analyzedRows is how many rows of an index SQLite looks at for its statistics.
const analyzedRows = 1000

// analyze updates the planner's statistics: without them SQLite takes it that an index finds ten
// rows of a shop. Connections know the statistics from when they were opened, so that the idle
// ones are closed and the others are replaced before long.
func (e *sqliteEngine) analyze(ctx context.Context) error {
	if _, err := e.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA analysis_limit = %d; ANALYZE", analyzedRows)); err != nil {
		return err
	}
	e.reader.SetMaxIdleConns(-1)
	e.reader.SetMaxIdleConns(e.reader.Stats().MaxOpenConnections)
	return nil
}

// readerLife is how long a connection reads.
const readerLife = 15 * time.Minute

func (e *sqliteEngine) run(ctx context.Context, h *job.Handlers, o job.Options) (*job.Runner, error) {
	return e.queue.Run(ctx, h, o)
}

func (e *sqliteEngine) idle(ctx context.Context) (bool, error) { return e.queue.Idle(ctx) }

func (e *sqliteEngine) waitIdle(ctx context.Context, most time.Duration) error {
	return e.queue.WaitIdle(ctx, most)
}

func (e *sqliteEngine) close() error { return errors.Join(e.reader.Close(), e.writer.Close()) }

func (e *sqliteEngine) walled(context.Context) error { return nil }

// place is the file's.
func (e *sqliteEngine) place(context.Context) (string, error) {
	real, err := filepath.EvalSymlinks(e.path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", e.path, err)
	}
	return real, nil
}
