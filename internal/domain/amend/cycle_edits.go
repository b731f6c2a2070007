package amend

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// dropCycleEdits removes the edits of single cycles, which block an edit of the
// contract. Billing writes them to the platform again: after the edit, or soon if this
// process dies before.
func (ed *Editor) dropCycleEdits(ctx context.Context, store shop.Shop, c contract.Contract) error {
	now := ed.Clock.Now()
	if err := ed.Publish.Republish(ctx, store.ID, c.ID, now.Add(contract.PendingChangeTimeout)); err != nil {
		return err
	}
	var first, last int
	err := ed.Store.View(ctx, store.ID, func(tx intake.ReadTx) error {
		queues, err := tx.Queues(ctx, []contract.ID{c.ID})
		if err != nil {
			return err
		}
		last = queues[c.ID].LastCycle
		first = max(1, last-billing.QueueLength)
		open, err := tx.AttemptsOf(ctx, []contract.ID{c.ID}, billing.Queued, billing.Skipped, billing.Failure)
		for _, a := range open { // a queue with skipped orders in it is longer
			if a.Status == billing.Queued || a.Prep.Edited {
				first = min(first, a.Cycle)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	cycles, err := ed.Platform.Cycles(ctx, store.At(), int64(c.ID), first, last+billing.QueueLength)
	if err != nil {
		return PlatformError(err)
	}
	for _, y := range cycles {
		if !y.Edited || y.Billed {
			continue
		}
		if err := ed.Platform.DropCycleEdit(ctx, store.At(), platform.CycleRef{Contract: int64(c.ID), Index: y.Index}); err != nil {
			return PlatformError(err)
		}
	}
	return nil
}
