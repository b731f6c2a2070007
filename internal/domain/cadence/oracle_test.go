package cadence_test

import (
	"bufio"
	"os"
	"testing"
	"time"
	_ "time/tzdata"

	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

// The oracle answers the same questions as the package, slowly and by looking:
// it walks from day to day and asks of each whether the policy falls on it, and
// it walks from minute to minute and reads the wall clock.

// zones returns every name of the time zone database.
func zones(t testing.TB) []string {
	f, err := os.Open("testdata/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		names = append(names, lines.Text())
	}
	if len(names) < 590 {
		t.Fatalf("only %d zones", len(names))
	}
	return names
}

func zone(t testing.TB, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func dateIn(t time.Time, z *time.Location) Date {
	y, m, d := t.In(z).Date()
	return Date{Year: y, Month: m, Day: d}
}

func utcDay(d Date) time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

// seen returns the instant of a local day's order time by watching the clock
// from minute to minute, and false when the day does not exist in the zone.
func seen(c Calendar, day Date) (time.Time, bool) {
	want := c.Hour*60 + c.Minute
	var before time.Time // the last minute of the day before the order time
	exists := false
	begin := utcDay(day).Add(time.Duration(want)*time.Minute - 27*time.Hour)
	for t := begin; t.Before(begin.Add(56 * time.Hour)); t = t.Add(time.Minute) {
		local := t.In(c.Zone)
		if (Date{Year: local.Year(), Month: local.Month(), Day: local.Day()}) != day {
			continue
		}
		exists = true
		if local.Hour()*60+local.Minute() >= want {
			return t, true
		}
		before = t
	}
	return before, exists
}

// hasNoon reports whether a day has a noon, which all days have that exist.
func hasNoon(day Date, z *time.Location) bool {
	t := time.Date(day.Year, day.Month, day.Day, 12, 0, 0, 0, z)
	return dateIn(t, z) == day
}

// walk returns the local days of a series up to and including the given day.
func walk(s Series, until time.Time) []Date {
	start := utcDay(dateIn(s.Start, s.Zone))
	var out []Date
	owed := false
	var base time.Time // any day of the period in which anchors begin to count
	for day := start; !day.After(until); day = day.AddDate(0, 0, 1) {
		falls := day.Equal(start)
		if len(s.Anchors) == 0 {
			falls = falls || repeats(s.Policy, start, day)
		} else if anchoredOn(s.Policy, day) {
			if base.IsZero() {
				base = day
			}
			falls = falls || periodsBetween(s.Interval, base, day)%s.Count == 0
		}
		owed = owed || falls
		date := Date{Year: day.Year(), Month: day.Month(), Day: day.Day()}
		if owed && hasNoon(date, s.Zone) {
			out = append(out, date)
			owed = false
		}
	}
	return out
}

func repeats(p Policy, start, day time.Time) bool {
	apart := int(day.Sub(start).Hours()) / 24
	months := (day.Year()-start.Year())*12 + int(day.Month()) - int(start.Month())
	sameDay := day.Day() == start.Day() || day.Day() < start.Day() && day.AddDate(0, 0, 1).Day() == 1
	switch p.Interval {
	case Day:
		return apart%p.Count == 0
	case Week:
		return apart%(7*p.Count) == 0
	case Month:
		return sameDay && months%p.Count == 0
	default:
		return sameDay && months%(12*p.Count) == 0
	}
}

func anchoredOn(p Policy, day time.Time) bool {
	lastOfMonth := day.AddDate(0, 0, 1).Day() == 1
	for _, a := range p.Anchors {
		onDay := a.Day == day.Day() || a.Day > day.Day() && lastOfMonth
		switch a.Kind {
		case Weekday:
			if time.Weekday(a.Day%7) == day.Weekday() {
				return true
			}
		case MonthDay:
			if onDay {
				return true
			}
		default:
			if onDay && time.Month(a.Month) == day.Month() {
				return true
			}
		}
	}
	return false
}

func periodsBetween(i Interval, base, day time.Time) int {
	switch i {
	case Week:
		monday := func(t time.Time) time.Time {
			for t.Weekday() != time.Monday {
				t = t.AddDate(0, 0, -1)
			}
			return t
		}
		return int(monday(day).Sub(monday(base)).Hours()) / (24 * 7)
	case Month:
		return (day.Year()-base.Year())*12 + int(day.Month()) - int(base.Month())
	default:
		return day.Year() - base.Year()
	}
}
