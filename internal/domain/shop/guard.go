package shop

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Guard is whether a store's orders may be charged by this installation now. The zero
// value lets everything be charged.
type Guard struct {
	// FrozenAt is when the store was frozen: nothing is charged until an operator
	// lifts the freeze. Zero: it is not frozen.
	FrozenAt time.Time
	// ConfirmBy is the instant from which nothing is charged until the platform
	// has confirmed the epoch. Zero: no confirmation is needed.
	ConfirmBy time.Time
	// CheckAt is when the platform's epoch and charges are read next.
	// Zero: never automatically.
	CheckAt time.Time
	Hold    Hold

	Reason string // why the store is frozen
	// Epoch is the token that the platform stores for this installation. NextEpoch
	// replaces it: it is stored here before it is written there, so that a
	// process that dies between the two recognises it.
	Epoch, NextEpoch string
	// PlatformEpoch is the token that the platform had when the store was frozen, or later.
	PlatformEpoch string
	// ComparedAt is when the platform's charges were last compared to the end,
	// and CoveredTo is the end of the compared charges.
	ComparedAt, CoveredTo time.Time
	Comparing             Reading // a comparison in progress
	// ConnectedAt is when the store got its current token. Zero: not known.
	ConnectedAt time.Time
	Consent
}

// Hold puts off the charges of a store until an instant.
type Hold struct {
	Until time.Time
	// Since is when charges began to be held because nearly all were declined;
	// zero when the hold only paces them. A few are sent after Until, to probe.
	Since time.Time
	Times int       // how often in a row
	From  time.Time // results of charges before it no longer count
}

// BlockReason returns why nothing may be charged, not even on request; "" when charges
// are allowed.
func (g Guard) BlockReason(now time.Time) string {
	if reason := g.ForeignReason(now); reason != "" {
		return reason
	}
	if !g.AwaitsSince.IsZero() {
		return "the merchant has not confirmed yet that orders are charged"
	}
	return ""
}

// ForeignReason returns why another installation may be the one that manages the store;
// "" when this one does. Until then nothing is charged, and nothing that was scheduled
// is changed.
func (g Guard) ForeignReason(now time.Time) string {
	switch {
	case !g.FrozenAt.IsZero():
		return "the store is frozen: " + g.Reason
	case !g.ConfirmBy.IsZero() && !now.Before(g.ConfirmBy):
		return "the platform has not confirmed yet that this installation charges the store"
	}
	return ""
}

// ChargesAutomatically reports whether charges of the store start automatically.
func (g Guard) ChargesAutomatically(now time.Time) bool {
	return g.BlockReason(now) == "" && !now.Before(g.Hold.Until)
}

// Freeze stops all charges, for a reason. A store that is frozen keeps its first reason.
// Contracts and charges must be read again before the freeze can be lifted.
func (s *Shop) Freeze(reason string, now time.Time) bool {
	if !s.Guard.FrozenAt.IsZero() {
		return false
	}
	s.Guard.FrozenAt, s.Guard.Reason = now, reason
	s.Guard.CheckAt, s.Guard.Comparing = now, Reading{}
	s.ResetReconciliation(now)
	return true
}

// Thaw lifts a freeze. The store is charged again once the platform has confirmed the
// epoch; this installation takes over the platform's.
func (s *Shop) Thaw(now time.Time) error {
	g := &s.Guard
	switch {
	case g.FrozenAt.IsZero():
		return fault.New(fault.FailedPrecondition, "%s is not frozen", s.Domain)
	case s.ReconciledAt.Before(g.FrozenAt):
		return fault.New(fault.FailedPrecondition, "%s has not been reconciled since it was frozen: let the service run until it has", s.Domain)
	case g.ComparedAt.Before(g.FrozenAt):
		return fault.New(fault.FailedPrecondition, "the platform's charges of %s have not been compared with ours since it was frozen: let the service run until they have", s.Domain)
	}
	g.FrozenAt, g.Reason = time.Time{}, ""
	g.Epoch, g.NextEpoch, g.PlatformEpoch = g.PlatformEpoch, "", ""
	g.CheckAt, g.ConfirmBy = now, now
	return nil
}

// outOfDate is the age of the last comparison of charges from which an operator is
// alerted.
const outOfDate = 24 * time.Hour

// OverdueComparison describes a comparison of the platform's charges with ours that is
// overdue; "" when it is not, and for a disconnected store.
func (s Shop) OverdueComparison(now time.Time) string {
	at, g := s.CreatedAt, s.Guard
	if !g.ComparedAt.IsZero() {
		at = g.ComparedAt
	}
	if !s.Connected || now.Sub(at) <= outOfDate {
		return ""
	}
	why := "the last complete comparison of the platform's charges with ours was at " + at.Format(time.RFC3339)
	if !g.Comparing.Started.IsZero() {
		why += "; charges before " + g.CoveredTo.Format(time.RFC3339) + " are compared"
	}
	return why
}

// Catching up after an outage.
const (
	// DefaultCatchUp is over how many hours overdue charges are spread.
	DefaultCatchUp = 6
	// MaxCatchUp is the most that a store may choose.
	MaxCatchUp = 48
)

// CatchUp returns the time over which charges are spread that are long overdue.
func (s Settings) CatchUp() time.Duration {
	hours := s.CatchUpHours
	if hours == 0 {
		hours = DefaultCatchUp
	}
	return time.Duration(hours) * time.Hour
}

// Check reports what is wrong with the settings of catching up.
func (s Settings) Check() error {
	if s.CatchUpHours < 0 || s.CatchUpHours > MaxCatchUp {
		return fault.New(fault.Invalid, "overdue charges are spread over 1 to %d hours, or 0 for %d", MaxCatchUp, DefaultCatchUp).Field("catchUpHours")
	}
	if s.DeliveryRule != "" && !slices.Contains(DeliveryRules, s.DeliveryRule) {
		return fault.New(fault.Invalid, "%q is no rule for delivery to a new address: use CHEAPEST or KEEP", s.DeliveryRule).Field("deliveryRule")
	}
	if s.FailureDigest != "" && !slices.Contains(DigestModes, s.FailureDigest) {
		return fault.New(fault.Invalid, "%q is not how often declined charges are summed up: use AT_ONCE, WEEKLY or MONTHLY", s.FailureDigest).Field("failureDigest")
	}
	return nil
}
