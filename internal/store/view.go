package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/tracing"
)

// errReadOnly is the failure of a write in a View.
var errReadOnly = fault.New(fault.Internal, "a read-only transaction cannot write: use Update instead of View")

// View runs fn in a read-only transaction on a shop's data. Everything that fn reads is of
// one snapshot, which is taken when it reads first. It takes no locks: it does not wait for
// transactions that write, nor do they wait for it. A write in it fails. The database may
// ask for fn to be run again.
//
// On SQLite fn holds one of the connections that read: it must not read outside of tx, or
// those that wait for a second one could wait for each other.
func (db *DB) View(ctx context.Context, of shop.ID, fn func(*Tx) error) error {
	if of == 0 {
		return fault.New(fault.Internal, "a read-only transaction names no shop")
	}
	ctx, span := tracing.ReadOnly(ctx, int64(of))
	return db.repeat(ctx, span, func(ctx context.Context, commit bool) (again bool, err error) {
		inner, err := db.engine.begin(ctx, scope{shop: of}, readOnly)
		if err != nil {
			return db.engine.retryable(err), fmt.Errorf("begin a read-only transaction: %w", err)
		}
		defer inner.rollback()
		if err := fn(&Tx{transaction: inner, of: of, db: db, readOnly: true}); err != nil {
			if db.isWrite(err) {
				return false, fault.Because(fault.Internal, err, "%s", errReadOnly.Message)
			}
			return db.engine.retryable(err), err
		}
		if !commit {
			return true, ErrAborted
		}
		return false, nil
	})
}

// isWrite reports whether it was a write that failed with err in a read-only transaction.
func (db *DB) isWrite(err error) bool {
	_, short := errors.AsType[*shortOfIDs](err)
	return short || db.engine.readOnly(err)
}

// ReadScope is a Scope whose read-only transactions show R, the part of T that reads.
type ReadScope[T, R any] struct {
	Scope[T]
	view func(*Tx) R
}

func readScope[T, R any](db *DB, update func(*Tx) T, view func(*Tx) R) ReadScope[T, R] {
	return ReadScope[T, R]{Scope[T]{db, update}, view}
}

// View runs fn in a read-only transaction on a shop's data, which shows it one snapshot.
// The database may ask for fn to be run again; fn must not keep what it read in an
// earlier run.
func (s ReadScope[T, R]) View(ctx context.Context, of shop.ID, fn func(R) error) error {
	return s.db.View(ctx, of, func(tx *Tx) error { return fn(s.view(tx)) })
}
