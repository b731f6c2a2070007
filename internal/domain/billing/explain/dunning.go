package explain

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// retrying says when a declined order is charged again automatically.
func (f Facts) retrying(when string) string {
	return fmt.Sprintf("The service charges the order again %s, as try %d with a key of its own.", when, f.Try+1)
}

// unpaid says what a person may do with a declined order that is not charged again automatically.
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
		return fmt.Sprintf("The service does not charge the order again, and no person can: the contract is %s. It would have to be activated first, where the platform allows it.", strings.ToLower(string(f.Of.Status)))
	}
	if end := f.Of.ExpireAt; end.After(f.Now) {
		return fmt.Sprintf("The service does not charge the order again automatically: a person may charge it again, or give it another date, until the contract expires at %s.", f.moment(end))
	}
	return "The service does not charge the order again automatically: a person may charge it again, or give it another date."
}

// finalWords says what the final actions do.
var finalWords = map[dunning.Action]string{
	dunning.Pause: "the contract is paused", dunning.Skip: "the order is given up, and the contract goes on with the next", dunning.Cancel: "the contract is cancelled",
}

// explainCase says what comes next for an order with an open case.
func (f Facts) explainCase() NextStep {
	k := f.Attempt.Dunning
	final := f.Shop.Settings.Dunning.Final(k.Class)
	ends := billing.SkippedDunning
	if final == dunning.Pause {
		ends = billing.Failure
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
		return NextStep{Kind: StepEnd, At: billing.Later(f.Of.AmendAt, f.Now), Ends: ends, Words: fmt.Sprintf("No retry is left: %s as soon as the platform has confirmed it.", finalWords[k.Action])}
	}
	due := f
	due.DueAt = billing.Later(f.DueAt, billing.Later(k.RetryAt, k.EndAt)) // until then only e-mails are sent
	switch v := f.decided(due.Attempt, f.Of); {
	case v.Action == decide.Wait:
		return due.stepFor(v)
	case v.Action == decide.StartDunning && v.CaseStep == decide.CloseCase:
		step := NextStep{Kind: StepEnd, At: billing.Later(f.DueAt, f.Now), Ends: billing.Failure}
		step.Words = fmt.Sprintf("The order is not going to be charged again, because %s. It is given up %s.", v.Reason, when(step))
		return step
	case v.Action == decide.StartDunning && v.CaseStep == decide.SkipRetry:
		step := NextStep{Kind: StepWait, At: billing.Later(k.RetryAt, f.Now)}
		step.Words = fmt.Sprintf("The order is not charged again %s, because %s. The service goes on with its plan then.", when(step), v.Reason)
		return step
	case !k.RetryAt.IsZero():
		step := NextStep{Kind: StepCharge, At: billing.Later(k.RetryAt, f.Now)}
		step.Words = f.retrying(when(step))
		return step
	}
	step := NextStep{Kind: StepEnd, At: billing.Later(k.EndAt, f.Now), Ends: ends}
	step.Words = fmt.Sprintf("The service does not charge the order again automatically: that takes a person, or another payment method. Otherwise %s %s.", finalWords[final], when(step))
	return step
}
