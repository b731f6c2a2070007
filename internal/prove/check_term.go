package prove

import (
	"regexp"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/prove/oracle"
)

var endings = regexp.MustCompile(`subscriptionContract(?:Cancel|Expire)\(`)

// sawEnds notes which contracts a call has cancelled or let expire.
func (w *world) sawEnds(c *call) {
	if !endings.Match(c.body) {
		return
	}
	for _, m := range numbers.FindAllSubmatch(c.body, -1) {
		id, _ := strconv.ParseInt(string(m[1]), 10, 64)
		if _, known := w.over[id]; known {
			continue
		}
		if is, err := w.sim.Contract(id); err == nil && terminated(is.Status) {
			w.over[id] = w.now
		}
	}
}

func terminated(status string) bool { return status == "CANCELLED" || status == "EXPIRED" }

// delivered checks that what was paid for is delivered before a prepaid contract with a
// tale is over, that it is over then, and that nothing is paid afterwards.
func (w *world) delivered(d *deal, has map[int]attempt, log journal) {
	if d.plan.Tale != expires && d.plan.Tale != leaves || d.adrift {
		return
	}
	over, ended := w.over[d.id]
	paid := d.plan.At // with the checkout
	last := 0         // cycle of what was charged, or given up
	for cycle, a := range has {
		if o := w.orders[cycleKey{d.id, cycle}]; o != nil {
			w.require(I13, !ended || !o.At.After(over), "contract %d was over on %s, and has an order of %s", d.id, over, o.At)
			if o.At.After(paid) {
				paid = o.At
			}
		}
		if a.status != "QUEUED" {
			last = max(last, cycle)
		}
	}
	calendar := d.shop.calendar()
	billing := policyOf(d.plan.Spec.Billing)
	deliveries, term := oracle.Term(billing, policyOf(d.plan.Spec.Delivery), d.plan.Spec.NextBillingDate, paid, calendar)
	if !w.require(I13, len(deliveries) > 0, "what contract %d paid on %s is for no delivery", d.id, paid) {
		return
	}
	end, begun := deliveries[len(deliveries)-1], paid
	switch d.plan.Tale {
	case expires:
		dates := oracle.Owed(billing, d.plan.Spec.NextBillingDate, w.now, calendar)
		final := billing.MaxCycles - d.first // of the dates
		if final >= len(dates) || dates[final].After(w.cutoff()) {
			w.require(I13, !ended, "contract %d expired on %s, before its last order%s", d.id, over, historyOf(has, log.ofAttempt))
			return
		}
		begun = dates[final]
	case leaves:
		if d.cancelled.IsZero() {
			w.require(I13, !ended, "contract %d was over on %s, and was not cancelled", d.id, over)
			return
		}
		if begun = d.cancelled; end.After(begun) {
			end = term
		}
		if d.left.IsZero() && !ended { // whether the request arrived is not known
			return
		}
	}
	w.require(I13, !ended || !over.Before(end.Add(-w.ahead())), "contract %d was over on %s, and what it paid for on %s is delivered until %s%s",
		d.id, over, paid, end, historyOf(has, log.ofAttempt))
	due := end
	if due.Before(begun) {
		due = begun
	}
	if !ended {
		over = w.now
	}
	w.require(I13, over.Before(due.Add(longestDelay+day)) || w.halted(begun, over), "contract %d should be over on %s, and %s%s", d.id, due, standsOr(ended, over),
		historyOf(has, log.ofAttempt))
}

func standsOr(ended bool, at time.Time) string {
	if ended {
		return "was on " + at.Format(time.RFC3339)
	}
	return "runs still"
}
