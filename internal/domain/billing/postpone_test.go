package billing

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestAChargeOfWhichACallIsOnItsWayIsNotTooEarly(t *testing.T) {
	t.Parallel()
	g := monthly()
	l := ledger{now: now, policy: g.policy, shop: g.shop, contracts: map[contract.ID]*contract.Contract{9001: &g.contract}, attempts: make(map[AttemptID]*Attempt)}
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
			l := ledger{now: row.now, policy: g.policy, shop: g.shop, contracts: map[contract.ID]*contract.Contract{9001: &g.contract}}
			if err := l.postpone(&a, row.expected); err != nil {
				t.Fatal(err)
			}
			if a.Status != Queued || !a.BillingDate.Equal(row.date) || !a.DueAt.Equal(row.due) || !g.contract.Series.Start.Equal(row.seriesFrom) {
				t.Errorf("%s for %s, to be acted on at %s, series from %s; want %s, %s, %s", a.Status, a.BillingDate, a.DueAt, g.contract.Series.Start, row.date, row.due, row.seriesFrom)
			}
		})
	}
}
