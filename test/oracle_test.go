package test

import (
	"time"
)

// The oracle computes which renewals a contract is owed, from what the platform
// says of it and from the store's calendar. It shares nothing with the service:
// it walks the days one by one.

// policy is how often a contract is billed, as the platform shows it.
type policy struct {
	Interval      string `json:"interval"`
	IntervalCount int    `json:"intervalCount"`
	Anchors       []struct {
		Type       string
		Day, Month int
	} `json:"anchors"`
	MaxCycles int `json:"maxCycles"`
}

// owed returns the instants from the first renewal up to and including until, at
// the store's order time of the days on which the policy falls.
func owed(p policy, first, until time.Time, zone *time.Location, hour, minute int) []time.Time {
	local := first.In(zone)
	start := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	var dates []time.Time
	for day := start; ; day = day.AddDate(0, 0, 1) {
		at := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, zone)
		if at.After(until) {
			return dates
		}
		if day.Equal(start) || falls(p, start, day) {
			dates = append(dates, at.UTC())
		}
	}
}

// falls reports whether a policy that started on one day falls on a later one.
func falls(p policy, start, day time.Time) bool {
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
