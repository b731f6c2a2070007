package explain

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// NextStep is what the service does next with an attempt.
type NextStep struct {
	Kind  StepKind
	At    time.Time      // when; zero with StepNone
	Ends  billing.Status // of StepEnd: the status that it gets
	Words string
}

// StepKind is a kind of step.
type StepKind string

// The kinds of steps.
const (
	StepCharge  StepKind = "CHARGE"  // for the first time, or again under the same key
	StepPrepare StepKind = "PREPARE" // make the order what it should be, and charge it then
	StepAsk     StepKind = "ASK"     // ask the platform for the end of a charge
	StepWait    StepKind = "WAIT"    // look again: something holds the order back
	StepEnd     StepKind = "END"     // end it without a charge
	StepNone    StepKind = "NONE"    // nothing, until a person does something
)

// StepKinds lists every kind.
var StepKinds = []StepKind{StepCharge, StepPrepare, StepAsk, StepWait, StepEnd, StepNone}

// explainNext says what comes next: what would be decided when the attempt falls
// due, as far as that is known now.
func (f Facts) explainNext() NextStep {
	if f.Status == billing.Failure && f.Attempt.Dunning.State.Live() {
		return f.explainCase()
	}
	if f.DueAt.IsZero() {
		return NextStep{Kind: StepNone, Words: f.resting()}
	}
	v := f.decided(f.Attempt, f.Of)
	if v.Action == decide.End && v.Status == billing.SkippedDunning && f.DueAt.After(f.Now) {
		paid := f.Of
		paid.Dunning = nil
		step := f.stepFor(f.decided(f.Attempt, paid))
		step.Words += fmt.Sprintf(" That is, if cycle %d has been paid or given up by then: it could not be charged yet. Otherwise this order ends as %s.", f.Of.Dunning.Cycle, billing.SkippedDunning)
		return step
	}
	return f.stepFor(v)
}

// decided returns what would be decided on the attempt when it falls due, of a contract
// as it is then.
func (f Facts) decided(a billing.Attempt, of contract.Contract) decide.Decision {
	at := billing.Later(a.DueAt, f.Now)
	ground := decide.Inputs{Shop: f.Shop, Contract: of, Calendar: f.Calendar, Policy: f.Policy, Others: f.Others, Prepare: f.Needs.Any(), Box: f.Incomplete(), CardTries: f.CardTries}
	return decide.WithGuard(decide.Due(a, ground, at), a, f.Shop.Guard, f.Policy, f.Now, at)
}

// stepFor says what a decision on the attempt means.
func (f Facts) stepFor(v decide.Decision) NextStep {
	at := billing.Later(f.DueAt, f.Now)
	step := NextStep{At: at}
	when := "now"
	if f.DueAt.After(f.Now) {
		when = "at " + f.moment(at)
	}
	switch v.Action {
	case decide.Poll:
		step.Kind = StepAsk
		step.Words = f.polling(when)
	case decide.Ask:
		step.Kind = StepAsk
		step.Words = f.asking(v, when)
	case decide.Prepare:
		step.Kind = StepPrepare
		step.Words = fmt.Sprintf("The service makes the order what it should be and charges it then, %s.", when)
	case decide.Wait:
		step.Kind = StepWait
		if !f.DueAt.After(f.Now) {
			step.At, when = v.Until, "at "+f.moment(v.Until)
		}
		step.Words = fmt.Sprintf("The order is held back, because %s. The service looks again %s.", v.Reason, when)
	case decide.End:
		step.Kind, step.Ends = StepEnd, v.Status
		step.Words = fmt.Sprintf("The order is not going to be charged: it ends as %s %s: %s.", v.Status, when, v.Reason)
	case decide.Requeue:
		step.Kind = StepWait
		step.Words = fmt.Sprintf("The order is not charged %s, because %s. It waits for its date.", when, v.Reason)
	case decide.Leave:
		step.Kind = StepEnd
		step.Ends = f.Status
		step.Words = fmt.Sprintf("The order was due for another charge %s. It stays as it is, because %s.", when, v.Reason)
	default:
		step.Kind = StepCharge
		step.Words = f.charging(when)
	}
	return step
}

// charging says how an order is charged next.
func (f Facts) charging(when string) string {
	const again = "the platform is asked what became of it. If it has no such charge, the charge is sent again under the same key, so that it cannot be made twice."
	switch {
	case f.Status == billing.Failure:
		return f.retrying(when)
	case f.Status == billing.Requesting && f.FirstSentAt.IsZero():
		return fmt.Sprintf("The service charges the order %s: it has been taken up, and nothing was sent yet.", when)
	case f.Status == billing.Queued:
		return fmt.Sprintf("The service charges the order %s.", when)
	case f.Status == billing.Requesting && f.Failures == 0 && f.DueAt.Equal(f.UpdatedAt.Add(f.Policy.Lease)):
		return fmt.Sprintf("One worker of the service has the charge in hand, and no other does anything with it. If it has not settled the answer, %s %s", when, again)
	}
	return fmt.Sprintf("The answer to the charge has not come. Unless it comes before, %s %s", when, again)
}

// asking says what follows the answer about a charge that is asked for and not sent.
func (f Facts) asking(v decide.Decision, when string) string {
	words := fmt.Sprintf("The service asks the platform what became of the charge %s.", when)
	settled := f.moment(f.SentAt.Add(f.Policy.Settling))
	switch {
	case f.PaidElsewhere():
		return fmt.Sprintf("The service looks for the paid order at the platform %s. It does not charge the order again.", when)
	case v.Status != "":
		return words + fmt.Sprintf(" If it says, not before %s, that it never received it, the order ends as %s: %s. A charge that it has is taken over.", settled, v.Status, v.Reason)
	}
	return words + fmt.Sprintf(" What it has is taken over. If it says, not before %s, that it never received the charge, it is sent again under the same key.", settled)
}

// polling says how the end of an accepted charge is found out.
func (f Facts) polling(when string) string {
	words := fmt.Sprintf("The service asks the platform for the end of the charge %s, and goes on asking at growing intervals. Nothing is charged again meanwhile.", when)
	limit := f.moment(f.SentAt.Add(f.Policy.Horizon))
	switch f.Status {
	case billing.Challenge:
		return words + fmt.Sprintf(" If the customer has not confirmed the payment by %s, the charge has failed.", limit)
	case billing.Progress:
		return words + fmt.Sprintf(" If it has no end by %s, it is shown as %s and no longer holds later cycles back.", limit, billing.PlatformException)
	}
	return words
}

// resting says why the service does nothing next.
func (f Facts) resting() string {
	switch f.Status {
	case billing.Success:
		if !f.PublishAt.IsZero() {
			return "Nothing is left to do but to tell the platform of the contract's next date."
		}
		return "Nothing is left to do."
	case billing.Failure:
		return f.unpaid()
	case billing.Skipped:
		if f.ErrorMessage == "" && f.BillingDate.After(f.Now) {
			return "Nothing happens on its date. Until then a person may take the skip back."
		}
	}
	return "Nothing is left to do: a cycle that ended without a charge is not made up for."
}
