// Package store keeps what the features keep, in SQLite or PostgreSQL. It has no
// rules of its own: what may be written is decided where it is asked for.
package store

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/job"
)

// Options say where the data is. The zero value of every field but URL is its
// default.
type Options struct {
	// URL is postgres://… or the path of a SQLite file, which may be written
	// as sqlite:///path too.
	URL string
	// SecretKey encrypts the tokens of stores: 32 bytes. Without it no token
	// can be written or read.
	SecretKey []byte
	// OtherKeys open what they sealed, and seal nothing: they are for the time in which
	// the secret key is rotated.
	OtherKeys [][]byte
	// MaxConns is the maximum number of open connections. 0 means 20 on PostgreSQL; on
	// SQLite, 4 and the writing one.
	MaxConns int
	// Create makes a SQLite file that is not there. Without it Open fails, so that
	// a mistyped name is no new and empty database.
	Create bool
	// Relaxed lets a crash of the machine undo the last commits on SQLite. It
	// is for tests and the sandbox.
	Relaxed bool
	// Subscribers are called in every transaction, before the commit.
	Subscribers Subscribers
}

// DB is an open database. Its methods may be called from many goroutines.
type DB struct {
	engine engine
	reader *bun.DB
	ids    *ids
	seal   sealer
	seam   TxInterceptor // nil: none
	sms    bool          // the installation has a provider of SMS

	commits atomic.Int64 // of transactions that may have written

	subscribers Subscribers

	counts     memory[string, int] // by what was counted
	catalogues memory[catalogueKey, catalogue]
	boxes      memory[shop.ID, map[shop.Line][]bundle.Settings]
}

// engine is what the two kinds of database do differently.
type engine interface {
	dialect() dialect
	// begin starts a transaction within a scope. One that only reads sees one snapshot,
	// and the database fails its writes.
	begin(ctx context.Context, s scope, mode txMode) (transaction, error)
	// readOnly reports whether err says that a transaction that only reads cannot write.
	readOnly(err error) bool
	// retryable reports whether a transaction that failed with err may
	// succeed when it is run again.
	retryable(err error) bool
	// duplicate reports whether err says that a unique key exists already.
	duplicate(err error) bool
	// violation reports whether err says that a row breaks another rule of the schema.
	violation(err error) bool
	// unavailable reports whether what failed with err may succeed later.
	unavailable(err error) bool
	// remedy adds to an error what to do about it, where the database is full or damaged.
	remedy(err error) error
	// intact runs the database's own check of its files.
	intact(ctx context.Context) error
	// walled returns an error when the database's user passes the policies that keep
	// shops apart.
	walled(ctx context.Context) error
	// analyze lets the database look at what its tables hold.
	analyze(ctx context.Context) error
	// place names the database itself, however it is reached: a copy has another
	// name.
	place(ctx context.Context) (string, error)
	migrate(ctx context.Context) error
	status(ctx context.Context) ([]Migration, error)
	run(ctx context.Context, h *job.Handlers, o job.Options) (*job.Runner, error)
	idle(ctx context.Context) (bool, error)
	waitIdle(ctx context.Context, most time.Duration) error
	// queueState says how the queue of tasks does.
	queueState(ctx context.Context) (job.State, error)
	// now returns the time of the database's machine; zero: it is this one.
	now(ctx context.Context) (time.Time, error)
	close() error
}

// Open opens a database without changing it. It must be migrated before it is
// used.
func Open(ctx context.Context, o Options) (*DB, error) {
	seal, err := newSealer(o.SecretKey, o.OtherKeys...)
	if err != nil {
		return nil, err
	}
	open := openSQLite
	switch scheme, _, found := strings.Cut(o.URL, "://"); {
	case o.URL == "":
		return nil, fault.New(fault.Invalid, "no database is named")
	case scheme == "postgres" || scheme == "postgresql":
		open = openPostgres
	case found && scheme != "sqlite":
		return nil, fault.New(fault.Invalid, "%s is not a kind of database: use postgres:// or the path of a SQLite file", scheme)
	}
	e, reader, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	db := on(e, reader, seal)
	db.subscribers = o.Subscribers
	return db, nil
}

func on(e engine, reader *bun.DB, seal sealer) *DB {
	db := &DB{engine: e, reader: reader, seal: seal}
	db.ids = &ids{reserve: db.reserve}
	return db
}

// Close closes the database. Transactions that run are waited for.
func (db *DB) Close() error { return db.engine.close() }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	if err := db.reader.NewRaw("SELECT 1").Scan(ctx, &one); err != nil {
		return fault.Because(fault.Unavailable, db.engine.remedy(err), "the database does not answer")
	}
	return nil
}

// CheckRowSecurity returns an error when the database would not keep shops apart if a statement
// forgot to. It is nil on SQLite, where nothing but the statements does.
func (db *DB) CheckRowSecurity(ctx context.Context) error { return db.engine.walled(ctx) }

// Commits returns a number that grows with every transaction of this process that may have written.
func (db *DB) Commits() int64 { return db.commits.Load() }

// Run begins to carry out the tasks that were enqueued.
func (db *DB) Run(ctx context.Context, h *job.Handlers, o job.Options) (*job.Runner, error) {
	return db.engine.run(ctx, h, o)
}

// Place names the database itself, however it is reached. A copy elsewhere has
// another name.
func (db *DB) Place(ctx context.Context) (string, error) { return db.engine.place(ctx) }

// Idle reports whether no task is running or could be run now.
func (db *DB) Idle(ctx context.Context) (bool, error) { return db.engine.idle(ctx) }

// WaitIdle returns when Idle reports true, or after some time at the latest.
func (db *DB) WaitIdle(ctx context.Context, most time.Duration) error {
	return db.engine.waitIdle(ctx, most)
}

// Kind is what an installation is.
type Kind string

// The kinds of installation.
const (
	Production Kind = "production"
	Sandbox    Kind = "sandbox"
)

// Claim makes the database that of an installation of the given kind. A database of
// another kind is refused: a sandbox must never charge a customer.
func (db *DB) Claim(ctx context.Context, kind Kind) error {
	var is Kind
	err := db.updateShared(ctx, func(tx *Tx) error {
		if _, err := tx.q.NewRaw("INSERT INTO installation (id, kind) VALUES (1, ?) ON CONFLICT (id) DO NOTHING", kind).Exec(ctx); err != nil {
			return err
		}
		return tx.q.NewRaw("SELECT kind FROM installation").Scan(ctx, &is)
	})
	if err != nil {
		return fmt.Errorf("claim the database: %w", err)
	}
	if is != kind {
		return fault.New(fault.FailedPrecondition, "this database belongs to a %s installation and cannot serve a %s one", is, kind).Code("installationKind")
	}
	return nil
}

// txMode says whether a transaction may write.
type txMode bool

const (
	readWrite txMode = false
	readOnly  txMode = true
)

// Scope runs transactions that show T of them, the part that one feature needs.
type Scope[T any] struct {
	db *DB
	of func(*Tx) T
}

// Update runs fn in a transaction on a shop's data and commits when it returns
// nil. The database may ask for fn to be run again; fn must not keep what it read
// in an earlier run.
func (s Scope[T]) Update(ctx context.Context, of shop.ID, fn func(T) error) error {
	return s.db.Update(ctx, of, func(tx *Tx) error { return fn(s.of(tx)) })
}

// millis returns an instant as it is stored; 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// instant is the reverse of millis.
func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
