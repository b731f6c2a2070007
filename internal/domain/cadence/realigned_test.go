package cadence_test

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

func TestNextOrderFallsOnFixedDayOfNewCalendar(t *testing.T) {
	t.Parallel()
	cal := cadence.Calendar{Zone: time.UTC, Hour: 9}
	monthly := func(days ...int) cadence.Policy {
		p := cadence.Policy{Interval: cadence.Month, Count: 1}
		for _, d := range days {
			p.Anchors = append(p.Anchors, cadence.Anchor{Kind: cadence.MonthDay, Day: d})
		}
		return p
	}
	wednesday := cadence.Policy{Interval: cadence.Week, Count: 2, Anchors: []cadence.Anchor{{Kind: cadence.Weekday, Day: 3}}}
	yearly := cadence.Policy{Interval: cadence.Year, Count: 1, Anchors: []cadence.Anchor{{Kind: cadence.YearDay, Month: 2, Day: 29}}}
	const now = "2026-11-01 12"
	for _, row := range []struct {
		name   string
		policy cadence.Policy
		cutoff int
		waits  string // the order that waits
		now    string
		want   string
	}{
		{"on the first one that is not before it", monthly(15), 0, "2026-11-11 09", now, "2026-11-15 09"},
		{"of the next month, when that of this one is before it", monthly(5), 0, "2026-11-11 09", now, "2026-12-05 09"},
		{"of several on the next", monthly(5, 20), 0, "2026-11-11 09", now, "2026-11-20 09"},
		{"which is the last day of a short month", monthly(31), 0, "2026-11-11 09", now, "2026-11-30 09"},
		{"on a day of the week", wednesday, 0, "2026-11-12 09", now, "2026-11-18 09"},
		{"on a day of the year", yearly, 0, "2026-11-11 09", now, "2027-02-28 09"},
		{"one that is on such a day stays", monthly(11), 0, "2026-11-11 09", now, "2026-11-11 09"},
		{"one that is on such a day stays, though its cut-off has passed", monthly(11), 20, "2026-11-11 09", now, "2026-11-11 09"},
		{"not on one whose cut-off has passed", monthly(15), 14, "2026-11-11 09", now, "2026-12-15 09"},
		{"on one whose cut-off is tomorrow", monthly(15), 13, "2026-11-11 09", now, "2026-11-15 09"},
		{"the cut-off counts from now and not from the order that waits", monthly(15), 10, "2026-11-11 09", now, "2026-11-15 09"},
		{"today, when today's order time is to come", monthly(1), 0, "2026-11-01 08", "2026-11-01 08", "2026-11-01 09"},
		{"not today, when it has passed", monthly(1), 0, now, now, "2026-12-01 09"},
	} {
		at := func(text string) time.Time {
			d, err := time.Parse("2006-01-02 15", text)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		if got := row.policy.Realigned(cal, at(row.waits), at(row.now), row.cutoff); !got.Equal(at(row.want)) {
			t.Errorf("%s: %s, want %s", row.name, got.Format("2006-01-02 15"), row.want)
		}
	}
}
