package cadence_test

import (
	"math"
	"strings"
	"testing"
	"time"

	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

func at(t testing.TB, s string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

// daysOf returns the local days of occurrences from to from+count-1.
func daysOf(s Series, from, count int) string {
	var out []string
	for n := from; n < from+count; n++ {
		out = append(out, s.Day(s.Nth(n)).String())
	}
	return strings.Join(out, " ")
}

func TestNthFallsOnDays(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		policy Policy
		start  string
		want   string
	}{
		{"every third day", every(3, Day), "2026-02-26", "2026-02-26 2026-03-01 2026-03-04"},
		{"every second week", every(2, Week), "2026-01-05", "2026-01-05 2026-01-19 2026-02-02"},
		{"the 31st returns after short months", every(1, Month), "2025-12-31", "2025-12-31 2026-01-31 2026-02-28 2026-03-31 2026-04-30 2026-05-31"},
		{"the 30th returns after a leap February", every(1, Month), "2024-01-30", "2024-01-30 2024-02-29 2024-03-30"},
		{"every fifth month crosses years", every(5, Month), "2026-10-15", "2026-10-15 2027-03-15 2027-08-15 2028-01-15"},
		{"29 February returns in leap years", every(1, Year), "2024-02-29", "2024-02-29 2025-02-28 2026-02-28 2027-02-28 2028-02-29"},
		{"the 15th of every month from a 15th", every(1, Month, monthDay(15)), "2026-01-15", "2026-01-15 2026-02-15 2026-03-15"},
		{"a start off its anchor is an occurrence of its own", every(1, Month, monthDay(15)), "2026-01-12", "2026-01-12 2026-01-15 2026-02-15"},
		{"a start after its anchor waits for the next month", every(1, Month, monthDay(15)), "2026-01-16", "2026-01-16 2026-02-15 2026-03-15"},
		{"every second month begins with the month of the first anchor", every(2, Month, monthDay(15)), "2026-01-16", "2026-01-16 2026-02-15 2026-04-15"},
		{"two anchors fall twice a month", every(1, Month, monthDay(20), monthDay(10)), "2026-02-12", "2026-02-12 2026-02-20 2026-03-10 2026-03-20"},
		{"two anchors every second month", every(2, Month, monthDay(10), monthDay(20)), "2026-02-20", "2026-02-20 2026-04-10 2026-04-20 2026-06-10"},
		{"the 31st as an anchor is the month's end", every(1, Month, monthDay(31)), "2026-01-31", "2026-01-31 2026-02-28 2026-03-31 2026-04-30"},
		{"an anchor that is clamped is still one to start on", every(1, Month, monthDay(31)), "2026-02-28", "2026-02-28 2026-03-31"},
		{"anchors that fall together fall once", every(1, Month, monthDay(30), monthDay(31)), "2026-01-30", "2026-01-30 2026-01-31 2026-02-28 2026-03-30 2026-03-31 2026-04-30 2026-05-30"},
		{"the same anchor twice falls once", every(1, Week, weekday(1), weekday(1)), "2026-01-05", "2026-01-05 2026-01-12"},
		{"weeks begin on Monday", every(2, Week, weekday(7), weekday(1)), "2026-01-05", "2026-01-05 2026-01-11 2026-01-19 2026-01-25"},
		{"a weekday after the start's week", every(2, Week, weekday(2)), "2026-01-08", "2026-01-08 2026-01-13 2026-01-27"},
		{"a day of the year", every(1, Year, yearDay(7, 4)), "2026-07-05", "2026-07-05 2027-07-04 2028-07-04"},
		{"29 February as an anchor", every(1, Year, yearDay(2, 29)), "2027-02-28", "2027-02-28 2028-02-29 2029-02-28"},
		{"28 and 29 February fall together in common years", every(1, Year, yearDay(2, 29), yearDay(2, 28)), "2027-02-28", "2027-02-28 2028-02-28 2028-02-29 2029-02-28"},
		{"28 and 29 February in 2100, which is a common year", every(1, Year, yearDay(2, 29), yearDay(2, 28)), "2096-02-28", "2096-02-28 2096-02-29 2097-02-28 2098-02-28 2099-02-28 2100-02-28 2101-02-28 2102-02-28 2103-02-28 2104-02-28 2104-02-29"},
		{"quarters by days of the year", every(3, Month, yearDay(1, 1), yearDay(4, 1), yearDay(7, 1), yearDay(10, 1)), "2026-05-20", "2026-05-20 2026-07-01 2026-10-01 2027-01-01"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := Calendar{Zone: zone(t, "America/New_York"), Hour: 9}
			start, err := ParseDate(row.start)
			if err != nil {
				t.Fatal(err)
			}
			s := Series{Policy: row.policy, Calendar: c, Start: c.Local(start)}
			if got := daysOf(s, 0, len(strings.Fields(row.want))); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestNthKeepsTheLocalTime(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		zone   string
		hour   int
		policy Policy
		start  string
		want   string
	}{
		{"months across daylight saving", "America/New_York", 9, every(1, Month), "2026-02-15T14:00:00Z", "2026-02-15T14:00:00Z 2026-03-15T13:00:00Z 2026-04-15T13:00:00Z"},
		{"days are local and not 24 hours", "America/New_York", 9, every(1, Day), "2026-03-07T14:00:00Z", "2026-03-07T14:00:00Z 2026-03-08T13:00:00Z 2026-03-09T13:00:00Z"},
		{"a gap moves one occurrence only", "America/New_York", 2, every(1, Day), "2026-03-07T07:00:00Z", "2026-03-07T07:00:00Z 2026-03-08T07:00:00Z 2026-03-09T06:00:00Z"},
		{"a start at another time is re-anchored in its local day", "America/New_York", 9, every(1, Month), "2026-02-01T03:00:00Z", "2026-01-31T14:00:00Z 2026-02-28T14:00:00Z 2026-03-31T13:00:00Z"},
		{"a monthly contract seen at the platform", "America/Los_Angeles", 0, every(1, Month), "2025-11-20T08:00:00Z", "2025-11-20T08:00:00Z 2025-12-20T08:00:00Z 2026-01-20T08:00:00Z"},
		{"another with two anchors, whose instants moved with its clocks", "America/New_York", 4, every(1, Month, monthDay(10), monthDay(20)), "2026-02-10T09:00:00Z", "2026-02-10T09:00:00Z 2026-02-20T09:00:00Z 2026-03-10T08:00:00Z 2026-03-20T08:00:00Z 2026-04-10T08:00:00Z 2026-04-20T08:00:00Z"},
		{"a daily order goes past a day that Samoa left out", "Pacific/Apia", 9, every(1, Day), "2011-12-28T19:00:00Z", "2011-12-28T19:00:00Z 2011-12-29T19:00:00Z 2011-12-30T19:00:00Z 2011-12-31T19:00:00Z"},
		{"a weekly order on it falls a day late once", "Pacific/Apia", 9, every(1, Week), "2011-12-23T19:00:00Z", "2011-12-23T19:00:00Z 2011-12-30T19:00:00Z 2012-01-05T19:00:00Z"},
		{"an anchor on it and one on the next day fall once", "Pacific/Apia", 9, every(1, Week, weekday(5), weekday(6)), "2011-12-24T19:00:00Z", "2011-12-24T19:00:00Z 2011-12-30T19:00:00Z 2012-01-05T19:00:00Z 2012-01-06T19:00:00Z"},
		{"an anchor on the day before it and one on the day after stay two", "Pacific/Apia", 9, every(1, Week, weekday(4), weekday(6)), "2011-12-24T19:00:00Z", "2011-12-24T19:00:00Z 2011-12-29T19:00:00Z 2011-12-30T19:00:00Z 2012-01-04T19:00:00Z"},
		{"Kwajalein left out another day", "Pacific/Kwajalein", 12, every(1, Day), "1993-08-20T00:00:00Z", "1993-08-20T00:00:00Z 1993-08-21T00:00:00Z 1993-08-22T00:00:00Z 1993-08-23T00:00:00Z"},
		{"a gap that ends a day keeps its order in that day", "America/Nuuk", 23, every(1, Day), "2026-03-28T01:00:00Z", "2026-03-28T01:00:00Z 2026-03-29T00:59:00Z 2026-03-30T00:00:00Z"},
		{"the last day of a leap year far from now", "Europe/Berlin", 9, every(1, Day), "2040-12-30T08:00:00Z", "2040-12-30T08:00:00Z 2040-12-31T08:00:00Z 2041-01-01T08:00:00Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := Series{Policy: row.policy, Calendar: Calendar{Zone: zone(t, row.zone), Hour: row.hour}, Start: at(t, row.start)}
			var got []string
			for n := range strings.Fields(row.want) {
				got = append(got, s.Nth(n).Format(time.RFC3339Nano))
				if just := s.After(s.Nth(n).Add(-time.Millisecond)); just != n {
					t.Errorf("just before occurrence %d comes %d", n, just)
				}
				if now := s.Nth(n).Add(s.Nth(n+1).Sub(s.Nth(n)) / 2); s.After(s.Nth(n)) != n+1 || s.After(now) != n+1 {
					t.Errorf("after occurrence %d come %d and %d", n, s.After(s.Nth(n)), s.After(now))
				}
			}
			if got := strings.Join(got, " "); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	newYork := Calendar{Zone: zone(t, "America/New_York"), Hour: 9}
	monthly := Series{Policy: every(1, Month), Calendar: newYork, Start: at(t, "2026-01-31T14:00:00Z")}
	for _, row := range []struct {
		name   string
		series Series
		t      string
		want   int
	}{
		{"before the start", monthly, "2026-01-31T13:59:59Z", 0},
		{"long before the start", monthly, "1066-10-14T00:00:00Z", 0},
		{"at the start", monthly, "2026-01-31T14:00:00Z", 1},
		{"a second before an occurrence", monthly, "2026-02-28T13:59:59Z", 1},
		{"at an occurrence", monthly, "2026-02-28T14:00:00Z", 2},
		{"forty years on", monthly, "2066-01-31T14:00:00Z", 481},
		{"in the last year", monthly, "9998-12-31T14:00:00Z", 7972*12 + 12},
		{"a series without occurrences", Series{Start: monthly.Start}, "2026-02-28T14:00:00Z", 0},
		{"at the end of time", monthly, "9999-01-01T00:00:00Z", math.MaxInt},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := row.series.After(at(t, row.t))
			if got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
		})
	}
}

func TestNthIsNeverWhereThereIsNone(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 31, 14, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name   string
		series Series
		n      int
	}{
		{"a negative number", Series{Policy: every(1, Month), Start: start}, -1},
		{"a policy that is not valid", Series{Policy: every(0, Month), Start: start}, 0},
		{"no start", Series{Policy: every(1, Month)}, 0},
		{"a start after all years", Series{Policy: every(1, Month), Start: Never()}, 0},
		{"days past the last year", Series{Policy: every(1, Day), Start: start}, 3_000_000},
		{"months past the last year", Series{Policy: every(1, Month), Start: start}, 95_688},
		{"anchors past the last year", Series{Policy: every(1, Month, monthDay(30), monthDay(31)), Start: start}, 200_000},
		{"the highest number", Series{Policy: every(365, Year), Start: start}, math.MaxInt},
		{"the highest number of days", Series{Policy: every(1, Day), Start: start}, math.MaxInt},
		{"a number of weeks that overflows to a date", Series{Policy: every(1, Week), Start: start}, math.MaxInt/7*2 + 3},
		{"an invented zone", Series{Policy: every(1, Week), Calendar: Calendar{Zone: time.FixedZone("X", 400*3600)}, Start: start}, 1},
		{"the highest number of anchors", Series{Policy: every(365, Week, weekday(3)), Start: start}, math.MaxInt},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.series.Nth(row.n); !got.Equal(Never()) {
				t.Errorf("got %s", got)
			}
		})
	}
}
