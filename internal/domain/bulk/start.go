package bulk

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// MaxOpen is about how many jobs of a shop run at once.
const MaxOpen = 3

// maxKey is the length of the key of a request, in bytes.
const maxKey = 100

// Request starts a job.
type Request struct {
	Action    Action
	Selection Selection
	Previewed string // the fingerprint of the preview
	Typed     int    // how many contracts the person says that it is for; counts where the kind asks for it
	Key       string // a request that comes again starts no second job
	By        activity.Actor
}

// Start starts the job that was previewed. It is refused when other contracts are selected
// now than were then.
func (s *Service) Start(ctx context.Context, of shop.ID, req Request) (Job, error) {
	if req.Key == "" || len(req.Key) > maxKey {
		return Job{}, invalid("key", "the key of a request has 1 to %d characters", maxKey)
	}
	if j, started, err := s.started(ctx, of, req.Key); err != nil || started {
		return j, err
	}
	now := s.Clock.Now()
	if err := req.Action.Check(now); err != nil {
		return Job{}, err
	}
	sel, err := req.Selection.checked()
	if err != nil {
		return Job{}, err
	}
	total, err := sel.count(ctx, s.Directory, of)
	if err != nil {
		return Job{}, fmt.Errorf("count the selected contracts: %w", err)
	}
	switch {
	case req.Previewed != fingerprint(req.Action, sel, total):
		return Job{}, fault.New(fault.Conflict, "%d contracts are selected now, and it is not what the preview showed: look at the preview again", total).Entity(entity).Code("previewOutdated")
	case req.Action.Kind.TypesCount() && req.Typed != total:
		return Job{}, fault.New(fault.Invalid, "type %d, the number of contracts, to confirm", total).Entity(entity).Code("countMismatch").Field("typed")
	}
	j := Job{Action: req.Action, Selection: sel.frozen(now), Key: req.Key, By: req.By, Total: total}
	return s.begin(ctx, of, j, now)
}

// started returns the job that a request has started before.
func (s *Service) started(ctx context.Context, of shop.ID, key string) (j Job, started bool, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		j, started, err = tx.BulkJobByKey(ctx, key)
		return err
	})
	return j, started, err
}

// begin stores a job with its entry and asks for it to be worked.
func (s *Service) begin(ctx context.Context, of shop.ID, j Job, now time.Time) (Job, error) {
	j.Status, j.CreatedAt, j.DueAt = Collecting, now, now
	made := j
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		made = j
		open, err := tx.BulkJobs(ctx, true, MaxOpen)
		if err != nil {
			return err
		}
		if len(open) >= MaxOpen {
			return fault.New(fault.Conflict, "%d bulk actions are running: wait until one is done, or stop one", len(open)).Entity(entity).Code("tooManyJobs")
		}
		if err := tx.PutBulkJob(ctx, &made); err != nil {
			return err
		}
		if err := tx.Record(ctx, made.entry(activity.StartedBulkAutomationProcessing, activity.Info, made.By, now, "a bulk action was started")); err != nil {
			return err
		}
		return tx.Enqueue(ctx, Work{Shop: of})
	})
	if fault.Is(err, fault.Conflict) && codeOf(err) == keyTaken {
		first, started, again := s.started(ctx, of, j.Key)
		if again == nil && started {
			return first, nil
		}
	}
	return made, err
}

// keyTaken is the code of the failure of a second job with a key.
const keyTaken = "bulkKeyTaken"

// KeyTaken is the failure of a second job with a key.
func KeyTaken(cause error) error {
	return fault.Because(fault.Conflict, cause, "a bulk action with this key was started already").Entity(entity).Code(keyTaken)
}

// JobNotFound is the failure of naming a job that the shop does not have.
func JobNotFound(id JobID) error {
	return fault.New(fault.NotFound, "there is no bulk action %d", id).Entity(entity).Code("bulkJobNotFound")
}

// Retry starts a job for the contracts that failed in one that is over. It starts one such
// job, however often it is asked for.
func (s *Service) Retry(ctx context.Context, of shop.ID, id JobID, by activity.Actor) (Job, error) {
	old, err := s.Job(ctx, of, id)
	if err != nil {
		return Job{}, err
	}
	key := fmt.Sprintf("retry of %d", id)
	if j, started, err := s.started(ctx, of, key); err != nil || started {
		return j, err
	}
	if !old.CanRetry() {
		return Job{}, fault.New(fault.FailedPrecondition, "bulk action %d is %s and has %d contracts that failed: there is nothing to retry", id, old.Status, old.Failed).Entity(entity).Code("nothingToRetry")
	}
	now := s.Clock.Now()
	if err := old.Action.Check(now); err != nil {
		return Job{}, err
	}
	return s.begin(ctx, of, Job{Action: old.Action, Selection: Selection{FailedOf: id}, Key: key, By: by, RetryOf: id, Total: old.Failed}, now)
}

// Stop lets a job begin no other contract. Those that were begun are finished.
func (s *Service) Stop(ctx context.Context, of shop.ID, id JobID) (Job, error) {
	var j Job
	err := s.Store.Update(ctx, of, func(tx Tx) (err error) {
		if j, err = tx.BulkJob(ctx, id); err != nil || j.Status == Stopping || j.Status == Stopped {
			return err
		}
		if err := j.move(Stopping); err != nil {
			return err
		}
		j.DueAt = s.Clock.Now()
		if err := tx.PutBulkJob(ctx, &j); err != nil {
			return err
		}
		return tx.Enqueue(ctx, Work{Shop: of})
	})
	return j, err
}
