package intake

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// startWhilePaused returns the calendar of a contract whose interval changed while it
// does not run. It continues from the date of the order that would be next if the
// contract were activated now, or from a fixed day after it. Dates of other orders are
// dropped.
func startWhilePaused(c contract.Contract, was history, before contract.Policy, store shop.Shop, now time.Time) (queueStart, error) {
	cal, err := store.Calendar()
	if err != nil {
		return queueStart{}, err
	}
	was.calendar.Billing = before
	was.keepOwnDates(cal, now)
	follows := queue.Following(was.reached, was.from, was.skipped)
	next, passed, aside := follows, 0, was.skippedOrMoved(now)
	for runs := max(was.calendar.ResumeCycle(now, cal), was.reached+1); next < runs || aside[next]; next++ {
		if !aside[next] {
			passed++
		}
	}
	start, over := was.calendar.DueOn(next, cal), c.MaxCycles > 0 && next > c.MaxCycle()+passed
	for _, w := range was.calendar.Overrides {
		sooner := w.Date.Before(start) || w.Date.Equal(start) && w.Cycle < next
		if w.Date.After(now) && (over || sooner) && !was.skipped[w.Cycle] {
			next, start, over = w.Cycle, w.Date, false
		}
	}
	date := start
	if len(c.Billing.Anchors) > 0 {
		date, _ = c.Billing.First(cal, start, cadence.Next)
	}
	p := queueStart{series: contract.Series{Cycle: next, Start: cal.At(date), Moved: c.Series.Moved}, passedCycles: was.passedCycles, whilePaused: true}
	if next < follows {
		p.series = p.series.Before(follows)
	}
	for cycle := follows; cycle < next; cycle++ {
		if !was.skipped[cycle] {
			p.passedCycles++
		}
	}
	for _, w := range was.calendar.Overrides {
		switch {
		case w.Date.IsZero():
		case w.Cycle == next:
			w.Date = date
		default:
			if w.Date = (time.Time{}); w.Cycle < follows && !was.skipped[w.Cycle] { // its order was dropped
				p.passedCycles++
			}
		}
		if w != (contract.OrderOverride{Cycle: w.Cycle}) {
			p.overrides = append(p.overrides, w)
		}
	}
	return p, nil
}
