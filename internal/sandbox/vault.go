package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/perennialhq/perennial/internal/store"
)

// vault copies the service's database out and in. Coming in, the database must
// not be open elsewhere.
type vault interface {
	save(ctx context.Context, dir string) error
	load(ctx context.Context, dir string) error
	// forgetRunning removes jobs that are marked as running, and ends the leases of first
	// syncs: a clock that stands still would never end them.
	forgetRunning(ctx context.Context) error
}

func openVault(database string) (vault, error) {
	path, file, err := store.SQLitePath(database)
	if err != nil {
		return nil, err
	}
	if !file {
		return postgresVault{database}, nil
	}
	return sqliteVault{path}, nil
}

// The statements of every vault with which it forgets what was running.
const (
	forgetRunning = `DELETE FROM river_job WHERE state = 'running'`
	forgetLeases  = `UPDATE first_syncs SET owner = '' WHERE owner <> ''`
)

// sqliteVault copies the file.
type sqliteVault struct{ path string }

func (v sqliteVault) open() (*sql.DB, error) {
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: v.path, RawQuery: "_pragma=busy_timeout(5000)"}).String())
}

// do does something on a connection of its own.
func (v sqliteVault) do(ctx context.Context, fn func(*sql.Conn) error) error {
	db, err := v.open()
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		err = errors.Join(fn(conn), conn.Close())
	}
	return errors.Join(err, db.Close())
}

// save copies the pages. To write the database again takes ten times as long.
func (v sqliteVault) save(ctx context.Context, dir string) error {
	to := (&url.URL{Scheme: "file", Path: filepath.Join(dir, databaseFile)}).String()
	return v.do(ctx, func(conn *sql.Conn) error {
		return conn.Raw(func(driver any) error {
			from, ok := driver.(interface {
				NewBackup(to string) (*sqlite.Backup, error)
			})
			if !ok {
				return fmt.Errorf("%T copies no database", driver)
			}
			b, err := from.NewBackup(to)
			if err != nil {
				return err
			}
			for more := true; more && err == nil; {
				more, err = b.Step(-1)
			}
			return errors.Join(err, b.Finish())
		})
	})
}

func (v sqliteVault) forgetRunning(ctx context.Context) error {
	return v.do(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, forgetRunning+"; "+forgetLeases)
		return err
	})
}

func (v sqliteVault) load(_ context.Context, dir string) error {
	fresh := v.path + ".restored"
	if err := copyFile(fresh, filepath.Join(dir, databaseFile)); err != nil {
		return err
	}
	for _, left := range []string{"-wal", "-shm"} { // of the file that is replaced
		if err := os.Remove(v.path + left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(fresh, v.path)
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
