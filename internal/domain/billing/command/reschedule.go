package command

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Reschedule moves one order or, with Future, all later ones too.
type Reschedule struct {
	Line        shop.Line
	Attempt     billing.AttemptID // 0: the contract's next order
	Contract    contract.ID       // counts only without Attempt
	BillingDate time.Time         // the order is charged on that day, at the store's order time, or later today
	Future      bool              // the contract's calendar counts from that date on
	Actor       activity.Actor
	Permit      Permit // nil: the actor may
}

// Reschedule moves an order that waits or has failed.
func (s *Service) Reschedule(ctx context.Context, of shop.ID, cmd Reschedule) (billing.Record, error) {
	if err := checkDate(cmd.BillingDate, s.Clock.Now()); err != nil {
		return billing.Record{}, err
	}
	t := target{by: cmd.Actor, line: cmd.Line, attempt: cmd.Attempt, next: cmd.Contract, permit: cmd.Permit}
	opens, err := s.openingFor(ctx, of, t, cmd.BillingDate)
	if err != nil {
		return billing.Record{}, err
	}
	return s.change(ctx, of, t, func(r *draft, now time.Time) ([]activity.Entry, error) {
		r.opens = opens
		return reschedule(r, cmd, now)
	})
}

// reschedule moves the attempt. With Future the contract's series starts again with its cycle:
// later orders are counted from the new date. Earlier orders, and later ones that a person
// moved, keep theirs.
func reschedule(r *draft, cmd Reschedule, now time.Time) ([]activity.Entry, error) {
	if r.Status.InFlight() {
		return nil, billing.Busy(r.Attempt)
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
		entries = append(entries, billing.NewEntry(r.Attempt, activity.NextBillingDateChange, activity.Success, cmd.Actor, now, billing.EntryInfo{
			Cycle: r.Cycle, To: r.BillingDate.Format(time.RFC3339), Reason: "later orders are counted from this date",
		}))
	}
	return entries, nil
}

// restart starts the contract's calendar again with the attempt and gives later attempts their
// new dates. If the order waits behind a newer one, the dates follow after both.
func (r *draft) restart(ctx context.Context, tx billing.Tx, now time.Time) error {
	there, err := tx.AttemptsOf(ctx, []contract.ID{r.Of.ID})
	if err != nil {
		return err
	}
	skips := make(map[int]bool)
	for _, a := range there {
		skips[a.Cycle] = a.SkipsAhead(now)
	}
	series := r.restarts
	if following := queue.Following(queue.LastMade(there, now), r.Of.Series.Cycle, skips); r.Cycle < following {
		series = series.Before(following)
	}
	r.Of.BeginSeries(series, now)
	return queue.Redate(ctx, tx, r.shop, []contract.Contract{r.Of}, now)
}
