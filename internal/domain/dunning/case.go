package dunning

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// State is how a case stands.
type State string

// The states of a case. The zero State is no case.
const (
	Open      State = "OPEN"
	Held      State = "HELD"      // waits for the store's staff
	Ending    State = "ENDING"    // the final action is under way at the platform
	Recovered State = "RECOVERED" // the order was paid
	Lost      State = "LOST"      // it was given up
)

// Live reports whether the case has not ended.
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
	Cause             Cause     `json:"cause,omitempty"`   // of the retry that is under way, or was asked for; empty: the plan's
	RetryAt           time.Time `json:"retryAt,omitzero"`  // when it is charged again
	EndAt             time.Time `json:"endAt,omitzero"`    // when the final action is taken; only without RetryAt
	Action            Action    `json:"action,omitempty"`  // of ENDING, and the one that ended the case
	NotifiedAt        time.Time `json:"toldAt,omitzero"`   // the last notice that the customer was given
	PaidWith          time.Time `json:"paidWith,omitzero"` // when the payment method changed last
	ClosedAt          time.Time `json:"closedAt,omitzero"` // when it ended
	DeclineMails      int       `json:"told,omitempty"`    // e-mails about declines so far, of all cases of the order
	ConfirmationMails int       `json:"asked,omitempty"`   // e-mails that ask to confirm the payment so far
}

// Inputs is what computing with a case rests on.
type Inputs struct {
	Settings Settings
	Due      time.Time // the order's own day
	Calendar cadence.Calendar
	Spread   time.Duration
}

func (k Case) decline(g Inputs) Decline {
	return Decline{First: k.OpenedAt, Last: k.TriedAt, Class: k.Class, Due: g.Due, Calendar: g.Calendar, Spread: g.Spread}
}

// Decline takes in that a try, which began at an instant, was declined, and
// decides what comes next. It opens the case if there is none.
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
	if k.PaidWith.After(tried) && NewPayment.Helps(class) { // it was charged with the one before
		k.Retry(ByCardUpdate, now)
	}
}

// Plan decides what comes next after the last try.
func (k *Case) Plan(g Inputs) {
	step := g.Settings.Next(k.decline(g))
	k.State, k.Cause, k.RetryAt, k.EndAt = Open, "", step.RetryAt, step.EndAt
	if step.Held {
		k.State = Held
	}
}

// SkipRetry leaves the retry out that is due, and decides what comes after it.
func (k *Case) SkipRetry(g Inputs) {
	d := k.decline(g)
	d.Last = k.RetryAt
	step := g.Settings.Next(d)
	k.Cause, k.RetryAt, k.EndAt = "", step.RetryAt, step.EndAt
	if step.Held {
		k.State = Held
	}
}

// Retry has the order charged again at an instant because somebody asked.
func (k *Case) Retry(why Cause, at time.Time) {
	k.State, k.Cause, k.RetryAt, k.EndAt, k.Action = Open, why, at, time.Time{}, ""
}

// Due reports whether a retry is due. What the rules say of retries by plan does
// not bind those that somebody asked for.
func (k Case) Due(now time.Time) bool { return !k.RetryAt.IsZero() && !now.Before(k.RetryAt) }

// Spaced reports whether the retry keeps the distance of a day from whatever else
// the card was tried for. People's do not, and neither do those that follow soon
// upon a fault on the way to the bank: the bank has not said anything.
func (k Case) Spaced(g Inputs) bool {
	return k.Cause == "" && !slices.Contains(g.Settings.planFor(k.Class).soon, k.RetryAt.Sub(k.OpenedAt))
}

// patience is for how many days after its plan has ended an order waits for a day on
// which its card is not tried for another one.
const patience = 7

// LastDay returns the last day on which a retry may be made that had to give way.
func (k Case) LastDay(g Inputs) time.Time {
	return g.Settings.end(k.decline(g), g.Settings.planFor(k.Class)).AddDate(0, 0, patience)
}

// Over reports whether the final action is due.
func (k Case) Over(now time.Time) bool { return !k.EndAt.IsZero() && !now.Before(k.EndAt) }

// Notice returns what the customer is to be told now; of several notices that were
// missed, the last.
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

// NextDue returns when there is something to do about the case next; zero: never by
// itself.
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

// Close ends the case.
func (k *Case) Close(as State, now time.Time) {
	k.State, k.ClosedAt, k.RetryAt, k.EndAt = as, now, time.Time{}, time.Time{}
}
