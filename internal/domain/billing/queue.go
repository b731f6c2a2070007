package billing

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// planned reports whether a contract has orders to come: it runs, and has a calendar.
func planned(c contract.Contract) bool {
	return c.Status == contract.Active && !c.Series.Start.IsZero()
}

// fill returns the attempts that a contract's queue lacks: the next orders are in it,
// however many of those in it are put off behind others.
func fill(c contract.Contract, q Queue, cal cadence.Calendar, now time.Time) []Attempt {
	if !planned(c) {
		return nil
	}
	var missing []Attempt
	behind := slices.Clone(q.Dates)
	for cycle := q.next(c); !c.PastLastCycle(cycle); cycle++ {
		due := c.DueOn(cycle, cal)
		behind = slices.DeleteFunc(behind, func(date time.Time) bool { return !date.After(due) })
		if q.Waiting+len(missing)-len(behind) >= QueueLength {
			break
		}
		a := upcoming(c, cycle, cal, now)
		missing, behind = append(missing, a), append(behind, a.BillingDate)
	}
	return missing
}

// next returns the first cycle of a contract that has no attempt yet.
func (q Queue) next(c contract.Contract) int { return max(q.LastCycle+1, c.Series.Cycle) }

// readPutOff completes queues of contracts by the dates of those that wait, where one may
// be put off behind an order that has no attempt yet.
func readPutOff(ctx context.Context, tx Tx, contracts []contract.Contract, queues map[contract.ID]Queue, cal cadence.Calendar) error {
	var ids []contract.ID
	for _, c := range contracts {
		if q := queues[c.ID]; planned(c) && q.Latest.After(c.DueOn(q.next(c), cal)) {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	waiting, err := tx.AttemptsOf(ctx, ids, Queued)
	for _, a := range waiting {
		q := queues[a.Contract]
		q.Dates = append(q.Dates, a.BillingDate)
		queues[a.Contract] = q
	}
	return err
}

// Replan makes the upcoming attempts of contracts follow their new series, in the
// caller's transaction: those of its cycles are given its dates and keep their
// numbers, notes and skips, cycles that have none get one, and the others go. Of
// a contract that does not run all go that wait; what people wish of them is left
// in the contract, which Refill writes.
func Replan(ctx context.Context, tx Tx, of shop.Shop, contracts []*contract.Contract, now time.Time) error {
	return reshape(ctx, tx, of, contracts, func(c contract.Contract, there []Attempt, cal cadence.Calendar) (gone, kept []Attempt) {
		return replan(c, there, cal, now)
	}, now)
}

// reshape lets a rule say of each contract which of its attempts go, and which are
// changed or new. What people wish of those that go is left in the contract. Orders that
// waited behind others come back on the days that are left there. One that has fallen
// due never goes: somebody was owed an order, and its end says why there is none.
func reshape(
	ctx context.Context, tx Tx, of shop.Shop, contracts []*contract.Contract,
	rule func(c contract.Contract, there []Attempt, cal cadence.Calendar) (gone, kept []Attempt), now time.Time,
) error {
	if len(contracts) == 0 {
		return nil
	}
	cal, err := of.Calendar()
	if err != nil {
		return err
	}
	ids := make([]contract.ID, len(contracts))
	for i, c := range contracts {
		ids[i] = c.ID
	}
	there, err := tx.AttemptsOf(ctx, ids)
	if err != nil {
		return err
	}
	byContract := ByContract(there)
	var gone []AttemptID
	var kept []Attempt
	var entries []activity.Entry
	for _, c := range contracts {
		dropped, follow := rule(*c, byContract[c.ID], cal)
		made := reached(byContract[c.ID], now)
		for _, a := range dropped {
			if a.BillingDate.After(now) {
				if a.Cycle < made && !c.PastLastCycle(a.Cycle) && c.Status == contract.Active { // it never comes back
					c.AddPassedCycles(1)
				}
				gone = append(gone, a.ID)
				keepWish(c, a, follow, made)
				continue
			}
			entry, err := giveUp(&a, of, *c, now)
			if err != nil {
				return err
			}
			kept, entries = append(kept, a), append(entries, entry)
		}
		if c.Status != contract.Active {
			c.Overrides = keepDates(*c, byContract[c.ID], now)
		}
		follow = append(follow, comeBack(c, byContract[c.ID], made, cal, now)...)
		if len(dropped)+len(follow) > 0 {
			c.QueueUpdatedAt = now
		}
		kept = append(kept, follow...)
	}
	if err := tx.DeleteAttempts(ctx, gone); err != nil {
		return err
	}
	if err := tx.PutAttempts(ctx, kept); err != nil {
		return err
	}
	return tx.Record(ctx, entries...)
}

// Left returns what people wish of the orders of a contract, were those to go that wait.
func Left(c contract.Contract, there []Attempt, now time.Time) []contract.OrderOverride {
	made := reached(there, now)
	for _, a := range there {
		if a.Status == Queued && a.BillingDate.After(now) {
			keepWish(&c, a, nil, made)
		}
	}
	return keepDates(c, there, now)
}

// keepDates returns what people wish of a contract's orders, and when they wanted those that
// they skip: a skip may be taken back.
func keepDates(c contract.Contract, there []Attempt, now time.Time) []contract.OrderOverride {
	for _, a := range there {
		if a.SkipsAhead(now) && a.Moved {
			c.OverrideFor(a.Cycle, a.BillingDate, now)
		}
	}
	return c.Overrides
}

// comeBack returns the attempts of orders that waited behind others, for the days that
// are left of them in the contract. One whose day has passed is left out.
func comeBack(c *contract.Contract, there []Attempt, made int, cal cadence.Calendar, now time.Time) (back []Attempt) {
	if !planned(*c) {
		return nil
	}
	for _, w := range slices.Clone(c.Overrides) {
		has := slices.ContainsFunc(there, func(a Attempt) bool { return a.Cycle == w.Cycle })
		switch {
		case w.Date.IsZero() || w.Cycle >= max(made, c.Series.Cycle) || c.PastLastCycle(w.Cycle) || has:
		case w.Date.After(now):
			back = append(back, upcoming(*c, w.Cycle, cal, now))
		case w.Cycle < made:
			c.AddPassedCycles(1)
			c.Overrides = dropWishes(c.Overrides, w.Cycle, w.Cycle)
		}
	}
	return back
}

// reached returns the highest cycle that was or is being charged, or was given up.
func reached(attempts []Attempt, now time.Time) (cycle int) {
	for _, a := range attempts {
		if !a.Status.Upcoming() && !a.SkipsAhead(now) {
			cycle = max(cycle, a.Cycle)
		}
	}
	return cycle
}

// Following returns the cycle that comes after the highest one that was made, of a
// contract whose calendar begins with a cycle: that, or the first of those right before
// it that people skip.
func Following(made, begins int, skips map[int]bool) int {
	cycle := max(made+1, begins)
	for cycle > made+1 && skips[cycle-1] {
		cycle--
	}
	return cycle
}

// giveUp ends an attempt that has fallen due and waits, and has no place in the
// queue of its contract any more. It ends as it would if it were acted on now.
func giveUp(a *Attempt, of shop.Shop, c contract.Contract, now time.Time) (activity.Entry, error) {
	stop, status, reason := hindrance(*a, inputs{shop: of, contract: c})
	if !stop {
		status, reason = Skipped, "its date had passed when the contract's dates were planned anew"
	}
	if err := a.endWithoutCharge(status, c, 0); err != nil {
		return activity.Entry{}, err
	}
	a.DueAt, a.ErrorMessage, a.UpdatedAt = time.Time{}, reason, now
	return entryOf(*a, activity.BillingAttemptSkipped, activity.Skipped, activity.System, now, outcome{Cycle: a.Cycle, Reason: reason}), nil
}

// replan returns the attempts of one contract that go, and those that are changed
// or new. A cycle that has an attempt, however it ended, never gets another one.
func replan(c contract.Contract, there []Attempt, cal cadence.Calendar, now time.Time) (gone, kept []Attempt) {
	runs := planned(c)
	last := 0
	has := make(map[int]bool, len(there))
	for _, a := range there {
		past := a.Status == Skipped && !a.BillingDate.After(now)
		wished := c.OverriddenOn(a.Cycle)
		switch {
		case a.Status == Queued && runs && a.Cycle < c.Series.Cycle && (wished.After(now) || wished.Equal(a.BillingDate)) && !c.PastLastCycle(a.Cycle): // the calendar goes on from it
			has[a.Cycle] = true
			a.BillingDate, a.DueAt, a.Moved, a.PublishAt, a.UpdatedAt = wished, wished, true, now, now
			kept = append(kept, a)
		case a.Status == Queued && runs && a.Cycle < c.Series.Cycle && a.Moved && !a.BillingDate.After(now) && !c.PastLastCycle(a.Cycle): // wherever the calendar is, it is owed
			has[a.Cycle] = true
		case a.Status == Queued && (!runs || a.Cycle < c.Series.Cycle || c.PastLastCycle(a.Cycle)):
			gone = append(gone, a)
		case a.Status != Queued && a.Status != Skipped:
			has[a.Cycle] = true
		case runs && !past && a.Cycle >= c.Series.Cycle:
			if a.Moved || c.SeriesOf(a.Cycle).Moved || a.Status == Skipped {
				a.PublishAt = now
			}
			if a.Status == Skipped && wished.After(now) {
				a.BillingDate, a.Moved = wished, true
			} else if date := c.DueOn(a.Cycle, cal); !a.Moved || cal.Day(date) != cal.Day(a.BillingDate) { // one that a person put later on its day stays there
				a.BillingDate, a.Moved = date, false
			}
			if a.UpdatedAt = now; a.Status == Queued {
				a.DueAt = a.BillingDate
			}
			kept = append(kept, a)
			fallthrough
		default:
			has[a.Cycle], last = true, max(last, a.Cycle)
		}
	}
	for cycle := c.Series.Cycle; runs && cycle < last; cycle++ {
		if !has[cycle] && !c.PastLastCycle(cycle) {
			kept = append(kept, upcoming(c, cycle, cal, now))
		}
	}
	return gone, kept
}

// keepWish leaves in the contract what people wish of an order that leaves the
// queue. What they wrote on one that another calendar has jumped over goes to the
// first that follows, if they wrote nothing on that one. One that waits behind what was
// made, or behind where the calendar begins, has no other day than its own.
func keepWish(c *contract.Contract, a Attempt, follow []Attempt, made int) {
	w := contract.OrderOverride{Cycle: a.Cycle, Note: a.Note, Flags: a.Flags}
	if jumped := c.Status == contract.Active && a.Cycle < c.Series.Cycle && !c.PastLastCycle(a.Cycle); jumped {
		w.Cycle = c.Series.Cycle
		if slices.ContainsFunc(c.Overrides, func(has contract.OrderOverride) bool { return has.Cycle == w.Cycle }) {
			return
		}
		for i := range follow {
			if to := &follow[i]; to.Cycle == w.Cycle {
				if to.Note == "" && to.Flags == (contract.Flags{}) {
					to.Note, to.Flags = w.Note, w.Flags
				}
				return
			}
		}
	} else if a.Moved || a.Cycle < max(made, c.Series.Cycle) {
		w.Date = a.BillingDate
	}
	if w != (contract.OrderOverride{Cycle: w.Cycle}) {
		c.Overrides = append(dropWishes(c.Overrides, w.Cycle, w.Cycle), w)
	}
}

// dropWishes leaves out those of a range of cycles.
func dropWishes(list []contract.OrderOverride, from, to int) []contract.OrderOverride {
	return slices.DeleteFunc(slices.Clone(list), func(w contract.OrderOverride) bool { return from <= w.Cycle && w.Cycle <= to })
}

// upcoming is the attempt of a cycle that waits for its date.
func upcoming(c contract.Contract, cycle int, cal cadence.Calendar, now time.Time) Attempt {
	date := c.DueOn(cycle, cal)
	a := Attempt{Contract: c.ID, Cycle: cycle, Status: Queued, BillingDate: date, DueAt: date, CreatedAt: now, UpdatedAt: now}
	for _, w := range c.Overrides {
		if w.Cycle != cycle {
			continue
		}
		a.Note, a.Flags = w.Note, w.Flags
		if w.Date.After(now) {
			a.BillingDate, a.DueAt, a.Moved = w.Date, w.Date, true
		}
	}
	if c.SeriesOf(cycle).Moved || a.Moved {
		a.PublishAt = now
	}
	return a
}

// Begin sets where the counting of a contract's cycles starts: with the number that
// the order has already, unless it is 0 or the platform has billed or skips that cycle;
// else with the first of the platform's cycles that is not billed, not skipped and
// belongs to the date on which the contract wants its next order. It reports false when
// none of the cycles fits; later ones may.
func Begin(c *contract.Contract, wanted time.Time, number int, cycles []platform.Cycle, cal cadence.Calendar) bool {
	open := slices.DeleteFunc(slices.Clone(cycles), func(y platform.Cycle) bool { return y.Billed || y.Skipped })
	at := slices.IndexFunc(open, func(y platform.Cycle) bool { return number > 0 && y.Index == number })
	if at < 0 {
		slack := c.Billing.Approx() / 2
		at = slices.IndexFunc(open, func(y platform.Cycle) bool { return !y.Expected.Before(wanted.Add(-slack)) })
	}
	if at < 0 {
		return false
	}
	if wanted.IsZero() {
		wanted = open[at].Expected
	}
	c.Series = contract.Series{Cycle: open[at].Index, Start: cal.At(wanted)}
	return true
}
