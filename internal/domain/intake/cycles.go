package intake

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// tolerance is how far the platform's date of an edited cycle may lie from ours
// before we take it over: the platform lets us charge a day early.
const tolerance = 24 * time.Hour

// readCycles takes over what somebody edited of single cycles at the platform.
func (s *Service) readCycles(ctx context.Context, store shop.Shop, events []Pending) error {
	var fresh []platform.CycleState
	seen := make(map[platform.CycleRef]bool)
	var refs []platform.CycleRef
	for _, e := range events {
		ref := platform.CycleRef{Contract: e.Contract, Index: e.Cycle}
		if e.Contract > 0 && e.Cycle > 0 && !seen[ref] {
			seen[ref] = true
			refs = append(refs, ref)
		}
	}
	for from := 0; from < len(refs); from += platform.MaxCharges {
		part, err := s.Platform.CycleStates(ctx, store.At(), refs[from:min(from+platform.MaxCharges, len(refs))])
		if err != nil {
			return fmt.Errorf("read edited cycles: %w", err)
		}
		fresh = append(fresh, part...)
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		if err := s.editCycles(ctx, tx, fresh); err != nil {
			return err
		}
		return tx.FinishEvents(ctx, idsOf(events), s.Clock.Now())
	})
}

func (s *Service) editCycles(ctx context.Context, tx Tx, fresh []platform.CycleState) error {
	now := s.Clock.Now()
	store, err := tx.Shop(ctx)
	if err != nil {
		return err
	}
	cal, err := store.Calendar()
	if err != nil {
		return err
	}
	states := make(map[platform.CycleRef]platform.Cycle, len(fresh))
	var ids []contract.ID
	for _, f := range fresh {
		if !f.Missing {
			states[f.CycleRef] = f.Cycle
			ids = append(ids, contract.ID(f.Contract))
		}
	}
	rows, err := tx.AttemptsOf(ctx, ids, billing.Queued, billing.Skipped)
	if err != nil {
		return err
	}
	var changed []billing.Attempt
	var entries []activity.Entry
	touched := make(map[contract.ID]bool)
	for _, a := range rows {
		cycle, ok := states[platform.CycleRef{Contract: int64(a.Contract), Index: a.Cycle}]
		if !ok {
			continue
		}
		entry, ok := billing.TakeEdit(&a, cycle, cal, tolerance, now)
		if ok {
			changed = append(changed, a)
			entries = append(entries, entry)
			touched[a.Contract] = true
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := tx.PutAttempts(ctx, changed); err != nil {
		return err
	}
	var moved []contract.ID
	for id := range touched {
		moved = append(moved, id)
	}
	contracts, err := tx.Contracts(ctx, moved)
	if err != nil {
		return err
	}
	if err := billing.Refill(ctx, tx, store, contracts, now); err != nil {
		return err
	}
	return tx.Record(ctx, entries...)
}
