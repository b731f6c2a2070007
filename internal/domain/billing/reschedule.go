package billing

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// RescheduleCommand asks for another date of one order or, with Future, of all
// that follow it too.
type RescheduleCommand struct {
	Line        shop.Line
	Attempt     AttemptID   // 0: the contract's next order
	Contract    contract.ID // counts only without Attempt
	BillingDate time.Time   // the order is charged on that day, at the store's order time, or later today
	Future      bool        // the contract's calendar counts from that date on
	Actor       activity.Actor
}

// Reschedule moves an order that waits or has failed.
func (s *Service) Reschedule(ctx context.Context, of shop.ID, cmd RescheduleCommand) (Record, error) {
	if err := checkDate(cmd.BillingDate, s.Clock.Now()); err != nil {
		return Record{}, err
	}
	t := target{by: cmd.Actor, line: cmd.Line, attempt: cmd.Attempt, next: cmd.Contract}
	opens, err := s.openingFor(ctx, of, t, cmd.BillingDate)
	if err != nil {
		return Record{}, err
	}
	return s.change(ctx, of, t, func(r *Record, now time.Time) ([]activity.Entry, error) {
		r.opens = opens
		return reschedule(r, cmd, now)
	})
}

// reschedule moves the attempt's date. With Future the contract's series begins
// anew with its cycle: what follows is counted from the date, and not from where
// the series stood. Orders before it, and later ones whose date a person chose,
// keep theirs.
func reschedule(r *Record, cmd RescheduleCommand, now time.Time) ([]activity.Entry, error) {
	if r.Status.InFlight() {
		return nil, busy(r.Attempt)
	}
	entries, err := editDate(r, cmd.BillingDate, cmd.Actor, now)
	if err != nil || !cmd.Future {
		return entries, err
	}
	series := contract.Series{Cycle: r.Cycle, Start: r.BillingDate, Moved: true}
	if r.Of.SeriesOf(r.Cycle) == series {
		return entries, nil
	}
	r.Of.Turn(series, now)
	r.restarts = true
	if r.PublishAt = now; len(entries) == 0 { // the order keeps its date, and gives it to those after it
		entries = append(entries, entryOf(r.Attempt, activity.NextBillingDateChange, activity.Success, cmd.Actor, now, outcome{
			Cycle: r.Cycle, To: r.BillingDate.Format(time.RFC3339), Reason: "later orders are counted from this date",
		}))
	}
	return entries, nil
}

// redate gives the upcoming attempts of contracts whose series begins anew their
// new dates, save those that a person chose.
func redate(ctx context.Context, tx Tx, of shop.Shop, restarted []contract.Contract, now time.Time) error {
	if len(restarted) == 0 {
		return nil
	}
	cal, err := of.Calendar()
	if err != nil {
		return err
	}
	ids := make([]contract.ID, len(restarted))
	contracts := make(map[contract.ID]contract.Contract, len(restarted))
	for i, c := range restarted {
		ids[i], contracts[c.ID] = c.ID, c
	}
	queued, err := tx.AttemptsOf(ctx, ids, Queued)
	if err != nil {
		return err
	}
	return tx.PutAttempts(ctx, redated(queued, contracts, cal, now))
}

// redated returns the attempts that have other dates by their contracts' series, with
// those.
func redated(queued []Attempt, contracts map[contract.ID]contract.Contract, cal cadence.Calendar, now time.Time) []Attempt {
	var moved []Attempt
	for _, a := range queued {
		c := contracts[a.Contract]
		if a.Cycle <= c.Series.Cycle || a.Moved {
			continue
		}
		date := c.DueOn(a.Cycle, cal)
		if date.Equal(a.BillingDate) {
			continue
		}
		a.BillingDate, a.DueAt, a.UpdatedAt = date, date, now
		if c.SeriesOf(a.Cycle).Moved {
			a.PublishAt = now
		}
		moved = append(moved, a)
	}
	return moved
}
