package storetest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/job"
	"github.com/perennialhq/perennial/internal/store"
)

// wantIdle checks whether tasks wait.
func (w world) wantIdle(want bool) {
	w.Helper()
	if got, err := w.db.Idle(w.Context()); err != nil || got != want {
		w.Errorf("idle: %t, %v, want %t", got, err, want)
	}
}

// untilIdle waits until no task waits, runs or rests.
func (w world) untilIdle() {
	w.Helper()
	w.until(w.db.Idle)
}

// untilNoneRuns waits until no task waits or runs; some may rest.
func (w world) untilNoneRuns() {
	w.Helper()
	w.until(func(ctx context.Context) (bool, error) {
		s, err := w.db.QueueState(ctx)
		return s.OldestDue.IsZero() && s.OldestRun.IsZero(), err
	})
}

// until waits until the queue is as asked.
func (w world) until(holds func(context.Context) (bool, error)) {
	w.Helper()
	deadline := time.After(time.Minute)
	for {
		done, err := holds(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		if done {
			return
		}
		select {
		case <-deadline:
			w.Fatal("tasks still wait")
		case <-time.After(time.Millisecond):
		}
	}
}

// work carries out tasks until the test ends.
func (w world) work(h *job.Handlers) *job.Runner {
	w.Helper()
	return w.workWith(h, 0)
}

// workWith carries them out with so many workers; 0: as many as usual.
func (w world) workWith(h *job.Handlers, workers int) *job.Runner {
	w.Helper()
	runner, err := w.db.Run(w.Context(), h, job.Options{MaxWorkers: workers, PollInterval: 2 * time.Millisecond, Cooldown: time.Millisecond, PollOnly: true})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := runner.Stop(context.Background()); err != nil {
			w.Errorf("stop: %v", err)
		}
	})
	return runner
}

func (w world) enqueue(of ...shop.ID) {
	w.Helper()
	w.in(func(tx *store.Tx) error {
		for _, id := range of {
			if err := tx.Enqueue(w.Context(), billing.Task{Shop: id}); err != nil {
				return err
			}
		}
		return nil
	})
}

// tally counts calls by shop.
type tally struct {
	mu sync.Mutex
	of map[shop.ID]int
}

func (c *tally) add(id shop.ID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[shop.ID]int)
	}
	c.of[id]++
	return c.of[id]
}

func (c *tally) get(id shop.ID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[id]
}

