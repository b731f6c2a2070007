package contract

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// Series is where the counting of a contract's cycles starts.
type Series struct {
	Cycle  int       `json:"cycle"`            // the platform's index of the first cycle that is counted
	Start  time.Time `json:"start"`            // from which it is counted; zero when the contract has no series yet
	Passed int       `json:"passed,omitempty"` // dates from Start on that come before that cycle's: 0 when it falls on Start
	Moved  bool      `json:"moved,omitempty"`  // a person chose Start: the platform has to be told each date that follows
}

// Origin returns the index that a cycle on Start has, or would have.
func (s Series) Origin() int { return s.Cycle - s.Passed }

// From returns the series that begins with one of its later cycles and falls on the
// same dates: those of a month's last days are counted from the first of them.
func (s Series) From(cycle int) Series {
	return Series{Cycle: cycle, Start: s.Start, Passed: cycle - s.Origin(), Moved: s.Moved}
}

// Before returns the series that begins with the date after the first one of this
// one, and with a cycle: the order of the first one is none of it.
func (s Series) Before(cycle int) Series {
	return Series{Cycle: cycle, Start: s.Start, Passed: 1, Moved: s.Moved}
}

// SeriesOf returns the series that a cycle is counted in.
func (c Contract) SeriesOf(cycle int) Series {
	s := c.Series
	for _, turn := range c.LaterSeries {
		if turn.Cycle <= cycle {
			s = turn
		}
	}
	return s
}

// Dates returns the dates of a series of the contract.
func (c Contract) Dates(s Series, cal cadence.Calendar) cadence.Series {
	return cadence.Series{Policy: c.Billing, Calendar: cal, Start: s.Start}
}

// DueOn returns the date on which a cycle falls by the calendar. The cycle must
// not be earlier than the start of the series.
func (c Contract) DueOn(cycle int, cal cadence.Calendar) time.Time {
	s := c.SeriesOf(cycle)
	return c.Dates(s, cal).Nth(cycle - s.Origin())
}

// CycleFrom returns the first cycle of the calendar that falls on an instant or
// after it.
func (c Contract) CycleFrom(t time.Time, cal cadence.Calendar) int {
	cycle := c.firstOf(c.Series, t, cal)
	for _, turn := range c.LaterSeries {
		if cycle < turn.Cycle {
			break
		}
		cycle = c.firstOf(turn, t, cal)
	}
	return cycle
}

// ResumeCycle returns the cycle with which the calendar goes on at an instant: of it and
// those after it none falls before that. Cycles of lower numbers do not all: a turn may
// begin with an earlier date than theirs.
func (c Contract) ResumeCycle(t time.Time, cal cadence.Calendar) int {
	cycle := c.firstOf(c.Series, t, cal)
	for _, turn := range c.LaterSeries {
		if cycle = min(cycle, turn.Cycle); c.DueOn(turn.Cycle, cal).Before(t) {
			cycle = c.firstOf(turn, t, cal)
		}
	}
	return cycle
}

// firstOf returns the first cycle of a series of the contract that falls on an instant
// or after it.
func (c Contract) firstOf(s Series, t time.Time, cal cadence.Calendar) int {
	return max(s.Cycle, s.Origin()+c.Dates(s, cal).After(t.Add(-time.Millisecond)))
}

// BeginSeries lets the calendar begin anew with an order. Orders before it keep their
// dates, also when the queue is made anew. What begins with orders of the past is
// forgotten.
func (c *Contract) BeginSeries(s Series, now time.Time) {
	turns := slices.DeleteFunc(slices.Clone(c.LaterSeries), func(turn Series) bool { return turn.Cycle >= s.Cycle })
	for len(turns) > 0 && !turns[0].Start.After(now) {
		c.Series, turns = turns[0], turns[1:]
	}
	if c.LaterSeries = append(turns, s); s.Cycle <= c.Series.Cycle {
		c.Series, c.LaterSeries = s, nil
	}
}

// ReplaceSeries lets the calendar begin with a series, whatever was before. Turns of later
// orders stay, and so does the beginning that it had with one of them.
func (c *Contract) ReplaceSeries(s Series) {
	c.Series, c.LaterSeries = s, SeriesAfter(append([]Series{c.Series}, c.LaterSeries...), s)
}

// SeriesAfter returns the turns that are still to come when a calendar begins with a
// series.
func SeriesAfter(turns []Series, s Series) (rest []Series) {
	for _, turn := range turns {
		if turn.Cycle > s.Cycle && turn.Start.After(s.Start) {
			rest = append(rest, turn)
		}
	}
	return rest
}

// LaterSeriesFrom returns the turns that are still to come when the calendar goes on with a
// cycle.
func (c Contract) LaterSeriesFrom(cycle int) []Series {
	return slices.DeleteFunc(slices.Clone(c.LaterSeries), func(turn Series) bool { return turn.Cycle <= cycle })
}

// Relocate lets the calendar fall on the same local days in another zone. The days of
// a series are counted from the local day of its start: read in another zone, the same
// instant may be another day. A wish for an hour of its own stays at its instant, and so
// does one that is to come still and whose hour has passed there. What the contract waits
// for moves with it: a pause until a day ends when that begins there.
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
