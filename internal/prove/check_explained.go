package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// historyOf tells what the service knows of a contract's orders.
func historyOf(has map[int]attempt, log map[int64][]entry) string {
	var b strings.Builder
	for _, cycle := range slices.Sorted(maps.Keys(has)) {
		a := has[cycle]
		fmt.Fprintf(&b, "\n  cycle %d: %s, due %s, moved %t, manual %t, %s", cycle, a.status, a.date.Format(time.RFC3339), a.moved, a.manual, a.code)
		for _, e := range log[a.id] {
			fmt.Fprintf(&b, "\n    %s %s %s", e.at.Format(time.RFC3339), e.event, e.status)
		}
	}
	return b.String()
}

// owed holds what became of the cycles of a contract against the oracle's dates,
// up to where people changed it.
func (w *world) owed(d *deal, has map[int]attempt, log map[int64][]entry) {
	until := w.cutoff()
	if !d.touched.IsZero() {
		until = d.touched.Add(-farthestJump)
	}
	paused := w.suspended(d, has, log)
	if !paused.IsZero() && paused.Before(until) {
		until = paused.Add(-farthestJump)
	}
	calendar := d.shop.calendar()
	policy := policyOf(d.plan.Spec.Billing)
	if d.plan.Offer == forLife {
		w.require(I2, len(has) == 0, "contract %d is paid for once and for all%s", d.id, historyOf(has, log))
		return
	}
	begins := w.firstDue(d, calendar)
	if d.parent != nil || begins.After(until) {
		return
	}
	first := d.first
	if d.plan.Offer.tried() { // the platform counts cycles that the trial covers
		first = slices.Min(slices.Collect(mapsKeys(has)))
	}
	dates := oracle.Owed(policy, begins, w.now, calendar)
	for i, date := range dates {
		cycle := first + i
		if date.After(until) || policy.MaxCycles > 0 && d.first+i > policy.MaxCycles { // a trial jumps over cycles
			return
		}
		w.due++
		a, there := has[cycle]
		if !w.require(I2, there, "contract %d has nothing for cycle %d, due %s%s", d.id, cycle, date, historyOf(has, log)) {
			w.missed++
			continue
		}
		if d.touched.IsZero() {
			w.require(I6, a.date.Equal(date), "cycle %d of contract %d is due %s and not %s%s", cycle, d.id, date, a.date, historyOf(has, log))
		}
		later := w.now
		if i+1 < len(dates) {
			later = dates[i+1]
		}
		w.explained(d, a, date, later, paused)
	}
}

// suspended returns when the contract was paused or cancelled because an order of it
// could not be charged; zero: never.
func (w *world) suspended(d *deal, has map[int]attempt, log map[int64][]entry) (at time.Time) {
	for cycle, a := range has {
		for _, e := range log[a.id] {
			if e.event != "DUNNING_PAUSED" && e.event != "DUNNING_CANCELLED" {
				continue
			}
			w.require(I2, w.declinedBefore(d, cycle), "contract %d was paused or cancelled for cycle %d, and no charge failed", d.id, cycle)
			if at.IsZero() || e.at.Before(at) {
				at = e.at
			}
		}
	}
	return at
}

// explained checks the outcome of a cycle that fell due, of a contract that was
// paused for a decline at an instant (zero: never).
func (w *world) explained(d *deal, a attempt, date, later, paused time.Time) {
	key := cycleKey{a.contract, a.cycle}
	ends := w.ends[key]
	why := ""
	switch a.status {
	case "SUCCESS":
		o := w.orders[key]
		switch {
		case o == nil:
			why = "no order exists"
		case d.triggers == 0 && o.At.Before(date.Add(-farthestJump)):
			why = fmt.Sprintf("the order of %s came too early", o.At)
		}
	case "FAILURE":
		if len(ends) == 0 && !slices.Contains(unmet, a.code) {
			why = "no charge failed"
		}
	case "SKIPPED":
		if d.touched.IsZero() && a.updated.Before(later.Add(-farthestJump)) {
			why = fmt.Sprintf("no request asked for it, and the cycle after it, due %s, had not come", later)
		}
	case "SKIPPED_DUNNING_MGMT":
		if !w.declinedBefore(d, a.cycle) {
			why = "no charge of it or of an earlier one failed"
		}
	case "CONTRACT_PAUSED", "CONTRACT_CANCELLED", "CONTRACT_ENDED", "SOCIAL_CONNECTION_NULL":
		declined := (a.status == "CONTRACT_PAUSED" || a.status == "CONTRACT_CANCELLED") && !paused.IsZero() && !a.updated.Before(paused.Add(-farthestJump))
		if d.touched.IsZero() && !declined {
			why = "the contract and its store were not changed"
		}
	default:
		why = "that is no end"
	}
	if !w.require(I2, why == "", "cycle %d of contract %d, due %s, is %s: %s", a.cycle, a.contract, date, a.status, why) {
		w.unexplained++
	}
}

