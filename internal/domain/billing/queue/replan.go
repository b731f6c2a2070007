package queue

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Replan makes the upcoming attempts of contracts follow their new series, in the caller's
// transaction. Attempts of its cycles get its dates and keep their numbers, notes and skips;
// missing ones are added, and the others go. All queued attempts of a contract that does not run
// go. Refill must follow; it writes the order overrides that stay in the contract.
func Replan(ctx context.Context, tx billing.Tx, of shop.Shop, contracts []*contract.Contract, now time.Time) error {
	return reshape(ctx, tx, of, contracts, func(c contract.Contract, there []billing.Attempt, cal cadence.Calendar) (gone, kept []billing.Attempt) {
		return replan(c, there, cal, now)
	}, now)
}

// reshape applies a rule that says for each contract which of its attempts go, and which are
// changed or new. Notes and dates of those that go stay in the contract as overrides. Orders that
// waited behind others come back on the days that the overrides keep. An attempt that has fallen
// due never goes: an order was due, and its end says why there is none.
func reshape(
	ctx context.Context, tx billing.Tx, of shop.Shop, contracts []*contract.Contract,
	rule func(c contract.Contract, there []billing.Attempt, cal cadence.Calendar) (gone, kept []billing.Attempt), now time.Time,
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
	byContract := billing.ByContract(there)
	var gone []billing.AttemptID
	var kept []billing.Attempt
	var entries []activity.Entry
	for _, c := range contracts {
		dropped, follow := rule(*c, byContract[c.ID], cal)
		made := LastMade(byContract[c.ID], now)
		for _, a := range dropped {
			if a.BillingDate.After(now) {
				if a.Cycle < made && !c.PastLastCycle(a.Cycle) && c.Status == contract.Active { // it never comes back
					c.AddPassedCycles(1)
				}
				gone = append(gone, a.ID)
				keepOverride(c, a, follow, made)
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

// Overrides returns the order overrides of a contract if its queued attempts went.
func Overrides(c contract.Contract, there []billing.Attempt, now time.Time) []contract.OrderOverride {
	made := LastMade(there, now)
	for _, a := range there {
		if a.Status == billing.Queued && a.BillingDate.After(now) {
			keepOverride(&c, a, nil, made)
		}
	}
	return keepDates(c, there, now)
}

// keepDates returns what people wish of a contract's orders, and when they wanted those that
// they skip: a skip may be taken back.
func keepDates(c contract.Contract, there []billing.Attempt, now time.Time) []contract.OrderOverride {
	for _, a := range there {
		if a.SkipsAhead(now) && a.Moved {
			c.OverrideFor(a.Cycle, a.BillingDate, now)
		}
	}
	return c.Overrides
}

// comeBack returns the attempts of orders that waited behind others, for the days that
// are left of them in the contract. One whose day has passed is left out.
func comeBack(c *contract.Contract, there []billing.Attempt, made int, cal cadence.Calendar, now time.Time) (back []billing.Attempt) {
	if !planned(*c) {
		return nil
	}
	for _, w := range slices.Clone(c.Overrides) {
		has := slices.ContainsFunc(there, func(a billing.Attempt) bool { return a.Cycle == w.Cycle })
		switch {
		case w.Date.IsZero() || w.Cycle >= max(made, c.Series.Cycle) || c.PastLastCycle(w.Cycle) || has:
		case w.Date.After(now):
			back = append(back, upcoming(c, w.Cycle, cal, now))
		case w.Cycle < made:
			c.AddPassedCycles(1)
			c.Overrides = dropOverrides(c.Overrides, w.Cycle, w.Cycle)
		}
	}
	return back
}

// LastMade returns the highest cycle that was or is being charged, or was given up.
func LastMade(attempts []billing.Attempt, now time.Time) (cycle int) {
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
func giveUp(a *billing.Attempt, of shop.Shop, c contract.Contract, now time.Time) (activity.Entry, error) {
	stop, status, reason := decide.Blocked(*a, decide.Inputs{Shop: of, Contract: c})
	if !stop {
		status, reason = billing.Skipped, "its date had passed when the contract's dates were planned again"
	}
	if err := a.EndWithoutCharge(status, billing.Record{Attempt: *a, Of: c}); err != nil {
		return activity.Entry{}, err
	}
	a.DueAt, a.ErrorMessage, a.UpdatedAt = time.Time{}, reason, now
	return billing.NewEntry(*a, activity.BillingAttemptSkipped, activity.Skipped, activity.System, now, billing.EntryInfo{Cycle: a.Cycle, Reason: reason}), nil
}

// replan returns the attempts of one contract that go, and those that are changed
// or new. A cycle that has an attempt, however it ended, never gets another one.
func replan(c contract.Contract, there []billing.Attempt, cal cadence.Calendar, now time.Time) (gone, kept []billing.Attempt) {
	runs := planned(c)
	last := 0
	has := make(map[int]bool, len(there))
	for _, a := range there {
		past := a.Status == billing.Skipped && !a.BillingDate.After(now)
		override := c.OverriddenOn(a.Cycle)
		switch {
		case a.Status == billing.Queued && runs && a.Cycle < c.Series.Cycle && (override.After(now) || override.Equal(a.BillingDate)) && !c.PastLastCycle(a.Cycle): // the calendar goes on from it
			has[a.Cycle] = true
			a.BillingDate, a.DueAt, a.Moved, a.PublishAt, a.UpdatedAt = override, override, true, now, now
			kept = append(kept, a)
		case a.Status == billing.Queued && runs && a.Cycle < c.Series.Cycle && a.Moved && !a.BillingDate.After(now) && !c.PastLastCycle(a.Cycle): // wherever the calendar is, it is owed
			has[a.Cycle] = true
		case a.Status == billing.Queued && (!runs || a.Cycle < c.Series.Cycle || c.PastLastCycle(a.Cycle)):
			gone = append(gone, a)
		case a.Status != billing.Queued && a.Status != billing.Skipped:
			has[a.Cycle] = true
		case runs && !past && a.Cycle >= c.Series.Cycle:
			if a.Moved || c.SeriesOf(a.Cycle).Moved || a.Status == billing.Skipped {
				a.PublishAt = now
			}
			if a.Status == billing.Skipped && override.After(now) {
				a.BillingDate, a.Moved = override, true
			} else if date := c.DueOn(a.Cycle, cal); !a.Moved || cal.Day(date) != cal.Day(a.BillingDate) { // one that a person put later on its day stays there
				a.BillingDate, a.Moved = date, false
			}
			if a.UpdatedAt = now; a.Status == billing.Queued {
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
			kept = append(kept, upcoming(&c, cycle, cal, now))
		}
	}
	return gone, kept
}

// keepOverride keeps in the contract the note, the flags and the date of an order that leaves the
// queue. Those of an order that the new calendar has passed go to the first one that follows, if
// that one has none. An order that waits behind the last made one, or behind the start of the
// calendar, has only its own day.
func keepOverride(c *contract.Contract, a billing.Attempt, follow []billing.Attempt, made int) {
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
		c.Overrides = append(dropOverrides(c.Overrides, w.Cycle, w.Cycle), w)
	}
}

// dropOverrides removes those of a range of cycles.
func dropOverrides(list []contract.OrderOverride, from, to int) []contract.OrderOverride {
	return slices.DeleteFunc(slices.Clone(list), func(w contract.OrderOverride) bool { return from <= w.Cycle && w.Cycle <= to })
}
