package intake

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// had is what was known of a contract before a fresh reading.
type had struct {
	before  bool                     // it was known at all
	reached int                      // highest cycle that was or is being charged, or was given up
	last    time.Time                // latest date of those; zero when there are none
	skipped map[int]bool             // cycles to come that people skip
	next    time.Time                // of the earliest order that waits; zero when there is none
	waits   int                      // the cycle of that order
	trial   *contract.Trial          // with which it begins
	ran     contract.Contract        // its calendar before it stood still, and what people wish of its orders; none when its interval has changed
	from    int                      // the cycle with which its queue began
	jumped  int                      // cycles before that one which were never an order
	anew    bool                     // its interval, or the days on which it falls, have changed
	cutoff  int                      // of the option that it is on now, in days
	waiting []int                    // all cycles of orders that wait
	owed    []int                    // those of them that people have put on a day which has come
	stands  bool                     // it does not run: what has fallen due and waits is given up
	wishes  []contract.OrderOverride // of its orders, those that wait too
	parted  time.Time                // of the order that is its first, of one that is being split off; zero when it is not
}

// of adds what the contract's own row says.
func (h had) of(c *contract.Contract) had {
	if c != nil {
		h.before, h.from, h.jumped = true, c.Series.Cycle, c.PassedCycles
		h.ran = contract.Contract{Series: c.Series, LaterSeries: c.LaterSeries, Overrides: h.wishes}
	}
	return h
}

// given adds the calendar that a contract was given while it stood still.
func (h had) given(p plan) had {
	h.ran = contract.Contract{Series: p.series, Overrides: p.wishes}
	h.from, h.jumped = p.series.Cycle, p.jumped
	return h
}

// resumes returns the cycle of the first order to come that nobody skips and that was
// not made before its day, by the calendar of before; 0 when there is none. The
// platform's word on the next date may be older than what people have skipped.
func (h had) resumes(cal cadence.Calendar, now time.Time) int {
	if h.ran.Series.Start.IsZero() {
		return 0
	}
	return h.unskipped(max(h.ran.ResumeCycle(now, cal), h.reached+1))
}

// leave lets orders to come be on days of their own that the calendar of before left
// behind when it went on from an earlier day, and returns those days.
func (h *had) leave(cal cadence.Calendar, now time.Time) (left []contract.OrderOverride) {
	if len(h.ran.LaterSeries) == 0 {
		return nil
	}
	goesOn := h.ran.ResumeCycle(now, cal)
	for cycle := max(h.ran.Series.Cycle, h.reached+1); cycle < goesOn; cycle++ {
		if date := h.ran.DueOn(cycle, cal); date.After(now) && !h.skipped[cycle] && !h.ran.OverriddenOn(cycle).After(now) {
			h.ran.OverrideFor(cycle, date, now)
			left = append(left, contract.OrderOverride{Cycle: cycle, Date: date})
		}
	}
	return left
}

// aside returns the cycles that the calendar does not begin with: what people skip, and
// orders that come on days of their own, wherever the calendar is.
func (h had) aside(now time.Time) map[int]bool {
	aside := make(map[int]bool)
	maps.Copy(aside, h.skipped)
	for _, w := range h.ran.Overrides {
		if w.Date.After(now) {
			aside[w.Cycle] = true
		}
	}
	return aside
}

// besides returns the cycles with which a calendar does not begin that goes on from
// an order: what people skip, and the other orders whose chosen days have come.
func (h had) besides(number int) map[int]bool {
	besides := make(map[int]bool)
	maps.Copy(besides, h.skipped)
	for _, cycle := range h.owed {
		if cycle != number {
			besides[cycle] = true
		}
	}
	return besides
}

// counted returns the cycles before that with which the queue began that are no jumped
// ones: what people skip, and orders that wait or did.
func (h had) counted() map[int]bool {
	counted := make(map[int]bool)
	maps.Copy(counted, h.skipped)
	for _, cycle := range h.waiting {
		counted[cycle] = true
	}
	for _, w := range h.ran.Overrides {
		counted[w.Cycle] = counted[w.Cycle] || !w.Date.IsZero()
	}
	return counted
}

// unskipped returns the first cycle from one on that nobody skips.
func (h had) unskipped(cycle int) int {
	for h.skipped[cycle] {
		cycle++
	}
	return cycle
}

