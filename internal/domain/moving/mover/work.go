package mover

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

const (
	// lease is how long a worker has a move before others take it for dead.
	lease = 3 * time.Minute
	// stepTime is how long a step with one contract may take.
	stepTime = time.Minute
	// batch is how many contracts are worked on between two commits of the move.
	batch = 64
	// turn is how long a task works before it lets others have the worker.
	turn = 30 * time.Second
)

// How long is waited at most after failures in a row, of a move and of one contract.
const (
	longestPause     = 5 * time.Minute
	longestItemPause = time.Hour
)

// doubled returns how long is waited for the nth time: first, and then twice as long each time, at most
// so long.
func doubled(first time.Duration, n int, most time.Duration) time.Duration {
	return min(first<<min(max(n-1, 0), 12), most)
}

// Work goes on with the moves of a shop, in turns.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	ctx = platform.InBulk(ctx)
	began := s.Clock.Now()
	for ctx.Err() == nil {
		m, store, found, err := s.take(ctx, of)
		if err != nil || !found {
			return err
		}
		worked, err := s.Parts.Work(ctx, store, m, s.onLease, rest)
		switch {
		case err != nil || worked:
		case m.Status == moving.Listing && m.File != nil:
			err = s.readFile(ctx, store, m)
		case m.Status == moving.Listing:
			err = s.list(ctx, store, m)
		default:
			err = s.workItems(ctx, store, m)
		}
		if err != nil {
			return fmt.Errorf("work on move %d: %w", m.ID, err)
		}
		if s.Clock.Now().Sub(began) >= turn {
			return s.Store.Update(ctx, of, func(tx moving.Tx) error { return tx.Enqueue(ctx, moving.Work{Shop: of}) })
		}
	}
	return ctx.Err()
}

// take leases the move that is due for the longest time.
func (s *Service) take(ctx context.Context, of shop.ID) (m moving.Move, store shop.Shop, found bool, err error) {
	err = s.Store.Update(ctx, of, func(tx moving.Tx) error {
		now := s.Clock.Now()
		due, err := tx.DueMoves(ctx, now, 1)
		if found = len(due) > 0; err != nil || !found {
			return err
		}
		if store, err = tx.Shop(ctx); err != nil {
			return err
		}
		m = due[0]
		m.DueAt = now.Add(lease)
		return tx.PutMove(ctx, &m)
	})
	return m, store, found, err
}

// onLease runs fn on a move if this worker still has it, and writes it.
func (s *Service) onLease(ctx context.Context, of shop.ID, taken moving.Move, fn func(tx moving.Tx, m *moving.Move, now time.Time) error) error {
	return s.Store.Update(ctx, of, func(tx moving.Tx) error {
		m, err := tx.Move(ctx, taken.ID)
		if err != nil || m.Status != taken.Status || !m.DueAt.Equal(taken.DueAt) {
			return err
		}
		now := s.Clock.Now()
		if err := fn(tx, &m, now); err != nil {
			return err
		}
		return tx.PutMove(ctx, &m)
	})
}

// rest puts a move off after a failure of the other service, or notes that it answers again.
func rest(m *moving.Move, err error, now time.Time) {
	if err == nil {
		m.Failures, m.Failure, m.FailedAt = 0, "", time.Time{}
		return
	}
	if m.Failures++; m.Failures == 1 {
		m.FailedAt = now
	}
	wait := doubled(time.Second, m.Failures, longestPause)
	m.Failure = "the other service failed"
	if f, ok := errors.AsType[*fault.Error](err); ok {
		m.Failure = f.Message
		wait = max(wait, f.Wait)
	}
	m.DueAt = now.Add(wait)
}

// workItems works on the contracts of a move that are due.
func (s *Service) workItems(ctx context.Context, store shop.Shop, m moving.Move) error {
	var items []moving.Item
	err := s.onLease(ctx, store.ID, m, func(tx moving.Tx, m *moving.Move, now time.Time) (err error) {
		between := m.Paused
		if m.Status == moving.Ready && !m.Paused {
			counts, err := tx.MoveCounts(ctx, m.ID)
			if err != nil {
				return err
			}
			if between = stuck(counts) >= mostStuck; !between {
				if err := s.choose(ctx, tx, *m, counts, now); err != nil {
					return err
				}
			}
		}
		if items, err = tx.DueMoveItems(ctx, m.ID, now, between, batch); err != nil {
			return err
		}
		if len(items) > 0 {
			for i := range items {
				items[i].DueAt = now.Add(lease)
			}
			return tx.PutMoveItems(ctx, items)
		}
		return s.settle(ctx, tx, m, between, now)
	})
	if err != nil || len(items) == 0 {
		return err
	}
	cal, err := store.Calendar()
	if err != nil {
		return err
	}
	w := s.worker(store, m, cal)
	if err := w.carryAll(ctx, items); err != nil {
		return err
	}
	return s.onLease(ctx, store.ID, m, func(_ moving.Tx, m *moving.Move, now time.Time) error {
		m.DueAt = now
		rest(m, w.failure(), now)
		return nil
	})
}

// mostStuck is how many contracts may be stuck between the services before no other one leaves: while a service
// does not answer, orders of those that have left may fall due.
const mostStuck = 3

// stuck returns how many contracts are between the services whose last step failed.
func stuck(counts []moving.Count) (n int) {
	for _, c := range counts {
		if c.Stage.UnderWay() {
			n += c.Failing
		}
	}
	return n
}

