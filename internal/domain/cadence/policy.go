package cadence

import (
	"math"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Limits of a policy.
const (
	MaxCount   = 365 // intervals between two occurrences
	MaxAnchors = 366 // one for every day of a leap year
	MaxCutoff  = 365 // days before an anchor
)

// Policy is how often something recurs: every Count intervals, on the anchor
// days when there are any and otherwise on the day on which it started.
type Policy struct {
	Interval Interval
	Count    int
	Anchors  []Anchor
}

// Validate returns an Invalid fault that names the first rule the policy
// breaks and the field that breaks it, or nil.
func (p Policy) Validate() error {
	if !p.Interval.known() {
		return fault.New(fault.Invalid, "the interval must be DAY, WEEK, MONTH or YEAR").Field("interval")
	}
	if p.Count < 1 || p.Count > MaxCount {
		return fault.New(fault.Invalid, "the interval count is %d and must be from 1 to %d", p.Count, MaxCount).Field("intervalCount")
	}
	if len(p.Anchors) > MaxAnchors {
		return fault.New(fault.Invalid, "there are %d anchors and there can be at most %d", len(p.Anchors), MaxAnchors).Field("anchors")
	}
	for _, a := range p.Anchors {
		if err := a.validate(p.Interval); err != nil {
			return err
		}
	}
	return nil
}

// Covers returns how many intervals of another policy one interval of this one lasts;
// 0 when they are no whole number, as those of a week in a month. Anchors do not
// matter.
func (p Policy) Covers(other Policy) int {
	unit, n := p.units()
	of, m := other.units()
	if unit != of || m < 1 || n%m != 0 {
		return 0
	}
	return n / m
}

// units returns the interval in days or in months.
func (p Policy) units() (unit Interval, n int) {
	switch p.Interval {
	case Week:
		return Day, 7 * p.Count
	case Year:
		return Month, 12 * p.Count
	default:
		return p.Interval, p.Count
	}
}

// approxOccurrences is how many occurrences beyond two rounds of the anchors
// Approx looks at: four years of months, so that every length of month is met.
const approxOccurrences = 48

// longestDuration is the days that fit a time.Duration, about 292 years.
const longestDuration = int64(math.MaxInt64 / (24 * time.Hour))

// Approx returns the shortest time that plausibly passes between two
// occurrences of the policy, in whole days of 24 hours and at most 292 years;
// 0 when the policy is not valid. It is a measure for guards and not for dates,
// and knows nothing of the shorter first step of a series that starts off its
// anchors.
func (p Policy) Approx() time.Duration {
	if p.Validate() != nil {
		return 0
	}
	from := Date{2023, time.January, 31}.number()
	if len(p.Anchors) > 0 {
		from = p.upcoming(Date{2023, time.January, 1}.number()).day
	}
	days := p.days(from)
	shortest, earlier := int64(0), from
	for n := range int64(2*len(p.Anchors) + approxOccurrences) {
		day, ok := days.day(n + 1)
		if !ok {
			break
		}
		if shortest == 0 || day-earlier < shortest {
			shortest = day - earlier
		}
		earlier = day
	}
	return time.Duration(min(shortest, longestDuration)) * 24 * time.Hour
}
