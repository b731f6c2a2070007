package contract

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// Series is where the counting of a contract's cycles starts.
type Series struct {
	Cycle  int       `json:"cycle"`            // the platform's index of the first cycle that is counted
	Start  time.Time `json:"start"`            // where counting starts; zero when the contract has no series yet
	Passed int       `json:"passed,omitempty"` // dates from Start to that cycle; 0 when it falls on Start
	Moved  bool      `json:"moved,omitempty"`  // a person chose Start: every following date is written to the platform
}

// Origin returns the index of the cycle on Start.
func (s Series) Origin() int { return s.Cycle - s.Passed }

// From returns the series that begins with a later cycle and has the same dates: month
// ends are still counted from Start.
func (s Series) From(cycle int) Series {
	return Series{Cycle: cycle, Start: s.Start, Passed: cycle - s.Origin(), Moved: s.Moved}
}

// Before returns the series that begins with a cycle on the second date of this one.
func (s Series) Before(cycle int) Series {
	return Series{Cycle: cycle, Start: s.Start, Passed: 1, Moved: s.Moved}
}

// SeriesOf returns the series that a cycle belongs to.
func (c Contract) SeriesOf(cycle int) Series {
	s := c.Series
	for _, later := range c.LaterSeries {
		if later.Cycle <= cycle {
			s = later
		}
	}
	return s
}

// Dates returns the dates of a series of the contract.
func (c Contract) Dates(s Series, cal cadence.Calendar) cadence.Series {
	return cadence.Series{Policy: c.Billing, Calendar: cal, Start: s.Start}
}

// DueOn returns the calendar date of a cycle, which must not be earlier than the start
// of the series.
func (c Contract) DueOn(cycle int, cal cadence.Calendar) time.Time {
	s := c.SeriesOf(cycle)
	return c.Dates(s, cal).Nth(cycle - s.Origin())
}

// CycleFrom returns the first cycle of the calendar on or after an instant.
func (c Contract) CycleFrom(t time.Time, cal cadence.Calendar) int {
	cycle := c.firstOf(c.Series, t, cal)
	for _, later := range c.LaterSeries {
		if cycle < later.Cycle {
			break
		}
		cycle = c.firstOf(later, t, cal)
	}
	return cycle
}

// ResumeCycle returns the cycle with which the calendar continues at an instant: it and
// all later cycles fall on or after the instant. Earlier cycles may do so too, because a
// later series can begin on an earlier date.
func (c Contract) ResumeCycle(t time.Time, cal cadence.Calendar) int {
	cycle := c.firstOf(c.Series, t, cal)
	for _, later := range c.LaterSeries {
		if cycle = min(cycle, later.Cycle); c.DueOn(later.Cycle, cal).Before(t) {
			cycle = c.firstOf(later, t, cal)
		}
	}
	return cycle
}

// firstOf returns the first cycle of a series on or after an instant.
func (c Contract) firstOf(s Series, t time.Time, cal cadence.Calendar) int {
	return max(s.Cycle, s.Origin()+c.Dates(s, cal).After(t.Add(-time.Millisecond)))
}

// BeginSeries begins a new series with an order. Orders before it keep their dates, also
// when the queue is rebuilt. Series that began in the past replace the first one.
func (c *Contract) BeginSeries(s Series, now time.Time) {
	rest := slices.DeleteFunc(slices.Clone(c.LaterSeries), func(later Series) bool { return later.Cycle >= s.Cycle })
	for len(rest) > 0 && !rest[0].Start.After(now) {
		c.Series, rest = rest[0], rest[1:]
	}
	if c.LaterSeries = append(rest, s); s.Cycle <= c.Series.Cycle {
		c.Series, c.LaterSeries = s, nil
	}
}

// ReplaceSeries replaces the first series. Series of later orders stay, and so does the
// one that it replaces, if it begins later.
func (c *Contract) ReplaceSeries(s Series) {
	c.Series, c.LaterSeries = s, SeriesAfter(append([]Series{c.Series}, c.LaterSeries...), s)
}

// SeriesAfter returns the series that begin after s.
func SeriesAfter(all []Series, s Series) (rest []Series) {
	for _, later := range all {
		if later.Cycle > s.Cycle && later.Start.After(s.Start) {
			rest = append(rest, later)
		}
	}
	return rest
}

// LaterSeriesFrom returns the series that begin after a cycle.
func (c Contract) LaterSeriesFrom(cycle int) []Series {
	return slices.DeleteFunc(slices.Clone(c.LaterSeries), func(later Series) bool { return later.Cycle <= cycle })
}

// Relocate moves the calendar to the same local days in another zone. Series start on
// the local day of their start: the same instant may be another day in the new zone. A
// date with an hour of its own stays at its instant, and so does an upcoming one whose
// hour has passed there. Scheduled changes move too: a pause until a day ends when that
// day begins in the new zone.
func (c *Contract) Relocate(from, to cadence.Calendar, now time.Time) {
	there := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return to.Local(from.Day(t))
	}
	c.Series.Start = there(c.Series.Start)
	c.LaterSeries, c.Overrides = slices.Clone(c.LaterSeries), slices.Clone(c.Overrides)
	for i := range c.LaterSeries {
		c.LaterSeries[i].Start = there(c.LaterSeries[i].Start)
	}
	for i := range c.Overrides {
		if date := c.Overrides[i].Date; !date.IsZero() {
			if there := from.In(to, date); there.After(now) || !date.After(now) {
				c.Overrides[i].Date = there
			}
		}
	}
	midnight, begins := cadence.Calendar{Zone: from.Zone}, cadence.Calendar{Zone: to.Zone}
	if c.Pause != nil {
		pause := *c.Pause
		pause.Until, c.Pause = midnight.In(begins, pause.Until), &pause
	}
	if c.Moving != nil && c.Moving.Pause != nil {
		move, pause := *c.Moving, *c.Moving.Pause
		pause.Until, move.Pause, c.Moving = midnight.In(begins, pause.Until), &pause, &move
	}
	if c.Ending != nil {
		ending := *c.Ending
		ending.At, c.Ending = from.In(to, ending.At), &ending
	}
	if c.Trial != nil {
		c.Trial = &Trial{EndsAt: from.In(to, c.Trial.EndsAt), ChargeAt: from.In(to, c.Trial.ChargeAt)}
	}
	c.CancelledOrderDate = from.In(to, c.CancelledOrderDate)
	if c.ExpireAt.After(now) {
		c.ExpireAt = from.In(to, c.ExpireAt)
	}
	c.ResetAmendAt()
}
