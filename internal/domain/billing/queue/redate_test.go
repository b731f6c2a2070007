package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestLaterOrdersFollowSeriesExceptChosenDates(t *testing.T) {
	t.Parallel()
	c := billingtest.Monthly()
	c.Series = contract.Series{Cycle: 4, Start: time.Date(2026, 5, 31, 14, 0, 0, 0, time.UTC), Moved: true}
	queue := func(cycle int, change ...func(*billing.Attempt)) billing.Attempt {
		return billingtest.Due(append([]func(*billing.Attempt){func(a *billing.Attempt) { a.Cycle, a.ID = cycle, billing.AttemptID(cycle) }}, change...)...)
	}
	skipped := func(date time.Time) func(*billing.Attempt) {
		return func(a *billing.Attempt) { a.Status, a.BillingDate, a.DueAt = billing.Skipped, date, time.Time{} }
	}
	moved := redated([]billing.Attempt{
		queue(3), queue(4), queue(5), queue(6, func(a *billing.Attempt) { a.Moved = true }), queue(7), queue(8, skipped(billingtest.Now.AddDate(0, 0, 1))), queue(9, skipped(billingtest.Now)),
	}, map[contract.ID]contract.Contract{c.ID: c}, billingtest.Calendar, billingtest.Now)
	var got string
	for _, a := range moved {
		got += fmt.Sprintf("%d on %s, due %t, published %t; ", a.Cycle, a.BillingDate.Format(time.DateOnly), a.DueAt.Equal(a.BillingDate), a.PublishAt.Equal(billingtest.Now))
	}
	if want := "5 on 2026-06-30, due true, published true; 7 on 2026-08-31, due true, published true; 8 on 2026-09-30, due false, published false; "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Series.Moved = false
	for _, a := range redated([]billing.Attempt{queue(5)}, map[contract.ID]contract.Contract{c.ID: c}, billingtest.Calendar, billingtest.Now) {
		if !a.PublishAt.IsZero() {
			t.Error("dates that are the platform's own are published")
		}
	}
}

func TestNewOrdersOfChosenSeriesArePublished(t *testing.T) {
	t.Parallel()
	g := billingtest.Monthly()
	for _, moved := range []bool{false, true} {
		g.Series.Moved = moved
		for _, a := range fill(&g, billing.Queue{LastCycle: 2}, billingtest.Calendar, billingtest.Now) {
			if a.PublishAt.IsZero() == moved {
				t.Errorf("chosen %t: published at %s", moved, a.PublishAt)
			}
		}
	}
}
