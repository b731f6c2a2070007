package contract

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// PendingChangeTimeout is how long something that was begun and left undone waits for whoever is
// at it.
const PendingChangeTimeout = time.Minute

// PendingLead is how long before the next order a change that waits for it is
// made.
const PendingLead = time.Hour

// Move is a change of status that is on its way to the platform. It is committed
// before the platform hears of it, so that a lost answer is repaired, and closed by
// whoever learns first that it was made: the answer, a webhook, or a later try.
type Move struct {
	To    Status         `json:"to"`
	Actor activity.Actor `json:"actor"`
	At    time.Time      `json:"at"`
	Pause *Pause         `json:"pause,omitempty"` // of a move to PAUSED

	// Of a move to CANCELLED: what was said.
	Feedback string `json:"feedback,omitempty"`
	Note     string `json:"note,omitempty"`

	// While the platform does not answer.
	Tries int       `json:"tries,omitempty"` // how often it was told again
	Again time.Time `json:"again,omitzero"`  // when it is told again; zero: a leash after At
}

// patience is the longest that an unanswered change of status waits to be told again.
const patience = time.Hour

// Defer puts off a change of status that the platform did not answer when it was told
// again: for 1, 2, 4 minutes and so on, counted from when it was asked for.
func (m *Move) Defer(now time.Time) {
	m.Tries++
	m.Again = now.Add(min(PendingChangeTimeout<<min(m.Tries, 10), patience))
}

// next is when the platform is told again.
func (m Move) next() time.Time {
	if m.Again.IsZero() {
		return m.At.Add(PendingChangeTimeout)
	}
	return m.Again
}

// byItself reports whether the contract runs again because its pause is over, and not
// because somebody wants it to.
func (m *Move) byItself() bool { return m != nil && m.To == Active && m.Actor == activity.System }

// InFlightEdits is a change that is on its way to the platform. It is committed before the
// platform hears of it. Whoever carries it there tells of it once it is answered;
// when nobody does, a later reading finds it.
type InFlightEdit struct {
	From  uint64    `json:"from"`  // the revision that is changed
	Until time.Time `json:"until"` // whoever is at it has that long
}

// InFlightUntil returns until when what is read of the contract at a revision may be a
// change of which somebody else is about to tell; zero when it is not.
func (c Contract) InFlightUntil(revision uint64, now time.Time) time.Time {
	var until time.Time
	for _, a := range c.InFlightEdits {
		if a.From < revision && a.Until.After(now) && a.Until.After(until) {
			until = a.Until
		}
	}
	return until
}

// BeginEdit notes a change that is on its way. Those that nobody is at any more are
// forgotten.
func (c *Contract) BeginEdit(a InFlightEdit, now time.Time) {
	c.InFlightEdits = append(slices.DeleteFunc(slices.Clone(c.InFlightEdits), func(a InFlightEdit) bool { return !a.Until.After(now) }), a)
}

// EndEdit forgets a change that was on its way, and reports whether it knew it. Of
// several that are the same it forgets one.
func (c *Contract) EndEdit(a InFlightEdit) bool {
	at := slices.IndexFunc(c.InFlightEdits, func(b InFlightEdit) bool { return a.From == b.From && a.Until.Equal(b.Until) })
	if at < 0 {
		return false
	}
	c.InFlightEdits = slices.Delete(slices.Clone(c.InFlightEdits), at, at+1)
	return true
}

