package lifecycle

import (
	"cmp"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// allowed lists the status changes that people may make. A terminated contract has none:
// Restart creates a new contract from it.
var allowed = map[contract.Status][]contract.Status{
	contract.Active: {contract.Paused, contract.Cancelled},
	contract.Paused: {contract.Active, contract.Cancelled},
	contract.Failed: {contract.Active, contract.Cancelled},
}

// inputs is what a decision on a contract's status depends on, in addition to the
// contract.
type inputs struct {
	settings shop.Settings
	calendar cadence.Calendar
	queued   []billing.Attempt // upcoming orders
	skipped  []billing.Attempt // skipped orders whose skip can be undone
	actor    activity.Actor
}

// withAttempts adds the upcoming orders among a contract's attempts.
func (g inputs) withAttempts(attempts []billing.Attempt, now time.Time) inputs {
	for _, a := range attempts {
		switch {
		case a.Status == billing.Queued:
			g.queued = append(g.queued, a)
		case a.SkipsAhead(now):
			g.skipped = append(g.skipped, a)
		}
	}
	return g
}

// decide applies a requested status change: the contract gets a Move or a scheduled
// change. It returns the entries of what has already happened.
func decide(c *contract.Contract, w StatusChange, g inputs, now time.Time) ([]activity.Entry, error) {
	if c.Moving != nil {
		return nil, fault.New(fault.Conflict, "Another change of the status is already in progress").Entity(amend.Entity).Code("statusInProgress")
	}
	if !w.Moved {
		if err := amend.CheckFence(*c); err != nil {
			return nil, err
		}
	}
	switch {
	case w.To == contract.Active && c.Status == contract.Active && c.Ending != nil:
		return []activity.Entry{withdrawCancellation(c).Entry(c.ID, contract.Cleared, g.actor, now)}, nil
	case w.To == contract.Active && c.Terminated():
		return nil, terminated(*c)
	case w.To == contract.Active && !w.From.IsZero() && w.From.After(now):
		return scheduleActivation(c, w.From, g.actor, now)
	}
	if err := checkMove(*c, w.To); err != nil {
		return nil, err
	}
	m := contract.Move{To: w.To, Actor: g.actor, At: now}
	switch w.To {
	case contract.Paused:
		p, err := pauseOf(*c, w, g, now)
		if err != nil {
			return nil, err
		}
		m.Pause = p
	case contract.Cancelled:
		if c.Ending != nil && !w.Now {
			return nil, fault.New(fault.FailedPrecondition, "subscription contract %d will be cancelled on %s already", c.ID, c.Ending.At.UTC().Format(time.RFC3339)).
				Entity(amend.Entity).Code("cancellationPending").Field("status")
		}
		m.Feedback, m.Note = w.Feedback, w.Note
		wait, err := scheduleEnd(*c, g, now)
		if err != nil {
			return nil, err
		}
		if wait == nil && c.Status == contract.Active {
			wait = afterClosedOrder(w.CutoffDays, g, now)
		}
		if wait != nil && !w.Now {
			c.Ending, c.CancellationFeedback, c.CancellationNote = wait, w.Feedback, w.Note
			return []activity.Entry{wait.Entry(c.ID, contract.Scheduled, g.actor, now)}, nil
		}
	}
	c.Moving = &m
	return nil, nil
}

// withdrawCancellation removes a scheduled cancellation and returns it.
func withdrawCancellation(c *contract.Contract) contract.Ending {
	was := *c.Ending
	c.Ending, c.CancellationFeedback, c.CancellationNote = nil, "", ""
	return was
}

// scheduleActivation sets the date on which a paused contract is activated.
func scheduleActivation(c *contract.Contract, from time.Time, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	if c.Status != contract.Paused {
		return nil, fault.New(fault.FailedPrecondition, "subscription contract %d is %s: only a PAUSED contract can be activated on a later day", c.ID, c.Status).
			Entity(amend.Entity).Code("contractStatus").Field("activationDate")
	}
	pause := contract.Pause{}
	if c.Pause != nil {
		pause = *c.Pause
	}
	pause.Until, pause.Cycles = from, 0
	c.Pause = &pause
	return []activity.Entry{activationDeferred(*c, by, now)}, nil
}

// pauseOf returns the requested pause, if the contract may be paused; nil when the
// request has no details of it.
func pauseOf(c contract.Contract, w StatusChange, g inputs, now time.Time) (*contract.Pause, error) {
	if c.Lifelong {
		return nil, fault.New(fault.FailedPrecondition, "contract %d is paid for life and cannot be paused", c.ID).Entity(amend.Entity).Code("lifetimeMembership").Field("status")
	}
	if err := c.CheckCommitment(g.settings, g.actor); err != nil {
		return nil, err
	}
	if left := deliveriesLeft(c, g, now); left > 0 && g.actor.Subscriber() {
		return nil, fault.New(fault.FailedPrecondition, "%d deliveries are paid for and still to come: pause afterwards", left).Entity(amend.Entity).Code("deliveriesLeft").Field("status")
	}
	p := contract.Pause{Until: w.Until, Cycles: w.Cycles, Reason: w.Reason, Feedback: w.Feedback}
	switch {
	case p == contract.Pause{}:
		return nil, nil
	case w.Cycles > 0 && c.NextBillingDate.IsZero():
		return nil, fault.New(fault.FailedPrecondition, "subscription contract %d has no upcoming order to count from: send pauseTillDate", c.ID).Entity(amend.Entity).Code("noUpcomingOrder").Field("pauseDurationCycle")
	case w.Cycles > 0:
		p.Until = startOfDay(dateAfterOrders(c, w.Cycles, g), g.calendar)
	}
	return &p, amend.CheckTooFar(p.Until, now, "pauseTillDate")
}

// dateAfterOrders returns the date of the order after the next n.
func dateAfterOrders(c contract.Contract, n int, g inputs) time.Time {
	waiting := slices.SortedFunc(slices.Values(g.queued), func(a, b billing.Attempt) int { return a.BillingDate.Compare(b.BillingDate) })
	if n < len(waiting) {
		return waiting[n].BillingDate
	}
	last := c.CycleFrom(c.NextBillingDate, g.calendar) - 1
	if len(waiting) > 0 {
		last = byCycle(waiting)[len(waiting)-1].Cycle
	}
	return c.DueOn(max(last+1+n-len(waiting), c.Series.Cycle), g.calendar)
}

// startOfDay returns the start of the store's day, so that a pause that ends on a day is
// over before the day's order.
func startOfDay(t time.Time, cal cadence.Calendar) time.Time {
	return cadence.Calendar{Zone: cal.Zone}.At(t)
}

// scheduleEnd returns what a cancellation waits for: orders that the subscriber is
// committed to, or deliveries that are paid for. Nil means that it takes effect now.
func scheduleEnd(c contract.Contract, g inputs, now time.Time) (*contract.Ending, error) {
	if g.actor.Subscriber() && c.InCommitment(g.settings) {
		if c.Status != contract.Active || len(g.queued) == 0 {
			return nil, c.CheckCommitment(g.settings, g.actor)
		}
		return atEndOfCommitment(c, g), nil
	}
	if deliveriesLeft(c, g, now) == 0 {
		return nil, nil
	}
	return atEndOfTerm(c, g), nil
}

// afterClosedOrder schedules the end of the contract after its next order, if changes of that order are
// closed; nil: they are not.
func afterClosedOrder(days int, g inputs, now time.Time) *contract.Ending {
	next, waits := billing.Earliest(g.queued)
	if days == 0 || !waits || now.Before(g.calendar.DaysBefore(next.BillingDate, days)) {
		return nil
	}
	return &contract.Ending{Why: contract.EndOfOrder, Cycle: next.Cycle, At: next.BillingDate}
}

func deliveriesLeft(c contract.Contract, g inputs, now time.Time) int {
	if !c.Prepaid() {
		return 0
	}
	return c.Term(g.calendar).Left(now)
}

// atEndOfTerm schedules the end of the contract for the end of the paid term. No
// upcoming order is charged, nor one whose skip is undone or whose charge was declined.
func atEndOfTerm(c contract.Contract, g inputs) *contract.Ending {
	e := c.AtEndOfTerm(g.calendar)
	if coming := byCycle(slices.Concat(g.queued, g.skipped)); len(coming) > 0 {
		e.Cycle = coming[0].Cycle - 1
	}
	if c.Dunning != nil {
		e.Cycle = min(e.Cycle, c.Dunning.Cycle-1)
	}
	return &e
}

// atEndOfCommitment schedules the end of the contract after the last committed order. At
// least one is committed and one is upcoming.
func atEndOfCommitment(c contract.Contract, g inputs) *contract.Ending {
	queued, n := byCycle(g.queued), c.Committed()
	if n <= len(queued) {
		last := queued[n-1]
		return &contract.Ending{Why: contract.EndOfMinimum, Cycle: last.Cycle, At: last.BillingDate}
	}
	cycle := queued[len(queued)-1].Cycle + n - len(queued)
	return &contract.Ending{Why: contract.EndOfMinimum, Cycle: cycle, At: c.DueOn(max(cycle, c.Series.Cycle), g.calendar)}
}

func byCycle(queued []billing.Attempt) []billing.Attempt {
	return slices.SortedFunc(slices.Values(queued), func(a, b billing.Attempt) int { return cmp.Compare(a.Cycle, b.Cycle) })
}

func checkMove(c contract.Contract, to contract.Status) error {
	if c.Status == to {
		return fault.New(fault.FailedPrecondition, "subscription contract %d is %s already", c.ID, to).Entity(amend.Entity).Code("sameStatus").Field("status")
	}
	for _, allowed := range allowed[c.Status] {
		if allowed == to {
			return nil
		}
	}
	return fault.New(fault.FailedPrecondition, "subscription contract %d is %s and cannot become %s", c.ID, c.Status, to).Entity(amend.Entity).Code("contractStatus").Field("status")
}

// terminated refuses to activate a contract that has ended.
func terminated(c contract.Contract) error {
	return fault.New(fault.FailedPrecondition, "subscription contract %d is %s and cannot be activated again: create a new contract from it with POST /subscription-contract-details/%d/restart", c.ID, c.Status, c.ID).
		Entity(amend.Entity).Code("contractTerminated").Field("status")
}
