package intake

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// queueStart is where a contract's queue begins.
type queueStart struct {
	beginning
	series       contract.Series
	laterSeries  []contract.Series
	open         bool
	ownDates     []contract.OrderOverride // dates of orders that are not those of the calendar
	whilePaused  bool                     // another interval came while the contract stood still: only these wishes are left
	overrides    []contract.OrderOverride
	passed       []int // cycles before it that were neither charged nor skipped, since the last that was
	passedCycles int   // all cycles before it that were never an order
}

// startBehind lets the calendar of a plan begin behind orders that have days of their own, or
// are skipped, where its first order is another cycle than by the calendar of before: a
// lower one, and theirs are between the two. They take none of its days.
func (p *queueStart) startBehind(aside map[int]bool, number int) {
	first := p.series
	for cycle := number - 1; cycle > first.Cycle; cycle-- {
		switch begun := p.series.Cycle > first.Cycle; {
		case aside[cycle] && !begun:
			p.series = first.Before(cycle + 1)
			p.laterSeries = contract.SeriesAfter(p.laterSeries, p.series)
			p.ownDates = append(p.ownDates, contract.OrderOverride{Cycle: first.Cycle, Date: first.Start})
		case begun && !aside[cycle]:
			p.passedCycles++
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

// dateTolerance is how far the date of an order may lie from the platform's before it must
// be told.
const dateTolerance = 24 * time.Hour

func distance(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

// withStart adds the calendar that a contract was given while it stood still.
func (h history) withStart(p queueStart) history {
	h.calendar = contract.Contract{Series: p.series, Overrides: p.overrides}
	h.from, h.passedCycles = p.series.Cycle, p.passedCycles
	return h
}
