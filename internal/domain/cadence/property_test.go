package cadence_test

import (
	"testing"
	"time"

	"github.com/teambition/rrule-go"
	"pgregory.net/rapid"

	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

func drawPolicy(t *rapid.T) Policy {
	p := Policy{
		Interval: rapid.SampledFrom([]Interval{Day, Week, Month, Year}).Draw(t, "interval"),
		Count:    rapid.OneOf(rapid.IntRange(1, 6), rapid.IntRange(1, MaxCount)).Draw(t, "count"),
	}
	if p.Interval == Day {
		return p
	}
	day := rapid.OneOf(rapid.IntRange(1, 31), rapid.IntRange(27, 31))
	for range rapid.IntRange(0, 4).Draw(t, "anchors") {
		switch {
		case p.Interval == Week:
			p.Anchors = append(p.Anchors, weekday(rapid.IntRange(1, 7).Draw(t, "weekday")))
		case p.Interval == Year || rapid.IntRange(0, 3).Draw(t, "named") == 0:
			month := rapid.OneOf(rapid.IntRange(1, 12), rapid.Just(2)).Draw(t, "month")
			p.Anchors = append(p.Anchors, yearDay(month, day.Draw(t, "day")))
		default:
			p.Anchors = append(p.Anchors, monthDay(day.Draw(t, "day")))
		}
	}
	return p
}

func drawSeries(t *rapid.T, names []string) Series {
	z, err := time.LoadLocation(rapid.SampledFrom(names).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	order := rapid.SampledFrom(orderTimes).Draw(t, "order time")
	first := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	start := time.Unix(rapid.Int64Range(first, last).Draw(t, "start"), 0)
	if rapid.IntRange(0, 4).Draw(t, "across the date line") == 0 {
		// Both zones that lately left out a day, shortly before they did.
		z, err = time.LoadLocation(rapid.SampledFrom([]string{"Pacific/Apia", "Pacific/Fakaofo"}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		start = time.Date(2011, 12, 31, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, 500)).Draw(t, "days before"))
	}
	return Series{Policy: drawPolicy(t), Calendar: Calendar{Zone: z, Hour: order[0], Minute: order[1]}, Start: start}
}

// TestSeriesAgreesWithTheOracle holds every property at once: the days are the
// walker's, each has the instant that the watched clock shows, they increase,
// no local day has two, and After is the inverse of Nth.
func TestSeriesAgreesWithTheOracle(t *testing.T) {
	t.Parallel()
	names := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawSeries(t, names)
		years := rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, 40)).Draw(t, "years")
		days := walk(s, utcDay(s.Day(s.Start)).AddDate(years, 0, 0))
		watched := rapid.IntRange(0, len(days)-1).Draw(t, "watched")
		var earlier time.Time
		for n, day := range days {
			got := s.Nth(n)
			if s.Day(got) != day {
				t.Fatalf("occurrence %d is %s, want %s", n, got.In(s.Zone), day)
			}
			if !got.After(earlier) || got.Location() != time.UTC || !s.At(got).Equal(got) {
				t.Fatalf("occurrence %d is %s after %s", n, got, earlier)
			}
			if before, after := s.After(got.Add(-time.Millisecond)), s.After(got); before != n || after != n+1 {
				t.Fatalf("occurrence %d has the numbers %d and %d-1", n, before, after)
			}
			if between := s.After(earlier.Add(got.Sub(earlier) / 2)); n > 0 && between != n {
				t.Fatalf("between %d and %d: %d", n-1, n, between)
			}
			earlier = got
			if n == watched {
				if want, ok := seen(s.Calendar, day); !ok || !got.Equal(want) {
					t.Fatalf("occurrence %d is %s, want %s", n, got, want)
				}
			}
		}
	})
}

// TestNthDoesNotDrift starts a series again at one of its occurrences and finds
// the same days, unless the start's own day of the month is what it counts by.
func TestNthDoesNotDrift(t *testing.T) {
	t.Parallel()
	names := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawSeries(t, names)
		k := rapid.IntRange(0, 50).Draw(t, "k")
		anew := s
		anew.Start = s.Nth(k)
		clamped := len(s.Anchors) == 0 && s.Interval >= Month && s.Day(s.Start).Day > 28
		moved := s.Day(s.Start).Year == 2010 || s.Day(s.Start).Year == 2011
		if clamped || moved || len(s.Anchors) > 0 && k == 0 {
			return
		}
		for n := range 20 {
			if got, want := anew.Nth(n), s.Nth(k+n); !got.Equal(want) {
				t.Fatalf("occurrence %d is %s, and %s from occurrence %d", k+n, want, got, k)
			}
		}
	})
}

// TestDaysAgreeWithRecurrenceRules compares with another library's reading of
// RFC 5545. Where a month is too short the rule names the last of several days.
func TestDaysAgreeWithRecurrenceRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		p.Count = min(p.Count, 24)
		if len(p.Anchors) > 1 && p.Interval != Week {
			p.Anchors = p.Anchors[:1]
		}
		if len(p.Anchors) > 0 && p.Anchors[0].Kind == YearDay {
			p.Interval = Year
		}
		start := time.Date(2020, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 14000).Draw(t, "start"))
		s := Series{Policy: p, Calendar: Calendar{Hour: 9}, Start: start}
		from := 0
		if len(p.Anchors) > 0 {
			// The rule begins on the first anchor day, and the series with its start.
			from = 1
			start = s.Nth(1)
		}
		o := rrule.ROption{Interval: p.Count, Dtstart: start, Count: 30, Wkst: rrule.MO}
		lastOf := func(day int) {
			for d := min(day, 28); d <= day; d++ {
				o.Bymonthday = append(o.Bymonthday, d)
			}
			o.Bysetpos = []int{-1}
		}
		switch p.Interval {
		case Day:
			o.Freq = rrule.DAILY
		case Week:
			o.Freq = rrule.WEEKLY
			weekdays := []rrule.Weekday{rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA, rrule.SU}
			for _, a := range p.Anchors {
				o.Byweekday = append(o.Byweekday, weekdays[a.Day-1])
			}
		case Month:
			o.Freq = rrule.MONTHLY
			lastOf(start.Day())
			for _, a := range p.Anchors {
				o.Bymonthday = nil
				lastOf(a.Day)
			}
		case Year:
			o.Freq = rrule.YEARLY
			o.Bymonth = []int{int(start.Month())}
			lastOf(start.Day())
			for _, a := range p.Anchors {
				o.Bymonth, o.Bymonthday = []int{a.Month}, nil
				lastOf(a.Day)
			}
		}
		rule, err := rrule.NewRRule(o)
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range rule.All() {
			if got := s.Nth(from + n); !got.Equal(want) {
				t.Fatalf("%v: occurrence %d is %s, want %s", p, from+n, got, want)
			}
		}
	})
}
