package charge

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/billing/settlement"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// store charges orders at 14:00 UTC.
var store = shop.Shop{ID: 1, TimeZone: "UTC", OrderHour: 14, Connected: true}

func TestChargeInFlightIsNotPostponed(t *testing.T) {
	t.Parallel()
	c := billingtest.Monthly()
	l := newSettling(&settlement.Unit{
		Now: billingtest.Now, Policy: billing.DefaultPolicy(), Shop: store, Contracts: map[contract.ID]*contract.Contract{9001: &c},
		Attempts: make(map[billing.AttemptID]*billing.Attempt),
	})
	a := billingtest.Sent(0, 0)
	a.Failures = 2
	l.Attempts[a.ID] = &a
	for _, want := range []struct {
		status billing.Status
		due    time.Time
	}{{billing.Requesting, billingtest.Now.Add(billing.DefaultPolicy().Settling)}, {billing.Queued, a.BillingDate}} {
		if err := l.learn(&a, finding{Attempt: a, early: billingtest.Now.AddDate(0, 0, 5)}); err != nil {
			t.Fatal(err)
		}
		if a.Status != want.status || want.status == billing.Requesting && !a.DueAt.Equal(want.due) {
			t.Errorf("%s, to be acted on at %s; want %s at %s", a.Status, a.DueAt, want.status, want.due)
		}
	}
}

func TestEarlyChargeReturnsToQueue(t *testing.T) {
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
			date.Add(time.Minute), date.Add(9 * time.Hour), date, date.Add(time.Minute).Add(billing.DefaultPolicy().InFlight), date,
		},
		{
			"with a clock that is hours ahead too",
			date, date.Add(9*time.Hour + 59*time.Minute), date, date.Add(billing.DefaultPolicy().InFlight), date,
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
			c := billingtest.Monthly()

			c.Series = contract.Series{Cycle: 3, Start: date}
			a := billingtest.Sent(0, 0)
			a.BillingDate = date
			l := newSettling(&settlement.Unit{
				Now: row.now, Policy: billing.DefaultPolicy(), Shop: store, Contracts: map[contract.ID]*contract.Contract{9001: &c},
				Attempts: map[billing.AttemptID]*billing.Attempt{a.ID: &a},
			})
			if err := l.postpone(&a, row.expected); err != nil {
				t.Fatal(err)
			}
			if a.Status != billing.Queued || !a.BillingDate.Equal(row.date) || !a.DueAt.Equal(row.due) || !c.Series.Start.Equal(row.seriesFrom) {
				t.Errorf("%s for %s, to be acted on at %s, series from %s; want %s, %s, %s", a.Status, a.BillingDate, a.DueAt, c.Series.Start, row.date, row.due, row.seriesFrom)
			}
		})
	}
}

func TestCycleMovedAtPlatformIsChargedOnNewDate(t *testing.T) {
	t.Parallel()
	later := billingtest.Now.AddDate(0, 0, 9)
	there := platform.Cycle{Index: 3, Edited: true, Expected: later, Start: billingtest.Now.AddDate(0, 0, -20)}
	for _, row := range []struct {
		name   string
		change func(*billing.Attempt, *platform.Cycle)
		want   bool
	}{
		{"one that was moved to a later day", func(*billing.Attempt, *platform.Cycle) {}, true},
		{"one of another calendar, without an edit", func(_ *billing.Attempt, c *platform.Cycle) { c.Edited = false }, false},
		{"one that was moved within the day that the platform allows", func(_ *billing.Attempt, c *platform.Cycle) { c.Expected = billingtest.Now.Add(20 * time.Hour) }, false},
		{"one that a person here has charged now", func(a *billing.Attempt, _ *platform.Cycle) { a.Manual = true }, false},
		{"one whose date is not published yet", func(a *billing.Attempt, _ *platform.Cycle) { a.PublishAt = billingtest.Now }, false},
		{"one that we have edited", func(a *billing.Attempt, _ *platform.Cycle) { a.Prep.Edited = true }, false},
		{"one that was declined before", func(a *billing.Attempt, _ *platform.Cycle) { a.Try = 2 }, false},
		{"one with a call under way", func(a *billing.Attempt, _ *platform.Cycle) { a.Failures = 1 }, false},
	} {
		f, cycle := finding{Attempt: billingtest.Sent(0, 0)}, there
		row.change(&f.Attempt, &cycle)
		if got := f.movedAway(cycle, billingtest.Now); got != row.want || got != f.moved.Equal(cycle.Expected) {
			t.Errorf("%s: %t, to %s", row.name, got, f.moved)
		}
	}
	c := billingtest.Monthly()

	a := billingtest.Sent(0, 0)
	l := newSettling(&settlement.Unit{
		Now: billingtest.Now, Policy: billing.DefaultPolicy(), Shop: store, Contracts: map[contract.ID]*contract.Contract{9001: &c},
		Attempts: map[billing.AttemptID]*billing.Attempt{a.ID: &a},
	})
	start := c.Series
	if err := l.learn(&a, finding{Attempt: a, moved: later}); err != nil {
		t.Fatal(err)
	}
	if want := billingtest.Calendar.At(later); a.Status != billing.Queued || !a.Moved || !a.BillingDate.Equal(want) || !a.DueAt.Equal(want) || !a.SentAt.IsZero() || c.Series != start {
		t.Errorf("%s for %s, due on %s, moved %t, sent %s; want it to wait for %s", a.Status, a.BillingDate, a.DueAt, a.Moved, a.SentAt, want)
	}
}
