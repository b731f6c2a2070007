package queue

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Limit ends the queues of contracts with the last cycle that may be charged, in the caller's
// transaction, if that has changed: attempts beyond it go, and those that a later end allows come
// back. Other orders keep their dates. Refill must follow; it writes the order overrides.
func Limit(ctx context.Context, tx billing.Tx, of shop.Shop, contracts []*contract.Contract, now time.Time) error {
	return reshape(ctx, tx, of, contracts, func(c contract.Contract, there []billing.Attempt, cal cadence.Calendar) (gone, kept []billing.Attempt) {
		return limited(c, there, cal, now)
	}, now)
}

// limited returns the attempts of one contract that wait for a cycle beyond its
// last one, and new ones for cycles that lack one between others.
func limited(c contract.Contract, there []billing.Attempt, cal cadence.Calendar, now time.Time) (gone, holes []billing.Attempt) {
	has := make(map[int]bool, len(there))
	last := 0
	for _, a := range there {
		if a.Status == billing.Queued && c.PastLastCycle(a.Cycle) {
			gone = append(gone, a)
			continue
		}
		has[a.Cycle], last = true, max(last, a.Cycle)
	}
	if !planned(c) {
		return gone, nil
	}
	for cycle := max(c.Series.Cycle, LastMade(there, now)+1); cycle < last; cycle++ {
		if !has[cycle] && !c.PastLastCycle(cycle) {
			holes = append(holes, upcoming(&c, cycle, cal, now))
		}
	}
	return gone, holes
}

// predictEnd sets when a contract expires whose queue has reached its end: once every order is
// made or given up, and what the last one paid for is delivered. An unpaid last order gives a
// person some time to charge it again, which is not possible after the contract has expired.
// It also wakes a cancellation that waited for orders that are now complete.
func predictEnd(c *contract.Contract, q billing.Queue, cal cadence.Calendar, now time.Time) {
	if c.Status != contract.Active {
		return
	}
	if c.Ending != nil && c.Ending.Why == contract.EndOfMinimum && c.Committed() == 0 {
		c.AmendBy(now)
	}
	if c.Ending != nil && c.Ending.Why == contract.EndOfOrder && c.NextBillingDate.IsZero() && !q.Open {
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
			at = billing.Later(at, now.Add(lastChance))
		}
		c.SetExpiry(at)
	}
}

// lastChance is how long a contract waits for its last order when no charge of it is planned.
const lastChance = 14 * 24 * time.Hour
