package billing

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// fill returns the attempts that a contract's queue lacks.
func fill(c contract.Contract, q Queue, cal cadence.Calendar, now time.Time) []Attempt {
	if c.Status != contract.Active || c.Series.Start.IsZero() {
		return nil
	}
	var missing []Attempt
	for cycle := max(q.LastCycle+1, c.Series.Cycle); q.Waiting+len(missing) < QueueLength; cycle++ {
		if c.MaxCycles > 0 && cycle > c.MaxCycles {
			break
		}
		date := c.DueOn(cycle, cal)
		a := Attempt{Contract: c.ID, Cycle: cycle, Status: Queued, BillingDate: date, DueAt: date, CreatedAt: now, UpdatedAt: now}
		if c.Series.Moved {
			a.PublishAt = now
		}
		missing = append(missing, a)
	}
	return missing
}

// Begin sets where the counting of a contract's cycles starts: the first of the
// platform's cycles that is not billed, not skipped and belongs to the date on
// which the contract wants its next order. It reports false when none of the
// cycles fits; later ones may.
func Begin(c *contract.Contract, wanted time.Time, cycles []platform.Cycle, cal cadence.Calendar) bool {
	slack := c.Billing.Approx() / 2
	for _, cycle := range cycles {
		if cycle.Billed || cycle.Skipped {
			continue
		}
		if wanted.IsZero() {
			wanted = cycle.Expected
		}
		if cycle.Expected.Before(wanted.Add(-slack)) {
			continue
		}
		c.Series = contract.Series{Cycle: cycle.Index, Start: cal.At(wanted)}
		return true
	}
	return false
}
