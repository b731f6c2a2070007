package billing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestAQueueEndsWithTheLastCycleAndHasNoHoles(t *testing.T) {
	t.Parallel()
	at := func(cycle int, s Status) Attempt {
		return Attempt{ID: AttemptID(cycle), Cycle: cycle, Status: s, BillingDate: now.AddDate(0, cycle, 0)}
	}
	past := at(1, Skipped)
	past.BillingDate = now.Add(-time.Hour)
	for _, row := range []struct {
		name   string
		change func(*contract.Contract)
		there  []Attempt
		gone   []AttemptID
		holes  []int
	}{
		{"without an end nothing changes", nil, []Attempt{at(1, Success), at(2, Queued), at(3, Queued)}, nil, nil},
		{"what waits beyond the end goes, and what is skipped there stays", func(c *contract.Contract) { c.MaxCycles = 2 },
			[]Attempt{at(1, Success), at(2, Queued), at(3, Skipped), at(4, Queued)}, []AttemptID{4}, nil},
		{"an order that is being made beyond the end is left alone", func(c *contract.Contract) { c.Ending = &contract.Ending{Cycle: 1} },
			[]Attempt{at(2, Requesting), at(3, Queued)}, []AttemptID{3}, nil},
		{"cycles that lack an order before a skipped one get one again", nil, []Attempt{at(1, Success), at(4, Skipped)}, nil, []int{2, 3}},
		{"nothing comes back before a cycle that has had its day", nil, []Attempt{past, at(4, Queued)}, nil, []int{2, 3}},
		{"a paused contract gets none", func(c *contract.Contract) { c.Status = contract.Paused }, []Attempt{at(4, Skipped)}, nil, nil},
	} {
		c := monthly().contract
		if row.change != nil {
			row.change(&c)
		}
		beyond, added := limited(c, row.there, monthly().calendar, now)
		var gone []AttemptID
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
