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

// SkipNext skips the attempt of a contract that falls due first.
type SkipNext struct {
	Line     shop.Line
	Contract contract.ID
	Actor    activity.Actor
	Permit   Permit // nil: the actor may
}

// SkipNext skips the attempt of a contract that falls due first, as Skip does
// with one that is named.
func (s *Service) SkipNext(ctx context.Context, of shop.ID, cmd SkipNext) (billing.Record, error) {
	t := target{by: cmd.Actor, line: cmd.Line, next: cmd.Contract, permit: cmd.Permit}
	return s.change(ctx, of, t, func(r *draft, now time.Time) ([]activity.Entry, error) {
		return skip(r, cmd.Actor, now)
	})
}

// Note replaces the note of one upcoming order.
type Note struct {
	Line    shop.Line
	Attempt billing.AttemptID
	Note    string // empty clears
	Actor   activity.Actor
	Permit  Permit // nil: the actor may
}

// SetNote replaces the note of an order that still waits. The same note again
// changes nothing.
func (s *Service) SetNote(ctx context.Context, of shop.ID, cmd Note) (billing.Record, error) {
	t := target{by: cmd.Actor, line: cmd.Line, attempt: cmd.Attempt, permit: cmd.Permit}
	return s.change(ctx, of, t, func(r *draft, now time.Time) ([]activity.Entry, error) {
		return setNote(r, cmd, now)
	})
}

func setNote(r *draft, cmd Note, now time.Time) ([]activity.Entry, error) {
	if r.Status.InFlight() {
		return nil, billing.Busy(r.Attempt)
	}
	if !r.Status.Upcoming() {
		return nil, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only the note of a QUEUED attempt can be changed", r.ID, r.Status).
			Entity(billing.AttemptEntity).Code("billingAttemptStatus")
	}
	if cmd.Note == r.Note {
		return nil, nil
	}
	if err := billing.CheckNote(cmd.Note); err != nil {
		return nil, err
	}
	r.Note = cmd.Note
	r.ResetPreparation()
	return []activity.Entry{
		billing.NewEntry(r.Attempt, activity.BillingAttemptUpdated, activity.Success, cmd.Actor, now, billing.EntryInfo{Cycle: r.Cycle, Reason: "the order note was changed"}),
	}, nil
}
