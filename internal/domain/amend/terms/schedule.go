package terms

import (
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// CycleLimitInRange reports whether minCycles or maxCycles may have a value. Nil is allowed.
func CycleLimitInRange(limit *int) bool {
	return limit == nil || *limit >= 0 && *limit <= MaxCycleLimit
}

// Frequency is how often orders recur.
type Frequency struct {
	Interval cadence.Interval
	Count    int
}

// Equals reports whether a policy recurs with the frequency.
func (r Frequency) Equals(p contract.Policy) bool {
	return p.Interval == r.Interval && p.Count == r.Count
}

// Policy returns the policy of the frequency, without fixed days.
func (r Frequency) Policy() cadence.Policy {
	return cadence.Policy{Interval: r.Interval, Count: r.Count}
}

func (r Frequency) String() string { return fmt.Sprintf("%d %s", r.Count, r.Interval) }

// FrequencyOf returns the frequency of a policy.
func FrequencyOf(p contract.Policy) Frequency { return Frequency{p.Interval, p.Count} }

// Describe returns a policy as text: its interval and fixed days.
func Describe(p platform.Policy) string {
	text := fmt.Sprintf("%d %s", p.Count, p.Interval)
	for _, a := range p.Anchors {
		if text += fmt.Sprintf(" on %s %d", a.Type, a.Day); a.Type == anchorTypes[cadence.YearDay] {
			text += fmt.Sprintf(" of month %d", a.Month)
		}
	}
	return text
}

// HasAnchors reports whether a policy has exactly these fixed days.
func HasAnchors(p contract.Policy, days []platform.Anchor) bool {
	return slices.EqualFunc(p.Anchors, days, func(is cadence.Anchor, day platform.Anchor) bool {
		return anchorTypes[is.Kind] == day.Type && is.Day == day.Day && (is.Kind != cadence.YearDay || is.Month == day.Month)
	})
}

// CheckMultiple refuses a billing interval that is not a multiple of the delivery
// interval.
func CheckMultiple(billed, delivered Frequency) error {
	if billed.Policy().Covers(delivered.Policy()) == 0 {
		return fault.New(fault.FailedPrecondition, "billing every %s does not cover whole deliveries every %s: the billing interval must be a multiple of the delivery interval", billed, delivered).
			Entity(amend.Entity).Code("intervalMismatch")
	}
	return nil
}

// PlatformPolicy returns the platform's policy of a frequency. The fixed days of the former policy stay if the interval does.
func PlatformPolicy(r Frequency, was contract.Policy, minCycles, maxCycles int) platform.Policy {
	p := platform.Policy{Interval: r.Interval.String(), Count: r.Count, MinCycles: minCycles, MaxCycles: maxCycles}
	if was.Interval == r.Interval {
		for _, a := range was.Anchors {
			p.Anchors = append(p.Anchors, platform.Anchor{Type: anchorTypes[a.Kind], Day: a.Day, Month: a.Month, CutoffDay: a.CutoffDay})
		}
	}
	return p
}

var anchorTypes = map[cadence.AnchorKind]string{cadence.Weekday: "WEEKDAY", cadence.MonthDay: "MONTHDAY", cadence.YearDay: "YEARDAY"}

// Cycles are the minimum and maximum number of cycles. Nil keeps the current one; 0 is
// no limit.
type Cycles struct{ Min, Max *int }

// MaxCycleLimit is the largest number of cycles that can be asked for.
const MaxCycleLimit = 9999