// past returns what has become of the cycles of contracts.
func (s *Service) past(ctx context.Context, of shop.ID, contracts []contract.Contract, now time.Time) (map[contract.ID]had, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	past := make(map[contract.ID]had, len(contracts))
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		clear(past)
		ids := make([]contract.ID, len(contracts))
		for i, c := range contracts {
			ids[i] = c.ID
		}
		attempts, err := tx.AttemptsOf(ctx, ids)
		mine := billing.ByContract(attempts)
		for _, c := range contracts {
			past[c.ID] = had{stands: c.Status != contract.Active, wishes: queue.Overrides(c, mine[c.ID], now)}
		}
		for _, a := range attempts {
			h := past[a.Contract]
			switch {
			case a.Status.Upcoming() && (a.BillingDate.After(now) || !h.stands):
				h.waiting = append(h.waiting, a.Cycle)
				if a.Moved && !a.BillingDate.After(now) {
					h.owed = append(h.owed, a.Cycle)
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
		return partings(ctx, tx, contracts, past)
	})
	return past, err
}

// partings finds when the first orders are due of contracts that are being split off:
// however long that takes, it is the next order of the contract from which they are.
func partings(ctx context.Context, tx Tx, contracts []contract.Contract, past map[contract.ID]had) error {
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
				h.parted = a.BillingDate
				past[c.Split.New] = h
			}
		}
	}
	return err
}

// plan is where a contract's queue begins.
type plan struct {
	beginning
	series contract.Series
	turns  []contract.Series
	fits   bool
	own    []contract.OrderOverride // dates of orders that are not those of the calendar
	stood  bool                     // another interval came while the contract stood still: only these wishes are left
	wishes []contract.OrderOverride
	passed []int // cycles before it that were neither charged nor skipped, since the last that was
	jumped int   // all cycles before it that were never an order
}

// How many cycles are looked through for the one to begin with.
const (
	cyclesAtOnce = 25
	cyclesAtMost = 1000
)

