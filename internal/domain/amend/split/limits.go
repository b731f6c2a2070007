package split

import (
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// remainingLimits returns the terms of a contract with the limits that are left of it when a
// cycle is the first of another one: an order that was made counts once.
func remainingLimits(billed platform.Policy, of contract.Contract, cycle int) platform.Policy {
	billed.MinCycles = min(of.Committed(), billed.MinCycles)
	if billed.MaxCycles > 0 {
		billed.MaxCycles = max(1, billed.MaxCycles+of.PassedCycles-(cycle-1)) // of one for life none is left
		billed.MinCycles = min(billed.MinCycles, billed.MaxCycles-1)          // the platform wants fewer
	}
	return billed
}
