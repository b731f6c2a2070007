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

// Edit changes an attempt. Fields that are nil stay as they are.
type Edit struct {
	Line        shop.Line
	Attempt     billing.AttemptID
	BillingDate *time.Time      // the order is charged on that day, at the store's order time, or later today
	Note        *string         // empty clears
	Status      *billing.Status // only QUEUED to SKIPPED and back
	Actor       activity.Actor
	Permit      Permit // nil: the actor may

	RetryingNeeded, ApplyUsageCharge, UpgradeDowngradeBilling *bool
}

// Edit changes an attempt that waits or has failed.
func (s *Service) Edit(ctx context.Context, of shop.ID, cmd Edit) (billing.Record, error) {
	t := target{by: cmd.Actor, line: cmd.Line, attempt: cmd.Attempt, permit: cmd.Permit}
	var opens opening
	if cmd.BillingDate != nil {
		var err error
		if opens, err = s.openingFor(ctx, of, t, *cmd.BillingDate); err != nil {
			return billing.Record{}, err
		}
	}
	return s.change(ctx, of, t, func(r *draft, now time.Time) ([]activity.Entry, error) {
		r.opens = opens
		return s.edit(r, cmd, now)
	})
}

func (s *Service) edit(r *draft, cmd Edit, now time.Time) ([]activity.Entry, error) {
	if r.Status.InFlight() && !cmd.onlyRepeats(*r) {
		return nil, billing.Busy(r.Attempt)
	}
	var entries []activity.Entry
	if cmd.Status != nil && *cmd.Status != r.Status {
		moved, err := editStatus(r, *cmd.Status, cmd.Actor, now)
		if err != nil {
			return nil, err
		}
		entries = append(entries, moved...)
	} else if r.Status != billing.Queued && r.Status != billing.Failure && !cmd.onlyRepeats(*r) {
		return nil, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only QUEUED and FAILURE attempts can be changed", r.ID, r.Status).
			Entity(billing.AttemptEntity).Code("billingAttemptStatus")
	}
	if cmd.BillingDate != nil && !cmd.BillingDate.Equal(r.BillingDate) {
		entry, err := editDate(r, *cmd.BillingDate, cmd.Actor, now)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry...)
	}
	if changed, err := editMarks(r, cmd); err != nil {
		return nil, err
	} else if changed {
		entries = append(entries, billing.NewEntry(r.Attempt, activity.BillingAttemptUpdated, activity.Success, cmd.Actor, now, billing.EntryInfo{Cycle: r.Cycle}))
	}
	return entries, nil
}

// onlyRepeats reports whether the command says nothing but what is so already.
func (c Edit) onlyRepeats(r draft) bool {
	same := func(want *bool, is bool) bool { return want == nil || *want == is }
	return (c.Status == nil || *c.Status == r.Status) && (c.BillingDate == nil || c.BillingDate.Equal(r.BillingDate)) && (c.Note == nil || *c.Note == r.Note) &&
		same(c.RetryingNeeded, r.RetryingNeeded()) && same(c.ApplyUsageCharge, r.Flags.ApplyUsageCharge) &&
		same(c.UpgradeDowngradeBilling, r.Flags.UpgradeDowngradeBilling)
}

func editStatus(r *draft, to billing.Status, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	switch {
	case r.Status == billing.Queued && to == billing.Skipped:
		return skip(r, by, now)
	case r.Status == billing.Skipped && to == billing.Queued:
		return unskip(r, by, now)
	}
	return nil, fault.New(fault.FailedPrecondition, "the status of billing attempt %d cannot be set from %s to %s: only QUEUED to SKIPPED and back", r.ID, r.Status, to).
		Entity(billing.AttemptEntity).Code("billingAttemptStatus").Field("status")
}

func editDate(r *draft, date time.Time, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	if err := r.Of.CheckCommitment(r.shop.Settings, by); err != nil {
		return nil, err
	}
	if r.Status != billing.Queued && r.Status != billing.Failure {
		return nil, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only QUEUED and FAILURE attempts can be given another date", r.ID, r.Status).
			Entity(billing.AttemptEntity).Code("billingAttemptStatus").Field("billingDate")
	}
	if err := checkDate(date, now); err != nil {
		return nil, err
	}
	before := r.BillingDate
	cal, err := r.shop.Calendar()
	if err != nil {
		return nil, err
	}
	effective := billing.OrderAt(date, now, cal)
	if effective.Equal(before) {
		return nil, nil
	}
	if err := r.opens.allows(*r, effective, cal); err != nil {
		return nil, err
	}
	r.BillingDate, r.Moved = effective, true
	if r.Status == billing.Queued {
		r.ErrorMessage = "" // it was about another date
	}
	if r.DueAt = effective; r.Status == billing.Queued {
		r.PublishAt = now // a failed cycle is charged again on the date; the platform's own is past
	} else if r.Dunning.State.Live() {
		r.Dunning.Retry(dunning.ByHand, effective)
		billing.SyncCase(&r.Of, r.Attempt, r.shop)
	}
	return []activity.Entry{
		billing.NewEntry(r.Attempt, activity.NextBillingDateChange, activity.Success, by, now, billing.EntryInfo{
			Cycle: r.Cycle, From: before.Format(time.RFC3339), To: effective.Format(time.RFC3339),
		}),
	}, nil
}

// maxYearsAhead is how far ahead a new billing date may lie.
const maxYearsAhead = 5

// checkDate says whether anything may be charged on a date that a person asks for.
func checkDate(date, now time.Time) error {
	if date.Before(now.Add(-billing.PastTolerance)) {
		return fault.New(fault.Invalid, "billingDate %s is in the past", date.UTC().Format(time.RFC3339)).
			Entity(billing.AttemptEntity).Code("billingDatePast").Field("billingDate")
	}
	if date.After(now.AddDate(maxYearsAhead, 0, 0)) {
		return fault.New(fault.Invalid, "billingDate %s is more than %d years ahead", date.UTC().Format(time.RFC3339), maxYearsAhead).
			Entity(billing.AttemptEntity).Code("billingDateTooFar").Field("billingDate")
	}
	return nil
}

func editMarks(r *draft, cmd Edit) (changed bool, err error) {
	if cmd.RetryingNeeded != nil && r.HadCase() && *cmd.RetryingNeeded != r.RetryingNeeded() {
		return false, fault.New(fault.Invalid, "field 'retryingNeeded' of billing attempt %d says what the service does about its decline and cannot be changed", r.ID).
			Entity(billing.AttemptEntity).Code("fieldReadOnly").Field("retryingNeeded")
	}
	if cmd.Note != nil && *cmd.Note != r.Note {
		if err := billing.CheckNote(*cmd.Note); err != nil {
			return false, err
		}
		r.Note, changed = *cmd.Note, true
		r.ResetPreparation()
	}
	for _, f := range []struct {
		want *bool
		flag *bool
	}{
		{cmd.RetryingNeeded, &r.Flags.RetryingNeeded},
		{cmd.ApplyUsageCharge, &r.Flags.ApplyUsageCharge},
		{cmd.UpgradeDowngradeBilling, &r.Flags.UpgradeDowngradeBilling},
	} {
		if f.want != nil && *f.want != *f.flag {
			*f.flag, changed = *f.want, true
		}
	}
	return changed, nil
}
