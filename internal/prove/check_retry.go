package prove

import (
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// What an order that was declined may be charged at most, by the rules that are
// written down and not by those that are carried out.
const (
	mostTries  = 9  // one, two soon after a fault, six by plan
	mostOnDay  = 2  // one by plan; another by clocks that differ
	soonTries  = 2  // more on a day, after a fault on the way to the bank
	mostOfCard = 15 // declined, or retries, within windowOfCard
)

const windowOfCard = 30 * day

// Codes that the story uses, by what they say about trying again.
var (
	neverAgain = []string{"EXPIRED_PAYMENT_METHOD", "EXPIRED_CARD", "INVALID_PAYMENT_METHOD", "PAYMENT_METHOD_NOT_FOUND", "PAYMENT_METHOD_NOT_SPECIFIED", "FRAUD_SUSPECTED", "CUSTOMER_INVALID"}
	onTheWay   = []string{"PAYMENT_PROVIDER_ERROR", "UNEXPECTED_ERROR", "PROCESSING_ERROR", "TRANSIENT_ERROR"}
)

// ask notes a request for a charge of a contract, or a change of its payment method,
// which is charged at once.
func (d *deal) ask(n int, now time.Time) {
	d.triggers += n
	d.asked = now
}

// retried checks that an order may be charged again.
func (w *world) retried(c simulator.Charge, d *deal) {
	key := cycleKey{c.Contract, c.Cycle}
	tries := w.tries[key]
	w.require(I11, len(tries) <= mostTries+d.triggers, "contract %d is charged for cycle %d for the %d. time; people asked for %d charges", c.Contract, c.Cycle, len(tries), d.triggers)

	ends := w.ends[key]
	onDay := mostOnDay + d.triggers
	if slices.ContainsFunc(ends, func(e simulator.Charge) bool { return slices.Contains(onTheWay, e.Code) }) {
		onDay += soonTries
	}
	n := 0
	for _, t := range tries {
		if t.In(d.shop.zone).Format(time.DateOnly) == c.At.In(d.shop.zone).Format(time.DateOnly) {
			n++
		}
	}
	w.require(I11, n <= onDay, "contract %d is charged for cycle %d for the %d. time on one day", c.Contract, c.Cycle, n)

	if len(ends) > 0 && len(tries) > 1 {
		last, begun := ends[len(ends)-1], tries[len(tries)-2]
		w.require(I11, !slices.Contains(neverAgain, last.Code) || !d.asked.Before(begun.Add(-farthestJump)) || d.foundLate(),
			"contract %d is charged again for cycle %d after %s, and without a change or a request", c.Contract, c.Cycle, last.Code)
	}

	counted := 0
	if len(tries) > 1 {
		counted = w.declinedOf(c)
	}
	w.require(I11, counted <= mostOfCard, "the card of contract %d was declined or tried again %d times within %s", c.Contract, counted, windowOfCard)
}

// foundLate reports whether a change of the payment method may be found only now, because
// its webhook was lost: the service cannot know whether the card was there when an order
// was declined. Each change is found late once at most.
func (d *deal) foundLate() bool {
	late := d.carded.After(d.noticed)
	d.noticed = d.carded
	return late
}

// declinedOf counts the charges of a contract, within the window of a card before one
// of them, that were declined or came after a decline.
func (w *world) declinedOf(c simulator.Charge) (counted int) {
	for other, times := range w.tries {
		if other.contract != c.Contract {
			continue
		}
		for i, t := range times {
			first := i == 0 && !slices.ContainsFunc(w.ends[other], func(e simulator.Charge) bool { return e.Code != "" })
			if !first && c.At.Sub(t) < windowOfCard {
				counted++
			}
		}
	}
	return counted
}

// unmet are the service's own words for a payment that the customer was to confirm
// and did not: the platform leaves such a charge open.
var unmet = []string{"CHALLENGE_EXPIRED", "EARLIER_CHARGE_OPEN"}

// declinedBefore reports whether an order of this cycle or an earlier one was declined, or
// needed its customer's confirmation.
func (w *world) declinedBefore(d *deal, cycle int) bool {
	for n := 1; n <= cycle; n++ {
		if slices.ContainsFunc(w.ends[cycleKey{d.id, n}], func(e simulator.Charge) bool { return e.Code != "" }) {
			return true
		}
	}
	return slices.ContainsFunc(d.plan.Outcomes, func(o outcome) bool { return o.Cycle <= cycle && o.Code == simulator.Challenge })
}

// store is what a store does about declines, in the oracle's terms.
func (s shopPlan) store() oracle.Store {
	d := s.Settings.Dunning
	o := oracle.Store{
		Simple: d.Mode == dunning.Simple, Retries: d.Retries, Every: d.EveryDays, Then: string(d.Then),
		Stock: oracle.Stock{Retries: 5, Every: 1, Then: string(dunning.Skip)},
	}
	if p := d.OutOfStock; p != nil {
		o.Stock = oracle.Stock{Retries: p.Retries, Every: p.EveryDays, Then: string(p.Then)}
	}
	return o
}

// lastActs names the entry of each final action.
var lastActs = map[string]string{"PAUSE": "DUNNING_PAUSED", "CANCEL": "DUNNING_CANCELLED", "SKIP": "DUNNING_SKIPPED"}

// pursuedTo checks that an order which is declined however often it is tried was tried as
// often, and on the days, as its store's plan says, and was given up then.
func (w *world) pursuedTo(d *deal, has map[int]attempt, log journal) {
	if d.plan.Tale != pursued || len(d.plan.Outcomes) == 0 || d.adrift || !d.touched.IsZero() {
		return
	}
	cycle := d.plan.Outcomes[0].Cycle
	tries := w.tries[cycleKey{d.id, cycle}]
	a, there := has[cycle]
	if !there || len(tries) == 0 || a.opened.IsZero() {
		return
	}
	code := d.plan.Outcomes[0].Code
	plan, known := d.shop.plan.store().Pursue(code)
	if !known {
		w.fail(fmt.Errorf("the oracle does not know what is done about %s", code))
		return
	}
	calendar := d.shop.calendar()
	history := func() string { return historyOf(has, log.ofAttempt) }
	w.require(I15, !a.opened.Before(tries[0].Add(-w.ahead())) && a.opened.Before(tries[0].Add(w.ahead()+day)),
		"cycle %d of contract %d was declined first on %s, and its case says %s", cycle, d.id, tries[0], a.opened)
	last := a.opened
	for i, t := range tries[1:] {
		due, more := plan.Next(a.opened, last, calendar)
		if !w.require(I15, more, "cycle %d of contract %d, declined by %s, was tried for the %d. time on %s, and the plan of its store has %d%s", cycle, d.id, code, i+2, t, i+1, history()) {
			return
		}
		w.require(I15, !t.Before(due.Add(-w.ahead())), "cycle %d of contract %d, declined by %s, was tried for the %d. time on %s, before %s%s", cycle, d.id, code, i+2, t, due, history())
		w.require(I15, t.Before(due.Add(longestDelay)) || w.halted(due, t), "cycle %d of contract %d, declined by %s, should be tried for the %d. time on %s, and was on %s%s",
			cycle, d.id, code, i+2, due, t, history())
		if last = t; last.Before(due) {
			last = due // by a clock that is ahead
		}
	}
	due, more := plan.Next(a.opened, last, calendar)
	ends := 0
	var given time.Time
	for _, e := range log.ofAttempt[a.id] {
		if e.event == lastActs[plan.Then] && e.status == "SUCCESS" {
			ends++
			given = e.at
		}
	}
	if !more {
		if due = plan.Ends(a.opened, calendar); due.Before(last) {
			due = last
		}
	}
	settled := due.Add(longestDelay+day).Before(w.now) && !w.halted(a.opened, w.now)
	switch {
	case more:
		w.require(I15, !settled && (ends == 0 || w.halted(a.opened, given)), "cycle %d of contract %d, declined by %s, was tried %d times, and a retry on %s is missing%s",
			cycle, d.id, code, len(tries), due, history())
	case ends > 0:
		w.require(I15, ends == 1 && !given.Before(due.Add(-w.ahead())), "cycle %d of contract %d was given up %d times, on %s, and its end is on %s%s", cycle, d.id, ends, given, due, history())
	default:
		w.require(I15, !settled, "cycle %d of contract %d, declined by %s and tried %d times, should be given up on %s%s", cycle, d.id, code, len(tries), due, history())
	}
}