func testJobs(t *testing.T, open opener) {
	t.Run("the state names the task that waits longest and the one that runs longest", func(t *testing.T) {
		w := begin(t, open)
		before := clock.System{}.Now().Add(-time.Minute)
		if s, err := w.db.QueueState(t.Context()); err != nil || s != (job.State{}) {
			t.Fatalf("of an empty queue: %+v, %v", s, err)
		}
		w.enqueue(1)
		if s, err := w.db.QueueState(t.Context()); err != nil || s.OldestDue.Before(before) || !s.OldestRun.IsZero() {
			t.Errorf("with a task that waits: %+v, %v", s, err)
		}
		var h job.Handlers
		running, release := make(chan struct{}), make(chan struct{})
		job.Handle(&h, func(context.Context, billing.Task) error {
			close(running)
			<-release
			return nil
		})
		w.work(&h)
		<-running
		if s, err := w.db.QueueState(t.Context()); err != nil || s.OldestRun.Before(before) || !s.OldestDue.IsZero() {
			t.Errorf("with a task that runs: %+v, %v", s, err)
		}
		close(release)
		w.untilIdle()
	})
	t.Run("the end of a task is noted at once though its context has ended", func(t *testing.T) {
		w := begin(t, open)
		var h job.Handlers
		running := make(chan struct{})
		job.Handle(&h, func(ctx context.Context, _ billing.Task) error {
			close(running)
			<-ctx.Done()
			return nil
		})
		w.enqueue(1)
		var log bytes.Buffer
		runner, err := w.db.Run(t.Context(), &h, job.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		if err != nil {
			t.Fatal(err)
		}
		<-running
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		if err := runner.Stop(stopped); err != nil {
			t.Error(err)
		}
		if strings.Contains(log.String(), "noted late") {
			t.Errorf("the log:\n%s", log.String())
		}
		w.wantIdle(true)
	})
	t.Run("equal tasks that wait are one, and each kind goes to its handler", func(t *testing.T) {
		w := begin(t, open)
		var bills, mails tally
		var h job.Handlers
		job.Handle(&h, func(_ context.Context, t billing.Task) error { bills.add(t.Shop); return nil })
		job.Handle(&h, func(_ context.Context, t intake.ProcessEvents) error { mails.add(t.Shop); return nil })
		w.enqueue(1, 2, 1)
		w.enqueue(1)
		w.in(func(tx *store.Tx) error { return tx.Enqueue(t.Context(), intake.ProcessEvents{Shop: 1}) })
		w.work(&h)
		w.untilIdle()
		if bills.get(1) != 1 || bills.get(2) != 1 || mails.get(1) != 1 || mails.get(2) != 0 {
			t.Errorf("billing %v, intake %v", bills.of, mails.of)
		}
		w.enqueue(1)
		w.untilIdle()
		if bills.get(1) != 2 {
			t.Errorf("asked for again after its end, it ran %d times in all", bills.get(1))
		}
	})
	t.Run("a task that is asked for while it runs is run once more", func(t *testing.T) {
		w := begin(t, open)
		var runs tally
		var h job.Handlers
		running, release := make(chan struct{}), make(chan struct{})
		job.Handle(&h, func(_ context.Context, t billing.Task) error {
			if runs.add(t.Shop) == 1 {
				close(running)
				<-release
			}
			return nil
		})
		w.enqueue(1)
		w.work(&h)
		<-running
		w.wantIdle(false)
		w.enqueue(1)
		close(release)
		w.untilIdle()
		if got := runs.get(1); got != 2 {
			t.Errorf("ran %d times, want 2", got)
		}
	})
	t.Run("a task is not run before the transaction that asked for it commits, nor is the wish lost", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		var seen tally
		var h job.Handlers
		job.Handle(&h, func(ctx context.Context, task billing.Task) error {
			return w.db.Update(ctx, w.shop.ID, func(tx *store.Tx) error {
				due, err := tx.DueAttempts(ctx, day, 10)
				for i := range due {
					due[i].DueAt = time.Time{}
					seen.add(1)
				}
				if err != nil {
					return err
				}
				return tx.PutAttempts(ctx, due)
			})
		})
		w.enqueue(1) // waits already when the next one asks for the same
		runner := make(chan struct{})
		w.in(func(tx *store.Tx) error {
			if err := tx.PutAttempts(t.Context(), []billing.Attempt{queued(1, 2, day)}); err != nil {
				return err
			}
			if err := tx.Enqueue(t.Context(), billing.Task{Shop: 1}); err != nil {
				return err
			}
			go func() {
				defer close(runner)
				w.work(&h)
			}()
			select { // on SQLite the runner waits for this transaction
			case <-runner:
			case <-time.After(100 * time.Millisecond):
			}
			return nil
		})
		<-runner
		w.untilIdle()
		if seen.get(1) != 1 {
			t.Errorf("the attempt was seen %d times", seen.get(1))
		}
	})
	t.Run("a task that fails or panics is put off, does not keep the queue busy and does not hold up its like", func(t *testing.T) {
		w := begin(t, open)
		var runs tally
		var h job.Handlers
		job.Handle(&h, func(_ context.Context, t billing.Task) error {
			n := runs.add(t.Shop)
			if n == 1 && t.Shop == 2 {
				panic("broken")
			}
			if n == 1 {
				return errors.New("not today")
			}
			return nil
		})
		w.enqueue(1, 2)
		w.work(&h)
		w.untilIdle()
		if runs.get(1) != 1 || runs.get(2) != 1 {
			t.Errorf("ran %v", runs.of)
		}
		w.enqueue(1, 2)
		w.untilIdle()
		if runs.get(1) != 2 || runs.get(2) != 2 {
			t.Errorf("asked for again, ran %v", runs.of)
		}
	})
	t.Run("the end of a task is visible at once to a waiting caller", func(t *testing.T) {
		w := begin(t, open)
		var h job.Handlers
		job.Handle(&h, func(context.Context, billing.Task) error { return nil })
		w.work(&h)
		var took []time.Duration
		for n := range shop.ID(40) {
			began := clock.System{}.Now()
			w.enqueue(n + 1)
			w.untilIdle()
			took = append(took, clock.System{}.Now().Sub(began))
		}
		slices.Sort(took)
		// River's own notes are made in batches: each would take a quarter of a second. On a busy
		// machine some take longer, and not all of them.
		if quarter := took[len(took)/4]; quarter > 125*time.Millisecond {
			t.Errorf("the quickest quarter of tasks one after the other took up to %s each", quarter)
		}
	})
	t.Run("stopping waits for what runs and takes up nothing new", func(t *testing.T) {
		w := begin(t, open)
		var runs tally
		var h job.Handlers
		running, release := make(chan struct{}), make(chan struct{})
		job.Handle(&h, func(_ context.Context, t billing.Task) error {
			if t.Shop == 1 {
				close(running)
				<-release
			}
			runs.add(t.Shop)
			return nil
		})
		w.enqueue(1)
		runner := w.work(&h)
		<-running
		stopped := make(chan error)
		go func() { stopped <- runner.Stop(t.Context()) }()
		select {
		case err := <-stopped:
			t.Errorf("stopped while a task ran: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		w.enqueue(2)
		close(release)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if runs.get(1) != 1 || runs.get(2) != 0 {
			t.Errorf("ran %v", runs.of)
		}
		w.wantIdle(false)
	})
	t.Run("stopping ends stubborn tasks by their context when it may wait no longer", func(t *testing.T) {
		w := begin(t, open)
		var h job.Handlers
		running := make(chan struct{})
		job.Handle(&h, func(ctx context.Context, _ billing.Task) error {
			close(running)
			<-ctx.Done()
			return ctx.Err()
		})
		w.enqueue(1)
		runner := w.work(&h)
		<-running
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := runner.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

func testMigrations(t *testing.T, open opener) {
	db := open.shared(t)
	before, err := db.Migrations(t.Context())
	if err != nil || len(before) < 2 {
		t.Fatalf("%+v, %v", before, err)
	}
	for _, m := range before {
		if !m.Applied || m.Name == "" {
			t.Errorf("step %d %q: applied %t", m.Version, m.Name, m.Applied)
		}
	}
	var together sync.WaitGroup
	for range 4 {
		together.Go(func() {
			if err := db.Migrate(t.Context()); err != nil {
				t.Errorf("once more: %v", err)
			}
		})
	}
	together.Wait()
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
