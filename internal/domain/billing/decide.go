package billing

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// inputs is what a decision on a due attempt rests on.
type inputs struct {
	shop     shop.Shop
	contract contract.Contract
	calendar cadence.Calendar
	policy   Policy
	others   []Attempt // the contract's attempts that are in flight, or QUEUED and due
	prepare  bool      // the order is not yet what it should be

	tries []time.Time // that count against the contract's payment method; only for attempts that failed
	tried []time.Time // when a charge with it was sent lately; only for those too
}

// action is what is done with a due attempt.
type action int

const (
	charge       action = iota // ask the platform for the cycle and, if nothing speaks against it, charge
	ask                        // ask only: the outcome of an earlier send is unknown and must not be repeated
	poll                       // ask how far the accepted try is
	wait                       // look again later
	end                        // it will not be charged
	requeue                    // it waits for its date again, before which a person wanted it charged
	leave                      // it stays as it is, and is not acted on by itself any more
	startDunning               // do what is due about the case of a decline, besides charging
	prepare                    // make the order what it should be, before it is charged
)

// decision is a decision on a due attempt.
type decision struct {
	action action
	until  time.Time // of wait and putOff
	status Status    // of end, and of ask: how it ends if the platform never saw it; of what a hindrance makes
	how    pursuit   // of dun
	look   bool      // of wait: for a change of the contract, which is looked at now
	reason string    // of wait, end and dun, and of the end after ask
}

// decide says what to do with an attempt that is due.
func decide(a Attempt, g inputs, now time.Time) decision {
	if a.accepted() {
		return decision{action: poll}
	}
	if a.paidElsewhere() {
		return decision{action: ask}
	}
	if stop, status, reason := hindrance(a, g); stop {
		switch {
		case a.Status == Failure && a.Dunning.State.Live():
			return decision{action: startDunning, status: status, how: abandon, reason: reason}
		case a.Status == Failure:
			return decision{action: leave, status: status, reason: reason}
		case a.FirstSentAt.IsZero() && a.outlives(status, now):
			return decision{action: requeue, reason: reason}
		case a.FirstSentAt.IsZero():
			return decision{action: end, status: status, reason: reason}
		}
		return decision{action: ask, status: status, reason: reason} // it may have been charged before the hindrance came
	}
	for _, o := range g.others {
		if o.ID != a.ID && o.HoldsBack() {
			return decision{action: wait, until: now.Add(g.policy.InFlight), reason: fmt.Sprintf("the end of cycle %d is not known yet", o.Cycle)}
		}
	}
	if m := g.contract.Moving; m != nil && (a.Status == Failure || a.FirstSentAt.IsZero()) {
		return decision{action: wait, until: now.Add(contract.PendingChangeTimeout), reason: fmt.Sprintf("the contract is on its way to being %s", m.To)}
	}
	if g.contract.Split != nil && (a.Status == Failure || a.FirstSentAt.IsZero()) {
		return decision{action: wait, until: now.Add(contract.PendingChangeTimeout), reason: "lines of the contract are on their way into one of their own"}
	}
	if reason, missed := missed(a, g.others, now); missed && a.sent() {
		return decision{action: ask, status: Skipped, reason: reason} // it may have been charged before
	}
	if (a.Status == Queued || a.triedEarly()) && g.contract.Dunning != nil && g.contract.Dunning.Attempt != int64(a.ID) {
		return decision{action: end, status: SkippedDunning, reason: unpaid(g.contract)}
	}
	if a.Status == Failure {
		if v := decideFailed(a, g, now); v.action != charge {
			return v
		}
	}
	if a.Status == Queued && !a.Moved {
		if v, late := catchUp(a, g, now); late {
			return v
		}
	}
	if v, overdue := spread(a, g.shop, now); overdue && (a.Status == Queued || a.Status == Failure) {
		return v
	}
	if g.contract.Pending != nil && a.mayWait(now) {
		return decision{action: wait, until: now.Add(contract.PendingChangeTimeout), look: true, reason: "a change of a line that waits for it is made first"}
	}
	if g.prepare && (a.Status == Failure || a.FirstSentAt.IsZero()) {
		if o, ok := before(a, g, now); ok {
			return decision{action: wait, until: now.Add(g.policy.InFlight), reason: fmt.Sprintf("the order of cycle %d is made first", o.Cycle)}
		}
		return decision{action: prepare}
	}
	if a.Status == Failure || g.policy.sendable(a, now) {
		return decision{action: charge}
	}
	return decision{action: ask}
}

