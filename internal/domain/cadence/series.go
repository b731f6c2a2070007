package cadence

import (
	"math"
	"time"
)

// Series is the occurrences of a policy on a shop's calendar from a start.
//
// Occurrence 0 is the start, at the order time of its local day. Without
// anchors, occurrence n is n times Count intervals after it; months and years
// are counted from the start, and a day that a month does not have is its last
// one. With anchors, occurrences are the anchor days in every Count-th week,
// month or year, beginning with the one that holds the first of them at or
// after the start. Anchors that fall together make one occurrence.
//
// Occurrences strictly increase, lie in different local days, and depend on
// their number alone. A series whose policy is not valid, or whose start is
// not within the years 1900 to 9998, has none.
type Series struct {
	Policy
	Calendar
	Start time.Time
}

// Nth returns occurrence n in UTC. Where there is none (n is negative, the year
// would be after 9998, the series has none) it returns Never.
func (s Series) Nth(n int) time.Time {
	days, ok := s.row()
	if !ok || n < 0 {
		return Never()
	}
	return s.nth(days, int64(n))
}

// After returns the number of the first occurrence after t. That occurrence is
// Never when no other is left, and its number math.MaxInt when t is not before
// Never itself.
func (s Series) After(t time.Time) int {
	if !t.Before(Never()) {
		return math.MaxInt
	}
	days, ok := s.row()
	if !ok || t.Before(earliest()) {
		return 0
	}
	// What falls two local days before t is certainly past: the day between
	// allows for an occurrence that moved on from a day that was left out.
	past := s.Calendar.day(t) - 2
	n := max(0, days.count(past)-s.merged(days, past))
	for !s.nth(days, n).After(t) {
		n++
	}
	return int(n)
}

func (s Series) row() (days, bool) {
	if s.Validate() != nil || !meant(s.Start) {
		return nil, false
	}
	return s.days(s.Calendar.day(s.Start)), true
}

func (s Series) nth(days days, n int64) time.Time {
	day, ok := s.planned(days, n)
	if !ok {
		return Never()
	}
	return s.local(day)
}

// planned finds the day of the nth occurrence among days that may have
// merged; false when there is none. The zone may have left it out.
func (s Series) planned(days days, n int64) (int64, bool) {
	index := n
	for {
		day, ok := days.day(index)
		if !ok {
			return 0, false
		}
		merged := s.merged(days, day)
		if index == n+merged {
			return day, true
		}
		index = n + merged
	}
}

// merged returns how many of the days up to the given one are no occurrence,
// because the zone left them out and the day they move on to is one itself.
// Zones that crossed the date line did that; without this, a daily order of
// theirs would fall twice on one day.
func (s Series) merged(days days, upTo int64) int64 {
	start := s.Calendar.day(s.Start)
	if upTo <= start || s.apart() {
		return 0
	}
	var merged int64
	for _, day := range s.left(s.Start, s.local(upTo)) {
		n := days.count(day)
		if n == days.count(day-1) {
			continue // not one of the days
		}
		if next, ok := days.day(n); ok && next <= s.Calendar.day(s.local(day)) {
			merged++
		}
	}
	return merged
}

// apart reports whether the policy never falls on two days in a row.
func (s Series) apart() bool {
	return len(s.Anchors) == 0 && (s.Interval != Day || s.Count > 1)
}
