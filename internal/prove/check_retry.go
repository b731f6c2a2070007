package prove

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/platform/simulator"
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

// ask notes that somebody asked for a charge of a contract, or changed how it is
// paid, which is charged at once.
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
			"contract %d is charged again for cycle %d after %s, and nobody changed or asked anything", c.Contract, c.Cycle, last.Code)
	}

	counted := 0
	if len(tries) > 1 {
		counted = w.declinedOf(c)
	}
	w.require(I11, counted <= mostOfCard, "the card of contract %d was declined or tried again %d times within %s", c.Contract, counted, windowOfCard)
}

// foundLate reports whether a change of the payment method may be found only now, because
// word of it was lost: whoever finds another card cannot tell whether it was there when an
// order was declined. Each change is found late once at most.
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

// declinedBefore reports whether an order of a contract was declined, or was to be
// confirmed by its customer, of this cycle or an earlier one.
func (w *world) declinedBefore(d *deal, cycle int) bool {
	for n := 1; n <= cycle; n++ {
		if slices.ContainsFunc(w.ends[cycleKey{d.id, n}], func(e simulator.Charge) bool { return e.Code != "" }) {
			return true
		}
	}
	return slices.ContainsFunc(d.plan.Outcomes, func(o outcome) bool { return o.Cycle <= cycle && o.Code == simulator.Challenge })
}
