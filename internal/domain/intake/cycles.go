package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// tolerance is how far the platform's date of an edited cycle may differ from ours
// without being an edit: the platform accepts a charge a day early.
const tolerance = 24 * time.Hour

// readCycles stores edits of single cycles that were made at the platform.
func (s *Service) readCycles(ctx context.Context, b batch) error {
	store, events := b.store, b.events
	seen := make(map[platform.CycleRef]bool)
	var refs []platform.CycleRef
	for _, e := range events {
		ref := platform.CycleRef{Contract: e.Contract, Index: e.Cycle}
		if e.Contract > 0 && e.Cycle > 0 && !seen[ref] {
			seen[ref] = true
			refs = append(refs, ref)
		}
	}
	for range maxReadings {
		before, err := s.versions(ctx, store.ID, refs)
		if err != nil {
			return err
		}
		var fresh []platform.CycleState
		for chunk := range slices.Chunk(refs, platform.MaxCharges) {
			part, err := s.Platform.CycleStates(ctx, store.At(), chunk)
			if err != nil {
				return fmt.Errorf("read edited cycles: %w", err)
			}
			fresh = append(fresh, part...)
		}
		current := true
		err = s.Store.Update(ctx, store.ID, func(tx Tx) error {
			var err error
			if current, err = s.editCycles(ctx, tx, fresh, before); err != nil || !current {
				return err
			}
			return tx.FinishEvents(ctx, idsOf(events), s.Clock.Now())
		})
		if err != nil || current {
			return err
		}
	}
	return fault.New(fault.Conflict, "%d cycles change faster than they are read", len(refs))
}

// maxReadings is how often cycles are read again because their attempts have changed.
const maxReadings = 5

// versions returns the versions of contracts' attempts. The platform may be read before
// it has received our own edits; those must not be stored as another author's.
func (s *Service) versions(ctx context.Context, of shop.ID, refs []platform.CycleRef) (map[billing.AttemptID]int64, error) {
	versions := make(map[billing.AttemptID]int64)
	ids := make([]contract.ID, len(refs))
	for i, r := range refs {
		ids[i] = contract.ID(r.Contract)
	}
	err := s.Store.View(ctx, of, func(tx ReadTx) error {
		clear(versions)
		rows, err := tx.AttemptsOf(ctx, ids, billing.Queued, billing.Skipped)
		for _, a := range rows {
			versions[a.ID] = a.Version
		}
		return err
	})
	return versions, err
}

// editCycles stores edits. It reports false when an attempt has changed since the
// platform was read.
func (s *Service) editCycles(ctx context.Context, tx Tx, fresh []platform.CycleState, before map[billing.AttemptID]int64) (current bool, err error) {
	now := s.Clock.Now()
	store, err := tx.Shop(ctx)
	if err != nil {
		return false, err
	}
	cal, err := store.Calendar()
	if err != nil {
		return false, err
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
		return false, err
	}
	var changed, were []billing.Attempt
	var entries []activity.Entry
	touched := make(map[contract.ID]bool)
	for _, a := range rows {
		cycle, ok := states[platform.CycleRef{Contract: int64(a.Contract), Index: a.Cycle}]
		if !ok {
			continue
		}
		if a.Version != before[a.ID] {
			return false, nil
		}
		was := a
		entry, ok, err := queue.TakeEdit(&a, cycle, cal, tolerance, now)
		if err != nil {
			return false, err
		}
		if ok {
			changed, were = append(changed, a), append(were, was)
			entries = append(entries, entry)
			touched[a.Contract] = true
		}
	}
	if len(changed) == 0 {
		return true, nil
	}
	var moved []contract.ID
	for id := range touched {
		moved = append(moved, id)
	}
	slices.Sort(moved)
	contracts, err := tx.Contracts(ctx, moved)
	if err != nil {
		return false, err
	}
	open, err := tx.AttemptsOf(ctx, moved, billing.Open...)
	if err != nil {
		return false, err
	}
	byID, _ := billing.ContractsByID(contracts, nil)
	inputs, err := billing.ReadInputs(ctx, tx, store, byID)
	if err != nil {
		return false, err
	}
	var over []*contract.Contract // that get an order back beyond their last cycle
	for at, c := range contracts {
		for i := range changed {
			switch a := &changed[i]; {
			case a.Contract != c.ID:
			case a.Status == billing.Skipped:
				was := billing.Record{Attempt: were[i], Of: c, Rules: inputs[c.ID].Rules}
				was.SetBefore(open)
				a.RecordSkippedAmount(was)
			case c.PastLastCycle(a.Cycle) && !slices.Contains(over, &contracts[at]):
				over = append(over, &contracts[at])
			}
		}
	}
	if err := tx.PutAttempts(ctx, changed); err != nil {
		return false, err
	}
	if err := queue.Limit(ctx, tx, store, over, now); err != nil {
		return false, err
	}
	if err := queue.Refill(ctx, tx, store, contracts, now); err != nil {
		return false, err
	}
	return true, tx.Record(ctx, entries...)
}
