package dunning

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// State is the state of a case.
type State string

// The states of a case. The zero State is no case.
const (
	Open      State = "OPEN"
	Held      State = "HELD"      // waits for the merchant's staff
	Ending    State = "ENDING"    // the final action is in progress at the platform
	Recovered State = "RECOVERED" // the order was paid
	Lost      State = "LOST"      // it was given up
)

// Live reports whether the case is still open.
func (s State) Live() bool { return s == Open || s == Held || s == Ending }

// Cause is why an order is charged again.
type Cause string

// The causes.
const (
	ByPlan       Cause = "RETRY"
	ByCardUpdate Cause = "CARD_UPDATE"
	ByHand       Cause = "MANUAL"
)

// Case is what is done about one order whose charge was declined. It opens with
// the first decline.
type Case struct {
	State             State     `json:"state,omitempty"`
	OpenedAt          time.Time `json:"openedAt,omitzero"` // the first decline
	FirstCode         string    `json:"firstCode,omitempty"`
	Class             Class     `json:"class,omitempty"`   // of the last decline
	TriedAt           time.Time `json:"triedAt,omitzero"`  // the last try
	Cause             Cause     `json:"cause,omitempty"`   // of the retry that is in progress or was requested; empty: the plan's
	RetryAt           time.Time `json:"retryAt,omitzero"`  // when it is charged again
	EndAt             time.Time `json:"endAt,omitzero"`    // when the final action is taken; only without RetryAt
	Action            Action    `json:"action,omitempty"`  // the final action, in progress or done
	NotifiedAt        time.Time `json:"toldAt,omitzero"`   // when the customer was last notified
	PaidWith          time.Time `json:"paidWith,omitzero"` // when the payment method changed last
	ClosedAt          time.Time `json:"closedAt,omitzero"` // when it ended
	DeclineMails      int       `json:"told,omitempty"`    // e-mails about declines so far, of all cases of the order
	ConfirmationMails int       `json:"asked,omitempty"`   // e-mails that ask to confirm the payment so far
}

// Inputs is what computations on a case depend on.
type Inputs struct {
	Settings Settings
	Due      time.Time // the order's own day
	Calendar cadence.Calendar
	Spread   time.Duration
}

func (k Case) decline(g Inputs) Decline {
	return Decline{First: k.OpenedAt, Last: k.TriedAt, Class: k.Class, Due: g.Due, Calendar: g.Calendar, Spread: g.Spread}
}

// Decline records that a try, which began at an instant, was declined, and decides the
// next step. It opens the case if there is none.
func (k *Case) Decline(g Inputs, code string, tried, now time.Time) {
	class, _ := ClassOf(code)
	if !k.State.Live() {
		*k = Case{OpenedAt: tried, FirstCode: code, PaidWith: k.PaidWith, DeclineMails: k.DeclineMails, ConfirmationMails: k.ConfirmationMails}
		if code == ChallengeExpired {
			k.NotifiedAt = tried // the customer was asked to confirm then
		}
	}
	k.Class, k.TriedAt = class, tried
	k.Plan(g)
	if k.PaidWith.After(tried) && NewPayment.Helps(class) { // the declined try used the old one
		k.Retry(ByCardUpdate, now)
	}
}

// Plan decides the next step after the last try.
func (k *Case) Plan(g Inputs) {
	step := g.Settings.Next(k.decline(g))
	k.State, k.Cause, k.RetryAt, k.EndAt = Open, "", step.RetryAt, step.EndAt
	if step.Held {
		k.State = Held
	}
}

// SkipRetry skips the retry that is due and decides the step after it.
func (k *Case) SkipRetry(g Inputs) {
	d := k.decline(g)
	d.Last = k.RetryAt
	step := g.Settings.Next(d)
	k.Cause, k.RetryAt, k.EndAt = "", step.RetryAt, step.EndAt
	if step.Held {
		k.State = Held
	}
}

// Retry schedules a charge at an instant, on request.
func (k *Case) Retry(why Cause, at time.Time) {
	k.State, k.Cause, k.RetryAt, k.EndAt, k.Action = Open, why, at, time.Time{}, ""
}

// Due reports whether a retry is due. Rules about planned retries do not apply to
// requested ones.
func (k Case) Due(now time.Time) bool { return !k.RetryAt.IsZero() && !now.Before(k.RetryAt) }

// Spaced reports whether the retry must be a day apart from any other try of the card.
// Requested retries need not, nor those that soon follow a fault on the way to the bank,
// because the bank has not answered.
func (k Case) Spaced(g Inputs) bool {
	return k.Cause == "" && !slices.Contains(g.Settings.planFor(k.Class).soon, k.RetryAt.Sub(k.OpenedAt))
}

// extraDays is for how many days after the end of its plan an order waits for a day on
// which its card is not tried for another order.
const extraDays = 7

// LastDay returns the last day for a retry that was moved because another order came
// first.
func (k Case) LastDay(g Inputs) time.Time {
	return g.Settings.end(k.decline(g), g.Settings.planFor(k.Class)).AddDate(0, 0, extraDays)
}

// Over reports whether the final action is due.
func (k Case) Over(now time.Time) bool { return !k.EndAt.IsZero() && !now.Before(k.EndAt) }

// Notice returns the notice that the customer must get now; of several missed ones, the
// last.
func (k Case) Notice(g Inputs, now time.Time) (due ScheduledNotice, ok bool) {
	if k.State != Open {
		return ScheduledNotice{}, false
	}
	for _, s := range g.Settings.Notices(k.decline(g)) {
		if s.At.After(k.NotifiedAt) && !s.At.After(now) {
			due, ok = s, true
		}
	}
	return due, ok
}

// NextDue returns when the case next needs work; zero: never automatically.
func (k Case) NextDue(g Inputs) time.Time {
	if k.State != Open {
		return time.Time{}
	}
	at := k.RetryAt
	if at.IsZero() {
		at = k.EndAt
	}
	for _, s := range g.Settings.Notices(k.decline(g)) {
		if s.At.After(k.NotifiedAt) && s.At.Before(at) {
			return s.At
		}
	}
	return at
}

// LeaveToCustomer gives up the retry that is scheduled and all after it. The order is still
// charged when the payment method changes, or on request, before the end of the plan.
func (k *Case) LeaveToCustomer(g Inputs) {
	end := g.Settings.end(k.decline(g), g.Settings.planFor(k.Class))
	if end.Before(k.RetryAt) { // it was postponed
		end = k.RetryAt
	}
	k.Cause, k.RetryAt, k.EndAt = "", time.Time{}, end
}

// RetriesLeft returns how many retries the plan still has, with the one that is scheduled.
func (k Case) RetriesLeft(g Inputs) int {
	if k.State != Open || k.RetryAt.IsZero() {
		return 0
	}
	left := 1
	for _, at := range k.decline(g).retries(g.Settings.planFor(k.Class)) {
		if at.After(k.RetryAt) {
			left++
		}
	}
	return left
}

// Mailed reports whether the customer has got an e-mail about the order.
func (k Case) Mailed() bool {
	return k.DeclineMails+k.ConfirmationMails > 0 || k.Class == Stock && !k.NotifiedAt.IsZero()
}

// Renewed reports whether the payment method has changed since the first decline.
func (k Case) Renewed() bool {
	return k.Cause == ByCardUpdate && k.Class != Address || k.State != "" && k.PaidWith.After(k.OpenedAt)
}

// Close ends the case.
func (k *Case) Close(as State, now time.Time) {
	k.State, k.ClosedAt, k.RetryAt, k.EndAt = as, now, time.Time{}, time.Time{}
}
