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
	ownDates     []contract.OrderOverride // dates of orders that differ from the calendar
	whilePaused  bool                     // the interval changed while the contract did not run: only these overrides are left
	overrides    []contract.OrderOverride
	passed       []int // cycles before it, since the last that was charged or skipped, that were neither
	passedCycles int   // all cycles before it without an order
}

// startBehind makes the calendar begin after orders that are skipped or have dates of
// their own, when its first order gets a lower cycle than by the old calendar and those
// orders are between the two.
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

// missed returns the cycles before one that were neither charged nor skipped.
func missed(cycles []platform.Cycle, before int, skipped map[int]bool) []int {
	var list []int
	for _, y := range cycles {
		if y.Index < before && !y.Billed && !y.Skipped && !skipped[y.Index] {
			list = append(list, y.Index)
		}
	}
	return list
}

// dateTolerance is how far an order's date may differ from the platform's before it is
// written there.
const dateTolerance = 24 * time.Hour

func distance(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

// withStart replaces the calendar by one that the contract got while it did not run.
func (h history) withStart(p queueStart) history {
	h.calendar = contract.Contract{Series: p.series, Overrides: p.overrides}
	h.from, h.passedCycles = p.series.Cycle, p.passedCycles
	return h
}
