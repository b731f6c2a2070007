package shop

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Guard says whether a store's orders may be charged by this installation now.
// The zero value lets everything be charged.
type Guard struct {
	// FrozenAt is when the store was frozen: nothing is charged until a person
	// says so. Zero: it is not.
	FrozenAt time.Time
	// ConfirmBy is the instant from which nothing is charged until the platform
	// has confirmed the epoch. Zero: nobody waits for that.
	ConfirmBy time.Time
	// CheckAt is when the platform is asked next, for the epoch and for what it
	// has charged. Zero: never by itself.
	CheckAt time.Time
	Hold    Hold

	Reason string // why the store is frozen
	// Epoch is the word that the platform keeps for us. NextEpoch is the one that
	// takes its place: it is kept here before it is written there, so that a
	// process which dies between the two knows it again.
	Epoch, NextEpoch string
	// PlatformEpoch is the word that the platform kept when the store was frozen, or later.
	PlatformEpoch string
	// ComparedAt is when the platform's charges were last compared to the end,
	// and CoveredTo what that covers: charges that were made before it.
	ComparedAt, CoveredTo time.Time
	Comparing             Reading // a comparison that has not ended
	// ConnectedAt is when the token was given that the store has. Zero: not known.
	ConnectedAt time.Time
}

// Hold puts off the charges of a store until an instant.
type Hold struct {
	Until time.Time
	// Since is when charges began to be held because nearly all were declined;
	// zero when the hold only paces them. A few are sent after Until, to probe.
	Since time.Time
	Times int       // how often in a row
	From  time.Time // ends of charges before it do not count any more
}

// BlockReason says why nothing may be charged at all, by nobody; "" when nothing bars it.
func (g Guard) BlockReason(now time.Time) string {
	switch {
	case !g.FrozenAt.IsZero():
		return "the store is frozen: " + g.Reason
	case !g.ConfirmBy.IsZero() && !now.Before(g.ConfirmBy):
		return "the platform has not confirmed yet that this installation charges the store"
	}
	return ""
}

// ChargesAutomatically reports whether charges of the store begin by themselves.
func (g Guard) ChargesAutomatically(now time.Time) bool {
	return g.BlockReason(now) == "" && !now.Before(g.Hold.Until)
}

// Freeze stops all charges, for a reason. A store that is frozen already keeps
// its first one. What the platform has is read anew before anybody can lift it.
func (s *Shop) Freeze(reason string, now time.Time) bool {
	if !s.Guard.FrozenAt.IsZero() {
		return false
	}
	s.Guard.FrozenAt, s.Guard.Reason = now, reason
	s.Guard.CheckAt, s.Guard.Comparing = now, Reading{}
	s.ResetReconciliation(now)
	return true
}

// Thaw lifts a freeze. The store is charged again once the platform has confirmed
// the epoch, for which this installation takes over what the platform keeps.
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

// outOfDate is how old the last comparison of the books may be before a person has to
// look.
const outOfDate = 24 * time.Hour

// OverdueComparison says that the platform's charges have not been compared with ours for too
// long; "" when they have, and of a store that has left.
func (s Shop) OverdueComparison(now time.Time) string {
	at, g := s.CreatedAt, s.Guard
	if !g.ComparedAt.IsZero() {
		at = g.ComparedAt
	}
	if !s.Connected || now.Sub(at) <= outOfDate {
		return ""
	}
	why := "the platform's charges have not been compared with ours to the end since " + at.Format(time.RFC3339)
	if !g.Comparing.Started.IsZero() {
		why += ", and those before " + g.CoveredTo.Format(time.RFC3339) + " have"
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
	return nil
}
