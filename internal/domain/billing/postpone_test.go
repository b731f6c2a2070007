package billing

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestAChargeOfWhichACallIsOnItsWayIsNotTooEarly(t *testing.T) {
	t.Parallel()
	g := monthly()
	l := settlement{now: now, policy: g.policy, shop: g.shop, contracts: map[contract.ID]*contract.Contract{9001: &g.contract}, attempts: make(map[AttemptID]*Attempt)}
	a := sent(0, 0)
	a.Failures = 2
	l.attempts[a.ID] = &a
	for _, want := range []struct {
		status Status
		due    time.Time
	}{{Requesting, now.Add(DefaultPolicy().Settling)}, {Queued, a.BillingDate}} {
		if err := l.learn(&a, finding{Attempt: a, early: now.AddDate(0, 0, 5)}); err != nil {
			t.Fatal(err)
		}
		if a.Status != want.status || want.status == Requesting && !a.DueAt.Equal(want.due) {
			t.Errorf("%s, to be acted on at %s; want %s at %s", a.Status, a.DueAt, want.status, want.due)
		}
	}
}

func TestAChargeThatComesTooEarlyGoesBackIntoTheQueue(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC) // 2 pm is the store's order time
	for _, row := range []struct {
		name       string
		now        time.Time
		expected   time.Time // by the platform
		date       time.Time // what becomes of the order's
		due        time.Time // when it is acted on again
		seriesFrom time.Time
	}{
		{
			"where both mean the same day it is our clock that is ahead: the date stays, and it is tried again when the platform takes it",
			date.Add(time.Minute), date.Add(9 * time.Hour), date, date.Add(time.Minute).Add(DefaultPolicy().InFlight), date,
		},
		{
			"with a clock that is hours ahead too",
			date, date.Add(9*time.Hour + 59*time.Minute), date, date.Add(DefaultPolicy().InFlight), date,
		},
		{
			"where the platform means another day, the series follows it",
			date, date.AddDate(0, 0, 5), date.AddDate(0, 0, 5), date.AddDate(0, 0, 5), date.AddDate(0, 0, 5),
		},
		{
			"one that a person asked for too early waits for its own date",
			date.AddDate(0, 0, -7), date, date, date, date,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			g := monthly()
			g.shop.TimeZone, g.shop.OrderHour = "UTC", 14
			g.contract.Series = contract.Series{Cycle: 3, Start: date}
			a := sent(0, 0)
			a.BillingDate = date
			l := settlement{now: row.now, policy: g.policy, shop: g.shop, contracts: map[contract.ID]*contract.Contract{9001: &g.contract}}
			if err := l.postpone(&a, row.expected); err != nil {
				t.Fatal(err)
			}
			if a.Status != Queued || !a.BillingDate.Equal(row.date) || !a.DueAt.Equal(row.due) || !g.contract.Series.Start.Equal(row.seriesFrom) {
				t.Errorf("%s for %s, to be acted on at %s, series from %s; want %s, %s, %s", a.Status, a.BillingDate, a.DueAt, g.contract.Series.Start, row.date, row.due, row.seriesFrom)
			}
		})
	}
}

func TestACycleThatSomebodyMovedAwayIsChargedOnItsNewDate(t *testing.T) {
	t.Parallel()
	later := now.AddDate(0, 0, 9)
	there := platform.Cycle{Index: 3, Edited: true, Expected: later, Start: now.AddDate(0, 0, -20)}
	for _, row := range []struct {
		name   string
		change func(*Attempt, *platform.Cycle)
		want   bool
	}{
		{"one that was moved to a later day", func(*Attempt, *platform.Cycle) {}, true},
		{"one of another calendar, which nobody edited", func(_ *Attempt, c *platform.Cycle) { c.Edited = false }, false},
		{"one that was moved within the day that the platform allows", func(_ *Attempt, c *platform.Cycle) { c.Expected = now.Add(20 * time.Hour) }, false},
		{"one that a person here has charged now", func(a *Attempt, _ *platform.Cycle) { a.Manual = true }, false},
		{"one of which the platform has not heard our date", func(a *Attempt, _ *platform.Cycle) { a.PublishAt = now }, false},
		{"one that we have edited", func(a *Attempt, _ *platform.Cycle) { a.Prep.Edited = true }, false},
		{"one that was declined before", func(a *Attempt, _ *platform.Cycle) { a.Try = 2 }, false},
		{"one of which a call is on its way", func(a *Attempt, _ *platform.Cycle) { a.Failures = 1 }, false},
	} {
		f, cycle := finding{Attempt: sent(0, 0)}, there
		row.change(&f.Attempt, &cycle)
		if got := f.movedAway(cycle, now); got != row.want || got != f.moved.Equal(cycle.Expected) {
			t.Errorf("%s: %t, to %s", row.name, got, f.moved)
		}
	}
	g := monthly()
	g.shop.TimeZone, g.shop.OrderHour = "UTC", 14
	a := sent(0, 0)
	l := settlement{now: now, policy: g.policy, shop: g.shop, contracts: map[contract.ID]*contract.Contract{9001: &g.contract}, attempts: map[AttemptID]*Attempt{a.ID: &a}}
	start := g.contract.Series
	if err := l.learn(&a, finding{Attempt: a, moved: later}); err != nil {
		t.Fatal(err)
	}
	if want := g.calendar.At(later); a.Status != Queued || !a.Moved || !a.BillingDate.Equal(want) || !a.DueAt.Equal(want) || !a.SentAt.IsZero() || g.contract.Series != start {
		t.Errorf("%s for %s, due on %s, moved %t, sent %s; want it to wait for %s", a.Status, a.BillingDate, a.DueAt, a.Moved, a.SentAt, want)
	}
}
