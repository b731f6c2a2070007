package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
)

// Queue is where tasks wait. TTx is the database's transaction.
type Queue[TTx any] struct {
	driver    riverdriver.Driver[TTx]
	inserter  *river.Client[TTx]
	notifier  *notifier // nil: the database notifies listeners itself
	idle      func(ctx context.Context) (bool, error)
	complete  func(ctx context.Context, row *rivertype.JobRow) error
	scheduler atomic.Pointer[scheduler] // of this process; nil: tasks are run elsewhere
	ended     chan struct{}             // has an item when a task of this process has ended since WaitIdle looked
}

// OnPostgres returns the queue of a PostgreSQL database.
func OnPostgres(pool *pgxpool.Pool) (*Queue[pgx.Tx], error) {
	q := &Queue[pgx.Tx]{
		driver: riverpgxv5.New(pool),
		idle: func(ctx context.Context) (idle bool, err error) {
			err = pool.QueryRow(ctx, fmt.Sprintf(idleQuery, "now()")).Scan(&idle)
			return idle, err
		},
		complete: func(ctx context.Context, row *rivertype.JobRow) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, &river.Job[anyArgs]{JobRow: row})
				return err
			})
		},
	}
	return q.ready()
}

// OnSQLite returns the queue of a SQLite database. The pool must be the one
// through which the database is written.
func OnSQLite(db *sql.DB) (*Queue[*sql.Tx], error) {
	local := &notifier{}
	q := &Queue[*sql.Tx]{
		driver:   localDriver{riversqlite.New(db), local},
		notifier: local,
		idle: func(ctx context.Context) (idle bool, err error) {
			err = db.QueryRowContext(ctx, fmt.Sprintf(idleQuery, "strftime('%Y-%m-%d %H:%M:%f', 'now')")).Scan(&idle)
			return idle, err
		},
		complete: func(ctx context.Context, row *rivertype.JobRow) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback() //nolint:errcheck // does nothing after the commit
			if _, err := river.JobCompleteTx[localDriver](ctx, tx, &river.Job[anyArgs]{JobRow: row}); err != nil {
				return err
			}
			return tx.Commit()
		},
	}
	return q.ready()
}

// idleQuery reports whether no task is available now. The verb is the database's current
// time.
const idleQuery = `SELECT NOT EXISTS (SELECT 1 FROM river_job WHERE state IN ('available', 'running', 'pending'))
	AND NOT EXISTS (SELECT 1 FROM river_job WHERE state IN ('retryable', 'scheduled') AND scheduled_at <= %s)`

// anyArgs are arguments that are not decoded.
type anyArgs struct{}

// Kind names no kind.
func (anyArgs) Kind() string { return "any" }

func (q *Queue[TTx]) ready() (*Queue[TTx], error) {
	inserter, err := river.NewClient(q.driver, &river.Config{
		FetchCooldown: time.Millisecond, // the shortest time between two fetches
		Hooks:         []rivertype.Hook{&waiting{}},
		Logger:        slog.New(slog.DiscardHandler),
		MaxAttempts:   maxTries,
	})
	if err != nil {
		return nil, fmt.Errorf("open the job queue: %w", err)
	}
	q.inserter, q.ended = inserter, make(chan struct{}, 1)
	return q, nil
}

// waiting makes a task one with an equal task that waits, and not with one that
// runs: a task that runs may have looked before the change was made that asks for
// it again. Nor with one that failed and waits for its next try, which must not
// hold up what is new.
//
// Nothing is lost between two transactions either: an equal task that waits is
// locked by the one that asks for it again until that commits, and is only run
// afterwards.
type waiting struct{ river.HookDefaults }

// Bits of the states in River's mask of unique states.
const (
	availableBit = 1 << 0
	pendingBit   = 1 << 4
	scheduledBit = 1 << 7
)

// InsertBegin sets the states.
func (waiting) InsertBegin(_ context.Context, params *rivertype.JobInsertParams) error {
	params.UniqueStates = availableBit | pendingBit | scheduledBit
	return nil
}

// Add asks for tasks in a transaction. A task that waits already is not added
// again; it is run after the transaction has ended.
func (q *Queue[TTx]) Add(ctx context.Context, tx TTx, tasks ...task.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, 0, len(tasks))
	metadata := metadataOf(ctx)
	seen := make(map[string]bool, len(tasks)) // River refuses equal tasks in one call
	for _, t := range tasks {
		args, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("write a task of kind %s as JSON: %w", t.Kind(), err)
		}
		key := t.Kind() + string(args)
		if seen[key] {
			continue
		}
		seen[key] = true
		params = append(params, river.InsertManyParams{Args: t, InsertOpts: &river.InsertOpts{Metadata: metadata, UniqueOpts: river.UniqueOpts{ByArgs: true}}})
	}
	if _, err := q.inserter.InsertManyTx(ctx, tx, params); err != nil {
		return fmt.Errorf("enqueue %d tasks: %w", len(params), err)
	}
	return nil
}

// addAgain adds a task that is run when some time has passed, or now unless an equal one
// waits. What waits for its time holds up nothing new.
func (q *Queue[TTx]) addAgain(ctx context.Context, t task.Task, in time.Duration) error {
	o := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
	if in > 0 {
		o = &river.InsertOpts{ScheduledAt: clock.System{}.Now().Add(in)}
	}
	if _, err := q.inserter.Insert(ctx, t, o); err != nil {
		return fmt.Errorf("enqueue a task of kind %s: %w", t.Kind(), err)
	}
	q.Wake()
	return nil
}

// Wake makes the workers fetch new tasks at once. Call it after the transaction that added
// them has committed. It does nothing where the database notifies listeners itself.
func (q *Queue[TTx]) Wake() {
	if q.notifier != nil {
		q.notifier.notify()
	}
}

// Idle reports whether no task is running, rests, or could be run now.
func (q *Queue[TTx]) Idle(ctx context.Context) (bool, error) {
	before := q.scheduler.Load().remaining()
	idle, err := q.idle(ctx)
	if err != nil {
		return false, fmt.Errorf("look into the job queue: %w", err)
	}
	return idle && before.none && q.scheduler.Load().remaining() == before, nil
}

// lookEvery is the time between two looks of WaitIdle while no task of this process ends.
const lookEvery = 20 * time.Millisecond

// WaitIdle returns when Idle reports true, or after some time at the latest.
func (q *Queue[TTx]) WaitIdle(ctx context.Context, most time.Duration) error {
	late := time.NewTimer(most)
	defer late.Stop()
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	for {
		idle, err := q.Idle(ctx)
		if err != nil || idle {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return nil
		case <-q.ended:
		case <-looks.C:
		}
	}
}

// end notes that a task of this process has ended.
func (q *Queue[TTx]) end() {
	select {
	case q.ended <- struct{}{}:
	default:
	}
}

// Migrate brings the queue's tables up to date. It may be called again at any
// time.
func (q *Queue[TTx]) Migrate(ctx context.Context) error {
	m, err := q.migrator()
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// MigrateTx does the same inside a transaction, on SQLite.
func (q *Queue[TTx]) MigrateTx(ctx context.Context, tx TTx) error {
	m, err := q.migrator()
	if err != nil {
		return err
	}
	_, err = m.MigrateTx(ctx, tx, rivermigrate.DirectionUp, nil) //nolint:staticcheck // what cannot share a transaction is PostgreSQL's only
	return err
}

func (q *Queue[TTx]) migrator() (*rivermigrate.Migrator[TTx], error) {
	return rivermigrate.New(q.driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
}
