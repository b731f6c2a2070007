package billing

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// SkipNextCommand asks to skip the next order of a contract.
type SkipNextCommand struct {
	Line     shop.Line
	Contract contract.ID
	Actor    activity.Actor
}

// SkipNext skips the attempt of a contract that falls due first, as Skip does
// with one that is named.
func (s *Service) SkipNext(ctx context.Context, of shop.ID, cmd SkipNextCommand) (Record, error) {
	t := target{by: cmd.Actor, line: cmd.Line, next: cmd.Contract}
	return s.change(ctx, of, t, func(r *Record, now time.Time) ([]activity.Entry, error) {
		return skip(r, cmd.Actor, now)
	})
}

// NoteCommand replaces the note of one upcoming order.
type NoteCommand struct {
	Line    shop.Line
	Attempt AttemptID
	Note    string // empty clears
	Actor   activity.Actor
}

// SetNote replaces the note of an order that still waits. The same note again
// changes nothing.
func (s *Service) SetNote(ctx context.Context, of shop.ID, cmd NoteCommand) (Record, error) {
	t := target{by: cmd.Actor, line: cmd.Line, attempt: cmd.Attempt}
	return s.change(ctx, of, t, func(r *Record, now time.Time) ([]activity.Entry, error) {
		return setNote(r, cmd, now)
	})
}

func setNote(r *Record, cmd NoteCommand, now time.Time) ([]activity.Entry, error) {
	if r.Status.InFlight() {
		return nil, busy(r.Attempt)
	}
	if !r.Status.Upcoming() {
		return nil, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only the note of a QUEUED attempt can be changed", r.ID, r.Status).
			Entity(entity).Code("billingAttemptStatus")
	}
	if cmd.Note == r.Note {
		return nil, nil
	}
	if err := CheckNote(cmd.Note); err != nil {
		return nil, err
	}
	r.Note = cmd.Note
	r.unready()
	return []activity.Entry{
		entryOf(r.Attempt, activity.BillingAttemptUpdated, activity.Success, cmd.Actor, now, outcome{Cycle: r.Cycle, Reason: "the order note was changed"}),
	}, nil
}

// findNext reads a contract and, of its attempts that wait, the one that falls
// due first, under their locks. Another line's contract is not found, nor by a
// subscriber another subscriber's.
func findNext(ctx context.Context, tx Tx, t target) (Record, error) {
	queued, err := tx.AttemptsOf(ctx, []contract.ID{t.next}, Queued)
	if err != nil {
		return Record{}, err
	}
	contracts, err := tx.Contracts(ctx, []contract.ID{t.next})
	if err != nil {
		return Record{}, err
	}
	if len(contracts) == 0 || contracts[0].Line != t.line || contracts[0].HiddenFrom(t.by) {
		return Record{}, fault.New(fault.NotFound, "contract %d does not exist", t.next).Entity("subscriptionContract").Code("contractNotFound")
	}
	first, ok := Earliest(queued)
	if !ok {
		return Record{}, fault.New(fault.FailedPrecondition, "contract %d is %s and has no upcoming order", t.next, contracts[0].Status).Entity(entity).Code("noUpcomingOrder")
	}
	of, err := tx.Shop(ctx)
	return Record{Attempt: first, Of: contracts[0], shop: of}, err
}

// Earliest returns the attempt whose order is made first; false when there is none.
func Earliest(attempts []Attempt) (first Attempt, ok bool) {
	for _, a := range attempts {
		if !ok || a.Precedes(first) {
			first, ok = a, true
		}
	}
	return first, ok
}
