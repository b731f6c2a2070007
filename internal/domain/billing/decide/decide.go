// Package decide decides what to do with a due attempt, and whether a store's charges pause. It
// does no I/O.
package decide

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Inputs is what a decision on a due attempt depends on.
type Inputs struct {
	Shop     shop.Shop
	Contract contract.Contract
	Calendar cadence.Calendar
	Policy   billing.Policy
	Others   []billing.Attempt // the contract's attempts that are in flight, or QUEUED and due
	Prepare  bool              // the order must be prepared first
	Box      error             // the rule that the contract's box breaks; nil: none

	CardTries []time.Time // that count against the contract's payment method; only for attempts that failed
	CardUses  []time.Time // when a charge with it was sent lately; only for those too
}

// Action is what is done with a due attempt.
type Action int

// The actions.
const (
	Charge       Action = iota // ask the platform for the cycle and, if nothing speaks against it, charge
	Ask                        // ask only: the outcome of an earlier send is unknown and must not be repeated
	Poll                       // ask how far the accepted try is
	Wait                       // decide again later
	End                        // it will not be charged
	Requeue                    // it waits for its date again, before which a person had charged it
	Leave                      // it stays as it is, and the service no longer acts on it
	StartDunning               // take the step of the case of a decline that is due
	Prepare                    // prepare the order before its charge
)

// Decision is a decision on a due attempt.
type Decision struct {
	Action        Action
	Until         time.Time      // of wait and putOff
	Status        billing.Status // of end, and of ask: how it ends if the platform never saw it; of what a hindrance makes
	CaseStep      CaseStep       // of dun
	CheckContract bool           // of Wait: a change of the contract is made first, now
	Complete      bool           // of Wait: the customer must complete a box first
	Reason        string         // of wait, end and dun, and of the end after ask
}

// Due decides on an attempt that is due.
func Due(a billing.Attempt, g Inputs, now time.Time) Decision {
	if a.Accepted() {
		return Decision{Action: Poll}
	}
	if a.PaidElsewhere() {
		return Decision{Action: Ask}
	}
	if stop, status, reason := Blocked(a, g); stop {
		switch {
		case a.Status == billing.Failure && a.Dunning.State.Live():
			return Decision{Action: StartDunning, Status: status, CaseStep: CloseCase, Reason: reason}
		case a.Status == billing.Failure:
			return Decision{Action: Leave, Status: status, Reason: reason}
		case a.FirstSentAt.IsZero() && Outlives(a, status, now):
			return Decision{Action: Requeue, Reason: reason}
		case a.FirstSentAt.IsZero():
			return Decision{Action: End, Status: status, Reason: reason}
		}
		return Decision{Action: Ask, Status: status, Reason: reason} // it may have been charged before the hindrance came
	}
	for _, o := range g.Others {
		if o.ID != a.ID && o.HoldsBack() {
			return Decision{Action: Wait, Until: now.Add(g.Policy.InFlight), Reason: fmt.Sprintf("the end of cycle %d is not known yet", o.Cycle)}
		}
	}
	if m := g.Contract.Moving; m != nil && (a.Status == billing.Failure || a.FirstSentAt.IsZero()) {
		return Decision{Action: Wait, Until: now.Add(contract.PendingChangeTimeout), Reason: fmt.Sprintf("the contract is on its way to being %s", m.To)}
	}
	if g.Contract.Fenced() && (a.Status == billing.Failure || a.FirstSentAt.IsZero()) {
		return Decision{Action: Wait, Until: now.Add(fenceCheck), Reason: "the contract is between two services"}
	}
	if g.Contract.Split != nil && (a.Status == billing.Failure || a.FirstSentAt.IsZero()) {
		return Decision{Action: Wait, Until: now.Add(contract.PendingChangeTimeout), Reason: "lines of the contract are on their way into one of their own"}
	}
	if reason, missed := Missed(a, g.Others, now); missed && a.Sent() {
		return Decision{Action: Ask, Status: billing.Skipped, Reason: reason} // it may have been charged before
	}
	if (a.Status == billing.Queued || a.TriedEarly()) && g.Contract.Dunning != nil && g.Contract.Dunning.Attempt != int64(a.ID) {
		return Decision{Action: End, Status: billing.SkippedDunning, Reason: unpaid(g.Contract)}
	}
	if a.Status == billing.Failure {
		if v := decideFailed(a, g, now); v.Action != Charge {
			return v
		}
	}
	if a.Status == billing.Queued && !a.Moved {
		if v, late := catchUp(a, g, now); late {
			return v
		}
	}
	if v, overdue := spread(a, g.Shop, now); overdue && (a.Status == billing.Queued || a.Status == billing.Failure) {
		return v
	}
	if g.Box != nil && a.Status == billing.Queued {
		return Decision{Action: Wait, Until: now.Add(BoxCheck), Complete: true, Reason: "its box is not complete: " + g.Box.Error()}
	}
	if g.Contract.Pending != nil && mayWait(a, now) {
		return Decision{Action: Wait, Until: now.Add(contract.PendingChangeTimeout), CheckContract: true, Reason: "a change of a line that waits for it is made first"}
	}
	if g.Prepare && (a.Status == billing.Failure || a.FirstSentAt.IsZero()) {
		if o, ok := before(a, g, now); ok {
			return Decision{Action: Wait, Until: now.Add(g.Policy.InFlight), Reason: fmt.Sprintf("the order of cycle %d is made first", o.Cycle)}
		}
		return Decision{Action: Prepare}
	}
	if a.Status == billing.Failure || g.Policy.Sendable(a, now) {
		return Decision{Action: Charge}
	}
	return Decision{Action: Ask}
}

