package intake

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// history is what was known of a contract before a fresh reading.
type history struct {
	existed         bool                     // it was known at all
	reached         int                      // highest cycle that was or is being charged, or was given up
	last            time.Time                // latest date of those; zero when there are none
	skipped         map[int]bool             // cycles to come that people skip
	next            time.Time                // of the earliest order that waits; zero when there is none
	waits           int                      // the cycle of that order
	trial           *contract.Trial          // with which it begins
	calendar        contract.Contract        // its calendar before it stood still, and what people wish of its orders; none when its interval has changed
	from            int                      // the cycle with which its queue began
	passedCycles    int                      // cycles before that one which were never an order
	intervalChanged bool                     // its interval, or the days on which it falls, have changed
	cutoff          int                      // of the option that it is on now, in days
	waiting         []int                    // all cycles of orders that wait
	movedToPast     []int                    // those of them that people have put on a day which has come
	paused          bool                     // it does not run: what has fallen due and waits is given up
	overrides       []contract.OrderOverride // of its orders, those that wait too
	splitDate       time.Time                // of the order that is its first, of one that is being split off; zero when it is not
}

// withContract adds what the contract's own row says.
func (h history) withContract(c *contract.Contract) history {
	if c != nil {
		h.existed, h.from, h.passedCycles = true, c.Series.Cycle, c.PassedCycles
		h.calendar = contract.Contract{Series: c.Series, LaterSeries: c.LaterSeries, Overrides: h.overrides}
	}
	return h
}

// resumeCycle returns the cycle of the first order to come that nobody skips and that was
// not made before its day, by the calendar of before; 0 when there is none. The
// platform's word on the next date may be older than what people have skipped.
func (h history) resumeCycle(cal cadence.Calendar, now time.Time) int {
	if h.calendar.Series.Start.IsZero() {
		return 0
	}
	return h.unskipped(max(h.calendar.ResumeCycle(now, cal), h.reached+1))
}

// keepOwnDates lets orders to come be on days of their own that the calendar of before left
// behind when it went on from an earlier day, and returns those days.
func (h *history) keepOwnDates(cal cadence.Calendar, now time.Time) (left []contract.OrderOverride) {
	if len(h.calendar.LaterSeries) == 0 {
		return nil
	}
	goesOn := h.calendar.ResumeCycle(now, cal)
	for cycle := max(h.calendar.Series.Cycle, h.reached+1); cycle < goesOn; cycle++ {
		if date := h.calendar.DueOn(cycle, cal); date.After(now) && !h.skipped[cycle] && !h.calendar.OverriddenOn(cycle).After(now) {
			h.calendar.OverrideFor(cycle, date, now)
			left = append(left, contract.OrderOverride{Cycle: cycle, Date: date})
		}
	}
	return left
}

// skippedOrMoved returns the cycles that the calendar does not begin with: what people skip, and
// orders that come on days of their own, wherever the calendar is.
func (h history) skippedOrMoved(now time.Time) map[int]bool {
	aside := make(map[int]bool)
	maps.Copy(aside, h.skipped)
	for _, w := range h.calendar.Overrides {
		if w.Date.After(now) {
			aside[w.Cycle] = true
		}
	}
	return aside
}

// skippedOrOverdue returns the cycles with which a calendar does not begin that goes on from
// an order: what people skip, and the other orders whose chosen days have come.
func (h history) skippedOrOverdue(number int) map[int]bool {
	besides := make(map[int]bool)
	maps.Copy(besides, h.skipped)
	for _, cycle := range h.movedToPast {
		if cycle != number {
			besides[cycle] = true
		}
	}
	return besides
}

// notPassed returns the cycles before that with which the queue began that are no jumped
// ones: what people skip, and orders that wait or did.
func (h history) notPassed() map[int]bool {
	counted := make(map[int]bool)
	maps.Copy(counted, h.skipped)
	for _, cycle := range h.waiting {
		counted[cycle] = true
	}
	for _, w := range h.calendar.Overrides {
		counted[w.Cycle] = counted[w.Cycle] || !w.Date.IsZero()
	}
	return counted
}

// unskipped returns the first cycle from one on that nobody skips.
func (h history) unskipped(cycle int) int {
	for h.skipped[cycle] {
		cycle++
	}
	return cycle
}

// histories returns what has become of the cycles of contracts.
func (s *Service) histories(ctx context.Context, of shop.ID, contracts []contract.Contract, now time.Time) (map[contract.ID]history, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	past := make(map[contract.ID]history, len(contracts))
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		clear(past)
		ids := make([]contract.ID, len(contracts))
		for i, c := range contracts {
			ids[i] = c.ID
		}
		attempts, err := tx.AttemptsOf(ctx, ids)
		mine := billing.ByContract(attempts)
		for _, c := range contracts {
			past[c.ID] = history{paused: c.Status != contract.Active, overrides: billing.Left(c, mine[c.ID], now)}
		}
		for _, a := range attempts {
			h := past[a.Contract]
			switch {
			case a.Status.Upcoming() && (a.BillingDate.After(now) || !h.paused):
				h.waiting = append(h.waiting, a.Cycle)
				if a.Moved && !a.BillingDate.After(now) {
					h.movedToPast = append(h.movedToPast, a.Cycle)
				}
				if h.next.IsZero() || a.BillingDate.Before(h.next) {
					h.next, h.waits = a.BillingDate, a.Cycle
				}
			case a.SkipsAhead(now):
				if h.skipped == nil {
					h.skipped = make(map[int]bool)
				}
				h.skipped[a.Cycle] = true
			default:
				h.reached = max(h.reached, a.Cycle)
				if a.BillingDate.After(h.last) {
					h.last = a.BillingDate
				}
			}
			past[a.Contract] = h
		}
		if err != nil {
			return err
		}
		return splitDates(ctx, tx, contracts, past)
	})
	return past, err
}

// splitDates finds when the first orders are due of contracts that are being split off:
// however long that takes, it is the next order of the contract from which they are.
func splitDates(ctx context.Context, tx Tx, contracts []contract.Contract, past map[contract.ID]history) error {
	var from []contract.ID
	for _, c := range contracts {
		if c.SplitFrom != 0 {
			from = append(from, c.SplitFrom)
		}
	}
	slices.Sort(from)
	from = slices.Compact(from)
	if len(from) == 0 {
		return nil
	}
	whole, err := tx.Contracts(ctx, from)
	if err != nil {
		return err
	}
	waiting, err := tx.AttemptsOf(ctx, from, billing.Queued)
	for _, a := range waiting {
		for _, c := range whole {
			if c.ID == a.Contract && c.Split != nil && c.Split.Cycle == a.Cycle {
				h := past[c.Split.New]
				h.splitDate = a.BillingDate
				past[c.Split.New] = h
			}
		}
	}
	return err
}
