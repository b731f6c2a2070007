package split

import (
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// remainingLimits returns the billing policy with the cycle limits that are left when a
// cycle becomes the first one of another contract.
func remainingLimits(billed platform.Policy, of contract.Contract, cycle int) platform.Policy {
	billed.MinCycles = min(of.Committed(), billed.MinCycles)
	if billed.MaxCycles > 0 {
		billed.MaxCycles = max(1, billed.MaxCycles+of.PassedCycles-(cycle-1)) // a contract for life has none left
		billed.MinCycles = min(billed.MinCycles, billed.MaxCycles-1)          // the platform requires fewer
	}
	return billed
}
