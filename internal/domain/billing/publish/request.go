package publish

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Republish publishes the upcoming cycles of a contract again, at an instant, after they were
// reset so that the contract could be changed.
func (s *Service) Republish(ctx context.Context, of shop.ID, c contract.ID, at time.Time) error {
	return s.Store.Update(ctx, of, func(tx billing.Tx) error {
		if err := RequestAgain(ctx, tx, c, at); err != nil {
			return err
		}
		return tx.Enqueue(ctx, billing.Task{Shop: of})
	})
}

// RequestAgain is Republish in the caller's transaction, which must enqueue the task.
func RequestAgain(ctx context.Context, tx billing.Tx, c contract.ID, at time.Time) error {
	contracts, err := tx.Contracts(ctx, []contract.ID{c})
	if err != nil || len(contracts) == 0 {
		return err
	}
	rows, err := tx.AttemptsOf(ctx, []contract.ID{c}, billing.Queued, billing.Skipped, billing.Failure)
	if err != nil {
		return err
	}
	var changed []billing.Attempt
	for _, a := range rows {
		switch {
		case a.Status == billing.Failure && a.Prep.Edited:
			a.ResetPreparation()
		case a.Status == billing.Queued && (a.Prep.Edited || a.Moved || contracts[0].SeriesOf(a.Cycle).Moved), a.Status == billing.Skipped && a.BillingDate.After(at):
			a.PublishAt = at
			if a.Prep.Edited {
				a.ResetPreparation()
			}
		default:
			continue
		}
		changed = append(changed, a)
	}
	return tx.PutAttempts(ctx, changed)
}

// RequestNextDate publishes, after the caller's transaction, when the next orders of
// contracts are. Contracts without a queued order are left out.
func RequestNextDate(ctx context.Context, tx billing.Tx, contracts []contract.ID, now time.Time) error {
	if len(contracts) == 0 {
		return nil
	}
	queued, err := tx.AttemptsOf(ctx, contracts, billing.Queued)
	if err != nil {
		return err
	}
	byContract := billing.ByContract(queued)
	var changed []billing.Attempt
	for _, id := range contracts {
		if next, waits := billing.Earliest(byContract[id]); waits {
			next.PublishAt, next.UpdatedAt = now, now
			changed = append(changed, next)
		}
	}
	return tx.PutAttempts(ctx, changed)
}
