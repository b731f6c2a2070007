// Package vectors finds out on which instants recurring orders fall by looking
// at one day after the other, and keeps a table of them against which the quick
// ways of package cadence are tested.
//
// It shares nothing with cadence: its calendar is a list of days that was made
// by counting, its zones are lists of changes that were found by looking at the
// clock, and its rules for days and times that do not exist are written down
// once more.
package vectors

//go:generate go run ./generate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The names of the intervals and of the kinds of anchor.
const (
	Day   = "DAY"
	Week  = "WEEK"
	Month = "MONTH"
	Year  = "YEAR"

	Weekday  = "WEEKDAY"
	MonthDay = "MONTHDAY"
	YearDay  = "YEARDAY"
)

// Anchor is a fixed day on which orders fall. In a month that is too short for
// it, it falls on the month's last day.
type Anchor struct {
	Kind   string
	Day    int // Weekday: 1 (Monday) to 7; otherwise day of the month, 1 to 31
	Month  int // of YearDay, 1 to 12
	Cutoff int // days before the anchor from which a new order misses it; 0: none
}

// String returns the anchor as WEEKDAY:4, MONTHDAY:15 or YEARDAY:02-29, with /5
// behind it for a cutoff of five days.
func (a Anchor) String() string {
	text := fmt.Sprintf("%s:%d", a.Kind, a.Day)
	if a.Kind == YearDay {
		text = fmt.Sprintf("%s:%02d-%02d", a.Kind, a.Month, a.Day)
	}
	if a.Cutoff > 0 {
		text += fmt.Sprintf("/%d", a.Cutoff)
	}
	return text
}

func parseAnchor(text string) (a Anchor, err error) {
	kind, rest, _ := strings.Cut(text, ":")
	day, cutoff, closes := strings.Cut(rest, "/")
	a.Kind = kind
	if kind == YearDay {
		var month string
		month, day, _ = strings.Cut(day, "-")
		if a.Month, err = strconv.Atoi(month); err != nil {
			return a, err
		}
	}
	if a.Day, err = strconv.Atoi(day); err != nil || !closes {
		return a, err
	}
	a.Cutoff, err = strconv.Atoi(cutoff)
	return a, err
}

// Series is a row of recurring orders.
type Series struct {
	Zone     *Zone
	Start    int64 // seconds since 1970 in UTC; the first order is on the local day of it
	Interval string
	Count    int // intervals between two orders
	Anchors  []Anchor
	Minute   int // local minute of the day at which orders fall
}

// Until returns the instants of the orders, in seconds since 1970 in UTC, up to
// the local day with the given number since 1970-01-01.
//
// It walks from day to day and asks of each whether an order falls on it. An
// order of a day that the zone left out is owed, and falls on the next day.
func (s Series) Until(last int) []int64 {
	var out []int64
	start := dayOf(s.Zone.reading(s.Start))
	first := -1 // the day of the first anchor
	owed := false
	for number := start; number <= last; number++ {
		d := days[number-firstDay]
		falls := number == start
		switch {
		case len(s.Anchors) == 0:
			falls = falls || s.repeats(days[start-firstDay], d)
		case s.anchored(d):
			if first < 0 {
				first = number
			}
			falls = falls || periods(s.Interval, days[first-firstDay], d)%s.Count == 0
		}
		owed = owed || falls
		if !owed {
			continue
		}
		if at, exists := s.Zone.At(number, s.Minute); exists {
			out, owed = append(out, at), false
		}
	}
	return out
}

// Nth returns the instant of order n, counted from 0.
func (s Series) Nth(n int) int64 {
	start := dayOf(s.Zone.reading(s.Start))
	for years := 1; ; years *= 2 {
		if list := s.Until(min(start+366*years, lastDay)); len(list) > n {
			return list[n]
		}
	}
}

