package app

import (
	"context"
	"slices"
	"sync"

	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/store"
)

// inline is a queue without workers: tasks wait in memory until Work is called.
type inline struct {
	mu      sync.Mutex
	tasks   []task.Task // the next one first
	working bool
}

var _ store.TxInterceptor = (*inline)(nil)

// Transact runs one transaction of the service.
func (q *inline) Transact(_ context.Context, run func(commit bool) error) error { return run(true) }

// Enqueue takes the tasks of a transaction that has committed. A task that waits already is not added
// again, as in the queue of the database.
func (q *inline) Enqueue(tasks []task.Task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range tasks {
		if !slices.Contains(q.tasks, t) {
			q.tasks = append(q.tasks, t)
		}
	}
}

// next takes the next task; false: none waits.
func (q *inline) next() (task.Task, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.working = len(q.tasks) > 0; !q.working {
		return nil, false
	}
	next := q.tasks[0]
	q.tasks = q.tasks[1:]
	return next, true
}

// idle reports whether no task runs or waits.
func (q *inline) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.tasks) == 0 && !q.working
}

// Work carries out the tasks that wait, and those that they ask for, in the caller's goroutine. It
// does nothing unless the tasks are carried out inline, and must not be called twice at once. A task
// that fails is logged: what it was to do is found again by the sweep.
func (a *App) Work(ctx context.Context) {
	if a.inline == nil {
		return
	}
	for ctx.Err() == nil {
		t, is := a.inline.next()
		if !is {
			return
		}
		if err := a.Do(ctx, t); err != nil {
			a.options.Log.WarnContext(ctx, "a task failed", "task", t.Kind(), "error", err)
		}
	}
}
