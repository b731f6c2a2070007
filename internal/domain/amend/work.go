package amend

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// RunDue is the task of doing what a shop's contracts wait for: the rest of a split
// that was left undone, and changes whose day has come.
type RunDue struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (RunDue) Kind() string { return "amend_work" }

// Due finds contracts that wait.
type Finder interface {
	// ContractsToAmend returns at most limit contracts of the shop whose AmendAt
	// is at or before now, earliest first.
	ContractsToAmend(ctx context.Context, of shop.ID, now time.Time, limit int) ([]contract.Contract, error)
}

// batch is how many contracts are taken up at once.
const batch = 50

// RunDue does what the shop's contracts wait for. What the platform refuses is
// given up, and the log says why; what fails otherwise is tried again later. Of a store
// that may not be charged only what people ask for is done.
func (s *Service) RunDue(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		due, err := s.Due.ContractsToAmend(ctx, of, s.Clock.Now(), batch)
		if err != nil || len(due) == 0 {
			return err
		}
		for _, c := range due {
			ours, err := s.lease(ctx, of, &c)
			if err == nil && ours {
				err = s.attend(ctx, of, c)
			}
			if err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// attend does the first of what the contract waits for and is due.
func (s *Service) attend(ctx context.Context, of shop.ID, c contract.Contract) error {
	now := s.Clock.Now()
	due := func(t time.Time) bool { return !t.IsZero() && !t.After(now) }
	var err error
	switch {
	case c.Split != nil:
		if err = s.resume(ctx, of, c); final(err) {
			err = s.giveUp(ctx, of, c, err)
		}
		return err
	case due(c.ChangesAt()):
		if err = s.downgrade(ctx, of, c); final(err) {
			err = s.giveUp(ctx, of, c, err)
		}
		return err
	case c.Moving != nil:
		if err = s.finish(ctx, of, c, false); err != nil && !final(err) {
			err = s.tellLater(ctx, of, c, err)
		}
	case c.EndsAfterDunning():
		err = s.end(ctx, of, c)
	case c.Resumes() && due(c.Pause.Until):
		err = s.bring(ctx, of, c, contract.Active)
	case c.Ends() && c.Ending.Why == contract.EndOfTerm && due(c.Ending.At):
		err = s.endTerm(ctx, of, c)
	case c.Ends() && c.Ending.Why == contract.EndOfMinimum && (due(c.Ending.At) || c.Committed() == 0):
		err = s.endCommitment(ctx, of, c)
	case c.Status == contract.Active && due(c.ExpireAt):
		err = s.bring(ctx, of, c, contract.Expired)
	default:
		return s.keep(ctx, of, &c, func(c *contract.Contract) error { c.ResetAmendAt(); return nil })
	}
	switch {
	case final(err) && c.EndsAfterDunning() && !gone(err):
		err = s.cannotEnd(ctx, of, c, err)
	case final(err):
		err = s.putOff(ctx, of, c, err)
	}
	return err
}

// resume finishes a split that was left undone.
func (s *Service) resume(ctx context.Context, of shop.ID, c contract.Contract) error {
	store, err := s.store(ctx, of)
	if err == nil {
		_, err = s.split(ctx, store, c, false)
	}
	return err
}

// final reports whether trying again would end the same way.
func final(err error) bool {
	return fault.Is(err, fault.FailedPrecondition) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid)
}

// lease puts off the next time that somebody acts on the contract, and reads it anew.
// It reports false when somebody else is at it, or has been, and when the contract waits
// until its store may be charged.
func (s *Service) lease(ctx context.Context, of shop.ID, c *contract.Contract) (ours bool, err error) {
	err = s.Store.Update(ctx, of, func(tx intake.Tx) error {
		ours = false
		now := s.Clock.Now()
		rows, err := tx.Contracts(ctx, []contract.ID{c.ID})
		if err != nil || len(rows) == 0 || rows[0].AmendAt.IsZero() || rows[0].AmendAt.After(now) {
			return err
		}
		stands, wait := false, PendingChangeTimeout
		if unasked(rows[0]) {
			store, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			if stands = store.Guard.BlockReason(now) != ""; stands && !store.Guard.FrozenAt.IsZero() {
				wait = frozenWait
			}
		}
		rows[0].AmendAt = now.Add(wait)
		if err := tx.PutContracts(ctx, rows); err != nil {
			return err
		}
		*c, ours = rows[0], !stands
		return nil
	})
	return ours, err
}

// frozenWait is how long what a contract waits for is left alone while its store is
// frozen.
const frozenWait = time.Hour

// unasked reports whether what is done about the contract next is done because its time
// has come, and not because somebody asks for it now. Data that were put back from a
// backup, or copied, do not know whether it is wanted still.
func unasked(c contract.Contract) bool {
	return c.Split == nil && (c.Moving == nil || c.Moving.Actor.Source == activity.SystemEvent)
}

// giveUp ends the waiting for what cannot be done.
func (s *Service) giveUp(ctx context.Context, of shop.ID, c contract.Contract, why error) error {
	event := activity.SplitContract
	if c.Split == nil {
		event = activity.ProductReplace
	}
	return s.keep(ctx, of, &c, func(c *contract.Contract) error {
		if c.Split == nil {
			c.Pending = nil
		}
		endSplit(c)
		return nil
	}, activity.Entry{
		EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: event, Status: activity.Failure,
		Actor: activity.System, At: s.Clock.Now(), Info: activity.Details(failure{Reason: why.Error()}),
	})
}

// failure is the information of an entry about what could not be done.
type failure struct {
	Reason string `json:"reason"`
}

// keep changes what only the service keeps of a contract, and shows it as it is
// then.
func (s *Service) keep(ctx context.Context, of shop.ID, c *contract.Contract, alter func(*contract.Contract) error, entries ...activity.Entry) error {
	return s.keepAfter(ctx, of, c, func(_ intake.Tx, c *contract.Contract) error { return alter(c) }, entries...)
}

// keepAfter is keep for what is decided on more than the contract's own row.
func (s *Service) keepAfter(
	ctx context.Context, of shop.ID, c *contract.Contract, alter func(intake.Tx, *contract.Contract) error, entries ...activity.Entry,
) error {
	return s.Store.Update(ctx, of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{c.ID})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fault.New(fault.NotFound, "subscription contract %d does not exist", c.ID).Entity(entity).Code("contractNotFound")
		}
		if err := alter(tx, &rows[0]); err != nil {
			return err
		}
		rows[0].UpdatedAt = s.Clock.Now()
		if err := tx.PutContracts(ctx, rows); err != nil {
			return err
		}
		*c = rows[0]
		return tx.Record(ctx, entries...)
	})
}
