package lifecycle

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// retryEvery is how long the service waits before it tries again what the platform has
// refused, and before it checks again for orders that the subscriber is committed to.
const retryEvery = 24 * time.Hour

// sendPendingStatus sends the contract's status change to the platform, for the first
// time or again.
func (s *Service) sendPendingStatus(ctx context.Context, of shop.ID, c contract.Contract, first bool) error {
	store, err := s.ConnectedShop(ctx, of)
	if err == nil {
		_, err = s.sendStatus(ctx, store, c, first, c.AmendAt)
	}
	return err
}

// retryStatusLater puts off a status change that the platform did not answer, longer
// every time.
func (s *Service) retryStatusLater(ctx context.Context, of shop.ID, c contract.Contract, why error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.Log.WarnContext(ctx, "a status change will be sent again", "contract", c.ID, "to", c.Moving.To, "error", why)
	at := c.Moving.At
	return s.UpdateRow(ctx, of, &c, func(c *contract.Contract) error {
		if c.Moving != nil && c.Moving.At.Equal(at) {
			c.Moving.Defer(s.Clock.Now())
			c.ResetAmendAt()
		}
		return nil
	})
}

// setStatus changes the status as scheduled, unless the contract was changed since it
// was read: RunDue then looks at it again.
func (s *Service) setStatus(ctx context.Context, of shop.ID, c contract.Contract, to contract.Status) error {
	read, first, changed := c.Version, false, false
	err := s.UpdateRow(ctx, of, &c, func(c *contract.Contract) error {
		changed, first = c.Version != read, c.Moving == nil
		if changed || !first {
			return nil
		}
		c.Moving = &contract.Move{To: to, Actor: activity.System, At: s.Clock.Now()}
		if to == contract.Cancelled {
			c.Moving.Feedback, c.Moving.Note = c.CancellationFeedback, c.CancellationNote
		}
		c.AmendAt = c.Moving.At.Add(contract.PendingChangeTimeout)
		return nil
	})
	if err != nil || changed {
		return err
	}
	return s.sendPendingStatus(ctx, of, c, first)
}

// calendar reads the store and its calendar.
func (s *Service) calendar(ctx context.Context, of shop.ID) (shop.Shop, cadence.Calendar, error) {
	store, err := s.ConnectedShop(ctx, of)
	if err != nil {
		return shop.Shop{}, cadence.Calendar{}, err
	}
	cal, err := store.Calendar()
	return store, cal, err
}

// cancelAtEndOfTerm cancels a contract at the end of its paid term. If a charge that was
// in flight has paid for more deliveries, the cancellation waits for those.
func (s *Service) cancelAtEndOfTerm(ctx context.Context, of shop.ID, c contract.Contract) error {
	_, cal, err := s.calendar(ctx, of)
	if err != nil {
		return err
	}
	end := c.Term(cal).End
	if !end.After(s.Clock.Now()) {
		return s.setStatus(ctx, of, c, contract.Cancelled)
	}
	return s.UpdateRow(ctx, of, &c, func(c *contract.Contract) error {
		if c.Ending != nil {
			c.Ending.At = end
		}
		c.ResetAmendAt()
		return nil
	})
}

// cancelAtEndOfCommitment checks a cancellation that waits for committed orders. When
// they are complete, it cancels the contract or waits for the deliveries that the last
// one paid for. Otherwise it waits for an order that may still be charged, or for
// another one in place of one that was given up.
func (s *Service) cancelAtEndOfCommitment(ctx context.Context, of shop.ID, c contract.Contract) error {
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
		if c.Committed() == 0 && deliveriesLeft(*c, inputs{calendar: cal}, now) == 0 {
			over = true
			return nil
		}
		attempts, err := tx.AttemptsOf(ctx, []contract.ID{c.ID})
		if err != nil {
			return err
		}
		g := inputs{settings: store.Settings, calendar: cal}.withAttempts(attempts, now)
		waits := awaits(attempts, c.Ending.Cycle)
		switch {
		case c.Committed() == 0:
			c.Ending = atEndOfTerm(*c, g)
			c.ResetAmendAt()
		case waits:
			c.AmendAt = now.Add(retryEvery)
		default:
			c.Ending.Cycle = max(c.Ending.Cycle, c.Series.Cycle-1) + c.Committed() // cycles that passed in a pause had no order
			c.Ending.At = c.DueOn(max(c.Ending.Cycle, c.Series.Cycle), cal)
			c.AmendAt = now.Add(retryEvery)
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
	return s.setStatus(ctx, of, c, contract.Cancelled)
}

// awaits reports whether an order up to a cycle may still be charged.
func awaits(attempts []billing.Attempt, last int) bool {
	return slices.ContainsFunc(attempts, func(a billing.Attempt) bool {
		return a.Cycle <= last && (a.Status == billing.Queued || a.Status.InFlight() || a.Status == billing.Failure && (!a.DueAt.IsZero() || a.Dunning.State == dunning.Held))
	})
}

// cancelAfterOrder cancels a contract once the order is made or given up that its cancellation waits
// for. If the order has paid for deliveries, the cancellation waits for those.
func (s *Service) cancelAfterOrder(ctx context.Context, of shop.ID, c contract.Contract) error {
	_, cal, err := s.calendar(ctx, of)
	if err != nil {
		return err
	}
	over := false
	err = s.Store.Update(ctx, of, func(tx intake.Tx) error {
		over = false
		now := s.Clock.Now()
		rows, err := tx.Contracts(ctx, []contract.ID{c.ID})
		if err != nil || len(rows) == 0 {
			return err
		}
		c := &rows[0]
		if !c.Ends() || c.Ending.Why != contract.EndOfOrder {
			return nil
		}
		attempts, err := tx.AttemptsOf(ctx, []contract.ID{c.ID})
		if err != nil {
			return err
		}
		switch g := (inputs{calendar: cal}).withAttempts(attempts, now); {
		case awaits(attempts, c.Ending.Cycle):
			c.AmendAt = now.Add(retryEvery)
		case deliveriesLeft(*c, g, now) > 0:
			c.Ending = atEndOfTerm(*c, g)
			c.ResetAmendAt()
		default:
			over = true
			return nil
		}
		c.UpdatedAt = now
		return tx.PutContracts(ctx, rows)
	})
	if err != nil || !over {
		return err
	}
	return s.setStatus(ctx, of, c, contract.Cancelled)
}

// retryTomorrow puts off a change that the platform refuses, or cannot be asked for, to
// the next day. A cancellation is never dropped.
func (s *Service) retryTomorrow(ctx context.Context, of shop.ID, c contract.Contract, why error) error {
	event := activity.SubscriptionContractUpdated
	switch {
	case c.Resumes():
		event = activity.ContractActivated
	case c.Ends():
		event = activity.ContractCancelled
	}
	return s.UpdateRow(ctx, of, &c, func(c *contract.Contract) error {
		c.AmendAt = s.Clock.Now().Add(retryEvery)
		return nil
	}, activity.Entry{
		EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: event, Status: activity.Failure,
		Actor: activity.System, At: s.Clock.Now(), Info: activity.Details(amend.Failure{Reason: why.Error()}),
	})
}
