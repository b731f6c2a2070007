package contract

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// PendingChangeTimeout is how long other workers leave an unfinished change to the one
// that began it.
const PendingChangeTimeout = time.Minute

// PendingLead is how long before the next order a pending change is made.
const PendingLead = time.Hour

// Move is a status change in progress. It is committed before the platform is called, so
// that a lost answer is repaired, and removed by whatever first learns that it was made:
// the answer, a webhook or a later try.
type Move struct {
	To    Status         `json:"to"`
	Actor activity.Actor `json:"actor"`
	At    time.Time      `json:"at"`
	Pause *Pause         `json:"pause,omitempty"` // of a move to PAUSED

	// Of a move to CANCELLED.
	Feedback string `json:"feedback,omitempty"`
	Note     string `json:"note,omitempty"`

	// While the platform does not answer.
	Tries int       `json:"tries,omitempty"` // how often it was sent again
	Again time.Time `json:"again,omitzero"`  // when it is sent again; zero: PendingChangeTimeout after At
}

// maxRetryWait is the longest wait before a status change is sent again.
const maxRetryWait = time.Hour

// Defer puts off a status change that the platform did not answer again: for 1, 2, 4
// minutes and so on, counted from the last try.
func (m *Move) Defer(now time.Time) {
	m.Tries++
	m.Again = now.Add(min(PendingChangeTimeout<<min(m.Tries, 10), maxRetryWait))
}

// retryAt returns when the status change is sent again.
func (m Move) retryAt() time.Time {
	if m.Again.IsZero() {
		return m.At.Add(PendingChangeTimeout)
	}
	return m.Again
}

// automatic reports whether the contract is activated because its pause is over, and not
// on request.
func (m *Move) automatic() bool { return m != nil && m.To == Active && m.Actor == activity.System }

// InFlightEdit is an edit that is being sent to the platform. It is committed before the
// platform is called. Its author records it when it is answered; if the author does not,
// a later reading does.
type InFlightEdit struct {
	From  uint64    `json:"from"`  // the revision that is edited
	Until time.Time `json:"until"` // when it expires
}

// InFlightUntil returns until when a reading of the contract at a revision may show an
// edit in flight, which its author will record; zero when it does not.
func (c Contract) InFlightUntil(revision uint64, now time.Time) time.Time {
	var until time.Time
	for _, a := range c.InFlightEdits {
		if a.From < revision && a.Until.After(now) && a.Until.After(until) {
			until = a.Until
		}
	}
	return until
}

// BeginEdit records an edit that is about to be sent, and removes those that have
// expired.
func (c *Contract) BeginEdit(a InFlightEdit, now time.Time) {
	c.InFlightEdits = append(slices.DeleteFunc(slices.Clone(c.InFlightEdits), func(a InFlightEdit) bool { return !a.Until.After(now) }), a)
}

// EndEdit removes the record of an edit and reports whether there was one. Of several
// equal ones it removes one.
func (c *Contract) EndEdit(a InFlightEdit) bool {
	at := slices.IndexFunc(c.InFlightEdits, func(b InFlightEdit) bool { return a.From == b.From && a.Until.Equal(b.Until) })
	if at < 0 {
		return false
	}
	c.InFlightEdits = slices.Delete(slices.Clone(c.InFlightEdits), at, at+1)
	return true
}

