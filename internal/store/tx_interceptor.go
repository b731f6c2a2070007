package store

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/base/task"
)

// TxInterceptor is where a simulation takes over what a machine leaves to chance: when a
// transaction begins and how it ends, and who carries out tasks.
type TxInterceptor interface {
	// Transact calls run, which carries out one transaction and commits it, or
	// rolls it back when commit is false and then returns ErrAborted. It
	// decides when, and may fail before or after. No transaction is open when
	// it is called.
	Transact(ctx context.Context, run func(commit bool) error) error
	// Enqueue is given the tasks of a transaction that has committed.
	Enqueue(tasks []task.Task)
}

// ErrAborted is a Seam's word that the database gave up a transaction, which may
// succeed when it is run again.
var ErrAborted = errors.New("the transaction was aborted")

// Fork returns another handle on the open database, as another process would
// have: with numbers of its own, and a simulation's seam. Closing it closes the
// database.
func (db *DB) Fork(seam TxInterceptor) *DB {
	fork := &DB{engine: db.engine, reader: db.reader, seal: db.seal, seam: seam, subscribers: db.subscribers}
	fork.ids = &ids{reserve: fork.reserve}
	return fork
}

// through runs one transaction by way of the seam, if there is one.
func (db *DB) through(ctx context.Context, run func(ctx context.Context, commit bool) (again bool, err error)) (again bool, err error) {
	if db.seam == nil {
		return run(ctx, true)
	}
	err = db.seam.Transact(ctx, func(commit bool) error {
		var err error
		again, err = run(ctx, commit)
		return err
	})
	return again && err != nil || errors.Is(err, ErrAborted), err
}
