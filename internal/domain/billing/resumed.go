package billing

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// ResumedOrder returns the order with which a contract without orders to come goes on at an instant. One-time
// products of orders that were not made come with it, as when the queue is filled.
func ResumedOrder(c contract.Contract, in Inputs, attempts []Attempt, cal cadence.Calendar, now time.Time) Record {
	next := Attempt{Contract: c.ID, Cycle: c.ResumeCycle(now, cal), Status: Queued}
	if next.BillingDate = c.DueOn(next.Cycle, cal); c.OverriddenOn(next.Cycle).After(now) {
		next.BillingDate = c.OverriddenOn(next.Cycle)
	}
	r := RecordOf(next, c, in, attempts)
	for _, o := range in.OneOffs {
		unpaid := slices.ContainsFunc(attempts, func(a Attempt) bool { return a.Cycle == o.Cycle && (a.Unpaid() || a.Status.InFlight()) })
		if o.Done || o.Cycle >= next.Cycle || unpaid {
			continue
		}
		for _, has := range r.OneOffs {
			if has.Variant.ID == o.Variant.ID {
				o.Quantity += has.Quantity
			}
		}
		r = r.Carrying(o, nil)
	}
	return r
}
