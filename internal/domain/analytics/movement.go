package analytics

import "github.com/perennialhq/perennial/internal/domain/contract"

// Movement is why MRR changed.
type Movement string

// The movements. Opening and Transferred say how MRR came to be where it is counted, not that
// a subscriber did something.
const (
	Opening           Movement = "opening"
	New               Movement = "new"
	Reactivated       Movement = "reactivated"
	Resumed           Movement = "resumed"
	Expansion         Movement = "expansion"
	Contraction       Movement = "contraction"
	Paused            Movement = "paused"
	ChurnedVoluntary  Movement = "churnedVoluntary"
	ChurnedByDeclines Movement = "churnedInvoluntary"
	Transferred       Movement = "transferred"
)

// Movements lists every movement in the order in which they are shown.
var Movements = []Movement{
	Opening, New, Reactivated, Resumed, Expansion, Contraction, Paused, ChurnedVoluntary, ChurnedByDeclines, Transferred,
}

// movementOf returns why a contract's MRR went from one value to another within a dimension.
// Before is nil for the first version.
func movementOf(before *Version, after Version) Movement {
	var was State
	if before != nil {
		was = before.State
	}
	switch {
	case after.Reason == BySplit:
		return Transferred
	case before == nil && after.Reason == Existed:
		return Opening
	case before == nil && after.Reason == Restarts:
		return Reactivated
	case was.Trial, before == nil, was.MRR == 0 && !before.Counted && before.Cohort != 0:
		return New
	case !was.Active() && was.Status == contract.Paused:
		return Resumed
	case !was.Active():
		return Reactivated
	case after.Active() && after.MRR >= was.MRR:
		return Expansion
	case after.Active():
		return Contraction
	case after.Status == contract.Paused:
		return Paused
	case after.lostByDeclines():
		return ChurnedByDeclines
	}
	return ChurnedVoluntary
}

// lostByDeclines reports whether the contract stopped because a payment failed for good.
func (v Version) lostByDeclines() bool { return v.Reason == ByDunning || v.Status == contract.Failed }
