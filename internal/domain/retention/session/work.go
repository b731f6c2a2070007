package session

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Work is the task of ending a shop's sessions that were left open.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "cancel_sessions" }

// batch is how many sessions are looked for at once.
const batch = 100

// Work ends the shop's sessions whose customers went away, each in a transaction of its own.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for {
		var due []ID
		err := s.Store.View(ctx, of, func(tx Reader) (err error) {
			due, err = tx.DueCancelSessions(ctx, s.Clock.Now(), batch)
			return err
		})
		if err != nil {
			return err
		}
		for _, id := range due {
			err := s.Store.Update(ctx, of, func(tx Tx) error { return timeOut(ctx, tx, id, clock.Trim(s.Clock.Now())) })
			if err != nil {
				return err
			}
		}
		if len(due) < batch {
			return nil
		}
	}
}

// timeOut ends a session that was left open. One whose contract has ended in another way ends
// with that; one whose cancellation is on its way waits for it.
func timeOut(ctx context.Context, tx Tx, id ID, now time.Time) error {
	of, err := tx.CancelSessionContract(ctx, id)
	if err != nil {
		return err
	}
	rows, err := tx.Contracts(ctx, []contract.ID{of})
	if err != nil {
		return err
	}
	is, err := tx.CancelSession(ctx, id)
	if err != nil || is.DueAt.IsZero() || is.DueAt.After(now) {
		return err
	}
	outcome, action := Abandoned, retention.Kept
	if len(rows) > 0 {
		if is.Step == Cancelling && rows[0].Moving != nil {
			is.DueAt = now.Add(timeout)
			return tx.PutCancelSession(ctx, &is)
		}
		if o, a, over := endOf(rows[0]); over {
			outcome, action = o, a
		}
	}
	is.AcceptedAt = time.Time{} // an offer that was being carried out was not
	return conclude(ctx, tx, &is, outcome, action, "timeout", activity.System, now)
}
