// Package job runs tasks in the background, from a queue in a table of the store's own
// database. What a task does is up to its handler.
package job

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/perennialhq/perennial/internal/base/task"
)

// Handlers says which function carries out which kind of task. It is filled
// before the queue is run and not changed afterwards.
type Handlers struct {
	add []func(*river.Workers, *scheduler, finish) error
	do  map[string]func(ctx context.Context, t task.Task) error
}

// finish notes in the queue that a task has ended well, or rests.
type finish func(ctx context.Context, row *rivertype.JobRow)

// Handle registers the function that carries out tasks of type T. It must bear
// being called again with the same task, also at the same time, and end when its
// context does. A task whose function fails is tried again later. While it waits for
// what no worker can help with, it says so with task.Rest.
func Handle[T task.Task](h *Handlers, fn func(ctx context.Context, t T) error) {
	if h.do == nil {
		h.do = make(map[string]func(ctx context.Context, t task.Task) error)
	}
	var zero T
	h.do[zero.Kind()] = func(ctx context.Context, t task.Task) error {
		mine, ok := t.(T)
		if !ok {
			return fmt.Errorf("%T is not the task %s", t, zero.Kind())
		}
		return fn(ctx, mine)
	}
	h.add = append(h.add, func(workers *river.Workers, c *scheduler, done finish) error {
		return river.AddWorkerSafely(workers, river.WorkFunc(func(ctx context.Context, j *river.Job[T]) error {
			key := j.Kind + string(j.EncodedArgs)
			if err := c.do(ctx, key, j.Args, c.options.observed(j.JobRow, func(ctx context.Context) error { return fn(ctx, j.Args) })); err != nil {
				return err
			}
			done(ctx, j.JobRow)
			return nil
		}))
	})
}

// Do carries out a task here and now.
func (h *Handlers) Do(ctx context.Context, t task.Task) error {
	do, ok := h.do[t.Kind()]
	if !ok {
		return fmt.Errorf("no handler for tasks of kind %s", t.Kind())
	}
	return do(ctx, t)
}

// workers returns the handlers in the form that River takes.
func (h *Handlers) workers(c *scheduler, done finish) (*river.Workers, error) {
	workers := river.NewWorkers()
	for _, add := range h.add {
		if err := add(workers, c, done); err != nil {
			return nil, err
		}
	}
	return workers, nil
}
