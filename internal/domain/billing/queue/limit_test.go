package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestQueueEndsWithLastCycleWithoutGaps(t *testing.T) {
	t.Parallel()
	at := func(cycle int, s billing.Status) billing.Attempt {
		return billing.Attempt{ID: billing.AttemptID(cycle), Cycle: cycle, Status: s, BillingDate: billingtest.Now.AddDate(0, cycle, 0)}
	}
	past := at(1, billing.Skipped)
	past.BillingDate = billingtest.Now.Add(-time.Hour)
	for _, row := range []struct {
		name   string
		change func(*contract.Contract)
		there  []billing.Attempt
		gone   []billing.AttemptID
		holes  []int
	}{
		{"without an end nothing changes", nil, []billing.Attempt{at(1, billing.Success), at(2, billing.Queued), at(3, billing.Queued)}, nil, nil},
		{"what waits beyond the end goes, and what is skipped there stays", func(c *contract.Contract) { c.MaxCycles = 2 },
			[]billing.Attempt{at(1, billing.Success), at(2, billing.Queued), at(3, billing.Skipped), at(4, billing.Queued)}, []billing.AttemptID{4}, nil},
		{"an order that is being made beyond the end is left alone", func(c *contract.Contract) { c.Ending = &contract.Ending{Cycle: 1} },
			[]billing.Attempt{at(2, billing.Requesting), at(3, billing.Queued)}, []billing.AttemptID{3}, nil},
		{"cycles that lack an order before a skipped one get one again", nil, []billing.Attempt{at(1, billing.Success), at(4, billing.Skipped)}, nil, []int{2, 3}},
		{"nothing comes back before a cycle that has had its day", nil, []billing.Attempt{past, at(4, billing.Queued)}, nil, []int{2, 3}},
		{"a paused contract gets none", func(c *contract.Contract) { c.Status = contract.Paused }, []billing.Attempt{at(4, billing.Skipped)}, nil, nil},
	} {
		c := billingtest.Monthly()
		if row.change != nil {
			row.change(&c)
		}
		beyond, added := limited(c, row.there, billingtest.Calendar, billingtest.Now)
		var gone []billing.AttemptID
		for _, a := range beyond {
			gone = append(gone, a.ID)
		}
		var holes []int
		for _, a := range added {
			holes = append(holes, a.Cycle)
		}
		if !slices.Equal(gone, row.gone) || fmt.Sprint(holes) != fmt.Sprint(row.holes) {
			t.Errorf("%s: %v go and %v come, want %v and %v", row.name, gone, holes, row.gone, row.holes)
		}
	}
}