// Pause is what was said when a contract was paused.
type Pause struct {
	Until    time.Time `json:"until,omitzero"` // when it ends by itself; zero: never
	Cycles   int       `json:"cycles,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Feedback string    `json:"feedback,omitempty"`
}

// Ending is a cancellation that waits. No cycle after Cycle is charged meanwhile.
type Ending struct {
	Why   EndReason `json:"why"`
	Cycle int       `json:"cycle"`         // the last one that is charged; 0: none at all
	At    time.Time `json:"at"`            // when the contract is cancelled, as far as is known
	Paid  time.Time `json:"paid,omitzero"` // when the order was paid whose term At ends; zero where it waits for orders
}

// AtEndOfTerm returns a cancellation that waits for what is paid.
func (c Contract) AtEndOfTerm(cal cadence.Calendar) Ending {
	return Ending{Why: EndOfTerm, At: c.Term(cal).End, Paid: c.paidAt()}
}

// EndReason says what a cancellation waits for.
type EndReason string

// The reasons.
const (
	EndOfTerm    EndReason = "PREPAID" // deliveries that are paid for
	EndOfMinimum EndReason = "MINIMUM" // orders that the customer committed to
)

// Trial is a free trial with which a contract began.
type Trial struct {
	EndsAt   time.Time `json:"endsAt"`
	ChargeAt time.Time `json:"chargeAt"` // when the first order after it is due
}

// events names the entry of each status that a contract can be brought to.
// Expiry has no word of its own in the interface.
var events = map[Status]activity.EventType{
	Active: activity.ContractActivated, Paused: activity.ContractPaused, Cancelled: activity.ContractCancelled,
	Expired: activity.SubscriptionContractUpdated, Failed: activity.SubscriptionContractUpdated,
}

// EventOf returns the event of reaching a status.
func EventOf(s Status) activity.EventType { return events[s] }

// statusNote is the information of an entry about a status.
type statusNote struct {
	From     string     `json:"from,omitempty"`
	To       string     `json:"to,omitempty"`
	Until    *time.Time `json:"pauseTillDate,omitempty"`
	Reason   string     `json:"pauseReason,omitempty"`
	Feedback string     `json:"cancellationFeedback,omitempty"`
	Note     string     `json:"cancellationNote,omitempty"`
}

// EndingDetails is the information of an entry about a cancellation that waits.
type EndingDetails struct {
	Why    EndReason `json:"waitsFor"`
	Cycle  int       `json:"pendingCancellationCycle,omitempty"`
	At     time.Time `json:"pendingCancellationDate"`
	Status string    `json:"status"`
}

// What becomes of a cancellation that waits.
const (
	Scheduled = "SCHEDULED"
	Executed  = "EXECUTED"
	Cleared   = "CLEARED"
)

// endings names the entries of cancellations that wait. The interface has words
// for prepaid contracts alone.
var endings = map[string]activity.EventType{
	Scheduled: activity.PrepaidDeferredCancellationScheduled, Executed: activity.PrepaidDeferredCancellationExecuted, Cleared: activity.PrepaidDeferredCancellationCleared,
}

// Entry returns the entry of what became of the cancellation.
func (e Ending) Entry(c ID, what string, by activity.Actor, now time.Time) activity.Entry {
	event := endings[what]
	if e.Why == EndOfMinimum {
		event = activity.InformationalEvent
	}
	return entryOf(c, event, by, now, EndingDetails{Why: e.Why, Cycle: e.Cycle, At: e.At, Status: what})
}

func entryOf(c ID, event activity.EventType, by activity.Actor, now time.Time, details any) activity.Entry {
	return activity.Entry{
		EntityID: int64(c), EntityType: activity.EntitySubscriptionContractDetails, Event: event, Status: activity.Success,
		Actor: by, At: now, Info: activity.Details(details),
	}
}

// Entries returns what the log says of the move once it was made of the contract
// as it was before.
func (m Move) Entries(was Contract, now time.Time) []activity.Entry {
	said := statusNote{From: string(was.Status), To: string(m.To), Feedback: m.Feedback, Note: m.Note}
	var list []activity.Entry
	if m.Pause != nil {
		said.Reason = m.Pause.Reason
	}
	if was.Ending != nil && m.To == Cancelled {
		list = append(list, was.Ending.Entry(was.ID, Executed, m.Actor, now))
	}
	list = append(list, entryOf(was.ID, events[m.To], m.Actor, now, said))
	if m.Pause != nil && !m.Pause.Until.IsZero() {
		list = append(list, entryOf(was.ID, activity.AutoResumeScheduled, m.Actor, now, statusNote{Until: &m.Pause.Until}))
	}
	if was.Ending != nil && m.To == Active && !m.byItself() {
		list = append(list, was.Ending.Entry(was.ID, Cleared, m.Actor, now))
	}
	return list
}

// CompleteMove closes the move that the contract was on. Its status is the platform's
// word and already set.
func (c *Contract) CompleteMove() {
	m := c.Moving
	c.Moving = nil
	if c.Status == m.To {
		switch m.To {
		case Paused:
			c.Pause = m.Pause
		case Cancelled:
			c.CancellationFeedback, c.CancellationNote = m.Feedback, m.Note
		}
	}
	c.ResetAmendAt()
}

// MaxCycle returns the cycle with which the contract has had all orders that MaxCycles
// allows, where it allows a number.
func (c Contract) MaxCycle() int { return c.MaxCycles + c.PassedCycles }

// AddPassedCycles counts so many more cycles that are never an order. The contract ends after as
// many orders as before.
func (c *Contract) AddPassedCycles(cycles int) {
	c.PassedCycles += cycles
	if c.Ending != nil && c.Ending.Why == EndOfMinimum {
		ending := *c.Ending
		ending.Cycle += cycles
		c.Ending = &ending
	}
}

// LastCycle returns the last cycle that may be charged, and false when there is
// no end to them.
func (c Contract) LastCycle() (int, bool) {
	last, limited := c.MaxCycle(), c.MaxCycles > 0
	if c.Ending != nil && (!limited || c.Ending.Cycle < last) {
		last, limited = c.Ending.Cycle, true
	}
	return last, limited
}

// PastLastCycle reports whether a cycle comes after the last one that may be charged.
func (c Contract) PastLastCycle(cycle int) bool {
	last, limited := c.LastCycle()
	return limited && cycle > last
}

// Completed returns how many orders the customer has had: that of the checkout
// and the renewals.
func (c Contract) Completed() int {
	if c.OriginOrderID != 0 {
		return c.Orders + 1
	}
	return c.Orders
}

// NextOrder returns which order of the contract the next one is, by the count of plans'
// prices: from 1 for the one of the checkout. Where there was none, a free trial stands for
// that, and the orders of what the contract was split from count as its own.
func (c Contract) NextOrder() int {
	next := c.EarlierOrders + c.Completed() + 1
	if c.OriginOrderID == 0 && c.Trial != nil {
		next++
	}
	return next
}

// Committed returns how many orders are still to come of those that the customer
// committed to.
func (c Contract) Committed() int { return max(0, c.MinCycles-c.Completed()) }

// End returns when the contract ends, as far as is known, or when it expired; zero
// when it has no end or was ended by somebody.
func (c Contract) End(cal cadence.Calendar) time.Time {
	switch {
	case c.Status == Expired:
		return c.ExpireAt
	case c.Status != Active && c.Status != Paused, c.Lifelong:
		return time.Time{}
	case c.Ending != nil:
		return c.Ending.At
	case !c.ExpireAt.IsZero():
		return c.ExpireAt
	case c.MaxCycles > 0 && !c.Series.Start.IsZero():
		return c.DueOn(max(c.MaxCycle(), c.Series.Cycle), cal)
	}
	return time.Time{}
}

// ResetAmendAt sets when the contract must be looked at next. While a split is under
// way, it says when.
func (c *Contract) ResetAmendAt() {
	if c.Split == nil {
		c.AmendAt = c.wake()
	}
}

// wake returns the earliest instant at which something must be done about the
// contract by itself; zero when there is none. What would change its status waits
// for a change of it that is under way.
func (c Contract) wake() time.Time {
	var first time.Time
	at := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	at(c.ChangesAt())
	if c.Moving != nil {
		at(c.Moving.next())
		return first
	}
	if c.EndsAfterDunning() {
		at(c.Dunning.Since)
	}
	if c.Resumes() {
		at(c.Pause.Until)
	}
	if c.Ends() {
		at(c.Ending.At)
	}
	if c.Status == Active {
		at(c.ExpireAt)
	}
	return first
}

// ChangesAt returns when the change is made that waits for the contract's next order,
// which may come sooner than when it was asked for; zero when none waits.
func (c Contract) ChangesAt() time.Time {
	if c.Pending == nil {
		return time.Time{}
	}
	at := c.Pending.At
	if next := c.NextBillingDate; !next.IsZero() && next.Before(at) {
		at = next
	}
	return at.Add(-PendingLead)
}

// Resumes reports whether the contract stands still and will run again by itself.
func (c Contract) Resumes() bool {
	return c.Status == Paused && c.Pause != nil && !c.Pause.Until.IsZero()
}

// Ends reports whether the contract will be cancelled by itself. One that stands
// still makes no orders, and so no end of those it committed to.
func (c Contract) Ends() bool {
	return c.Ending != nil && (c.Status == Active || c.Status == Paused && c.Ending.Why == EndOfTerm)
}

// SetExpiry sets when a contract expires of which nothing is left to be charged;
// zero: it does not.
func (c *Contract) SetExpiry(at time.Time) {
	if c.ExpireAt = at; !at.IsZero() {
		c.AmendBy(at)
	}
}

// AmendBy lets the contract be looked at no later than at an instant.
func (c *Contract) AmendBy(at time.Time) {
	if c.Split == nil && (c.AmendAt.IsZero() || at.Before(c.AmendAt)) {
		c.AmendAt = at
	}
}