// Pause is the details of a pause.
type Pause struct {
	Until    time.Time `json:"until,omitzero"` // when it ends automatically; zero: never
	Cycles   int       `json:"cycles,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Feedback string    `json:"feedback,omitempty"`
}

// Ending is a scheduled cancellation. No cycle after Cycle is charged.
type Ending struct {
	Why   EndReason `json:"why"`
	Cycle int       `json:"cycle"`         // the last cycle that is charged; 0: none
	At    time.Time `json:"at"`            // when the contract is expected to be cancelled
	Paid  time.Time `json:"paid,omitzero"` // when the order was paid whose term ends at At; zero when it waits for orders
}

// AtEndOfTerm returns a cancellation at the end of the paid term.
func (c Contract) AtEndOfTerm(cal cadence.Calendar) Ending {
	return Ending{Why: EndOfTerm, At: c.Term(cal).End, Paid: c.paidAt()}
}

// EndReason says what a cancellation waits for.
type EndReason string

// The reasons.
const (
	EndOfTerm    EndReason = "PREPAID" // deliveries that are paid for
	EndOfMinimum EndReason = "MINIMUM" // orders that the customer committed to
	EndOfOrder   EndReason = "ORDER"   // the next order, which could not be changed any more
)

// Trial is the free trial of a contract.
type Trial struct {
	EndsAt   time.Time `json:"endsAt"`
	ChargeAt time.Time `json:"chargeAt"` // when the first order after it is due
}

// events is the event of each status that a contract can change to.
// The interface has no event for expiry.
var events = map[Status]activity.EventType{
	Active: activity.ContractActivated, Paused: activity.ContractPaused, Cancelled: activity.ContractCancelled,
	Expired: activity.SubscriptionContractUpdated, Failed: activity.SubscriptionContractUpdated,
}

// EventOf returns the event of a change to a status.
func EventOf(s Status) activity.EventType { return events[s] }

// statusDetails is the details of an entry about a status.
type statusDetails struct {
	From     string     `json:"from,omitempty"`
	To       string     `json:"to,omitempty"`
	Until    *time.Time `json:"pauseTillDate,omitempty"`
	Reason   string     `json:"pauseReason,omitempty"`
	Feedback string     `json:"cancellationFeedback,omitempty"`
	Note     string     `json:"cancellationNote,omitempty"`
}

// EndingDetails is the details of an entry about a scheduled cancellation.
type EndingDetails struct {
	Why    EndReason `json:"waitsFor"`
	Cycle  int       `json:"pendingCancellationCycle,omitempty"`
	At     time.Time `json:"pendingCancellationDate"`
	Status string    `json:"status"`
}

// The states of a scheduled cancellation.
const (
	Scheduled = "SCHEDULED"
	Executed  = "EXECUTED"
	Cleared   = "CLEARED"
)

// endings is the events of scheduled cancellations. The interface has events
// for prepaid contracts alone.
var endings = map[string]activity.EventType{
	Scheduled: activity.PrepaidDeferredCancellationScheduled, Executed: activity.PrepaidDeferredCancellationExecuted, Cleared: activity.PrepaidDeferredCancellationCleared,
}

// Entry returns the entry of a scheduled cancellation in a state.
func (e Ending) Entry(c ID, what string, by activity.Actor, now time.Time) activity.Entry {
	event := endings[what]
	if e.Why != EndOfTerm {
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

// Entries returns the log entries of a status change of a contract, as it was before.
func (m Move) Entries(was Contract, now time.Time) []activity.Entry {
	details := statusDetails{From: string(was.Status), To: string(m.To), Feedback: m.Feedback, Note: m.Note}
	var list []activity.Entry
	if m.Pause != nil {
		details.Reason = m.Pause.Reason
	}
	if was.Ending != nil && m.To == Cancelled {
		list = append(list, was.Ending.Entry(was.ID, Executed, m.Actor, now))
	}
	list = append(list, entryOf(was.ID, events[m.To], m.Actor, now, details))
	if m.Pause != nil && !m.Pause.Until.IsZero() {
		list = append(list, entryOf(was.ID, activity.AutoResumeScheduled, m.Actor, now, statusDetails{Until: &m.Pause.Until}))
	}
	if was.Ending != nil && m.To == Active && !m.automatic() {
		list = append(list, was.Ending.Entry(was.ID, Cleared, m.Actor, now))
	}
	return list
}

// CompleteMove ends the status change in progress. The contract already has the status
// that the platform reported.
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

// MaxCycle returns the cycle of the last order that MaxCycles allows, if it sets a
// limit.
func (c Contract) MaxCycle() int { return c.MaxCycles + c.PassedCycles }

// NextCycle returns the cycle of the contract's next order if none is skipped before it.
func (c Contract) NextCycle() int { return max(c.Series.Cycle, c.Completed()+c.PassedCycles+1) }

// AfterPause returns when the first order is due after a pause that ends automatically; zero: there is no such
// pause.
func (c Contract) AfterPause(cal cadence.Calendar) time.Time {
	if c.Status != Paused || c.Pause == nil || c.Pause.Until.IsZero() || c.Billing.Count < 1 {
		return time.Time{}
	}
	return c.DueOn(c.CycleFrom(c.Pause.Until, cal), cal)
}

// AddPassedCycles counts more cycles without an order. The contract still has as many
// orders as before.
func (c *Contract) AddPassedCycles(cycles int) {
	c.PassedCycles += cycles
	if c.Ending != nil && c.Ending.Why != EndOfTerm {
		ending := *c.Ending
		ending.Cycle += cycles
		c.Ending = &ending
	}
}

// LastCycle returns the last cycle that may be charged, and false when there is no
// limit.
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

// Completed returns how many orders the customer has had, including the one of the
// checkout.
func (c Contract) Completed() int {
	if c.OriginOrderID != 0 {
		return c.Orders + 1
	}
	return c.Orders
}

// NextOrder returns the number of the contract's next order, which plans' prices depend
// on. The order of the checkout is number 1; without one, a free trial takes its place,
// and the orders of the contract that this one was split from count.
func (c Contract) NextOrder() int {
	next := c.EarlierOrders + c.Completed() + 1
	if c.OriginOrderID == 0 && c.Trial != nil {
		next++
	}
	return next
}

// Committed returns how many of the orders that the customer committed to are still to
// come.
func (c Contract) Committed() int { return max(0, c.MinCycles-c.Completed()) }

// End returns when the contract is expected to end, or when it expired; zero when it has
// no end or was cancelled.
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

// ResetAmendAt sets AmendAt to the contract's next scheduled change. During a split
// AmendAt belongs to the split.
func (c *Contract) ResetAmendAt() {
	if c.Split == nil {
		c.AmendAt = c.nextAmend()
	}
}

// nextAmend returns when the contract's next scheduled change is due; zero when there is
// none. A status change in progress comes before other changes of the status.
func (c Contract) nextAmend() time.Time {
	var first time.Time
	at := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	at(c.ChangesAt())
	at(c.ClaimedAt())
	if c.Moving != nil {
		at(c.Moving.retryAt())
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

// ClaimedAt returns when it is decided whether the contract is the one that its request has created; zero
// when that is known.
func (c Contract) ClaimedAt() time.Time {
	if c.RequestKey() == "" || c.Terminated() {
		return time.Time{}
	}
	return c.CreatedAt.Add(claimTime)
}

// ChangesAt returns when the pending change is made; zero when there is none. The next
// order may have moved to an earlier date since it was requested.
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

// Resumes reports whether the contract is paused and will be activated automatically.
func (c Contract) Resumes() bool {
	return c.Status == Paused && c.Pause != nil && !c.Pause.Until.IsZero()
}

// Ends reports whether the contract will be cancelled automatically. A paused contract
// has no orders and so cannot complete a commitment.
func (c Contract) Ends() bool {
	return c.Ending != nil && (c.Status == Active || c.Status == Paused && c.Ending.Why == EndOfTerm)
}

// SetExpiry sets when a contract without further charges expires; zero: it does not.
func (c *Contract) SetExpiry(at time.Time) {
	if c.ExpireAt = at; !at.IsZero() {
		c.AmendBy(at)
	}
}

// AmendBy makes the contract due for a change no later than at an instant.
func (c *Contract) AmendBy(at time.Time) {
	if c.Split == nil && (c.AmendAt.IsZero() || at.Before(c.AmendAt)) {
		c.AmendAt = at
	}
}
