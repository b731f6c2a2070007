package intake

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// fixedDay returns when the next order is due of a contract whose calendar has
// changed to one of fixed days: on the first of them that is not before the order
// that waits. An order that is on a fixed day already stays; for another one it must
// not be too late by the option's cut-off, as it would be for a new order.
func fixedDay(p cadence.Policy, cutoff int, waits, now time.Time, cal cadence.Calendar) time.Time {
	day, _ := p.First(cal, waits, cadence.Next)
	if day.Before(waits) && !day.After(now) { // the order time of today has passed
		day, _ = p.First(cal, waits.Add(dateTolerance), cadence.Next)
	}
	if day.Equal(cal.At(waits)) {
		return day
	}
	if open, _ := withCutoff(p, cutoff).First(cal, now, cadence.Next); open.After(day) {
		return open
	}
	return day
}
