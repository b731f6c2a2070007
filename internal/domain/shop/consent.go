package shop

import "time"

// Consent is the merchant's confirmation that the orders of a store are charged.
type Consent struct {
	// AwaitsSince is since when charges wait for the confirmation. Zero: they do not.
	AwaitsSince time.Time
	// ConfirmedAt is when it was given last, and ConfirmedBy who gave it. Zero for a store
	// that never waited for one.
	ConfirmedAt time.Time
	ConfirmedBy string
	// DisconnectedAt is when the last connection ended. It stays after the store is
	// connected again, until the platform's contracts have been read.
	DisconnectedAt time.Time
}

// MaxMissedOrders is how many orders a store may have missed while it was disconnected
// and still be charged without a new confirmation. An absence of some hours, such as an
// uninstallation by mistake, misses few. After more of them subscribers no longer expect
// an order, and the merchant may charge them in another way.
const MaxMissedOrders = 20

// Await makes charges wait for the merchant's confirmation. A store that waits keeps its
// first instant.
func (c *Consent) Await(now time.Time) {
	if c.AwaitsSince.IsZero() {
		c.AwaitsSince = now
	}
}

// Confirm ends the wait. It reports whether there was one.
func (c *Consent) Confirm(now time.Time, by string) bool {
	if c.AwaitsSince.IsZero() {
		return false
	}
	c.AwaitsSince, c.ConfirmedAt, c.ConfirmedBy = time.Time{}, now, by
	return true
}

// Disconnect ends the connection of a store: nothing is charged from now on.
func (s *Shop) Disconnect(now time.Time) {
	s.Connected, s.Guard.DisconnectedAt = false, now
}

// UntilCancelled is how long after an uninstallation the platform cancels the contracts
// of the app.
const UntilCancelled = 48 * time.Hour

// CancelsAt is when the platform cancels the contracts of a store that has uninstalled
// the app. Zero: the store is connected.
func (s Shop) CancelsAt() time.Time {
	if s.Connected || s.Guard.DisconnectedAt.IsZero() {
		return time.Time{}
	}
	return s.Guard.DisconnectedAt.Add(UntilCancelled)
}
