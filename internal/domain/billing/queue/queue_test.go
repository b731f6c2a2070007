package queue

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestFill(t *testing.T) {
	t.Parallel()
	g := billingtest.Monthly()
	on := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 14, 0, 0, 0, time.UTC) }
	for _, row := range []struct {
		name   string
		q      billing.Queue
		max    int
		cycles []int
	}{
		{"an empty queue begins with the series", billing.Queue{}, 0, []int{1, 2, 3, 4, 5, 6}},
		{"a queue is filled behind its last cycle", billing.Queue{Waiting: 4, LastCycle: 9}, 0, []int{10, 11}},
		{"a full queue is left alone", billing.Queue{Waiting: 6, LastCycle: 9}, 0, nil},
		{"orders that are put off are behind those that are planned", billing.Queue{Waiting: 6, LastCycle: 9, Dates: []time.Time{on(6, 10), on(7, 10), on(12, 11), on(9, 10), on(12, 12), on(8, 10)}}, 0, []int{10, 11}},
		{"a queue ends with the last cycle", billing.Queue{Waiting: 1, LastCycle: 7}, 8, []int{8}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := g
			c.MaxCycles = row.max
			got := fill(&c, row.q, billingtest.Calendar, billingtest.Now)
			if len(got) != len(row.cycles) {
				t.Fatalf("%d attempts, want %d", len(got), len(row.cycles))
			}
			for i, a := range got {
				want := on(time.Month(row.cycles[i]), 10)
				if a.Cycle != row.cycles[i] || !a.BillingDate.Equal(want) || !a.DueAt.Equal(want) || a.Status != billing.Queued {
					t.Errorf("attempt %d: %+v, want cycle %d on %s", i, a, row.cycles[i], want)
				}
			}
		})
	}
	paused := g
	paused.Status = contract.Paused
	if got := fill(&paused, billing.Queue{}, billingtest.Calendar, billingtest.Now); got != nil {
		t.Errorf("a paused contract got a queue: %v", got)
	}
}
