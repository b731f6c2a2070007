package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

func TestACalendarBeginsAnewWithALaterOrder(t *testing.T) {
	t.Parallel()
	cal := cadence.Calendar{Zone: time.UTC, Hour: 9}
	day := func(s string) time.Time { return date(s).Add(9 * time.Hour) }
	turn := func(cycle int, on string) func(*Contract) {
		return func(c *Contract) { c.BeginSeries(Series{Cycle: cycle, Start: day(on)}, day("2026-01-20")) }
	}
	for _, row := range []struct {
		name string
		do   []func(*Contract)
		want string // days of the cycles 3 to 8
	}{
		{"it is as it was", nil, "01-10 02-10 03-10 04-10 05-10 06-10"},
		{"with the first order", []func(*Contract){turn(3, "2026-01-15")}, "01-15 02-15 03-15 04-15 05-15 06-15"},
		{"with a later one", []func(*Contract){turn(5, "2026-03-15")}, "01-10 02-10 03-15 04-15 05-15 06-15"},
		{"twice", []func(*Contract){turn(5, "2026-03-15"), turn(7, "2026-05-20")}, "01-10 02-10 03-15 04-15 05-20 06-20"},
		{"with an earlier one afterwards", []func(*Contract){turn(7, "2026-05-20"), turn(5, "2026-03-15")}, "01-10 02-10 03-15 04-15 05-15 06-15"},
		{"with the same one again", []func(*Contract){turn(5, "2026-03-15"), turn(5, "2026-03-20")}, "01-10 02-10 03-20 04-20 05-20 06-20"},
		{"whatever was before, but for later orders", []func(*Contract){turn(6, "2026-04-20"), func(c *Contract) { c.ReplaceSeries(Series{Cycle: 3, Start: day("2026-01-12")}) }}, "01-12 02-12 03-12 04-20 05-20 06-20"},
		{"with an order before that with which it began", []func(*Contract){turn(3, "2026-03-15"), func(c *Contract) { c.ReplaceSeries(Series{Cycle: 2, Start: day("2026-01-12")}) }}, "03-15 04-15 05-15 06-15 07-15 08-15"},
	} {
		c := Contract{Billing: Policy{Interval: cadence.Month, Count: 1}, Series: Series{Cycle: 3, Start: day("2026-01-10")}}
		for _, do := range row.do {
			do(&c)
		}
		got := ""
		for cycle := 3; cycle <= 8; cycle++ {
			on := c.DueOn(cycle, cal)
			got += fmt.Sprintf(" %s", on.Format("01-02"))
			if first := c.CycleFrom(on, cal); first != cycle {
				t.Errorf("%s: the first order from %s on is %d, want %d", row.name, on.Format("01-02"), first, cycle)
			}
		}
		if got[1:] != row.want {
			t.Errorf("%s: %s, want %s", row.name, got[1:], row.want)
		}
	}
}

// A turn may begin with an earlier day than the orders have that it leaves behind.
func TestACalendarGoesOnWithTheFirstOrderAfterWhichNoneIsPast(t *testing.T) {
	t.Parallel()
	cal := cadence.Calendar{Zone: time.UTC, Hour: 9}
	day := func(s string) time.Time { return date(s).Add(9 * time.Hour) }
	// On January 10, February 10; February 2, March 2, April 2; March 5, April 5 and so on.
	c := Contract{
		Billing: Policy{Interval: cadence.Month, Count: 1}, Series: Series{Cycle: 3, Start: day("2026-01-10")},
		LaterSeries: []Series{{Cycle: 5, Start: day("2026-02-02")}, {Cycle: 8, Start: day("2026-02-05"), Passed: 1}},
	}
	for _, row := range []struct {
		now  string
		want int
	}{
		{"2026-01-01", 3}, {"2026-01-11", 4}, {"2026-02-02", 4}, {"2026-02-03", 6}, {"2026-03-03", 7}, {"2026-03-05", 7}, {"2026-03-06", 9}, {"2026-04-06", 10},
	} {
		if got := c.ResumeCycle(day(row.now), cal); got != row.want {
			t.Errorf("on %s it goes on with %d, want %d", row.now, got, row.want)
		}
	}
}

func TestACalendarForgetsWhereItBeganOnceThatIsPast(t *testing.T) {
	t.Parallel()
	c := Contract{Billing: Policy{Interval: cadence.Month, Count: 1}, Series: Series{Cycle: 1, Start: date("2026-01-10")}}
	for n := 1; n <= 24; n++ {
		at := date("2026-01-10").AddDate(0, n, 0)
		c.BeginSeries(Series{Cycle: n + 2, Start: at.AddDate(0, 1, n%5)}, at)
		if len(c.LaterSeries) > 2 {
			t.Fatalf("after %d turns it keeps %+v", n, c.LaterSeries)
		}
	}
}

// A calendar that was put to an hour of its own is read in another zone by its day, and
// a wish for an hour stays at its instant.
func TestACalendarMovesToAnotherZoneByItsDays(t *testing.T) {
	t.Parallel()
	zone := func(name string) cadence.Calendar {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return cadence.Calendar{Zone: z, Hour: 9}
	}
	berlin, auckland := zone("Europe/Berlin"), zone("Pacific/Auckland")
	day := cadence.Date{Year: 2026, Month: 5, Day: 15}
	soon := berlin.Local(cadence.Date{Year: 2026, Month: 5, Day: 10}) // in Auckland that morning has passed
	evening := berlin.Local(day).Add(11 * time.Hour)                  // the morning of the 16th in Auckland
	c := Contract{Series: Series{Cycle: 1, Start: evening}, LaterSeries: []Series{{Cycle: 2, Start: evening}}, Overrides: []OrderOverride{{Cycle: 3, Date: evening}, {Cycle: 4, Date: berlin.Local(day)}, {Cycle: 5}, {Cycle: 6, Date: soon}}}
	c.Trial, c.CancelledOrderDate = &Trial{EndsAt: berlin.Local(day), ChargeAt: berlin.Local(day)}, berlin.Local(day)
	c.Pause, c.Moving = &Pause{Until: evening}, &Move{Pause: &Pause{Until: cadence.Calendar{Zone: berlin.Zone}.Local(day)}}
	c.Ending, c.ExpireAt = &Ending{At: berlin.Local(day)}, berlin.Local(day)
	c.Relocate(berlin, auckland, soon.Add(-time.Hour))
	for what, got := range map[string][2]time.Time{
		"series": {c.Series.Start, auckland.Local(day)}, "turn": {c.LaterSeries[0].Start, auckland.Local(day)}, "wish for an hour": {c.Overrides[0].Date, evening},
		"wish for a day": {c.Overrides[1].Date, auckland.Local(day)}, "no wish": {c.Overrides[2].Date, {}},
		"wish for a morning that has passed there": {c.Overrides[3].Date, soon},
		"trial": {c.Trial.EndsAt, auckland.Local(day)}, "order after it": {c.Trial.ChargeAt, auckland.Local(day)}, "order that went": {c.CancelledOrderDate, auckland.Local(day)},
		"pause until an hour": {c.Pause.Until, evening}, "pause that is on its way": {c.Moving.Pause.Until, cadence.Calendar{Zone: auckland.Zone}.Local(day)},
		"cancellation": {c.Ending.At, auckland.Local(day)}, "expiry": {c.ExpireAt, auckland.Local(day)},
	} {
		if !got[0].Equal(got[1]) {
			t.Errorf("%s: %s, want %s", what, got[0], got[1])
		}
	}
}
