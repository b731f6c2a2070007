// Package queue keeps the upcoming attempts of contracts: it fills their queues, moves their
// dates, and plans them again when a calendar changes.
package queue

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// planned reports whether a contract has orders to come: it runs, and has a calendar.
func planned(c contract.Contract) bool {
	return c.Status == contract.Active && !c.Series.Start.IsZero()
}

// fill returns the attempts that a contract's queue lacks: the next orders are in it,
// however many of those in it are put off behind others.
func fill(c *contract.Contract, q billing.Queue, cal cadence.Calendar, now time.Time) []billing.Attempt {
	if !planned(*c) {
		return nil
	}
	var missing []billing.Attempt
	behind := slices.Clone(q.Dates)
	for cycle := nextCycle(q, c); !c.PastLastCycle(cycle); cycle++ {
		due := c.DueOn(cycle, cal)
		behind = slices.DeleteFunc(behind, func(date time.Time) bool { return !date.After(due) })
		if q.Waiting+len(missing)-len(behind) >= billing.QueueLength {
			break
		}
		a := upcoming(c, cycle, cal, now)
		missing, behind = append(missing, a), append(behind, a.BillingDate)
	}
	return missing
}

// nextCycle returns the first cycle of a contract that has no attempt yet.
func nextCycle(q billing.Queue, c *contract.Contract) int { return max(q.LastCycle+1, c.Series.Cycle) }

// readPutOff completes queues of contracts by the dates of those that wait, where one may
// be put off behind an order that has no attempt yet.
func readPutOff(ctx context.Context, tx billing.Tx, contracts []contract.Contract, queues map[contract.ID]billing.Queue, cal cadence.Calendar) error {
	var ids []contract.ID
	for i := range contracts {
		c := &contracts[i]
		if q := queues[c.ID]; planned(*c) && q.Latest.After(c.DueOn(nextCycle(q, c), cal)) {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	waiting, err := tx.AttemptsOf(ctx, ids, billing.Queued)
	for _, a := range waiting {
		q := queues[a.Contract]
		q.Dates = append(q.Dates, a.BillingDate)
		queues[a.Contract] = q
	}
	return err
}

// upcoming is the attempt of a cycle that waits for its date.
func upcoming(c *contract.Contract, cycle int, cal cadence.Calendar, now time.Time) billing.Attempt {
	date := c.DueOn(cycle, cal)
	a := billing.Attempt{Contract: c.ID, Cycle: cycle, Status: billing.Queued, BillingDate: date, DueAt: date, CreatedAt: now, UpdatedAt: now}
	for _, w := range c.Overrides {
		if w.Cycle != cycle {
			continue
		}
		a.Note, a.Flags = w.Note, w.Flags
		if w.Date.After(now) {
			a.BillingDate, a.DueAt, a.Moved = w.Date, w.Date, true
		}
	}
	if c.SeriesOf(cycle).Moved || a.Moved {
		a.PublishAt = now
	}
	return a
}

// Begin sets where the counting of a contract's cycles starts: with the number that
// the order has already, unless it is 0 or the platform has billed or skips that cycle;
// else with the first of the platform's cycles that is not billed, not skipped and
// belongs to the date on which the contract wants its next order. It reports false when
// none of the cycles fits; later ones may.
func Begin(c *contract.Contract, wanted time.Time, number int, cycles []platform.Cycle, cal cadence.Calendar) bool {
	open := slices.DeleteFunc(slices.Clone(cycles), func(y platform.Cycle) bool { return y.Billed || y.Skipped })
	at := slices.IndexFunc(open, func(y platform.Cycle) bool { return number > 0 && y.Index == number })
	if at < 0 {
		slack := c.Billing.Approx() / 2
		at = slices.IndexFunc(open, func(y platform.Cycle) bool { return !y.Expected.Before(wanted.Add(-slack)) })
	}
	if at < 0 {
		return false
	}
	if wanted.IsZero() {
		wanted = open[at].Expected
	}
	c.Series = contract.Series{Cycle: open[at].Index, Start: cal.At(wanted)}
	return true
}

// Refill brings contracts up to date after their series or some of their
// attempts changed: their queues are filled and their next billing dates follow.
// The contracts' progress is written, in the caller's transaction.
func Refill(ctx context.Context, tx billing.Tx, s shop.Shop, contracts []contract.Contract, now time.Time) error {
	if len(contracts) == 0 {
		return nil
	}
	cal, err := s.Calendar()
	if err != nil {
		return err
	}
	ids := make([]contract.ID, len(contracts))
	for i, c := range contracts {
		ids[i] = c.ID
	}
	queues, err := tx.Queues(ctx, ids)
	if err != nil {
		return err
	}
	if err := readPutOff(ctx, tx, contracts, queues, cal); err != nil {
		return err
	}
	var missing []billing.Attempt
	var carrying []*contract.Contract
	for i := range contracts {
		c := &contracts[i]
		if c.OneOffs > 0 {
			carrying = append(carrying, c)
		}
		q := queues[c.ID]
		added := fill(c, q, cal, now)
		missing = append(missing, added...)
		reached := q.LastCycle
		if len(added) > 0 {
			c.QueueUpdatedAt = now
			reached = added[len(added)-1].Cycle
		}
		switch {
		case c.Status == contract.Expired:
			c.Overrides = nil
		case planned(*c):
			if last, ends := c.LastCycle(); ends {
				reached = min(reached, last) // what was to come later may come back
			}
			c.Overrides = dropOverrides(c.Overrides, 1, reached) // those orders have them, or were made
		}
		c.NextBillingDate = q.Next
		for _, a := range added {
			if c.NextBillingDate.IsZero() || a.BillingDate.Before(c.NextBillingDate) {
				c.NextBillingDate = a.BillingDate
			}
		}
		predictEnd(c, q, cal, now)
		c.UpdatedAt = now
	}
	if err := tx.PutAttempts(ctx, missing); err != nil {
		return err
	}
	if err := settleOneOffs(ctx, tx, carrying, now); err != nil {
		return err
	}
	return tx.PutProgress(ctx, contracts)
}
