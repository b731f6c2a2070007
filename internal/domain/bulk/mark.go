package bulk

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// MarkTx is the transaction of a change.
type MarkTx interface {
	// MarkBulkChanged marks contracts of a job, and those of billing attempts, as changed.
	MarkBulkChanged(ctx context.Context, job JobID, contracts []contract.ID, attempts []int64) error
}

// NoteChanges marks what a job has changed in the commit that changes it, so that a worker that
// finds the job later does not change it again.
func NoteChanges(ctx context.Context, tx MarkTx, entries []activity.Entry) error {
	type changed struct {
		contracts []contract.ID
		attempts  []int64
	}
	by := make(map[JobID]*changed)
	for _, e := range entries {
		if e.Actor.Job == 0 || e.Status != activity.Success && e.Status != activity.Info {
			continue
		}
		job := JobID(e.Actor.Job)
		if by[job] == nil {
			by[job] = &changed{}
		}
		switch e.EntityType {
		case activity.EntitySubscriptionContractDetails:
			by[job].contracts = append(by[job].contracts, contract.ID(e.EntityID))
		case activity.EntitySubscriptionBillingAttempt:
			by[job].attempts = append(by[job].attempts, e.EntityID)
		}
	}
	jobs := make([]JobID, 0, len(by))
	for job := range by {
		jobs = append(jobs, job)
	}
	slices.Sort(jobs)
	for _, job := range jobs {
		if c := by[job]; len(c.contracts)+len(c.attempts) > 0 {
			if err := tx.MarkBulkChanged(ctx, job, c.contracts, c.attempts); err != nil {
				return err
			}
		}
	}
	return nil
}
