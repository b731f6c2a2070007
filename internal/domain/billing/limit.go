package billing

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Limit makes the queues of contracts end with the last cycle that may be charged,
// in the caller's transaction, when that has changed: what waits beyond it goes,
// and what a later end lets in comes back. Orders that stay keep their dates.
// Refill must follow; it writes what people wish of the orders that go.
func Limit(ctx context.Context, tx Tx, of shop.Shop, contracts []*contract.Contract, now time.Time) error {
	return reshape(ctx, tx, of, contracts, func(c contract.Contract, there []Attempt, cal cadence.Calendar) (gone, kept []Attempt) {
		return limited(c, there, cal, now)
	}, now)
}

// limited returns the attempts of one contract that wait for a cycle beyond its
// last one, and new ones for cycles that lack one between others.
func limited(c contract.Contract, there []Attempt, cal cadence.Calendar, now time.Time) (gone, holes []Attempt) {
	has := make(map[int]bool, len(there))
	last := 0
	for _, a := range there {
		if a.Status == Queued && c.PastLastCycle(a.Cycle) {
			gone = append(gone, a)
			continue
		}
		has[a.Cycle], last = true, max(last, a.Cycle)
	}
	if !planned(c) {
		return gone, nil
	}
	for cycle := max(c.Series.Cycle, reached(there, now)+1); cycle < last; cycle++ {
		if !has[cycle] && !c.PastLastCycle(cycle) {
			holes = append(holes, upcoming(c, cycle, cal, now))
		}
	}
	return gone, holes
}

// predictEnd sets when a contract expires of which the queue has come to its end:
// once every order is made or given up, and what the last one paid for has been
// delivered. While the last order could not be charged, a person has some time to have
// it charged again: nobody can once the contract has expired. It also lets somebody look
// at a cancellation that waited for the orders that are now completed.
func predictEnd(c *contract.Contract, q Queue, cal cadence.Calendar, now time.Time) {
	if c.Status != contract.Active {
		return
	}
	if c.Ending != nil && c.Ending.Why == contract.EndOfMinimum && c.Committed() == 0 {
		c.AmendBy(now)
	}
	over := c.MaxCycles > 0 && c.NextBillingDate.IsZero() && !q.Open && !c.Lifelong && !c.Series.Start.IsZero() && max(q.LastCycle, c.Series.Cycle-1) >= c.MaxCycle()
	switch {
	case !over:
		c.SetExpiry(time.Time{})
	case c.ExpireAt.IsZero():
		at := now
		if last := c.Term(cal).Last(); c.Prepaid() && last.After(now) {
			at = last
		}
		if q.Unpaid && !c.PastLastCycle(q.LastCycle) {
			at = later(at, now.Add(lastChance))
		}
		c.SetExpiry(at)
	}
}

// lastChance is how long a contract waits for its last order, of which no charge is to
// come by itself.
const lastChance = 14 * 24 * time.Hour
