package billing

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

func TestMayRetryByStatusAndError(t *testing.T) {
	t.Parallel()
	day := time.Date(2025, 3, 3, 12, 0, 0, 0, time.UTC)
	marked := contract.Flags{RetryingNeeded: true}
	for name, row := range map[string]struct {
		is   Attempt
		want bool
	}{
		"an order without a case is not":                      {Attempt{Status: Failure, DueAt: day}, false},
		"an order without a case says what it is marked with": {Attempt{Status: Queued, Flags: marked}, true},
		"a case with a retry to come is":                      {Attempt{Status: Failure, Dunning: dunning.Case{State: dunning.Open, RetryAt: day}}, true},
		"a case that only waits for its end is not":           {Attempt{Status: Failure, Flags: marked, DueAt: day, Dunning: dunning.Case{State: dunning.Open, EndAt: day}}, false},
		"a case that waits for the staff is not":              {Attempt{Status: Failure, Dunning: dunning.Case{State: dunning.Held}}, false},
		"a retry that is under way is not to come":            {Attempt{Status: Requesting, Dunning: dunning.Case{State: dunning.Open, RetryAt: day}}, false},
		"a paid order is not":                                 {Attempt{Status: Success, Flags: marked, Dunning: dunning.Case{State: dunning.Recovered}}, false},
		"an order that was given up is not":                   {Attempt{Status: Failure, Flags: marked, Dunning: dunning.Case{State: dunning.Lost}}, false},
		"one that a person gave another date then is":         {Attempt{Status: Failure, DueAt: day, Dunning: dunning.Case{State: dunning.Lost}}, true},
	} {
		if got := row.is.RetryingNeeded(); got != row.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
