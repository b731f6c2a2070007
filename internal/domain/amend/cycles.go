package amend

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// CyclesBefore returns how many cycles come before the contract's next order, skipped
// ones included. The price of that order depends on it.
func (ed *Editor) CyclesBefore(ctx context.Context, of shop.ID, c contract.Contract) (int, error) {
	var attempts []billing.Attempt
	err := ed.Store.View(ctx, of, func(tx intake.ReadTx) (err error) {
		attempts, err = tx.AttemptsOf(ctx, []contract.ID{c.ID})
		return err
	})
	return NextCycle(c, attempts, ed.Clock.Now()) - 1, err
}

// DueFrom returns the first cycle whose order is due at an instant or later, with its date. Of a contract
// that does not run it is the next cycle, without a date.
func DueFrom(c contract.Contract, attempts []billing.Attempt, from, now time.Time, cal cadence.Calendar) (cycle int, date time.Time) {
	cycle = NextCycle(c, attempts, now)
	if c.Status != contract.Active {
		return cycle, time.Time{}
	}
	queued := billing.OnlyQueued(attempts)
	cycle = max(cycle, c.CycleFrom(from, cal))
	for _, a := range queued {
		if a.BillingDate.Before(from) {
			cycle = max(cycle, a.Cycle+1)
		}
	}
	for _, a := range queued {
		if a.Cycle == cycle {
			return cycle, a.BillingDate
		}
	}
	return cycle, c.DueOn(cycle, cal)
}

// NextAttempt returns the queued attempt with the earliest date.
func (ed *Editor) NextAttempt(ctx context.Context, of shop.ID, c contract.Contract) (billing.Attempt, error) {
	var queued []billing.Attempt
	err := ed.Store.View(ctx, of, func(tx intake.ReadTx) (err error) {
		queued, err = tx.AttemptsOf(ctx, []contract.ID{c.ID}, billing.Queued)
		return err
	})
	next, waits := billing.Earliest(queued)
	if err == nil && !waits {
		err = fault.New(fault.FailedPrecondition, "subscription contract %d has no upcoming order", c.ID).Entity(Entity).Code("noUpcomingOrder")
	}
	return next, err
}

// NextCycle returns the index of the contract's next cycle from the store. It does not
// call the platform.
func (ed *Editor) NextCycle(ctx context.Context, of shop.ID, cmd Command) (cycle int, err error) {
	err = ed.Store.View(ctx, of, func(tx intake.ReadTx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].Line != cmd.Line || rows[0].HiddenFrom(cmd.Actor) {
			return ContractNotFound(cmd.Contract)
		}
		attempts, err := tx.AttemptsOf(ctx, []contract.ID{cmd.Contract})
		cycle = NextCycle(rows[0], attempts, ed.Clock.Now())
		return err
	})
	return cycle, err
}

// NextCycle returns the cycle of the contract's next order, which may be one that could
// not be charged yet. While the contract does not run, it is the cycle after the last
// order that was created or skipped for good.
func NextCycle(c contract.Contract, attempts []billing.Attempt, now time.Time) int {
	var waiting []billing.Attempt
	reached := max(c.Series.Cycle-1, 0)
	for _, a := range attempts {
		switch {
		case a.Status.Upcoming(), a.Unpaid():
			waiting = append(waiting, a)
		case !a.SkipsAhead(now):
			reached = max(reached, a.Cycle)
		}
	}
	if next, ok := billing.Earliest(waiting); ok {
		return next.Cycle
	}
	return reached + 1
}
