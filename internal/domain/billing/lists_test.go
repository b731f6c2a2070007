package billing

import (
	"testing"
	"time"
)

func TestEarliestComparesDateThenCycle(t *testing.T) {
	t.Parallel()
	on := func(cycle, days int) Attempt {
		return Attempt{Cycle: cycle, Status: Queued, BillingDate: time.Date(2026, 3, 10+days, 14, 0, 0, 0, time.UTC)}
	}
	for _, row := range []struct {
		name  string
		queue []Attempt
		want  int
	}{
		{"none", nil, 0},
		{"by the date and not by the cycle", []Attempt{on(3, 40), on(4, 20), on(5, 30)}, 4},
		{"of two on one date the lower cycle", []Attempt{on(6, 20), on(4, 20), on(5, 20)}, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if first, ok := Earliest(row.queue); first.Cycle != row.want || ok != (row.want > 0) {
				t.Errorf("cycle %d, %t", first.Cycle, ok)
			}
		})
	}
}
