package contract

import (
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// InCommitment reports whether the subscriber must complete the orders that they
// committed to: always for memberships, and for subscriptions if the store's settings
// say so.
func (c Contract) InCommitment(s shop.Settings) bool {
	return c.Committed() > 0 && (c.Line == shop.Memberships || s.FreezeUntilMinCycles)
}

// HiddenFrom reports whether the actor is a subscriber and the contract is another
// subscriber's.
func (c Contract) HiddenFrom(from activity.Actor) bool {
	return from.Customer != 0 && from.Customer != c.Customer.ID
}

// CheckCommitment refuses changes by a subscriber who is in a commitment, or by a user of the
// dashboard as the subscriber. Merchants and the service itself are not restricted.
func (c Contract) CheckCommitment(s shop.Settings, by activity.Actor) error {
	if !by.Subscriber() || !c.InCommitment(s) {
		return nil
	}
	return c.Frozen()
}

// Frozen returns the failure of a change that the subscriber's commitment forbids.
func (c Contract) Frozen() *fault.Error {
	return fault.New(fault.FailedPrecondition, "%d of %d orders are completed: %d more before this subscription can be changed", c.Completed(), c.MinCycles, c.Committed()).
		Entity("subscriptionContract").Code("contractFrozen")
}
