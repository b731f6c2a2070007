package cadence

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Date is a day of the calendar, without a zone.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// ParseDate reads a day written as 2006-01-02. Its failure is Invalid.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return Date{}, fault.Because(fault.Invalid, err, "%q is not a date: write YYYY-MM-DD", s)
	}
	return dateOf(t), nil
}

// String returns the day as 2006-01-02.
func (d Date) String() string { return d.midnight().Format(time.DateOnly) }

func (d Date) midnight() time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
}

func dateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// Inside the package a day is the number of days since 1970-01-01, and a month
// the number of months since the first month of year 0.

const secondsPerDay = 24 * 60 * 60

func (d Date) number() int64 { return floorDiv(d.midnight().Unix(), secondsPerDay) }

func numbered(day int64) Date { return dateOf(time.Unix(day*secondsPerDay, 0).UTC()) }

func monthOf(day int64) int64 {
	d := numbered(day)
	return int64(d.Year)*12 + int64(d.Month) - 1
}

// dayInMonth returns the given day of a month, or the month's last day when
// the month is shorter.
func dayInMonth(month int64, day int) int64 {
	first := firstOf(month)
	return min(first+int64(day)-1, firstOf(month+1)-1)
}

func firstOf(month int64) int64 {
	return Date{int(floorDiv(month, 12)), time.Month(floorMod(month, 12) + 1), 1}.number()
}

func floorMod(a, b int64) int64 { return (a%b + b) % b }

func floorDiv(a, b int64) int64 { return (a - floorMod(a, b)) / b }
