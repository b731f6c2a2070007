package command

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Skip skips an upcoming attempt, or undoes that.
type Skip struct {
	Line     shop.Line
	Attempt  billing.AttemptID
	Contract contract.ID // must be the attempt's when given; 0: not given
	Prepaid  *bool       // must fit the contract when given
	Actor    activity.Actor
	Permit   Permit // nil: the actor may
}

// Skip skips an upcoming attempt. The contract's next billing date moves to the following cycle,
// and the skip is published.
func (s *Service) Skip(ctx context.Context, of shop.ID, cmd Skip) (billing.Record, error) {
	return s.change(ctx, of, cmd.target(), func(r *draft, now time.Time) ([]activity.Entry, error) {
		if err := cmd.check(*r); err != nil {
			return nil, err
		}
		return skip(r, cmd.Actor, now)
	})
}

// Unskip puts a skipped attempt back into the queue.
func (s *Service) Unskip(ctx context.Context, of shop.ID, cmd Skip) (billing.Record, error) {
	return s.change(ctx, of, cmd.target(), func(r *draft, now time.Time) ([]activity.Entry, error) {
		if err := cmd.check(*r); err != nil {
			return nil, err
		}
		return unskip(r, cmd.Actor, now)
	})
}

func (c Skip) target() target {
	return target{by: c.Actor, line: c.Line, attempt: c.Attempt, permit: c.Permit}
}

func (c Skip) check(r draft) error {
	if c.Contract != 0 && c.Contract != r.Of.ID {
		return fault.New(fault.Invalid, "billing attempt %d belongs to another contract than %d", r.ID, c.Contract).
			Entity(billing.AttemptEntity).Code("contractMismatch").Field("subscriptionContractId")
	}
	if c.Prepaid != nil && *c.Prepaid != r.Of.Prepaid() {
		return fault.New(fault.Invalid, "isPrepaid=%t does not fit contract %d, which is %s", *c.Prepaid, r.Of.ID, prepaidWords(r.Of)).
			Entity(billing.AttemptEntity).Code("prepaidMismatch").Field("isPrepaid")
	}
	return nil
}

func prepaidWords(c contract.Contract) string {
	if c.Prepaid() {
		return "prepaid"
	}
	return "paid for each delivery"
}

func skip(r *draft, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	if err := r.Of.CheckCommitment(r.shop.Settings, by); err != nil {
		return nil, err
	}
	if r.Status.InFlight() {
		return nil, billing.Busy(r.Attempt)
	}
	if r.Status != billing.Queued {
		return nil, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only a QUEUED attempt can be skipped", r.ID, r.Status).
			Entity(billing.AttemptEntity).Code("billingAttemptStatus")
	}
	was := r.Record
	was.OneOffs = nil // they go to the next order
	if err := r.EndWithoutCharge(billing.Skipped, was); err != nil {
		return nil, err
	}
	r.ErrorMessage = ""
	r.DueAt, r.PublishAt = time.Time{}, now
	return []activity.Entry{billing.NewEntry(r.Attempt, activity.BillingAttemptSkipped, activity.Success, by, now, billing.EntryInfo{Cycle: r.Cycle})}, nil
}

func unskip(r *draft, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	if r.Status != billing.Skipped {
		return nil, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only a SKIPPED attempt can be taken back", r.ID, r.Status).
			Entity(billing.AttemptEntity).Code("billingAttemptStatus")
	}
	if r.BillingDate.Before(now.Add(-billing.PastTolerance)) {
		return nil, fault.New(fault.FailedPrecondition, "the date of billing attempt %d has passed", r.ID).Entity(billing.AttemptEntity).Code("billingDatePast")
	}
	if r.Of.Status != contract.Active {
		return nil, fault.New(fault.FailedPrecondition, "contract %d is %s", r.Of.ID, r.Of.Status).Entity(billing.AttemptEntity).Code("contractNotActive")
	}
	if r.Of.PastLastCycle(r.Cycle) {
		last, _ := r.Of.LastCycle()
		return nil, fault.New(fault.FailedPrecondition, "contract %d ends with cycle %d: the order of cycle %d does not come back", r.Of.ID, last, r.Cycle).Entity(billing.AttemptEntity).Code("contractEnds")
	}
	if err := r.ChangeStatus(billing.Queued); err != nil {
		return nil, err
	}
	r.ErrorMessage = ""
	r.DueAt, r.PublishAt = r.BillingDate, now
	return []activity.Entry{billing.NewEntry(r.Attempt, activity.BillingAttemptUpdated, activity.Success, by, now, billing.EntryInfo{Cycle: r.Cycle, Reason: billing.NoLongerSkipped})}, nil
}
