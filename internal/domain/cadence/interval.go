// Package cadence computes the days on which a recurring order falls due. It
// does no I/O and does not read the clock.
package cadence

import (
	"github.com/perennialhq/perennial/internal/base/enum"
)

// Interval is the unit in which a policy counts. The zero value is no interval.
type Interval int

// The intervals.
const (
	Day Interval = iota + 1
	Week
	Month
	Year
)

var intervalNames = [...]string{Day: "DAY", Week: "WEEK", Month: "MONTH", Year: "YEAR"}

// ParseInterval reads an interval in any letter case. Its failure is Invalid.
func ParseInterval(s string) (Interval, error) {
	return enum.Parse("an interval", s, Day, Week, Month, Year)
}

// String returns the interval's name in upper case, or "" when it is none.
func (i Interval) String() string {
	if !i.known() {
		return ""
	}
	return intervalNames[i]
}

func (i Interval) known() bool { return i >= Day && i <= Year }
