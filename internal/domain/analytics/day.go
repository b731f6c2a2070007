package analytics

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Day is a day of a store's calendar, counted from 1970-01-01. 0 is none: no store is that
// old.
type Day int

// DayOf returns the day of an instant in a zone.
func DayOf(t time.Time, zone *time.Location) Day {
	year, month, day := t.In(zone).Date()
	return dayOfDate(year, month, day)
}

func dayOfDate(year int, month time.Month, day int) Day {
	return Day(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// ParseDay reads a day such as 2026-03-31.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 1971 {
		return 0, fault.New(fault.Invalid, "%q is not a day such as 2026-03-31", text)
	}
	return DayOf(t, time.UTC), nil
}

// Date returns midnight of the day, in UTC, for formatting.
func (d Day) Date() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

// In returns the instant at which the day begins in a zone.
func (d Day) In(zone *time.Location) time.Time {
	year, month, day := d.Date().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// String returns the day as 2026-03-31.
func (d Day) String() string { return d.Date().Format(time.DateOnly) }

// Month returns the month that the day is in.
func (d Day) Month() Month {
	year, month, _ := d.Date().Date()
	return Month(year*12 + int(month) - 1)
}

// Week returns the Monday on or before the day.
func (d Day) Week() Day { return d - Day((int(d)+3)%7) } // day 0 was a Thursday

// Month is a month of the calendar: twelve times the year plus 0 to 11. 0 is none.
type Month int

// First returns the first day of the month.
func (m Month) First() Day { return dayOfDate(int(m)/12, time.Month(int(m)%12+1), 1) }

// Last returns the last day of the month.
func (m Month) Last() Day { return (m + 1).First() - 1 }

// String returns the month as 2026-03.
func (m Month) String() string { return fmt.Sprintf("%04d-%02d", int(m)/12, int(m)%12+1) }
