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
	r.restarts = series
	if r.PublishAt = now; len(entries) == 0 { // the order keeps its date, and gives it to those after it
		entries = append(entries, entryOf(r.Attempt, activity.NextBillingDateChange, activity.Success, cmd.Actor, now, outcome{
			Cycle: r.Cycle, To: r.BillingDate.Format(time.RFC3339), Reason: "later orders are counted from this date",
		}))
	}
	return entries, nil
}

// turn lets the contract's calendar begin anew with the attempt, and gives the attempts
// that follow it their new dates. After an order that waits behind one that was made
// since, those follow that come after both.
func (r *Record) turn(ctx context.Context, tx Tx, now time.Time) error {
	there, err := tx.AttemptsOf(ctx, []contract.ID{r.Of.ID})
	if err != nil {
		return err
	}
	skips := make(map[int]bool)
	for _, a := range there {
		skips[a.Cycle] = a.SkipsAhead(now)
	}
	series := r.restarts
	if following := Following(reached(there, now), r.Of.Series.Cycle, skips); r.Cycle < following {
		series = series.Before(following)
	}
	r.Of.BeginSeries(series, now)
	return redate(ctx, tx, r.shop, []contract.Contract{r.Of}, now)
}

// redate gives the upcoming attempts of contracts whose series begins anew their
// new dates, save those that a person chose. Those that are skipped get theirs too: a
// skip may be taken back.
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
	ahead, err := tx.AttemptsOf(ctx, ids, Queued, Skipped)
	if err != nil {
		return err
	}
	return tx.PutAttempts(ctx, redated(ahead, contracts, cal, now))
}

// redated returns the attempts that have other dates by their contracts' series, with
// those.
func redated(ahead []Attempt, contracts map[contract.ID]contract.Contract, cal cadence.Calendar, now time.Time) []Attempt {
	var moved []Attempt
	for _, a := range ahead {
		c := contracts[a.Contract]
		begins := a.Cycle == c.Series.Cycle && c.Series.Passed == 0
		if a.Cycle < c.Series.Cycle || begins || a.Moved || a.Status == Skipped && !a.SkipsAhead(now) {
			continue
		}
		date := c.DueOn(a.Cycle, cal)
		if date.Equal(a.BillingDate) {
			continue
		}
		a.BillingDate, a.UpdatedAt = date, now
		if a.Status == Queued {
			a.DueAt = date
			if c.SeriesOf(a.Cycle).Moved {
				a.PublishAt = now
			}
		}
		moved = append(moved, a)
	}
	return moved
}
