package contract

import (
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// InCommitment reports whether the subscriber is held to the orders that they committed
// to: always on the membership line, and on the other one if the store says so.
func (c Contract) InCommitment(s shop.Settings) bool {
	return c.Committed() > 0 && (c.Line == shop.Memberships || s.FreezeUntilMinCycles)
}

// HiddenFrom reports whether the contract does not exist for whoever acts: to a
// subscriber only their own do.
func (c Contract) HiddenFrom(from activity.Actor) bool {
	return from.Customer != 0 && from.Customer != c.Customer.ID
}

// CheckCommitment refuses what a subscriber may not do to a frozen contract. A merchant,
// and the service itself, may.
func (c Contract) CheckCommitment(s shop.Settings, by activity.Actor) error {
	if by.Source != activity.CustomerPortal || !c.InCommitment(s) {
		return nil
	}
	return fault.New(fault.FailedPrecondition, "%d of %d orders are completed: %d more before this subscription can be changed", c.Completed(), c.MinCycles, c.Committed()).
		Entity("subscriptionContract").Code("contractFrozen")
}
