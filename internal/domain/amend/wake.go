package amend

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// aDay is how long the service waits before it tries again what the platform has
// refused, and before it looks again at orders that somebody is committed to.
const aDay = 24 * time.Hour

// finish tells the platform of a change of status that was left undone, or is told
// for the first time.
func (s *Service) finish(ctx context.Context, of shop.ID, c contract.Contract, first bool) error {
	store, err := s.store(ctx, of)
	if err == nil {
		_, err = s.move(ctx, store, c, first, c.AmendAt)
	}
	return err
}

// tellLater lets a change of status wait, longer every time, of which the platform
// was told again and did not answer.
func (s *Service) tellLater(ctx context.Context, of shop.ID, c contract.Contract, why error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.Log.WarnContext(ctx, "a change of status waits to be told again", "contract", c.ID, "to", c.Moving.To, "error", why)
	at := c.Moving.At
	return s.keep(ctx, of, &c, func(c *contract.Contract) error {
		if c.Moving != nil && c.Moving.At.Equal(at) {
			c.Moving.Defer(s.Clock.Now())
			c.ResetAmendAt()
		}
		return nil
	})
}

// bring makes the contract what it was waiting to become, unless it was changed since it
// was read: somebody may want it to be something else. It is looked at anew then.
func (s *Service) bring(ctx context.Context, of shop.ID, c contract.Contract, to contract.Status) error {
	read, first, changed := c.Version, false, false
	err := s.keep(ctx, of, &c, func(c *contract.Contract) error {
		changed, first = c.Version != read, c.Moving == nil
		if changed || !first {
			return nil
		}
		c.Moving = &contract.Move{To: to, Actor: activity.System, At: s.Clock.Now()}
		if to == contract.Cancelled {
			c.Moving.Feedback, c.Moving.Note = c.CancellationFeedback, c.CancellationNote
		}
		c.AmendAt = c.Moving.At.Add(PendingChangeTimeout)
		return nil
	})
	if err != nil || changed {
		return err
	}
	return s.finish(ctx, of, c, first)
}

// calendar reads the store and its calendar.
func (s *Service) calendar(ctx context.Context, of shop.ID) (shop.Shop, cadence.Calendar, error) {
	store, err := s.store(ctx, of)
	if err != nil {
		return shop.Shop{}, cadence.Calendar{}, err
	}
	cal, err := store.Calendar()
	return store, cal, err
}

// endTerm carries out a cancellation that waits for deliveries. A charge that was
// under way when it was asked for may have paid for more of them: it waits for those.
func (s *Service) endTerm(ctx context.Context, of shop.ID, c contract.Contract) error {
	_, cal, err := s.calendar(ctx, of)
	if err != nil {
		return err
	}
	end := c.Term(cal).End
	if !end.After(s.Clock.Now()) {
		return s.bring(ctx, of, c, contract.Cancelled)
	}
	return s.keep(ctx, of, &c, func(c *contract.Contract) error {
		if c.Ending != nil {
			c.Ending.At = end
		}
		c.ResetAmendAt()
		return nil
	})
}

// endCommitment looks at a cancellation that waits for orders. Once they are
// completed it is carried out, or waits for what the last one has paid for. While
// they are not, it waits on: for an order that may still be made, or for another
// one in the place of one that was given up.
func (s *Service) endCommitment(ctx context.Context, of shop.ID, c contract.Contract) error {
	store, cal, err := s.calendar(ctx, of)
	if err != nil {
		return err
	}
	over := false
	err = s.Store.Update(ctx, of, func(tx intake.Tx) error {
		now := s.Clock.Now()
		rows, err := tx.Contracts(ctx, []contract.ID{c.ID})
		if err != nil || len(rows) == 0 {
			return err
		}
		c := &rows[0]
		if !c.Ends() || c.Ending.Why != contract.EndOfMinimum {
			return nil
		}
		if c.Committed() == 0 && deliveriesLeft(*c, standing{calendar: cal}, now) == 0 {
			over = true
			return nil
		}
		attempts, err := tx.AttemptsOf(ctx, []contract.ID{c.ID})
		if err != nil {
			return err
		}
		g := standing{settings: store.Settings, calendar: cal}.sees(attempts, now)
		waits := false
		for _, a := range attempts {
			waits = waits || a.Cycle <= c.Ending.Cycle && (a.Status == billing.Queued || a.Status.InFlight() || a.Status == billing.Failure && (!a.DueAt.IsZero() || a.Dunning.State == dunning.Held))
		}
		switch {
		case c.Committed() == 0:
			c.Ending = endOfTerm(*c, g)
			c.ResetAmendAt()
		case waits:
			c.AmendAt = now.Add(aDay)
		default:
			c.Ending.Cycle = max(c.Ending.Cycle, c.Series.Cycle-1) + c.Committed() // what passed in a pause was no order
			c.Ending.At = c.DueOn(max(c.Ending.Cycle, c.Series.Cycle), cal)
			c.AmendAt = now.Add(aDay)
		}
		c.UpdatedAt = now
		if err := tx.PutContracts(ctx, rows); err != nil {
			return err
		}
		if err := queue.Limit(ctx, tx, store, []*contract.Contract{c}, now); err != nil {
			return err
		}
		return queue.Refill(ctx, tx, store, rows, now)
	})
	if err != nil || !over {
		return err
	}
	return s.bring(ctx, of, c, contract.Cancelled)
}

// putOff lets what the platform refuses, or cannot be asked for, be tried again on
// the next day. The contract keeps what it waits for: a cancellation that was
// asked for is never forgotten.
func (s *Service) putOff(ctx context.Context, of shop.ID, c contract.Contract, why error) error {
	event := activity.SubscriptionContractUpdated
	switch {
	case c.Resumes():
		event = activity.ContractActivated
	case c.Ends():
		event = activity.ContractCancelled
	}
	return s.keep(ctx, of, &c, func(c *contract.Contract) error {
		c.AmendAt = s.Clock.Now().Add(aDay)
		return nil
	}, activity.Entry{
		EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: event, Status: activity.Failure,
		Actor: activity.System, At: s.Clock.Now(), Info: activity.Details(failure{Reason: why.Error()}),
	})
}
