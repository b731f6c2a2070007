package loyalty

import "time"

// expiryHour is the local hour at which points expire.
const expiryHour = 3

// grace is how long refunded points can be spent that would have expired since.
const grace = 30 * 24 * time.Hour

// of returns when points expire that become available at an instant; zero: never, or by
// inactivity.
func (e ExpiryPolicy) of(from time.Time, zone *time.Location) time.Time {
	local := from.In(zone)
	y, m, d := local.Date()
	switch e.Mode {
	case LotAge:
		first := time.Date(y, m+time.Month(e.Months), 1, 0, 0, 0, 0, zone)
		return expiryAt(first.Year(), first.Month(), min(d, lastDay(first)), zone)
	case FixedDate:
		for ; ; y++ {
			first := time.Date(y, e.Month, 1, 0, 0, 0, 0, zone)
			if at := expiryAt(y, e.Month, min(e.Day, lastDay(first)), zone); at.After(from) {
				return at
			}
		}
	}
	return time.Time{}
}

// idle returns when the points of a member expire who was last active at an instant; zero:
// not by inactivity.
func (e ExpiryPolicy) idle(since time.Time, zone *time.Location) time.Time {
	if e.Mode != Inactivity {
		return time.Time{}
	}
	y, m, d := since.In(zone).Date()
	return expiryAt(y, m, d+e.Days, zone)
}

func expiryAt(y int, m time.Month, d int, zone *time.Location) time.Time {
	return time.Date(y, m, d, expiryHour, 0, 0, 0, zone).UTC()
}

// lastDay returns the last day of the month that begins on first.
func lastDay(first time.Time) int { return first.AddDate(0, 1, -1).Day() }
