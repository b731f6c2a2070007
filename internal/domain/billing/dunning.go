package billing

import (
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// CaseInputs returns what the rules of dunning need to know of an attempt.
func CaseInputs(of shop.Shop, a Attempt) (dunning.Inputs, error) {
	cal, err := of.Calendar()
	return CaseInputsIn(of, a, cal), err
}

// CaseInputsIn is CaseInputs with the store's calendar.
func CaseInputsIn(of shop.Shop, a Attempt, cal cadence.Calendar) dunning.Inputs {
	return dunning.Inputs{
		Settings: of.Settings.Dunning, Due: a.BillingDate, Calendar: cal, Spread: dunning.SpreadOf(KeyOf(of.Domain, a.Contract, a.Cycle, 0)),
	}
}

// PaidElsewhere reports whether the platform says that the order is paid. It must be found, and
// is never charged again.
func (a Attempt) PaidElsewhere() bool {
	class, _ := dunning.ClassOf(a.ErrorCode)
	return class == dunning.Done && !a.Accepted() && a.Status != Success
}

// HadCase reports whether a decline of the attempt ever opened a case.
func (a Attempt) HadCase() bool { return a.Dunning.State != "" }

// TriedEarly reports whether a person charged the attempt before its date, it was declined
// while another order was unpaid, and it waits for its date.
func (a Attempt) TriedEarly() bool { return a.Status == Failure && !a.HadCase() && !a.Moved }

// RetryingNeeded reports whether the declined order is charged again automatically. Without a
// case it is the flag that the caller has set.
func (a Attempt) RetryingNeeded() bool {
	switch {
	case !a.HadCase():
		return a.Flags.RetryingNeeded
	case a.Dunning.State.Live():
		return a.Status == Failure && !a.Dunning.RetryAt.IsZero()
	}
	return a.Status == Failure && !a.DueAt.IsZero() // a person gave it another date
}

// Unpaid reports whether the order was declined and not given up: its case is open, or a person
// gave it another date.
func (a Attempt) Unpaid() bool {
	return a.Status == Failure && (a.Dunning.State.Live() || !a.DueAt.IsZero())
}

// SyncCase copies the case of an attempt to its contract, and reports whether that changed the
// contract.
func SyncCase(c *contract.Contract, a Attempt, of shop.Shop) bool {
	k := a.Dunning
	if !k.State.Live() {
		if c.Dunning == nil || c.Dunning.Attempt != int64(a.ID) {
			return false
		}
		c.Dunning = nil
		return true
	}
	action := k.Action
	if k.State != dunning.Ending {
		action = of.Settings.Dunning.Final(k.Class)
	}
	c.Dunning = &contract.Dunning{
		Attempt: int64(a.ID), Cycle: a.Cycle, State: k.State, Class: k.Class, Code: a.ErrorCode, Since: k.OpenedAt, Tries: a.Try,
		RetryAt: k.RetryAt, EndAt: k.EndAt, Action: action,
	}
	return true
}
