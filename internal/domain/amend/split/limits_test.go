package split

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestSplitKeepsRemainingCycleLimits(t *testing.T) {
	t.Parallel()
	limits := func(least, most int) platform.Policy { return platform.Policy{MinCycles: least, MaxCycles: most} }
	for _, row := range []struct {
		name     string
		is, want platform.Policy
		of       contract.Contract
		cycle    int
	}{
		{"no limits", limits(0, 0), limits(0, 0), contract.Contract{Orders: 3}, 4},
		{"five of twelve were made", limits(0, 12), limits(0, 7), contract.Contract{Orders: 5}, 6},
		{"cycles that were no orders do not count", limits(0, 12), limits(0, 7), contract.Contract{Orders: 5, PassedCycles: 2}, 8},
		{"the last one is being charged", limits(0, 3), limits(0, 1), contract.Contract{Orders: 2}, 4},
		{"what was committed to and had is not owed again", limits(6, 0), limits(2, 0), contract.Contract{Orders: 3, OriginOrderID: 1, MinCycles: 6}, 4},
		{"all that was committed to is had", limits(2, 0), limits(0, 0), contract.Contract{Orders: 3, MinCycles: 2}, 4},
		{"no more is owed than there are orders", limits(6, 7), limits(1, 2), contract.Contract{Orders: 0, MinCycles: 6}, 6},
	} {
		if got := remainingLimits(row.is, row.of, row.cycle); got.MinCycles != row.want.MinCycles || got.MaxCycles != row.want.MaxCycles {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}
