package command

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Declined names an order whose charge was declined.
type Declined struct {
	Line    shop.Line
	Attempt billing.AttemptID
	Actor   activity.Actor
}

// StopRetries has a declined order no longer charged by plan. The customer can still pay for it
// with another payment method until the plan's end, when the store's final action is taken.
func (s *Service) StopRetries(ctx context.Context, of shop.ID, cmd Declined) (billing.Record, error) {
	return s.change(ctx, of, cmd.target(), func(r *draft, now time.Time) ([]activity.Entry, error) {
		return stopRetries(r, cmd.Actor, now)
	})
}

// GiveUp skips a declined order: it is not charged, and the contract goes on with the next one.
func (s *Service) GiveUp(ctx context.Context, of shop.ID, cmd Declined) (billing.Record, error) {
	return s.change(ctx, of, cmd.target(), func(r *draft, now time.Time) ([]activity.Entry, error) {
		return giveUp(r, cmd.Actor, now)
	})
}

func stopRetries(r *draft, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	if err := r.checkUnpaid(); err != nil {
		return nil, err
	}
	if r.Dunning.State != dunning.Open || r.Dunning.RetryAt.IsZero() {
		return nil, fault.New(fault.FailedPrecondition, "no retry of billing attempt %d is planned", r.ID).Entity(billing.AttemptEntity).Code("noRetryPlanned")
	}
	g, err := billing.CaseInputs(r.shop, r.Attempt)
	if err != nil {
		return nil, err
	}
	r.Dunning.LeaveToCustomer(g)
	r.DueAt = r.Dunning.NextDue(g)
	billing.SyncCase(&r.Of, r.Attempt, r.shop)
	return r.note(activity.DunningAttemptSkipped, activity.Skipped, by, now, "no more retries by plan: the customer can change the payment method"), nil
}

func giveUp(r *draft, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	if err := r.checkUnpaid(); err != nil {
		return nil, err
	}
	if err := r.Of.CheckCommitment(r.shop.Settings, by); err != nil {
		return nil, err
	}
	if err := r.EndWithoutCharge(billing.SkippedDunning, billing.Record{Attempt: r.Attempt, Of: r.Of}); err != nil {
		return nil, err
	}
	r.DueAt, r.Dunning.Action = time.Time{}, dunning.Skip
	r.Dunning.Close(dunning.Lost, now)
	billing.SyncCase(&r.Of, r.Attempt, r.shop)
	return r.note(activity.DunningSkipped, activity.Success, by, now, "given up on request"), nil
}

func (c Declined) target() target { return target{by: c.Actor, line: c.Line, attempt: c.Attempt} }

// checkUnpaid refuses an order whose charge is in flight, or that is not unpaid.
func (r draft) checkUnpaid() error {
	switch {
	case r.Status.InFlight(), r.Of.Moving != nil, r.Of.Split != nil:
		return billing.Busy(r.Attempt)
	case r.Status != billing.Failure || !r.Dunning.State.Live():
		return fault.New(fault.FailedPrecondition, "billing attempt %d is %s and has no open case of a declined charge", r.ID, r.Status).
			Entity(billing.AttemptEntity).Code("billingAttemptStatus")
	}
	return nil
}

func (r draft) note(event activity.EventType, status activity.Status, by activity.Actor, now time.Time, reason string) []activity.Entry {
	return []activity.Entry{billing.NewEntry(r.Attempt, event, status, by, now, billing.EntryInfo{Cycle: r.Cycle, Try: r.Try, ErrorCode: r.ErrorCode, Reason: reason})}
}
