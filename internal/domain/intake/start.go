package intake

import (
	"context"
	"fmt"
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

// How many cycles are read to find the first one.
const (
	cyclesAtOnce = 25
	cyclesAtMost = 1000
)

// planStart chooses the first cycle of the queue. A new contract begins on the date that
// the platform shows, one with a changed interval with its upcoming order, and one that
// is activated again with its next date that has not passed. The date of an order that
// was charged, or is being charged, is taken, and skipped orders stay skipped.
func (s *Service) planStart(ctx context.Context, store shop.Shop, c contract.Contract, shown time.Time, was history, now time.Time) (queueStart, error) {
	cal, err := store.Calendar()
	if err != nil {
		return queueStart{}, err
	}
	wanted, notBefore, number := shown, time.Time{}, 0
	goesOn := false // continues its old calendar
	var own []contract.OrderOverride
	if was.trial != nil {
		wanted = was.trial.ChargeAt
	}
	switch {
	case !was.splitDate.IsZero():
		wanted = was.splitDate
	case was.existed:
		notBefore = now
		if wanted.Before(now) {
			wanted = time.Time{}
		}
		was.calendar.Billing = c.Billing
		own = was.keepOwnDates(cal, now)
		taken := was.last.Add(c.Billing.Approx() / 2)
		number = was.resumeCycle(cal, now)
		goesOn = number > 0
		switch {
		case goesOn:
			wanted = was.calendar.DueOn(number, cal)
		case was.next.After(now) || was.intervalChanged && !was.next.IsZero(): // an overdue upcoming order counts as next, too
			wanted, number = was.next, was.waits
		case !was.last.IsZero() && taken.After(notBefore):
			notBefore = taken
			if !wanted.IsZero() && wanted.Before(taken) {
				wanted = cadence.Series{Policy: c.Billing, Calendar: cal, Start: was.last}.Nth(1)
			}
		}
		if due := number > 0 && !wanted.After(now); was.intervalChanged && !due && len(c.Billing.Anchors) > 0 {
			if wanted.Before(notBefore) {
				wanted = notBefore
			}
			wanted = c.Billing.Realigned(cal, wanted, now, was.cutoff)
		}
	}
	if behind := queue.Following(was.reached, was.from, was.skipped); was.intervalChanged && number > 0 && number < behind {
		// The calendar continues from an order that comes after others.
		return queueStart{
			series: contract.Series{Start: cal.At(wanted), Moved: true}.Before(behind), open: true, ownDates: []contract.OrderOverride{{Cycle: number, Date: wanted}},
			passedCycles: was.passedCycles + len(slices.DeleteFunc(slices.Clone(was.waiting), func(cycle int) bool {
				return cycle <= was.reached || cycle >= behind || cycle == number || slices.Contains(was.movedToPast, cycle)
			})),
		}, nil
	}
	var passed []int
	jumped, aside, counted := was.passedCycles, was.skipped, was.notPassed()
	switch {
	case goesOn:
		aside = was.skippedOrMoved(now)
	case was.intervalChanged:
		aside = was.skippedOrOverdue(number)
	}
	for from := was.reached + 1; from < was.reached+cyclesAtMost; from += cyclesAtOnce {
		cycles, err := s.Platform.Cycles(ctx, store.At(), int64(c.ID), from, from+cyclesAtOnce-1)
		if err != nil {
			return queueStart{}, fmt.Errorf("read cycles of contract %d: %w", c.ID, err)
		}
		jumped -= len(missed(cycles, was.from, counted)) // they are counted again below
		open := slices.DeleteFunc(slices.Clone(cycles), func(y platform.Cycle) bool {
			return aside[y.Index] && !(goesOn && y.Index == number) || wanted.IsZero() && y.Expected.Before(notBefore)
		})
		for goesOn && slices.ContainsFunc(cycles, func(y platform.Cycle) bool { return y.Index == number && (y.Billed || y.Skipped) }) {
			number = was.unskipped(number + 1)
			wanted = was.calendar.DueOn(number, cal)
		}
		fixed := number
		if goesOn && slices.ContainsFunc(cycles, func(y platform.Cycle) bool { return y.Index == number && wanted.Before(billing.ChargeableFrom(y)) }) {
			fixed = 0 // the platform would refuse it: charge the cycle that is open on that day
		}
		if queue.Begin(&c, wanted, fixed, open, cal) {
			if at := billing.OrderAt(wanted, now, cal); !wanted.IsZero() && c.OriginOrderID == 0 && at.After(now) && !at.Equal(c.Series.Start) {
				own = append(own, contract.OrderOverride{Cycle: c.Series.Cycle, Date: at}) // later today
			}
			c.Series.Moved = was.existed && slices.ContainsFunc(open, func(y platform.Cycle) bool {
				return y.Edited && !y.Billed || y.Index == c.Series.Cycle && distance(y.Expected, c.Series.Start) > dateTolerance
			}) || was.trial != nil
			turns := contract.SeriesAfter(was.calendar.LaterSeries, c.Series)
			if goesOn && c.Series.Cycle == number {
				moved := c.Series.Moved
				c.Series, turns = was.calendar.SeriesOf(number).From(number), was.calendar.LaterSeriesFrom(number)
				c.Series.Moved = c.Series.Moved || moved
			}
			passed = append(passed, missed(cycles, c.Series.Cycle, aside)...)
			p := queueStart{series: c.Series, laterSeries: turns, open: true, ownDates: own, passed: passed, passedCycles: max(0, jumped) + len(passed)}
			if goesOn {
				p.startBehind(aside, number)
			}
			return p, nil
		}
		passed = append(passed, missed(cycles, math.MaxInt, aside)...)
		if len(cycles) < cyclesAtOnce {
			break
		}
	}
	return queueStart{passedCycles: was.passedCycles}, nil
}
