package intake

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// fixedDay returns when the next order is due after a contract's calendar changed to
// fixed days: on the first of them on or after the upcoming order. An order on a fixed
// day stays; another one must respect the option's cut-off, as a new order would.
func fixedDay(p cadence.Policy, cutoff int, upcoming, now time.Time, cal cadence.Calendar) time.Time {
	day, _ := p.First(cal, upcoming, cadence.Next)
	if day.Before(upcoming) && !day.After(now) { // the order time of today has passed
		day, _ = p.First(cal, upcoming.Add(dateTolerance), cadence.Next)
	}
	if day.Equal(cal.At(upcoming)) {
		return day
	}
	if open, _ := withCutoff(p, cutoff).First(cal, now, cadence.Next); open.After(day) {
		return open
	}
	return day
}
