package cadence

import "time"

// Calendar is a shop's time zone and the local time of day at which its orders
// fall due. Without a zone it is UTC.
type Calendar struct {
	Zone   *time.Location
	Hour   int // 0 to 23
	Minute int // 0 to 59
}

// Never is the instant that stands for "no such date". It is later than every
// date this package computes, so that what never falls due is never found due.
func Never() time.Time { return time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC) }

// earliest is the first instant that is taken for a date: the zero time and
// other values that are no date are before it.
func earliest() time.Time { return time.Date(1900, time.January, 1, 0, 0, 0, 0, time.UTC) }

func meant(t time.Time) bool { return !t.Before(earliest()) && t.Before(Never()) }

// Day returns the local day of an instant.
func (c Calendar) Day(t time.Time) Date { return dateOf(t.In(c.zone())) }

// Days returns how many local days later one instant is than another.
func (c Calendar) Days(from, to time.Time) int { return int(c.day(to) - c.day(from)) }

// DaysBefore returns the instant so many local days earlier, at the same time of day.
func (c Calendar) DaysBefore(t time.Time, days int) time.Time {
	return t.In(c.zone()).AddDate(0, 0, -days).UTC()
}

// At moves an instant to the order time of its local day. Years before 1900
// and after 9998 give Never.
func (c Calendar) At(t time.Time) time.Time {
	if !meant(t) {
		return Never()
	}
	return c.local(c.day(t))
}

// Local returns the instant, in UTC, at which the order time of a local day
// falls. It always lies in that day:
//
//   - a time of day that occurs twice means the first;
//   - one that is left out, because clocks go forward, means the first instant
//     after the gap, or the last minute before it when the gap reaches the end
//     of the day;
//   - a day that a zone left out altogether means the next day that exists.
//
// Years before 1900 and after 9998 give Never.
func (c Calendar) Local(day Date) time.Time {
	if !meant(day.midnight()) {
		return Never()
	}
	return c.local(day.number())
}

// In returns when something falls in another calendar: at the order time of the same
// local day. What is not at the order time of its day stays at its instant: it was
// chosen by hand.
func (c Calendar) In(to Calendar, t time.Time) time.Time {
	if !c.At(t).Equal(t) {
		return t
	}
	return to.Local(c.Day(t))
}

func (c Calendar) local(day int64) time.Time {
	for range longestLeap {
		at := c.reach(day*secondsPerDay + c.secondOfDay())
		if c.day(at) == day {
			return at
		}
		// at is the end of a gap that swallowed the rest of the day, or all of it.
		if before := c.lastMinute(at); c.day(before) == day {
			return before
		}
		day++
	}
	return Never()
}

// longestLeap is more days than any zone leaves out in a row. It ends the
// search in an invented zone.
const longestLeap = 7

// farthestZone is more than any zone is ahead of UTC, in seconds.
const farthestZone = 26 * 60 * 60

// reach returns the first instant at which the local clock, as seconds since
// 1970-01-01 00:00 of local time, shows the given reading or a later one.
func (c Calendar) reach(reading int64) time.Time {
	t := time.Unix(reading-farthestZone, 0).In(c.zone())
	for {
		_, offset := t.Zone()
		end := steadyUntil(t)
		at := time.Unix(max(reading-int64(offset), t.Unix()), 0)
		if end.IsZero() || at.Before(end) {
			return at.UTC()
		}
		t = end
	}
}

// steadyUntil returns a later instant before which the offset at t does not
// change, or the zero time when it never does.
//
// It is not always the instant of a change: where a zone's changes follow a
// rule, ZoneBounds takes every year for 365 days long, and what it says on the
// last day of a leap year ends before that day (golang/go#81583).
func steadyUntil(t time.Time) time.Time {
	_, end := t.ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		return t.Add(time.Hour)
	}
	return end
}

// lastMinute returns the last whole local minute before an instant.
func (c Calendar) lastMinute(t time.Time) time.Time {
	t = t.Add(-time.Second)
	return t.Add(-time.Duration(floorMod(c.reading(t), 60)) * time.Second)
}

// reading returns what the local clock shows, in seconds.
func (c Calendar) reading(t time.Time) int64 { return t.Unix() + int64(c.offset(t)) }

func (c Calendar) day(t time.Time) int64 { return floorDiv(c.reading(t), secondsPerDay) }

func (c Calendar) offset(t time.Time) int {
	_, offset := t.In(c.zone()).Zone()
	return offset
}

// secondOfDay keeps an order time that is out of range within the day.
func (c Calendar) secondOfDay() int64 {
	return int64(min(max(c.Hour, 0), 23))*3600 + int64(min(max(c.Minute, 0), 59))*60
}

func (c Calendar) zone() *time.Location {
	if c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

// dateLine is a change of a zone's offset, in seconds, that no daylight saving
// reaches: it moves the zone across the date line.
const dateLine = 12 * 60 * 60

// left returns the days between two instants that the zone left out. It looks
// closely only when the offsets at both ends lie a date line apart, and so
// takes a zone that crossed and crossed back for one that never did.
func (c Calendar) left(from, to time.Time) []int64 {
	if change := c.offset(to) - c.offset(from); change < dateLine {
		return nil
	}
	var days []int64
	for t := from.In(c.zone()); ; {
		end := steadyUntil(t)
		if end.IsZero() || end.After(to) {
			return days
		}
		for day := c.day(end.Add(-time.Second)) + 1; day < c.day(end); day++ {
			days = append(days, day)
		}
		t = end
	}
}
