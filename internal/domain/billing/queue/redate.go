package queue

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Shift moves the calendar of a contract by days together with an order, and returns that order's
// new date. The order never falls on the day of the previous one or before it: if it would, both
// move by fewer days. made is the last cycle that was made.
func Shift(c *contract.Contract, following billing.Attempt, days int, previous time.Time, made int, cal cadence.Calendar) time.Time {
	date := cal.At(following.BillingDate.In(cal.Zone).AddDate(0, 0, days))
	if soonest := cal.At(previous.In(cal.Zone).AddDate(0, 0, 1)); date.Before(soonest) {
		if date = soonest; days < 0 {
			days = min(0, cal.Days(following.BillingDate, soonest))
		}
	}
	series := contract.Series{Cycle: following.Cycle, Start: date, Moved: true}
	if goesOn := c.SeriesOf(max(made, following.Cycle) + 1); following.Cycle < c.Series.Cycle || following.Cycle < goesOn.Cycle && goesOn.Passed > 0 {
		// It waits behind orders that were made: those after it are counted elsewhere.
		series = goesOn
		series.Start, series.Moved = cal.At(goesOn.Start.In(cal.Zone).AddDate(0, 0, days)), true
	} else if following.Moved { // a person chose its date: those after it are counted from the calendar's
		series.Start = cal.At(c.DueOn(following.Cycle, cal).In(cal.Zone).AddDate(0, 0, days))
	}
	c.ReplaceSeries(series)
	return date
}

// Redate gives the upcoming attempts of contracts whose series has started again their new dates,
// except those that a person chose. Skipped ones get theirs too: a skip may be undone.
func Redate(ctx context.Context, tx billing.Tx, of shop.Shop, restarted []contract.Contract, now time.Time) error {
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
	ahead, err := tx.AttemptsOf(ctx, ids, billing.Queued, billing.Skipped)
	if err != nil {
		return err
	}
	return tx.PutAttempts(ctx, redated(ahead, contracts, cal, now))
}

// redated returns the attempts that have other dates by their contracts' series, with
// those.
func redated(ahead []billing.Attempt, contracts map[contract.ID]contract.Contract, cal cadence.Calendar, now time.Time) []billing.Attempt {
	var moved []billing.Attempt
	for _, a := range ahead {
		c := contracts[a.Contract]
		begins := a.Cycle == c.Series.Cycle && c.Series.Passed == 0
		if a.Cycle < c.Series.Cycle || begins || a.Moved || a.Status == billing.Skipped && !a.SkipsAhead(now) {
			continue
		}
		date := c.DueOn(a.Cycle, cal)
		if date.Equal(a.BillingDate) {
			continue
		}
		a.BillingDate, a.UpdatedAt = date, now
		if a.Status == billing.Queued {
			a.DueAt = date
			if c.SeriesOf(a.Cycle).Moved {
				a.PublishAt = now
			}
		}
		moved = append(moved, a)
	}
	return moved
}
