package bulk

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

const (
	// lease is how long a worker has a job, or a contract of it, before others take it for dead.
	lease = 3 * time.Minute
	// itemTime is how long one contract may take. What is left of a lease must be enough for it.
	itemTime = time.Minute
	// batch is how many contracts are begun, and settled, in one commit.
	batch = 20
	// collectAtOnce is how many contracts are written down in one commit.
	collectAtOnce = 2000
	// turn is how long a task works before it lets others have the worker.
	turn = 30 * time.Second
)

// Work goes on with the jobs of a shop, in turns. What a worker that died had begun is taken
// up when its lease ends.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	ctx = platform.InBulk(ctx)
	began := s.Clock.Now()
	for ctx.Err() == nil {
		j, found, err := s.take(ctx, of)
		if err != nil || !found {
			return err
		}
		if j.Status == Collecting {
			err = s.collect(ctx, of, j)
		} else {
			err = s.workBatch(ctx, of, j)
		}
		if err != nil {
			return fmt.Errorf("work on bulk action %d: %w", j.ID, err)
		}
		if s.Clock.Now().Sub(began) >= turn {
			return s.Store.Update(ctx, of, func(tx Tx) error { return tx.Enqueue(ctx, Work{Shop: of}) })
		}
	}
	return ctx.Err()
}

// take leases the job that is due for the longest time.
func (s *Service) take(ctx context.Context, of shop.ID) (j Job, found bool, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		due, err := tx.DueBulkJobs(ctx, now, 1)
		if found = len(due) > 0; err != nil || !found {
			return err
		}
		j = due[0]
		j.DueAt = now.Add(lease)
		return tx.PutBulkJob(ctx, &j)
	})
	return j, found, err
}

// onLease runs fn on a job if it still is as it was taken, and writes it.
func (s *Service) onLease(ctx context.Context, of shop.ID, taken Job, fn func(Tx, *Job, time.Time) error) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		j, err := tx.BulkJob(ctx, taken.ID)
		if err != nil || j.Status != taken.Status || !j.DueAt.Equal(taken.DueAt) {
			return err
		}
		now := s.Clock.Now()
		if err := fn(tx, &j, now); err != nil {
			return err
		}
		return tx.PutBulkJob(ctx, &j)
	})
}

// collect writes down one page of the contracts of a job.
func (s *Service) collect(ctx context.Context, of shop.ID, taken Job) error {
	var ids []contract.ID
	if taken.Selection.FailedOf == 0 {
		var err error
		if ids, err = taken.Selection.page(ctx, s.Directory, of, taken.Cursor, collectAtOnce); err != nil {
			return err
		}
	}
	return s.onLease(ctx, of, taken, func(tx Tx, j *Job, now time.Time) error {
		page := ids
		if from := j.Selection.FailedOf; from != 0 {
			failed, err := tx.BulkItems(ctx, from, Refused, j.Cursor, collectAtOnce)
			if err != nil {
				return err
			}
			page = nil
			for _, i := range failed {
				page = append(page, i.Contract)
			}
		}
		added, err := tx.AddBulkItems(ctx, j.ID, now, page)
		if err != nil {
			return err
		}
		j.Collected, j.DueAt = j.Collected+added, now
		if len(page) > 0 {
			j.Cursor = page[len(page)-1]
		}
		if len(page) < collectAtOnce {
			j.Total, j.Selection = j.Collected, Selection{}
			return j.move(Running)
		}
		return nil
	})
}

// workBatch changes some contracts of a job, or ends it if none is left.
func (s *Service) workBatch(ctx context.Context, of shop.ID, taken Job) error {
	var begun []Item
	var store shop.Shop
	known := make(map[contract.ID]facts)
	err := s.onLease(ctx, of, taken, func(tx Tx, j *Job, now time.Time) (err error) {
		begun, known = nil, nil
		items, err := tx.DueBulkItems(ctx, j.ID, now, j.Status == Stopping, batch)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return s.rest(ctx, tx, j, now)
		}
		if j.StartedAt.IsZero() {
			j.StartedAt = now
		}
		if store, err = tx.Shop(ctx); err != nil {
			return err
		}
		if known, err = readFacts(ctx, tx, contractsOf(items), true); err != nil {
			return err
		}
		for i := range items {
			if items[i].begin(j, known, now) {
				begun = append(begun, items[i])
			} else {
				j.count(items[i])
			}
		}
		if len(begun) == 0 {
			j.DueAt = now
		}
		return tx.PutBulkItems(ctx, items)
	})
	if err != nil || len(begun) == 0 {
		return err
	}
	results := s.carryOutAll(ctx, store, taken, begun, known)
	return s.note(ctx, of, taken, begun, results)
}

// rest lets a job wait for contracts that are due later, or ends it.
func (s *Service) rest(ctx context.Context, tx Tx, j *Job, now time.Time) error {
	next, err := tx.NextBulkItem(ctx, j.ID, j.Status == Stopping)
	if err != nil {
		return err
	}
	if !next.IsZero() {
		j.DueAt = next
		return nil
	}
	to, reason := Finished, "the bulk action is done"
	if j.Status == Stopping {
		to, reason = Stopped, "the bulk action was stopped"
	}
	if err := j.move(to); err != nil {
		return err
	}
	j.DueAt, j.EndedAt = time.Time{}, now
	status := activity.Success
	if j.Failed > 0 || j.Left() > 0 {
		status = activity.PartialFailure
	}
	return tx.Record(ctx, j.entry(activity.InformationalEvent, status, j.By, now, reason))
}

// count counts an item that is settled.
func (j *Job) count(i Item) {
	switch i.Status {
	case Done:
		j.Succeeded++
	case Refused:
		j.Failed++
	}
}

func contractsOf(items []Item) []contract.ID {
	ids := make([]contract.ID, len(items))
	for n, i := range items {
		ids[n] = i.Contract
	}
	return ids
}