// BoxCheck is how often a box that is not complete is looked at again.
const BoxCheck = time.Hour

// fenceCheck is how often it is looked whether a contract has arrived from another service, or
// left for it.
const fenceCheck = 10 * time.Minute

// mayWait reports whether an order that was never sent may still wait for a change of
// its contract that is made before it: it does not wait for ever.
func mayWait(a billing.Attempt, now time.Time) bool {
	switch {
	case a.Status == billing.Queued:
		return now.Sub(a.BillingDate) < contract.PendingLead
	case a.Status == billing.Requesting && a.Manual && a.Try == 1 && a.FirstSentAt.IsZero():
		return now.Sub(a.AttemptedAt) < contract.PendingLead
	}
	return false
}

// Outlives reports whether an attempt that a person charged before its date waits for that date
// again, instead of ending with a status, because nothing was charged. A pause ends no order
// whose day is still to come. A later try has another key, which must not be lost.
func Outlives(a billing.Attempt, as billing.Status, now time.Time) bool {
	return as == billing.ContractPaused && a.Status != billing.Queued && a.Try == 1 && a.BillingDate.After(now)
}

// Blocked reports whether the attempt may not be charged at all, and why.
func Blocked(a billing.Attempt, g Inputs) (stop bool, as billing.Status, reason string) {
	switch {
	case !g.Shop.Connected:
		return true, billing.ConnectionGone, "the store's connection to the platform is gone"
	case g.Contract.Status == contract.Paused:
		return true, billing.ContractPaused, "the contract is paused"
	case g.Contract.Status == contract.Cancelled:
		return true, billing.ContractCancelled, "the contract is cancelled"
	case g.Contract.Status != contract.Active:
		return true, billing.ContractEnded, "the contract has ended"
	case g.Contract.PastLastCycle(a.Cycle):
		last, _ := g.Contract.LastCycle()
		return true, billing.ContractEnded, fmt.Sprintf("the contract ends after %d cycles", last)
	case !g.Contract.AutoCharge && !a.Manual:
		return true, billing.AutoChargeDisabled, "automatic charges are switched off for the contract"
	}
	return false, "", ""
}

// catchUp keeps an outage from ending in a burst: of several cycles that fell
// due meanwhile only the newest is charged, and never closer to the order before
// it than half an interval or a day, whichever is less.
func catchUp(a billing.Attempt, g Inputs, now time.Time) (Decision, bool) {
	if reason, missed := Missed(a, g.Others, now); missed {
		return Decision{Action: End, Status: billing.Skipped, Reason: reason}, true
	}
	if g.Contract.LastOrderAt.IsZero() {
		return Decision{}, false
	}
	if earliest := g.Contract.LastOrderAt.Add(min(interval(a, g)/2, longestSpacing)); now.Before(earliest) {
		return Decision{Action: Wait, Until: earliest, Reason: "the order before it has only just been made"}, true
	}
	return Decision{}, false
}

// longestSpacing is the longest time between two orders of a contract that no person moved.
const longestSpacing = 24 * time.Hour

// before returns an order of the contract that will be made before another one is prepared.
// Preparing an order changes the contract for that order.
func before(a billing.Attempt, g Inputs, now time.Time) (o billing.Attempt, ok bool) {
	for _, o := range g.Others {
		if o.Status == billing.Queued && o.Precedes(a) && !o.BillingDate.After(now) && !o.DueAt.After(now.Add(g.Policy.Lease)) {
			return o, true
		}
	}
	return billing.Attempt{}, false
}

// Missed returns why an order is given up for a newer one of the contract that has fallen due
// after it. An order that a person moved is not given up, nor a charge that a person asked for,
// nor a retry.
func Missed(a billing.Attempt, others []billing.Attempt, now time.Time) (reason string, is bool) {
	if a.Moved || a.Sent() && (a.Manual || a.Try > 1) {
		return "", false
	}
	for _, o := range others {
		if o.Status == billing.Queued && o.Cycle > a.Cycle && o.BillingDate.After(a.BillingDate) && !o.BillingDate.After(now) {
			return fmt.Sprintf("missed, and cycle %d is due too: only the newest is charged", o.Cycle), true
		}
	}
	return "", false
}

// interval returns the time that should lie between the attempt's order and the
// one before it.
func interval(a billing.Attempt, g Inputs) time.Duration {
	usual := g.Contract.Billing.Approx()
	if a.Cycle > g.Contract.Series.Cycle {
		return min(usual, g.Contract.DueOn(a.Cycle, g.Calendar).Sub(g.Contract.DueOn(a.Cycle-1, g.Calendar)))
	}
	return usual
}