// plan chooses the cycle with which the queue begins. A new contract begins on
// the date that the platform shows; one that changed its interval with the order that
// waits, and one that runs again with the next date that is not past. The date of an
// order that has been charged, or is being charged, is spoken for, and what people
// skip stays skipped.
func (s *Service) plan(ctx context.Context, store shop.Shop, c contract.Contract, shown time.Time, was had, now time.Time) (plan, error) {
	cal, err := store.Calendar()
	if err != nil {
		return plan{}, err
	}
	wanted, notBefore, number := shown, time.Time{}, 0
	goesOn := false // by the calendar that it had
	var own []contract.OrderOverride
	if was.trial != nil {
		wanted = was.trial.ChargeAt
	}
	switch {
	case !was.parted.IsZero():
		wanted = was.parted
	case was.before:
		notBefore = now
		if wanted.Before(now) {
			wanted = time.Time{}
		}
		was.ran.Billing = c.Billing
		own = was.leave(cal, now)
		taken := was.last.Add(c.Billing.Approx() / 2)
		number = was.resumes(cal, now)
		goesOn = number > 0
		switch {
		case goesOn:
			wanted = was.ran.DueOn(number, cal)
		case was.next.After(now) || was.anew && !was.next.IsZero(): // one that is due and waits is the next, too
			wanted, number = was.next, was.waits
		case !was.last.IsZero() && taken.After(notBefore):
			notBefore = taken
			if !wanted.IsZero() && wanted.Before(taken) {
				wanted = cadence.Series{Policy: c.Billing, Calendar: cal, Start: was.last}.Nth(1)
			}
		}
		if due := number > 0 && !wanted.After(now); was.anew && !due && len(c.Billing.Anchors) > 0 {
			if wanted.Before(notBefore) {
				wanted = notBefore
			}
			wanted = fixedDay(c.Billing, was.cutoff, wanted, now, cal)
		}
	}
	if behind := queue.Following(was.reached, was.from, was.skipped); was.anew && number > 0 && number < behind {
		// The calendar goes on after an order that waits behind others.
		return plan{
			series: contract.Series{Start: cal.At(wanted), Moved: true}.Before(behind), fits: true, own: []contract.OrderOverride{{Cycle: number, Date: wanted}},
			jumped: was.jumped + len(slices.DeleteFunc(slices.Clone(was.waiting), func(cycle int) bool {
				return cycle <= was.reached || cycle >= behind || cycle == number || slices.Contains(was.owed, cycle)
			})),
		}, nil
	}
	var passed []int
	jumped, aside, counted := was.jumped, was.skipped, was.counted()
	switch {
	case goesOn:
		aside = was.aside(now)
	case was.anew:
		aside = was.besides(number)
	}
	for from := was.reached + 1; from < was.reached+cyclesAtMost; from += cyclesAtOnce {
		cycles, err := s.Platform.Cycles(ctx, store.At(), int64(c.ID), from, from+cyclesAtOnce-1)
		if err != nil {
			return plan{}, fmt.Errorf("read cycles of contract %d: %w", c.ID, err)
		}
		jumped -= len(missed(cycles, was.from, counted)) // they are counted anew
		open := slices.DeleteFunc(slices.Clone(cycles), func(y platform.Cycle) bool {
			return aside[y.Index] && !(goesOn && y.Index == number) || wanted.IsZero() && y.Expected.Before(notBefore)
		})
		for goesOn && slices.ContainsFunc(cycles, func(y platform.Cycle) bool { return y.Index == number && (y.Billed || y.Skipped) }) {
			number = was.unskipped(number + 1)
			wanted = was.ran.DueOn(number, cal)
		}
		fixed := number
		if goesOn && slices.ContainsFunc(cycles, func(y platform.Cycle) bool { return y.Index == number && wanted.Before(billing.ChargeableFrom(y)) }) {
			fixed = 0 // the platform would refuse it: one that is open on that day is charged
		}
		if queue.Begin(&c, wanted, fixed, open, cal) {
			if at := billing.OrderAt(wanted, now, cal); !wanted.IsZero() && c.OriginOrderID == 0 && at.After(now) && !at.Equal(c.Series.Start) {
				own = append(own, contract.OrderOverride{Cycle: c.Series.Cycle, Date: at}) // later today
			}
			c.Series.Moved = was.before && slices.ContainsFunc(open, func(y platform.Cycle) bool {
				return y.Edited && !y.Billed || y.Index == c.Series.Cycle && apart(y.Expected, c.Series.Start) > aDay
			}) || was.trial != nil
			turns := contract.SeriesAfter(was.ran.LaterSeries, c.Series)
			if goesOn && c.Series.Cycle == number {
				moved := c.Series.Moved
				c.Series, turns = was.ran.SeriesOf(number).From(number), was.ran.LaterSeriesFrom(number)
				c.Series.Moved = c.Series.Moved || moved
			}
			passed = append(passed, missed(cycles, c.Series.Cycle, aside)...)
			p := plan{series: c.Series, turns: turns, fits: true, own: own, passed: passed, jumped: max(0, jumped) + len(passed)}
			if goesOn {
				p.goAround(aside, number)
			}
			return p, nil
		}
		passed = append(passed, missed(cycles, math.MaxInt, aside)...)
		if len(cycles) < cyclesAtOnce {
			break
		}
	}
	return plan{jumped: was.jumped}, nil
}

// goAround lets the calendar of a plan begin behind orders that have days of their own, or
// are skipped, where its first order is another cycle than by the calendar of before: a
// lower one, and theirs are between the two. They take none of its days.
func (p *plan) goAround(aside map[int]bool, number int) {
	first := p.series
	for cycle := number - 1; cycle > first.Cycle; cycle-- {
		switch begun := p.series.Cycle > first.Cycle; {
		case aside[cycle] && !begun:
			p.series = first.Before(cycle + 1)
			p.turns = contract.SeriesAfter(p.turns, p.series)
			p.own = append(p.own, contract.OrderOverride{Cycle: first.Cycle, Date: first.Start})
		case begun && !aside[cycle]:
			p.jumped++
		}
	}
}

// missed returns the cycles before one that were not charged and that nobody
// skips.
func missed(cycles []platform.Cycle, before int, skipped map[int]bool) []int {
	var list []int
	for _, y := range cycles {
		if y.Index < before && !y.Billed && !y.Skipped && !skipped[y.Index] {
			list = append(list, y.Index)
		}
	}
	return list
}

// aDay is how far the date of an order may lie from the platform's before it must
// be told.
const aDay = 24 * time.Hour

func apart(a, b time.Time) time.Duration { return a.Sub(b).Abs() }
