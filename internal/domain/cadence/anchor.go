package cadence

import (
	"cmp"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/enum"
	"github.com/perennialhq/perennial/internal/base/fault"
)

// AnchorKind says what an anchor's day is counted in. The zero value is none.
type AnchorKind int

// The kinds of anchor.
const (
	Weekday AnchorKind = iota + 1
	MonthDay
	YearDay
)

var anchorKindNames = [...]string{Weekday: "WEEKDAY", MonthDay: "MONTHDAY", YearDay: "YEARDAY"}

// ParseAnchorKind reads a kind of anchor in any letter case. Its failure is
// Invalid.
func ParseAnchorKind(s string) (AnchorKind, error) {
	return enum.Parse("a kind of anchor", s, Weekday, MonthDay, YearDay)
}

// String returns the kind's name in upper case, or "" when it is none.
func (k AnchorKind) String() string {
	if k < Weekday || k > YearDay {
		return ""
	}
	return anchorKindNames[k]
}

// Anchor is a fixed day on which a policy falls. In a month that is too short
// for it, it falls on the month's last day.
type Anchor struct {
	Kind      AnchorKind
	Day       int // Weekday: 1 (Monday) to 7; otherwise day of the month, 1 to 31
	Month     int // YearDay: 1 to 12; ignored otherwise
	Cutoff    int // whole days before the anchor from which a new order misses it; 0: none
	CutoffDay int `json:",omitempty"` // the fixed day that closes the anchor to new orders, as platforms tell it; 0: none. It moves no date
}

// validate returns the reason why the anchor cannot belong to a policy with
// the given interval.
//
// A MONTH policy may have YEARDAY anchors: merchants say "every quarter" that
// way. The reverse is refused, because MONTHDAY anchors would make a yearly
// policy charge every month.
func (a Anchor) validate(i Interval) error {
	switch {
	case a.Kind.String() == "":
		return fault.New(fault.Invalid, "the kind of anchor must be WEEKDAY, MONTHDAY or YEARDAY").Field("anchors")
	case i == Day:
		return fault.New(fault.Invalid, "a DAY interval has no anchors").Field("anchors")
	case (a.Kind == Weekday) != (i == Week), a.Kind == MonthDay && i == Year:
		return fault.New(fault.Invalid, "a %s interval has no %s anchors", i, a.Kind).Field("anchors")
	case a.Kind == Weekday && (a.Day < 1 || a.Day > 7):
		return fault.New(fault.Invalid, "the day of a WEEKDAY anchor is %d and must be from 1 (Monday) to 7", a.Day).Field("anchors")
	case a.Day < 1 || a.Day > 31:
		return fault.New(fault.Invalid, "the day of a %s anchor is %d and must be from 1 to 31", a.Kind, a.Day).Field("anchors")
	case a.Kind == YearDay && (a.Month < 1 || a.Month > 12):
		return fault.New(fault.Invalid, "the month of a YEARDAY anchor is %d and must be from 1 to 12", a.Month).Field("anchors")
	case a.Cutoff < 0 || a.Cutoff > MaxCutoff:
		return fault.New(fault.Invalid, "the cutoff of an anchor is %d and must be from 0 to %d days", a.Cutoff, MaxCutoff).Field("anchors")
	}
	return nil
}

// anchorDay is a day on which one or more anchors fall.
type anchorDay struct {
	day    int64
	cutoff int // the longest of the anchors'
}

// period returns the number of the week, month or year that holds the day.
func (i Interval) period(day int64) int64 {
	switch i {
	case Week:
		// Day 0 was a Thursday; the platform's weeks begin on Monday.
		return floorDiv(day+3, 7)
	case Month:
		return monthOf(day)
	default:
		return floorDiv(monthOf(day), 12)
	}
}

// anchorDays returns the anchor days in a period, in order and distinct.
func (p Policy) anchorDays(period int64) []anchorDay {
	days := make([]anchorDay, 0, len(p.Anchors))
	for _, a := range p.Anchors {
		switch month := time.Month(a.Month); {
		case p.Interval == Week:
			days = append(days, anchorDay{period*7 - 3 + int64(a.Day-1), a.Cutoff})
		case p.Interval == Year:
			days = append(days, anchorDay{dayInMonth(period*12+int64(month)-1, a.Day), a.Cutoff})
		case a.Kind == MonthDay || floorMod(period, 12) == int64(month)-1:
			days = append(days, anchorDay{dayInMonth(period, a.Day), a.Cutoff})
		}
	}
	slices.SortFunc(days, func(a, b anchorDay) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(b.cutoff, a.cutoff))
	})
	return slices.CompactFunc(days, func(a, b anchorDay) bool { return a.day == b.day })
}

// upcoming returns the first anchor day at or after a day, in whatever period
// it is. The policy must be valid and have anchors.
func (p Policy) upcoming(from int64) anchorDay {
	for period := p.Interval.period(from); ; period++ {
		for _, d := range p.anchorDays(period) {
			if d.day >= from {
				return d
			}
		}
	}
}
