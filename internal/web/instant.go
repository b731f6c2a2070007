package web

import (
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// Instant is a date and time on the wire: UTC with a Z, and milliseconds only
// when there are any.
type Instant time.Time

// At returns t on the wire, or nil when it is zero.
func At(t time.Time) *Instant {
	if t.IsZero() {
		return nil
	}
	i := Instant(clock.Trim(t))
	return &i
}

// MarshalText writes the instant.
func (i Instant) MarshalText() ([]byte, error) {
	t := time.Time(i).UTC()
	if t.Nanosecond() == 0 {
		return t.AppendFormat(nil, "2006-01-02T15:04:05Z"), nil
	}
	return t.AppendFormat(nil, "2006-01-02T15:04:05.000Z"), nil
}

// UnmarshalText reads an instant. A day without a time is its first instant in
// UTC: callers that know the zone use ParseMoment.
func (i *Instant) UnmarshalText(text []byte) error {
	m, err := ParseMoment("", string(text), time.UTC)
	*i = Instant(m.From)
	return err
}

// Moment is what a caller wrote for a date: an instant, or a whole day of a
// zone.
type Moment struct {
	From, To time.Time // first and last millisecond; the same for an instant
	Day      cadence.Date
	IsDay    bool
}

// layouts of ISO 8601 with a zone, from the usual to the rare.
var layouts = [...]string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04Z0700"}

// Years that a date can have.
const minYear, maxYear = 1900, 9998

// ParseMoment reads ISO 8601 with a zone, or YYYY-MM-DD as that day in the
// given zone.
func ParseMoment(param, s string, zone *time.Location) (Moment, error) {
	bad := fault.New(fault.Invalid, "%q is not a date: write it like 2025-01-31T08:00:00Z or 2025-01-31", s).Field(param)
	far := fault.New(fault.Invalid, "%q is out of range: a date's year is from %d to %d", s, minYear, maxYear).Field(param)
	if len(s) == len(time.DateOnly) {
		day, err := cadence.ParseDate(s)
		if err != nil {
			return Moment{}, bad
		}
		if day.Year < minYear || day.Year > maxYear {
			return Moment{}, far
		}
		midnights := cadence.Calendar{Zone: zone}
		next := time.Date(day.Year, day.Month, day.Day+1, 0, 0, 0, 0, time.UTC)
		from := midnights.Local(day)
		to := midnights.Local(cadence.Date{Year: next.Year(), Month: next.Month(), Day: next.Day()}).Add(-time.Millisecond)
		return Moment{From: from, To: to, Day: day, IsDay: true}, nil
	}
	// A plus sign that was not encoded arrives as a space.
	s = strings.Replace(s, " ", "+", 1)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			if t = clock.Trim(t); t.Year() < minYear || t.Year() > maxYear {
				return Moment{}, far
			}
			return Moment{From: t, To: t}, nil
		}
	}
	return Moment{}, bad
}