// mayWait reports whether an order that was never sent may still wait for a change of
// its contract that is made before it: it does not wait for ever.
func (a Attempt) mayWait(now time.Time) bool {
	switch {
	case a.Status == Queued:
		return now.Sub(a.BillingDate) < contract.PendingLead
	case a.Status == Requesting && a.Manual && a.Try == 1 && a.FirstSentAt.IsZero():
		return now.Sub(a.AttemptedAt) < contract.PendingLead
	}
	return false
}

// outlives reports whether an attempt that was to be charged before its date waits for
// that again, where nothing was charged and it would end with a status. A pause takes
// no order whose day is to come. A later try has another key, which must not be lost.
func (a Attempt) outlives(as Status, now time.Time) bool {
	return as == ContractPaused && a.Status != Queued && a.Try == 1 && a.BillingDate.After(now)
}

// hindrance says whether something forbids to charge the attempt at all.
func hindrance(a Attempt, g inputs) (stop bool, as Status, reason string) {
	switch {
	case !g.shop.Connected:
		return true, ConnectionGone, "the store's connection to the platform is gone"
	case g.contract.Status == contract.Paused:
		return true, ContractPaused, "the contract is paused"
	case g.contract.Status == contract.Cancelled:
		return true, ContractCancelled, "the contract is cancelled"
	case g.contract.Status != contract.Active:
		return true, ContractEnded, "the contract has ended"
	case g.contract.PastLastCycle(a.Cycle):
		last, _ := g.contract.LastCycle()
		return true, ContractEnded, fmt.Sprintf("the contract ends after %d cycles", last)
	case !g.contract.AutoCharge && !a.Manual:
		return true, AutoChargeDisabled, "automatic charges are switched off for the contract"
	}
	return false, "", ""
}

// catchUp keeps an outage from ending in a burst: of several cycles that fell
// due meanwhile only the newest is charged, and never closer to the order before
// it than half an interval or a day, whichever is less.
func catchUp(a Attempt, g inputs, now time.Time) (decision, bool) {
	if reason, missed := missed(a, g.others, now); missed {
		return decision{action: end, status: Skipped, reason: reason}, true
	}
	if g.contract.LastOrderAt.IsZero() {
		return decision{}, false
	}
	if earliest := g.contract.LastOrderAt.Add(min(interval(a, g)/2, longestSpacing)); now.Before(earliest) {
		return decision{action: wait, until: earliest, reason: "the order before it has only just been made"}, true
	}
	return decision{}, false
}

// before returns an order of the contract that is about to be made before another one
// is prepared, which changes the contract for itself.
func before(a Attempt, g inputs, now time.Time) (o Attempt, ok bool) {
	for _, o := range g.others {
		if o.Status == Queued && o.Precedes(a) && !o.BillingDate.After(now) && !o.DueAt.After(now.Add(g.policy.Lease)) {
			return o, true
		}
	}
	return Attempt{}, false
}

// missed says why an order is given up for a newer one of the contract that has
// fallen due as well, after it. One of which a person chose the date is not, and neither is a
// charge that a person asked for, or one of an order that was declined before.
func missed(a Attempt, others []Attempt, now time.Time) (reason string, is bool) {
	if a.Moved || a.sent() && (a.Manual || a.Try > 1) {
		return "", false
	}
	for _, o := range others {
		if o.Status == Queued && o.Cycle > a.Cycle && o.BillingDate.After(a.BillingDate) && !o.BillingDate.After(now) {
			return fmt.Sprintf("missed, and cycle %d is due too: only the newest is charged", o.Cycle), true
		}
	}
	return "", false
}

// interval returns the time that should lie between the attempt's order and the
// one before it.
func interval(a Attempt, g inputs) time.Duration {
	usual := g.contract.Billing.Approx()
	if a.Cycle > g.contract.Series.Cycle {
		return min(usual, g.contract.DueOn(a.Cycle, g.calendar).Sub(g.contract.DueOn(a.Cycle-1, g.calendar)))
	}
	return usual
}

// sendable reports whether the try may be sent, for the first time or again.
// After the window the platform's own word is needed that it never saw it, and
// enough time since the last send for that word to count.
func (p Policy) sendable(a Attempt, now time.Time) bool {
	return a.FirstSentAt.IsZero() || now.Sub(a.FirstSentAt) < p.SendWindow || now.Sub(a.SentAt) >= p.Settling
}