// settle lets a move wait for what is due later, with between only for what is between the services. Once all contracts were read, it is ready.
func (s *Service) settle(ctx context.Context, tx moving.Tx, m *moving.Move, between bool, now time.Time) error {
	if m.Status == moving.Reading {
		unread, err := tx.MoveItems(ctx, m.ID, moving.Match{Stages: []moving.Stage{moving.Found}}, 0, 1)
		if err != nil {
			return err
		}
		if len(unread) == 0 {
			m.Status, m.ReadAt, m.DueAt = moving.Ready, now, now
			return nil
		}
	}
	refreshes := m.Status == moving.Ready && !m.Paused && m.File == nil
	if refreshes && !now.Before(m.ListAt) {
		m.Status, m.Page, m.Line, m.DueAt = moving.Listing, 0, shop.Subscriptions, now
		return nil
	}
	next, err := tx.NextMoveItem(ctx, m.ID, between)
	if err != nil {
		return err
	}
	if m.DueAt = next; refreshes && (next.IsZero() || m.ListAt.Before(next)) {
		m.DueAt = m.ListAt
	}
	return nil
}

// worker works on contracts of one move.
type worker struct {
	*Service
	store    shop.Shop
	move     moving.Move
	cal      cadence.Calendar
	from, to End
	known    *known

	mu     sync.Mutex
	failed error // a failure that is not the contract's own
	good   int   // steps that were taken
	stuck  int   // contracts between the services whose step failed
}

func (s *Service) worker(store shop.Shop, m moving.Move, cal cadence.Calendar) *worker {
	from, to := s.ends(m)
	return &worker{Service: s, store: store, move: m, cal: cal, from: from, to: to, known: s.knownOf(m.ID)}
}

// failure returns why no step could be taken; nil: some could, or none was due.
func (w *worker) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.good > 0 {
		return nil
	}
	return w.failed
}

// note counts a step that was taken, or that was refused by an answer, and keeps why one was not.
func (w *worker) note(at moving.Stage, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil || !passing(err) {
		w.good++
		return
	}
	if w.failed = err; at.UnderWay() {
		w.stuck++
	}
}

// leaves reports whether contracts may leave now: few are stuck between the services.
func (w *worker) leaves() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stuck < mostStuck
}

// passing reports whether a failure may be over when the step is taken again.
func passing(err error) bool {
	return fault.Is(err, fault.Unavailable) || fault.Is(err, fault.RateLimited) || fault.Is(err, fault.Internal) || errors.Is(err, context.DeadlineExceeded)
}

// carryAll works on contracts, one after the other where the caller's goroutine must do it.
func (w *worker) carryAll(ctx context.Context, items []moving.Item) error {
	if w.Parallel <= 1 {
		for i := range items {
			if err := w.carry(ctx, &items[i]); err != nil {
				return err
			}
		}
		return nil
	}
	group, inside := errgroup.WithContext(ctx)
	group.SetLimit(w.Parallel)
	for i := range items {
		group.Go(func() error { return w.carry(inside, &items[i]) })
	}
	return group.Wait()
}

// carry takes steps with a contract until it has to wait, and commits each of them.
func (w *worker) carry(ctx context.Context, i *moving.Item) error {
	for ctx.Err() == nil {
		before, since := i.Stage, i.Since
		if before == moving.Chosen && !w.leaves() {
			return nil // it is due again when the lease ends
		}
		givenBack := before == moving.Shadow && i.Failures == 0
		if before != moving.Returning && !givenBack { // they keep why
			i.Code, i.Reason = "", ""
		}
		within, cancel := context.WithTimeout(ctx, stepTime)
		compared, err := w.step(within, i)
		cancel()
		if ctx.Err() != nil {
			break
		}
		now := w.Clock.Now()
		if w.note(before, err); err != nil {
			w.fail(ctx, i, err, now)
		} else {
			i.Failures = 0
		}
		mine, failed := w.keep(ctx, *i, before, since, compared)
		if failed != nil || !mine || err != nil || i.Stage == before || i.DueAt.IsZero() || i.DueAt.After(now) {
			return failed
		}
	}
	return ctx.Err()
}

// keep commits a step with a contract. It reports false, and keeps nothing, when another worker has
// taken it meanwhile.
func (w *worker) keep(ctx context.Context, i moving.Item, before moving.Stage, since time.Time, compared []moving.Compared) (mine bool, err error) {
	err = w.Store.Update(ctx, w.store.ID, func(tx moving.Tx) error {
		is, err := tx.MoveItem(ctx, i.Move, i.There)
		if mine = err == nil && is.Stage == before && is.Since.Equal(since); !mine {
			return err
		}
		if err := tx.AddCompared(ctx, compared); err != nil {
			return err
		}
		return tx.PutMoveItems(ctx, []moving.Item{i})
	})
	return mine, err
}

// fail notes that a step failed. A failure that a repetition does not mend takes back a contract
// that was stopped, as long as that is possible.
func (w *worker) fail(ctx context.Context, i *moving.Item, err error, now time.Time) {
	w.Log.WarnContext(ctx, "a step of a move failed", "shop", w.store.Domain, "move", i.Move, "contract", i.There, "stage", i.Stage, "error", err)
	again := now.Add(doubled(time.Second, i.Failures+1, longestItemPause))
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Wait > 0 {
		again = now.Add(f.Wait)
	}
	i.Fail(err, again)
	if passing(err) || !i.Stage.Returnable() || i.Failures < patience {
		return
	}
	if err := i.Enter(moving.Returning, now); err != nil {
		w.Log.ErrorContext(ctx, "a contract cannot be given back", "shop", w.store.Domain, "move", i.Move, "contract", i.There, "error", err)
	}
}

// patience is how often a step is tried again that was refused, before the contract is given back.
const patience = 3