// goesOn checks that a contract is not forgotten, and that what people changed
// came to an end too.
func (w *world) goesOn(d *deal, c standing, has map[int]attempt) {
	last := 0
	waiting, underWay := 0, 0
	for cycle, a := range has {
		last = max(last, cycle)
		if inFlight(a.status) { // its place in the queue is taken when it ends
			underWay++
		}
		if a.status == "QUEUED" {
			waiting++
			if !w.require(I2, a.date.After(w.cutoff()), "cycle %d of contract %d has waited since %s", cycle, d.id, a.date) {
				w.missed++
			}
		}
	}
	runs := c.status == "ACTIVE" || c.status == "PAUSED"
	if c.ending != nil {
		w.require(I2, !d.cancelled.IsZero(), "contract %d ends on %s, and was not cancelled", d.id, c.ending.At)
		w.require(I2, !runs || c.ending.At.After(w.cutoff()), "contract %d was to end on %s, and is %s", d.id, c.ending.At, c.status)
	}
	w.require(I2, d.left.IsZero() || c.ending != nil || !runs, "contract %d was cancelled on %s and is %s without a request", d.id, d.left, c.status)
	if c.status != "ACTIVE" || d.shop.gone || d.plan.Offer == forLife {
		return
	}
	// Cycles that passed while it was paused count.
	end, ends := c.last()
	ended := ends && max(last, c.from) >= end
	w.require(I6, ended || waiting+underWay >= 6, "contract %d runs, and %d of its cycles wait, from cycle %d to %d of %d", d.id, waiting, c.from, last, end)
	w.require(I6, ended && waiting == 0 || c.next.After(w.cutoff()), "the next date of contract %d, %s, is past", d.id, c.next)
}

// explainedEnd checks that an attempt came to an end, with its entry.
func (w *world) explainedEnd(a attempt, log []entry) {
	count := func(event string, status ...string) (n int) {
		for _, e := range log {
			if e.event == event && slices.Contains(status, e.status) {
				n++
			}
		}
		return n
	}
	const triggered, skipped = "BILLING_ATTEMPT_TRIGGERED", "BILLING_ATTEMPT_SKIPPED"
	n := 1
	switch a.status {
	case "SUCCESS":
		n = count(triggered, "SUCCESS")
		w.require(I7, n == 1, "attempt %d has an order and %d entries of it", a.id, n)
	case "FAILURE":
		n = count(triggered, "FAILURE")
	case "SKIPPED_DUNNING_MGMT":
		n = count("DUNNING_SKIPPED", "SUCCESS") + count("DUNNING_CANCELLED", "SUCCESS") + count("DUNNING_ATTEMPT_SKIPPED", "SKIPPED")
	case "SKIPPED", "CONTRACT_PAUSED", "CONTRACT_CANCELLED", "CONTRACT_ENDED", "SOCIAL_CONNECTION_NULL":
		n = count(skipped, "SKIPPED", "SUCCESS", "INFO") + count("DUPLICATE_BILLING_ATTEMPT_DETECTED", "SKIPPED") + count("BILLING_ATTEMPT_UPDATED", "INFO", "SUCCESS")
	case "REQUESTING", "PROGRESS", "SECURITY_CHALLENGE":
		w.require(I4, w.now.Sub(a.sent) < 50*time.Hour, "attempt %d is %s since %s", a.id, a.status, a.sent)
		return
	case "SHOPIFY_EXCEPTION":
		w.violated(I4, "attempt %d is %s since %s, and nothing is wrong any more", a.id, a.status, a.sent)
		return
	case "QUEUED":
		return
	}
	w.require(I7, n > 0, "attempt %d is %s and no entry says why", a.id, a.status)
}
