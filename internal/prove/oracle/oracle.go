// Package oracle computes which renewals a contract is owed. It shares nothing
// with the service: it walks the days one by one, and looks for order times
// minute by minute.
package oracle

import "time"

// Policy is how often a contract is billed, as the platform shows it.
type Policy struct {
	Interval      string   `json:"interval"` // DAY, WEEK, MONTH or YEAR
	IntervalCount int      `json:"intervalCount"`
	Anchors       []Anchor `json:"anchors"`
	MaxCycles     int      `json:"maxCycles"` // 0: no end
}

// Anchor is a fixed day of a policy.
type Anchor struct {
	Type       string // WEEKDAY, MONTHDAY or YEARDAY
	Day, Month int
}

// Calendar is a store's.
type Calendar struct {
	Zone         *time.Location
	Hour, Minute int // at which orders are charged
}

// Owed returns the instants of a contract's renewals from the first up to and
// including until, at the store's order time of the days on which the policy
// falls.
func Owed(p Policy, first, until time.Time, c Calendar) []time.Time {
	local := first.In(c.Zone)
	start := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	var dates []time.Time
	for day := start; ; day = day.AddDate(0, 0, 1) {
		if day.After(until.AddDate(0, 0, 2)) {
			return dates
		}
		if !day.Equal(start) && !falls(p, start, day) {
			continue
		}
		if at := c.on(day); at.After(until) {
			return dates
		} else {
			dates = append(dates, at)
		}
	}
}

// farthest is how far a zone's local time may be from where it is looked for.
const farthest = 26 * time.Hour

// on returns the instant of the order time on a day: the first one at which the
// store's clocks show it or, where they are set forward over it, more.
func (c Calendar) on(day time.Time) time.Time {
	wanted := day.Add(time.Duration(c.Hour)*time.Hour + time.Duration(c.Minute)*time.Minute)
	guess := time.Date(day.Year(), day.Month(), day.Day(), c.Hour, c.Minute, 0, 0, c.Zone)
	at := guess
	if !c.steady(guess) {
		at = guess.Add(-farthest)
		for c.shown(at).Before(wanted) {
			at = at.Add(time.Minute)
		}
	}
	return at.UTC()
}

// steady reports whether the zone's clocks are not set near an instant, so that
// each local time comes once.
func (c Calendar) steady(at time.Time) bool {
	_, before := at.Add(-farthest).In(c.Zone).Zone()
	_, after := at.Add(farthest).In(c.Zone).Zone()
	_, then := at.In(c.Zone).Zone()
	return before == after && before == then
}

// shown is what the store's clocks show, as if that were UTC.
func (c Calendar) shown(at time.Time) time.Time {
	_, offset := at.In(c.Zone).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// falls reports whether a policy that started on one day falls on a later one.
func falls(p Policy, start, day time.Time) bool {
	months := (day.Year()-start.Year())*12 + int(day.Month()) - int(start.Month())
	days := int(day.Sub(start).Hours() / 24)
	if len(p.Anchors) == 0 {
		switch p.Interval {
		case "DAY":
			return days%p.IntervalCount == 0
		case "WEEK":
			return days%(7*p.IntervalCount) == 0
		case "MONTH":
			return months%p.IntervalCount == 0 && day.Day() == clamped(day, start.Day())
		default:
			return months%(12*p.IntervalCount) == 0 && day.Day() == clamped(day, start.Day())
		}
	}
	for _, a := range p.Anchors {
		switch a.Type {
		case "WEEKDAY":
			monday := func(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }
			weeks := int(monday(day).Sub(monday(start)).Hours() / (24 * 7))
			if (int(day.Weekday())+6)%7+1 == a.Day && weeks%p.IntervalCount == 0 {
				return true
			}
		case "MONTHDAY":
			if months%p.IntervalCount == 0 && day.Day() == clamped(day, a.Day) {
				return true
			}
		default:
			if (day.Year()-start.Year())%p.IntervalCount == 0 && int(day.Month()) == a.Month && day.Day() == clamped(day, a.Day) {
				return true
			}
		}
	}
	return false
}

// clamped returns the wanted day of the month that day lies in, or its last.
func clamped(day time.Time, wanted int) int {
	last := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return min(wanted, last)
}
