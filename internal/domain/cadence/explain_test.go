package cadence_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name         string
		zone         string
		hour, minute int
		policy       Policy
		start        string
		n            int
		rule, why    string
	}{
		{
			"as the rule says", "Europe/Berlin", 9, 0, every(1, Month), "2025-01-31", 2,
			"every month, counted from 2025-01-31, at 09:00 in Europe/Berlin", "",
		},
		{
			"the 31st of a month of thirty days", "Europe/Berlin", 9, 0, every(1, Month), "2025-01-31", 3,
			"every month, counted from 2025-01-31, at 09:00 in Europe/Berlin",
			"April 2025 has no 31st, so it falls on the last day of the month, the 30th.",
		},
		{
			"a birthday on 29 February", "UTC", 9, 0, every(1, Year), "2024-02-29", 1,
			"every year, counted from 2024-02-29, at 09:00 in UTC",
			"February 2025 has no 29th, so it falls on the last day of the month, the 28th.",
		},
		{
			"a start beside the anchors", "UTC", 9, 0, every(1, Month, monthDay(15)), "2026-01-12", 0,
			"every month on the 15th, counted from 2026-01-12, at 09:00 in UTC",
			"The series starts on a day of its own, 2026-01-12: the fixed days count from the next order on.",
		},
		{
			"anchors that fall together", "UTC", 9, 0, every(1, Month, monthDay(30), monthDay(31)), "2026-01-30", 2,
			"every month on the 30th and the 31st, counted from 2026-01-30, at 09:00 in UTC",
			"February 2026 has no 30th, so it falls on the last day of the month, the 28th.",
		},
		{
			"an anchor that fits beside one that does not", "UTC", 9, 0, every(1, Month, monthDay(30), monthDay(31)), "2026-01-30", 5,
			"every month on the 30th and the 31st, counted from 2026-01-30, at 09:00 in UTC", "",
		},
		{
			"days of the year", "UTC", 9, 0, every(3, Month, yearDay(1, 1), yearDay(4, 1), yearDay(7, 1)), "2026-01-01", 0,
			"every 3 months on 1 January, 1 April and 1 July, counted from 2026-01-01, at 09:00 in UTC", "",
		},
		{
			"days of the week", "UTC", 18, 30, every(2, Week, weekday(1), weekday(7)), "2026-01-05", 1,
			"every 2 weeks on Monday and Sunday, counted from 2026-01-05, at 18:30 in UTC", "",
		},
		{
			"a time that clocks skip", "America/New_York", 2, 30, every(1, Day), "2026-03-07", 1,
			"every day, counted from 2026-03-07, at 02:30 in America/New_York",
			"On 2026-03-08 the clocks in America/New_York skip 02:30, so it falls at 03:00, the first time after.",
		},
		{
			"a time that they skip with the end of the day", "America/Nuuk", 23, 30, every(1, Day), "2026-03-27", 1,
			"every day, counted from 2026-03-27, at 23:30 in America/Nuuk",
			"On 2026-03-28 the clocks in America/Nuuk skip 23:30 and what is left of the day, so it falls at 22:59, the last minute before.",
		},
		{
			"a time that they show twice", "America/New_York", 1, 30, every(1, Day), "2026-10-31", 1,
			"every day, counted from 2026-10-31, at 01:30 in America/New_York",
			"On 2026-11-01 the clocks in America/New_York show 01:30 twice: the first time counts.",
		},
		{
			"the time after it", "America/New_York", 2, 0, every(1, Day), "2026-10-31", 1,
			"every day, counted from 2026-10-31, at 02:00 in America/New_York", "",
		},
		{
			"the time before it", "America/New_York", 0, 59, every(1, Day), "2026-10-31", 1,
			"every day, counted from 2026-10-31, at 00:59 in America/New_York", "",
		},
		{
			"a day that a zone left out", "Pacific/Apia", 9, 0, every(1, Week), "2011-12-23", 1,
			"every week, counted from 2011-12-23, at 09:00 in Pacific/Apia",
			"The day 2011-12-30 does not exist in Pacific/Apia, so it falls on the next day that does, 2011-12-31.",
		},
		{
			"both a short month and a skipped time", "America/New_York", 2, 30, Policy{Interval: Month, Count: 1}, "2026-02-08", 1,
			"every month, counted from 2026-02-08, at 02:30 in America/New_York",
			"On 2026-03-08 the clocks in America/New_York skip 02:30, so it falls at 03:00, the first time after.",
		},
		{
			"beyond the calendar", "UTC", 9, 0, every(1, Year), "2026-01-01", 9000,
			"every year, counted from 2026-01-01, at 09:00 in UTC", "It would be after the last year of the calendar.",
		},
		{"no occurrence at all", "UTC", 9, 0, every(1, Year), "2026-01-01", -1, "every year, counted from 2026-01-01, at 09:00 in UTC", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			day, err := ParseDate(row.start)
			if err != nil {
				t.Fatal(err)
			}
			c := Calendar{Zone: zone(t, row.zone), Hour: row.hour, Minute: row.minute}
			s := Series{Policy: row.policy, Calendar: c, Start: c.Local(day)}
			if got := s.String(); got != row.rule {
				t.Errorf("the rule reads\n%s, want\n%s", got, row.rule)
			}
			if got := strings.Join(s.Explain(row.n), " "); got != row.why {
				t.Errorf("got\n%s, want\n%s", got, row.why)
			}
		})
	}
}

// Where nothing is explained, the occurrence is on the day and at the time that
// its rule names; where something is, it is not, or it is there twice.
func TestExplainCoversUnusualDates(t *testing.T) {
	t.Parallel()
	for _, name := range zones(t) {
		c := Calendar{Zone: zone(t, name), Hour: 2, Minute: 30}
		s := Series{Policy: every(1, Month), Calendar: c, Start: c.Local(Date{Year: 2025, Month: time.January, Day: 30})}
		for n := range 60 {
			at := s.Nth(n).In(c.Zone)
			usual := at.Day() == 30 && at.Hour() == 2 && at.Minute() == 30
			twice := strings.Contains(strings.Join(s.Explain(n), " "), "twice")
			if explained := len(s.Explain(n)) > 0; explained != (!usual || twice) {
				t.Errorf("%s: occurrence %d is %s, explained by %q", name, n, at, s.Explain(n))
			}
		}
	}
}
