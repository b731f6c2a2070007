package store

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/job"
)

// QueueState returns how the queue of tasks does.
func (db *DB) QueueState(ctx context.Context) (job.State, error) { return db.engine.queueState(ctx) }

// Now returns the time of the database's machine. It is zero for SQLite, whose machine is
// this one.
func (db *DB) Now(ctx context.Context) (time.Time, error) {
	now, err := db.engine.now(ctx)
	if err != nil {
		return time.Time{}, fault.Because(fault.Unavailable, err, "the database's time cannot be read")
	}
	return now, nil
}

func (e *postgresEngine) queueState(ctx context.Context) (job.State, error) {
	return e.queue.State(ctx)
}

func (e *sqliteEngine) queueState(ctx context.Context) (job.State, error) { return e.queue.State(ctx) }

func (e *postgresEngine) now(ctx context.Context) (now time.Time, err error) {
	err = e.pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now)
	return now, err
}

func (e *sqliteEngine) now(context.Context) (time.Time, error) { return time.Time{}, nil }
