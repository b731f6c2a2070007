package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/tracing"
)

// What the features ask of a transaction.
var (
	_ billing.Tx = (*Tx)(nil)
	_ intake.Tx  = (*Tx)(nil)
	_ access.Tx  = (*Tx)(nil)
)

// Tx is one transaction on one shop's data: every statement names the shop.
type Tx struct {
	transaction
	of       shop.ID
	db       *DB
	readOnly bool // a View: nothing is locked
	lockShop bool // the shop is read under its lock
	stale    bool // the shop was read without a lock and has changed since
	selling  bool // the transaction changes what the shop sells by

	published published
	queue     queueWatch
	prices    priceWatch
}

// transaction is a database's transaction.
type transaction struct {
	q bun.IDB
	// many runs a statement of the dialect for a batch and returns how many
	// rows it wrote.
	many func(ctx context.Context, query string, b batch) (int64, error)
	// enqueue asks for tasks in this transaction.
	enqueue  func(ctx context.Context, tasks ...task.Task) error
	commit   func(ctx context.Context) error
	rollback func()
}

const (
	// maxRuns is how often a transaction is run before its failure counts.
	maxRuns = 20
	// longestPause is the longest wait between two runs.
	longestPause = 50 * time.Millisecond
)

// Update runs fn in a transaction on a shop's data and commits when it returns
// nil. The database may ask for fn to be run again.
func (db *DB) Update(ctx context.Context, of shop.ID, fn func(*Tx) error) error {
	if of == 0 {
		return fault.New(fault.Internal, "a transaction names no shop")
	}
	return db.update(ctx, scope{shop: of}, fn)
}

// updateShared runs fn in a transaction on what belongs to no shop.
func (db *DB) updateShared(ctx context.Context, fn func(*Tx) error) error {
	return db.update(ctx, scope{}, fn)
}

// updateAcrossShops runs fn in a transaction on the rows of every shop. A test lists the
// functions that do.
func (db *DB) updateAcrossShops(ctx context.Context, fn func(*Tx) error) error {
	return db.update(ctx, scope{all: true}, fn)
}

func (db *DB) update(ctx context.Context, s scope, fn func(*Tx) error) error {
	if err := db.ids.topUp(ctx); err != nil {
		return err
	}
	lockShop := false
	ctx, span := tracing.Transaction(ctx, int64(s.shop))
	return db.repeat(ctx, span, func(ctx context.Context, commit bool) (bool, error) {
		return db.once(ctx, s, commit, func(tx *Tx) error {
			tx.lockShop = lockShop
			err := fn(tx)
			lockShop = lockShop || tx.stale
			return err
		})
	})
}

// repeat runs a transaction until it succeeds, or running it again would not help, and ends
// its span.
func (db *DB) repeat(ctx context.Context, span tracing.Span, once func(ctx context.Context, commit bool) (again bool, err error)) (err error) {
	defer func() { span.End(err) }()
	for run := 1; ; run++ {
		again, err := db.through(ctx, once)
		if err == nil || !again || run == maxRuns || ctx.Err() != nil {
			span.Set(tracing.Runs(run))
			return err
		}
		if short, ok := errors.AsType[*shortOfIDs](err); ok {
			if err := db.ids.fill(ctx, short.wanted); err != nil {
				return err
			}
			continue
		}
		if db.seam == nil { // a seam waits by its own time
			pause(ctx, run)
		}
	}
}

// once runs fn in one transaction. It reports whether running it again may help.
func (db *DB) once(ctx context.Context, s scope, commit bool, fn func(*Tx) error) (again bool, err error) {
	inner, err := db.engine.begin(ctx, s, readWrite)
	if err != nil {
		return db.engine.retryable(err), fmt.Errorf("begin a transaction: %w", err)
	}
	tx := &Tx{transaction: inner, of: s.shop, db: db}
	defer inner.rollback()
	var tasks []task.Task
	if db.seam != nil {
		tx.enqueue = func(_ context.Context, asked ...task.Task) error {
			tasks = append(tasks, asked...)
			return nil
		}
	}
	if err = fn(tx); err == nil {
		err = tx.runSubscribers(ctx)
	}
	if err != nil {
		_, short := errors.AsType[*shortOfIDs](err)
		return short || tx.stale || db.engine.retryable(err), err
	}
	if !commit {
		return true, ErrAborted
	}
	if err := inner.commit(ctx); err != nil {
		return db.engine.retryable(err), fmt.Errorf("commit: %w", err)
	}
	db.commits.Add(1)
	if len(tasks) > 0 {
		db.seam.Enqueue(tasks)
	}
	return false, nil
}

// pause waits before a transaction is run again, longer each time.
func pause(ctx context.Context, run int) {
	timer := time.NewTimer(min(time.Millisecond<<min(run, 10), longestPause))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Enqueue asks for tasks to be carried out when the transaction has committed.
func (tx *Tx) Enqueue(ctx context.Context, tasks ...task.Task) error {
	return tx.enqueue(ctx, tasks...)
}

// Enqueue asks for tasks to be carried out, in a transaction of their own.
func (db *DB) Enqueue(ctx context.Context, tasks ...task.Task) error {
	return db.updateShared(ctx, func(tx *Tx) error { return tx.Enqueue(ctx, tasks...) })
}

// Billing returns the store of the billing feature.
func (db *DB) Billing() billing.Store {
	return readScope(db, func(tx *Tx) billing.Tx { return tx }, func(tx *Tx) billing.ReadTx { return tx })
}

// Access returns the store of the access feature.
func (db *DB) Access() access.Store {
	return accessStore{readScope(db, func(tx *Tx) access.Tx { return tx }, func(tx *Tx) access.ReadTx { return tx }), db.Shops()}
}

type accessStore struct {
	ReadScope[access.Tx, access.ReadTx]
	Shops
}

// Intake returns the store of the intake feature.
func (db *DB) Intake() intake.Store {
	return intakeStore{readScope(db, func(tx *Tx) intake.Tx { return tx }, func(tx *Tx) intake.ReadTx { return tx }), db.Shops()}
}

// Repair returns the store of the repair feature.
func (db *DB) Repair() repair.Store {
	return repairStore{readScope(db, func(tx *Tx) repair.Tx { return tx }, func(tx *Tx) repair.ReadTx { return tx }), db.Shops()}
}

type repairStore struct {
	ReadScope[repair.Tx, repair.ReadTx]
	Shops
}

type intakeStore struct {
	ReadScope[intake.Tx, intake.ReadTx]
	Shops
}
