package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/job"
	"github.com/perennialhq/perennial/internal/store"
)

// resting is a handler whose first tasks of the shop 1 yield until they are woken.
type resting struct {
	job.Handlers
	runs              tally
	rests, wake, woke chan struct{}
	ctx               context.Context // of the task that rested last
	fail              error           // the end of those that rested
}

func newResting(first int) *resting {
	r := &resting{rests: make(chan struct{}), wake: make(chan struct{}), woke: make(chan struct{}, first)}
	job.Handle(&r.Handlers, func(ctx context.Context, t billing.Task) error {
		if r.runs.add(t.Shop) > first || t.Shop != 1 {
			return nil
		}
		end := task.Yield(ctx)
		r.ctx = ctx
		r.rests <- struct{}{}
		select {
		case <-r.wake:
		case <-ctx.Done():
		}
		end()
		r.woke <- struct{}{}
		return r.fail
	})
	return r
}

func testRests(t *testing.T, open opener) {
	t.Run("while a task rests another has its worker, and it has one again afterwards", func(t *testing.T) {
		w := begin(t, open)
		r := newResting(1)
		holds, release := make(chan struct{}), make(chan struct{})
		job.Handle(&r.Handlers, func(context.Context, intake.ProcessEvents) error {
			close(holds)
			<-release
			return nil
		})
		w.enqueue(1)
		w.workWith(&r.Handlers, 1)
		<-r.rests
		w.in(func(tx *store.Tx) error { return tx.Enqueue(t.Context(), intake.ProcessEvents{Shop: 1}) })
		<-holds
		close(r.wake)
		select {
		case <-r.woke:
			t.Error("two tasks are at work with one worker")
		case <-time.After(50 * time.Millisecond):
		}
		close(release)
		<-r.woke
		w.untilIdle()
		if got := r.runs.get(1); got != 1 {
			t.Errorf("the task that rested ran %d times", got)
		}
	})
	t.Run("a part that is over has no worker while another part of its task rests", func(t *testing.T) {
		w := begin(t, open)
		var h job.Handlers
		over, wake, worked := make(chan struct{}), make(chan struct{}), make(chan struct{})
		job.Handle(&h, func(ctx context.Context, _ billing.Task) error {
			var parts sync.WaitGroup
			waits := make(chan struct{})
			parts.Go(func() {
				end := task.Yield(ctx)
				close(waits)
				<-wake
				end()
				task.Done(ctx)
			})
			parts.Go(func() {
				<-waits
				task.Yield(ctx)() // it has the worker again
				task.Done(ctx)
				close(over)
			})
			parts.Wait()
			return nil
		})
		job.Handle(&h, func(context.Context, intake.ProcessEvents) error {
			close(worked)
			return nil
		})
		w.enqueue(1)
		w.workWith(&h, 1)
		<-over
		w.in(func(tx *store.Tx) error { return tx.Enqueue(t.Context(), intake.ProcessEvents{Shop: 1}) })
		select {
		case <-worked:
		case <-time.After(time.Minute):
			t.Error("nothing else is worked while the task waits")
		}
		close(wake)
		w.untilIdle()
	})
	t.Run("beside two that rest no more of their like are run, but one after them, and until then the queue is not idle", func(t *testing.T) {
		w := begin(t, open)
		r := newResting(2)
		w.work(&r.Handlers)
		for range 2 {
			w.enqueue(1)
			<-r.rests
		}
		for range 3 {
			w.enqueue(1)
			w.enqueue(2)
			w.untilNoneRuns()
		}
		w.wantIdle(false)
		if got := r.runs.get(2); got != 3 {
			t.Errorf("beside two that rested another store's task ran %d times, want 3", got)
		}
		if got := r.runs.get(1); got != 2 {
			t.Errorf("while two rested it was run %d times", got)
		}
		close(r.wake)
		w.untilIdle()
		if got := r.runs.get(1); got != 3 {
			t.Errorf("it ran %d times in all, want 3", got)
		}
	})
	t.Run("a task that fails after a rest waits for its next try and does not hold up its like", func(t *testing.T) {
		w := begin(t, open)
		r := newResting(1)
		r.fail = errors.New("not today")
		w.enqueue(1)
		w.work(&r.Handlers)
		<-r.rests
		close(r.wake)
		w.untilIdle()
		if got := r.runs.get(1); got != 1 {
			t.Errorf("it was tried %d times at once", got)
		}
		w.enqueue(1)
		w.untilIdle()
		if got := r.runs.get(1); got != 2 {
			t.Errorf("asked for again, it ran %d times in all", got)
		}
	})
	t.Run("stopping waits for what rests, and ends it by its context when it may wait no longer", func(t *testing.T) {
		w := begin(t, open)
		r := newResting(1)
		w.enqueue(1)
		runner := w.work(&r.Handlers)
		<-r.rests
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := runner.Stop(ctx); err != nil {
			t.Error(err)
		}
		select {
		case <-r.woke:
		default:
			t.Error("it has not ended")
		}
		if ctx.Err() == nil || r.ctx.Err() == nil {
			t.Errorf("it was not waited for: %v, %v", ctx.Err(), r.ctx.Err())
		}
	})
}