// repeats reports whether an order without anchors falls on a day: a whole number
// of steps after the start, counted from the start and never from the order
// before.
func (s Series) repeats(start, d day) bool {
	months := 12*(d.year-start.year) + d.month - start.month
	sameDate := d.date == start.date || d.date < start.date && d.last
	switch s.Interval {
	case Day:
		return (d.number-start.number)%s.Count == 0
	case Week:
		return (d.number-start.number)%(7*s.Count) == 0
	case Month:
		return sameDate && months%s.Count == 0
	default:
		return sameDate && months%(12*s.Count) == 0
	}
}

func (s Series) anchored(d day) bool {
	return slices.ContainsFunc(s.Anchors, func(a Anchor) bool { return a.on(d) })
}

func (a Anchor) on(d day) bool {
	if a.Kind == Weekday {
		return a.Day == d.weekday
	}
	return (a.Kind == MonthDay || a.Month == d.month) && (a.Day == d.date || a.Day > d.date && d.last)
}

// periods returns how many weeks (of Monday to Sunday), months or years lie
// between those that hold two days.
func periods(interval string, from, to day) int {
	switch interval {
	case Week:
		return (to.number - to.weekday - from.number + from.weekday) / 7
	case Month:
		return 12*(to.year-from.year) + to.month - from.month
	default:
		return to.year - from.year
	}
}

// First returns when what was ordered at the series' start is delivered for the
// first time, and when it is next billed. With next, a new order waits for its
// anchor; otherwise it is delivered at once, unless it comes within the cutoff
// of the anchor that follows.
func (s Series) First(next bool) (first, second int64) {
	ordered := dayOf(s.Zone.reading(s.Start))
	delivered := ordered
	if len(s.Anchors) > 0 {
		anchor, closed := s.following(ordered, ordered)
		if next {
			for closed {
				anchor, closed = s.following(anchor+1, ordered)
			}
		}
		if next || closed {
			delivered = anchor
		}
	}
	for exists := false; !exists; delivered++ {
		first, exists = s.Zone.At(delivered, s.Minute)
	}
	s.Start = first
	return first, s.Nth(1)
}

// following returns the first anchor day at or after a day, and whether it was
// closed to new orders on the day of the order: from as many days before it as
// the longest of its cutoffs has.
func (s Series) following(from, ordered int) (number int, closed bool) {
	for number = from; ; number++ {
		d := days[number-firstDay]
		if !s.anchored(d) {
			continue
		}
		for _, a := range s.Anchors {
			closed = closed || a.on(d) && a.Cutoff > 0 && number-ordered <= a.Cutoff
		}
		return number, closed
	}
}

// day is a day of the calendar.
type day struct {
	number            int // since 1970-01-01
	year, month, date int
	weekday           int  // 1: Monday
	last              bool // of its month
}

// The days that the calendar holds: 1990-01-01, a Monday, to 2079-12-31.
const (
	firstDay  = 7305
	firstYear = 1990
	lastYear  = 2079
)

var (
	days    = counted()
	lastDay = days[len(days)-1].number
)

// counted returns the days of the calendar, made by counting.
func counted() []day {
	var list []day
	number, weekday := firstDay, 1
	for year := firstYear; year <= lastYear; year++ {
		for month := 1; month <= 12; month++ {
			long := length(year, month)
			for date := 1; date <= long; date++ {
				list = append(list, day{number, year, month, date, weekday, date == long})
				number, weekday = number+1, weekday%7+1
			}
		}
	}
	return list
}

func length(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// numberOf returns the number of a date.
func numberOf(year, month, date int) int {
	at, _ := slices.BinarySearchFunc(days, day{year: year, month: month, date: date}, func(a, b day) int {
		return cmp.Or(cmp.Compare(a.year, b.year), cmp.Compare(a.month, b.month), cmp.Compare(a.date, b.date))
	})
	return days[at].number
}

// dayOf returns the day of a reading of a clock, in seconds since 1970-01-01.
func dayOf(reading int64) int { return int(floor(reading, secondsPerDay)) }

func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
