package cadence_test

import (
	"testing"

	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

func TestFirst(t *testing.T) {
	t.Parallel()
	the15th := func(cutoff int) Policy { return every(1, Month, Anchor{Kind: MonthDay, Day: 15, Cutoff: cutoff}) }
	for _, row := range []struct {
		name        string
		policy      Policy
		ordered     string
		before      PreAnchor
		first, next string
	}{
		// The rows that the platform documents.
		{"on the anchor, at once", the15th(0), "2023-01-15", ASAP, "2023-01-15", "2023-02-15"},
		{"on the anchor, next", the15th(0), "2023-01-15", Next, "2023-01-15", "2023-02-15"},
		{"before the anchor, at once", the15th(0), "2023-01-12", ASAP, "2023-01-12", "2023-01-15"},
		{"before the anchor, next", the15th(0), "2023-01-12", Next, "2023-01-15", "2023-02-15"},
		{"inside the cutoff, at once", the15th(5), "2023-01-12", ASAP, "2023-01-15", "2023-02-15"},
		{"inside the cutoff, next", the15th(5), "2023-01-12", Next, "2023-02-15", "2023-03-15"},

		{"the cutoff's first day is inside it", the15th(5), "2023-01-10", Next, "2023-02-15", "2023-03-15"},
		{"the day before the cutoff is outside, next", the15th(5), "2023-01-09", Next, "2023-01-15", "2023-02-15"},
		{"the day before the cutoff is outside, at once", the15th(5), "2023-01-09", ASAP, "2023-01-09", "2023-01-15"},
		{"the anchor itself is inside its cutoff, next", the15th(5), "2023-01-15", Next, "2023-02-15", "2023-03-15"},
		{"the anchor itself is inside its cutoff, at once", the15th(5), "2023-01-15", ASAP, "2023-01-15", "2023-02-15"},
		{"after the anchor", the15th(5), "2023-01-16", Next, "2023-02-15", "2023-03-15"},
		{"without anchors", every(2, Week), "2023-01-12", Next, "2023-01-12", "2023-01-26"},
		{"a contract seen at the platform with two anchors", every(1, Month, monthDay(10), monthDay(20)), "2026-02-04", Next, "2026-02-10", "2026-02-20"},
		{"each anchor has its own cutoff", every(1, Week, Anchor{Kind: Weekday, Day: 3, Cutoff: 2}, weekday(5)), "2023-01-10", Next, "2023-01-13", "2023-01-18"},
		{"every anchor inside its cutoff is skipped", every(1, Week, Anchor{Kind: Weekday, Day: 3, Cutoff: 3}, Anchor{Kind: Weekday, Day: 5, Cutoff: 5}), "2023-01-10", Next, "2023-01-18", "2023-01-20"},
		{"the longest cutoff of anchors that fall together", every(1, Month, Anchor{Kind: MonthDay, Day: 30, Cutoff: 1}, Anchor{Kind: MonthDay, Day: 31, Cutoff: 9}), "2023-02-20", Next, "2023-03-30", "2023-03-31"},
		{"every second month counts from the first delivery", every(2, Month, Anchor{Kind: MonthDay, Day: 15, Cutoff: 5}), "2023-01-12", Next, "2023-02-15", "2023-04-15"},
		{"a policy that is not valid", every(0, Month), "2023-01-12", Next, "9998-12-31", "9998-12-31"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := Calendar{Zone: zone(t, "America/New_York"), Hour: 9}
			// An evening order is the next day in UTC; the local day counts.
			ordered := at(t, row.ordered+"T21:30:00-05:00")
			first, next := row.policy.First(c, ordered, row.before)
			if c.Day(first).String() != row.first || c.Day(next).String() != row.next {
				t.Errorf("got %s and %s, want %s and %s", first, next, row.first, row.next)
			}
		})
	}
}
