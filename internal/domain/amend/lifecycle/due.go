package lifecycle

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// RunDue is the task of making a shop's scheduled changes of contracts, and of finishing
// splits that were left undone.
type RunDue struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (RunDue) Kind() string { return "amend_work" }

// batch is how many contracts are read at once.
const batch = 50

// RunDue makes the shop's scheduled changes. A change that the platform refuses is given
// up, and the log says why; other failures are tried again later. While the store must
// not be charged, only changes that people requested are made.
func (s *Service) RunDue(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		due, err := s.Due.ContractsToAmend(ctx, of, s.Clock.Now(), batch)
		if err != nil || len(due) == 0 {
			return err
		}
		for _, c := range due {
			ours, err := s.lease(ctx, of, &c)
			if err == nil && ours {
				err = s.runNext(ctx, of, c)
			}
			if err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// runNext makes the first change of the contract that is due.
func (s *Service) runNext(ctx context.Context, of shop.ID, c contract.Contract) error {
	now := s.Clock.Now()
	due := func(t time.Time) bool { return !t.IsZero() && !t.After(now) }
	var err error
	switch {
	case c.Split != nil:
		if err = s.Splits.Resume(ctx, of, c); amend.Permanent(err) {
			err = s.abandon(ctx, of, c, err)
		}
		return err
	case due(c.ChangesAt()):
		if err = s.Pending.ApplyPendingChange(ctx, of, c); amend.Permanent(err) {
			err = s.abandon(ctx, of, c, err)
		}
		return err
	case c.Moving != nil:
		if err = s.sendPendingStatus(ctx, of, c, false); err != nil && !amend.Permanent(err) {
			err = s.retryStatusLater(ctx, of, c, err)
		}
	case due(c.ClaimedAt()):
		err = s.claim(ctx, of, c)
	case c.EndsAfterDunning():
		err = s.endUnpaid(ctx, of, c)
	case c.Resumes() && due(c.Pause.Until):
		err = s.setStatus(ctx, of, c, contract.Active)
	case c.Ends() && c.Ending.Why == contract.EndOfTerm && due(c.Ending.At):
		err = s.cancelAtEndOfTerm(ctx, of, c)
	case c.Ends() && c.Ending.Why == contract.EndOfMinimum && (due(c.Ending.At) || c.Committed() == 0):
		err = s.cancelAtEndOfCommitment(ctx, of, c)
	case c.Ends() && c.Ending.Why == contract.EndOfOrder && (due(c.Ending.At) || c.NextBillingDate.IsZero()):
		err = s.cancelAfterOrder(ctx, of, c)
	case c.Status == contract.Active && due(c.ExpireAt):
		err = s.setStatus(ctx, of, c, contract.Expired)
	default:
		return s.UpdateRow(ctx, of, &c, func(c *contract.Contract) error { c.ResetAmendAt(); return nil })
	}
	switch {
	case amend.Permanent(err) && c.EndsAfterDunning() && !disconnected(err):
		err = s.abandonEnd(ctx, of, c, err)
	case amend.Permanent(err):
		err = s.retryTomorrow(ctx, of, c, err)
	}
	return err
}

// claim cancels a contract that was created beside the one that its request has.
func (s *Service) claim(ctx context.Context, of shop.ID, c contract.Contract) error {
	unwanted, err := s.Creations.Claim(ctx, of, c)
	if err != nil || !unwanted {
		return err
	}
	_, err = s.SetStatus(ctx, of, amend.Command{Line: c.Line, Contract: c.ID, Actor: activity.System}, StatusChange{
		To: contract.Cancelled, Now: true, Moved: c.Fenced(), Note: "created a second time by one request",
	})
	return err
}

// lease moves the contract's AmendAt ahead, so that no other worker acts on it, and
// reads it again. It reports false when another worker has acted on the contract, and
// when its change has to wait until the store may be charged.
func (s *Service) lease(ctx context.Context, of shop.ID, c *contract.Contract) (ours bool, err error) {
	err = s.Store.Update(ctx, of, func(tx intake.Tx) error {
		ours = false
		now := s.Clock.Now()
		rows, err := tx.Contracts(ctx, []contract.ID{c.ID})
		if err != nil || len(rows) == 0 || rows[0].AmendAt.IsZero() || rows[0].AmendAt.After(now) {
			return err
		}
		blocked, wait := false, contract.PendingChangeTimeout
		if scheduled(rows[0]) {
			store, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			if blocked = store.Guard.ForeignReason(now) != ""; blocked && !store.Guard.FrozenAt.IsZero() {
				wait = frozenWait
			}
		}
		rows[0].AmendAt = now.Add(wait)
		if err := tx.PutContracts(ctx, rows); err != nil {
			return err
		}
		*c, ours = rows[0], !blocked
		return nil
	})
	return ours, err
}

// frozenWait is how long scheduled changes are put off while the store is frozen.
const frozenWait = time.Hour

// scheduled reports whether the contract's next change was scheduled before, instead of
// requested now. After a restore or a copy of the database it may no longer be wanted.
func scheduled(c contract.Contract) bool {
	return c.Split == nil && (c.Moving == nil || c.Moving.Actor.Source == activity.SystemEvent)
}

// abandon gives up a split or a pending change that cannot be made.
func (s *Service) abandon(ctx context.Context, of shop.ID, c contract.Contract, why error) error {
	event := activity.SplitContract
	if c.Split == nil {
		event = activity.ProductReplace
	}
	return s.UpdateRow(ctx, of, &c, func(c *contract.Contract) error {
		if c.Split == nil {
			c.Pending = nil
		}
		split.EndSplit(c)
		return nil
	}, activity.Entry{
		EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: event, Status: activity.Failure,
		Actor: activity.System, At: s.Clock.Now(), Info: activity.Details(amend.Failure{Reason: why.Error()}),
	})
}
