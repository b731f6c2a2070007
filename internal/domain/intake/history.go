package intake

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// history is what was stored of a contract and its attempts before a fresh reading.
type history struct {
	existed         bool                     // the contract was stored
	reached         int                      // highest cycle that was charged, is being charged or was given up
	last            time.Time                // latest date of those; zero when there are none
	skipped         map[int]bool             // upcoming cycles that are skipped
	next            time.Time                // date of the earliest upcoming order; zero when there is none
	waits           int                      // its cycle
	trial           *contract.Trial          // that it begins with
	calendar        contract.Contract        // its calendar before it was paused, and its orders' overrides; zero when its interval has changed
	from            int                      // first cycle of its queue
	passedCycles    int                      // cycles before that without an order
	intervalChanged bool                     // its interval or fixed days have changed
	cutoff          int                      // of its current option, in days
	waiting         []int                    // cycles of all upcoming orders
	movedToPast     []int                    // those that people moved to a date that has passed
	paused          bool                     // it does not run: orders that have fallen due are given up
	overrides       []contract.OrderOverride // of its orders, upcoming ones included
	splitDate       time.Time                // date of the first order of a split's new contract; zero otherwise
}

// withContract adds what the contract's own row says.
func (h history) withContract(c *contract.Contract) history {
	if c != nil {
		h.existed, h.from, h.passedCycles = true, c.Series.Cycle, c.PassedCycles
		h.calendar = contract.Contract{Series: c.Series, LaterSeries: c.LaterSeries, Overrides: h.overrides}
	}
	return h
}

// resumeCycle returns the cycle of the first order by the old calendar that is not
// skipped and was not charged early; 0 when there is none. The platform's next date may
// be older than the skips.
func (h history) resumeCycle(cal cadence.Calendar, now time.Time) int {
	if h.calendar.Series.Start.IsZero() {
		return 0
	}
	return h.unskipped(max(h.calendar.ResumeCycle(now, cal), h.reached+1))
}

// keepOwnDates keeps the dates of upcoming orders that the old calendar left behind when
// it continued from an earlier date, and returns them as overrides.
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

// skippedOrMoved returns the cycles that cannot be the first of the calendar: skipped
// ones, and orders with a date of their own.
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

// skippedOrOverdue returns the cycles that cannot be the first of a calendar which
// continues from an order: skipped ones, and other orders whose own dates have passed.
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

// notPassed returns the cycles before the start of the queue that do not count as
// passed: skipped ones, and orders that are or were upcoming.
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

// unskipped returns the first cycle from one on that is not skipped.
func (h history) unskipped(cycle int) int {
	for h.skipped[cycle] {
		cycle++
	}
	return cycle
}

// histories reads the histories of contracts.
func (s *Service) histories(ctx context.Context, of shop.ID, contracts []contract.Contract, now time.Time) (map[contract.ID]history, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	past := make(map[contract.ID]history, len(contracts))
	err := s.Store.View(ctx, of, func(tx ReadTx) error {
		clear(past)
		ids := make([]contract.ID, len(contracts))
		for i, c := range contracts {
			ids[i] = c.ID
		}
		attempts, err := tx.AttemptsOf(ctx, ids)
		mine := billing.ByContract(attempts)
		for _, c := range contracts {
			past[c.ID] = history{paused: c.Status != contract.Active, overrides: queue.Overrides(c, mine[c.ID], now)}
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

// splitDates finds the dates of the first orders of contracts that are being split off:
// the next order of the contract that they are split from, however long the split takes.
func splitDates(ctx context.Context, tx ReadTx, contracts []contract.Contract, past map[contract.ID]history) error {
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
