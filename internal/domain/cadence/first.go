package cadence

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/enum"
)

// PreAnchor says what becomes of an order that is placed before the anchor.
// The zero value is the platform's default.
type PreAnchor int

// The behaviours before an anchor.
const (
	ASAP PreAnchor = iota // delivered at once; at the next anchor when inside its cutoff
	Next                  // delivered at the next anchor; at the one after when inside its cutoff
)

var preAnchorNames = [...]string{ASAP: "ASAP", Next: "NEXT"}

// ParsePreAnchor reads a behaviour in any letter case. Its failure is Invalid.
func ParsePreAnchor(s string) (PreAnchor, error) {
	return enum.Parse("a behaviour before an anchor", s, ASAP, Next)
}

// String returns the behaviour's name in upper case, or "" when it is none.
func (b PreAnchor) String() string {
	if b < ASAP || b > Next {
		return ""
	}
	return preAnchorNames[b]
}

// First returns when what was ordered (and paid for) at an instant is first
// delivered, and when it is next billed and delivered. Both are order times of
// local days; the first may therefore be some hours before the order on the
// same day. They are occurrences 0 and 1 of the series that starts with the
// first delivery. A policy that is not valid gives Never twice.
func (p Policy) First(c Calendar, ordered time.Time, before PreAnchor) (firstDelivery, next time.Time) {
	if p.Validate() != nil || !meant(ordered) {
		return Never(), Never()
	}
	firstDelivery = c.local(p.firstDay(c.day(ordered), before))
	return firstDelivery, Series{Policy: p, Calendar: c, Start: firstDelivery}.Nth(1)
}

func (p Policy) firstDay(ordered int64, before PreAnchor) int64 {
	if len(p.Anchors) == 0 {
		return ordered
	}
	anchor := p.upcoming(ordered)
	if before == ASAP {
		if anchor.closed(ordered) {
			return anchor.day
		}
		return ordered
	}
	for anchor.closed(ordered) {
		anchor = p.upcoming(anchor.day + 1)
	}
	return anchor.day
}

// closed reports whether an order placed on a day comes too late for the
// anchor. Without a cutoff an order is in time on the anchor day itself.
func (a anchorDay) closed(ordered int64) bool {
	return a.cutoff > 0 && a.day-ordered <= int64(a.cutoff)
}

// WithCutoff returns the policy with a cut-off for its fixed days, in whole days.
func (p Policy) WithCutoff(days int) Policy {
	p.Anchors = slices.Clone(p.Anchors)
	for i := range p.Anchors {
		p.Anchors[i].Cutoff = days
	}
	return p
}

// Realigned returns when the next order is due after a calendar with an upcoming order changed to the
// policy: on the first of its fixed days on or after that order, and without fixed days when it was due.
// An order on a fixed day stays; another one must respect the cut-off, in days, as a new order would.
func (p Policy) Realigned(c Calendar, upcoming, now time.Time, cutoff int) time.Time {
	if len(p.Anchors) == 0 {
		return upcoming
	}
	day, _ := p.First(c, upcoming, Next)
	if day.Before(upcoming) && !day.After(now) { // the order time of today has passed
		day, _ = p.First(c, upcoming.Add(24*time.Hour), Next)
	}
	if day.Equal(c.At(upcoming)) {
		return day
	}
	if open, _ := p.WithCutoff(cutoff).First(c, now, Next); open.After(day) {
		return open
	}
	return day
}
