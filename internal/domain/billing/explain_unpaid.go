package billing

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// retrying says when an order that was declined is charged again by itself.
func (f Facts) retrying(when string) string {
	return fmt.Sprintf("The service charges the order again %s, as try %d with a key of its own.", when, f.Try+1)
}

// unpaid says what becomes of an order that was declined and is not charged again
// by itself.
func (f Facts) unpaid() string {
	dunned := ""
	if k := f.Attempt.Dunning; k.State == dunning.Lost && k.Action == dunning.Pause {
		dunned = ", by the service, when no retry was left"
	}
	switch f.Of.Status {
	case contract.Paused:
		return fmt.Sprintf("The service does not charge the order again. The contract is paused%s: only when it has been activated may a person charge the order again.", dunned)
	case contract.Active:
	default:
		return fmt.Sprintf("The service does not charge the order again, and nobody else may: the contract is %s. It would have to be activated first, where the platform allows it.", strings.ToLower(string(f.Of.Status)))
	}
	if end := f.Of.ExpireAt; end.After(f.Now) {
		return fmt.Sprintf("The service does not charge the order again by itself: a person may charge it again, or give it another date, until the contract expires at %s.", f.moment(end))
	}
	return "The service does not charge the order again by itself: a person may charge it again, or give it another date."
}

// finalWords says what the final actions do.
var finalWords = map[dunning.Action]string{
	dunning.Pause: "the contract is paused", dunning.Skip: "the order is given up, and the contract goes on with the next", dunning.Cancel: "the contract is cancelled",
}

// explainCase says what comes next for an order of which the case is open.
func (f Facts) explainCase() NextStep {
	k := f.Attempt.Dunning
	final := f.Shop.Settings.Dunning.Final(k.Class)
	ends := SkippedDunning
	if final == dunning.Pause {
		ends = Failure
	}
	when := func(step NextStep) string {
		if step.At.After(f.Now) {
			return "at " + f.moment(step.At)
		}
		return "now"
	}
	switch {
	case k.State == dunning.Held:
		return NextStep{Kind: StepNone, Words: "The store itself could not take the payment. The order is held until its staff says that this is solved, and no other order of the contract is charged before."}
	case k.State == dunning.Ending:
		return NextStep{Kind: StepEnd, At: later(f.Of.AmendAt, f.Now), Ends: ends, Words: fmt.Sprintf("No retry is left: %s as soon as the platform has confirmed it.", finalWords[k.Action])}
	}
	due := f
	due.DueAt = later(f.DueAt, later(k.RetryAt, k.EndAt)) // until then only e-mails are sent
	switch v := f.decided(due.Attempt, f.Of); {
	case v.action == wait:
		return due.foretold(v)
	case v.action == startDunning && v.how == abandon:
		step := NextStep{Kind: StepEnd, At: later(f.DueAt, f.Now), Ends: Failure}
		step.Words = fmt.Sprintf("The order is not going to be charged again, because %s. It is given up %s.", v.reason, when(step))
		return step
	case v.action == startDunning && v.how == leaveOut:
		step := NextStep{Kind: StepWait, At: later(k.RetryAt, f.Now)}
		step.Words = fmt.Sprintf("The order is not charged again %s, because %s. The service goes on with its plan then.", when(step), v.reason)
		return step
	case !k.RetryAt.IsZero():
		step := NextStep{Kind: StepCharge, At: later(k.RetryAt, f.Now)}
		step.Words = f.retrying(when(step))
		return step
	}
	step := NextStep{Kind: StepEnd, At: later(k.EndAt, f.Now), Ends: ends}
	step.Words = fmt.Sprintf("The service does not charge the order again by itself: that takes a person, or another payment method. Otherwise %s %s.", finalWords[final], when(step))
	return step
}
