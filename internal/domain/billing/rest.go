package billing

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
)

// Rest has the orders and deliveries of a contract that are left until it ends.
type Rest struct {
	Orders     []Ordered    // that are still charged, in the order in which they are made
	Deliveries []time.Time  // of a prepaid contract: those to come, paid for already or with the orders
	Total      money.Amount // of the orders, before taxes
}

// Ordered is an order that is still charged. One that is not planned yet has no ID.
type Ordered struct {
	Attempt

	Pays money.Amount // before taxes
}

// RestOf returns what a contract with a scheduled cancellation, or one that is cancelled now, still
// charges and delivers. The attempts are its unfinished ones. Orders whose charge is in flight are
// made whatever ends the contract.
func RestOf(c contract.Contract, in Inputs, attempts []Attempt, cal cadence.Calendar, now time.Time) Rest {
	rest := Rest{Total: money.Amount{Currency: c.Currency}}
	if c.Terminated() || c.Moving != nil && c.Moving.To == contract.Cancelled {
		c.Ending = nil
	}
	attempts = stillCharged(c, attempts, cal)
	places := make([]order.Place, len(attempts))
	for i, a := range attempts {
		places[i] = RecordOf(a, c, in, nil).Place()
	}
	for i, o := range order.Walk(c, in.Rules, places) {
		is := Ordered{attempts[i], o.Bill.Total}
		if is.Amount != (money.Amount{}) {
			is.Pays = is.Amount
		}
		rest.Orders = append(rest.Orders, is)
		rest.Total.Minor += is.Pays.Minor
	}
	if c.Prepaid() && c.Ending != nil {
		rest.Deliveries = deliveries(c, attempts, cal, now)
	}
	return rest
}

// stillCharged returns the attempts of a contract that are still charged before it ends: those up to
// its last cycle, an unpaid one first. A commitment can reach beyond the queue: its later orders have
// no number yet. It ends with its last order, also when an unpaid order is paid after all.
func stillCharged(c contract.Contract, attempts []Attempt, cal cadence.Calendar) []Attempt {
	var list []Attempt
	last := c.Series.Cycle - 1
	for _, a := range attempts {
		last = max(last, a.Cycle)
		waits := c.Ending != nil && !c.PastLastCycle(a.Cycle) && (a.Status == Queued || a.Unpaid())
		if waits || a.Status.InFlight() {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b Attempt) int {
		switch {
		case a.Unpaid() && !b.Unpaid():
			return -1
		case a.Unpaid() == b.Unpaid() && a.Precedes(b):
			return -1
		}
		return 1
	})
	if c.Ending == nil || c.Ending.Why != contract.EndOfMinimum {
		return list
	}
	for last++; len(list) < c.Committed() && (c.MaxCycles == 0 || last <= c.MaxCycle()); last++ {
		a := Attempt{Contract: c.ID, Cycle: last, Status: Queued, BillingDate: c.DueOn(last, cal)}
		if date := c.OverriddenOn(last); !date.IsZero() {
			a.BillingDate = date
		}
		list = append(list, a)
	}
	return list[:min(len(list), c.Committed())]
}

// deliveries returns the deliveries to come that a prepaid contract has paid for, or pays for with
// orders.
func deliveries(c contract.Contract, orders []Attempt, cal cadence.Calendar, now time.Time) []time.Time {
	coming := c.Term(cal).Deliveries
	for _, a := range orders {
		paid := c
		paid.Ending, paid.NextBillingDate, paid.LastOrderAt = nil, time.Time{}, a.BillingDate
		if a.Unpaid() {
			paid.LastOrderAt = Later(now, a.DueAt)
		}
		coming = append(coming, paid.Term(cal).Deliveries...)
	}
	coming = slices.DeleteFunc(coming, func(d time.Time) bool { return !d.After(now) })
	slices.SortFunc(coming, time.Time.Compare)
	return slices.CompactFunc(coming, time.Time.Equal)
}
