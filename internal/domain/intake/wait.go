package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// waiting has the contracts that are not taken over yet, because somebody here is
// changing them, or making their plans, and will tell of it, with until when.
type waiting map[contract.ID]time.Time

func (w waiting) has(id contract.ID) bool { return !w[id].IsZero() }

// read takes over contracts as the platform holds them now, and plans what must be
// planned anew. Contracts that wait for their authors are noted in waits; nil: none
// does.
func (s *Service) read(ctx context.Context, store shop.Shop, ids []contract.ID, waits waiting) error {
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		fresh, err := s.fetch(ctx, store, chunk)
		if err != nil {
			return err
		}
		if err := s.take(ctx, store, fresh, nil, waits); err != nil {
			return err
		}
	}
	return nil
}

// fetch reads contracts as the platform holds them now.
func (s *Service) fetch(ctx context.Context, store shop.Shop, ids []contract.ID) ([]platform.Contract, error) {
	var fresh []platform.Contract
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		asked := make([]int64, len(chunk))
		for i, id := range chunk {
			asked[i] = int64(id)
		}
		part, err := s.Platform.Contracts(ctx, store.At(), asked)
		if err != nil {
			return nil, fmt.Errorf("read %d contracts: %w", len(chunk), err)
		}
		fresh = append(fresh, part...)
	}
	return fresh, nil
}

// passesOver reports whether a reading of a contract is left alone: an event was
// quicker than the answer to a change that was announced. What the platform shows
// would be recorded as somebody else's doing, and then once more as its author's.
// When the author does not tell in time, a later reading takes it over.
func (w *writing) passesOver(old *contract.Contract, revision uint64, change contract.Change) bool {
	if w.waits == nil || old == nil || !change.Logged() {
		return false
	}
	until := old.InFlightUntil(revision, w.now)
	if until.IsZero() {
		return false
	}
	w.waits[old.ID] = until
	return true
}

// methods returns the payment methods of the contracts that wait, with until when.
func (w waiting) methods(ctx context.Context, tx Tx) (map[string]time.Time, error) {
	if len(w) == 0 {
		return nil, nil
	}
	rows, err := tx.Contracts(ctx, keys(w))
	held := make(map[string]time.Time, len(rows))
	for _, c := range rows {
		if until := w[c.ID]; until.After(held[c.PaymentMethod]) {
			held[c.PaymentMethod] = until
		}
	}
	return held, err
}

// finish marks events as worked and returns them, save those that wait: they are
// due again soon, and no later than the waiting ends.
func (s *Service) finish(ctx context.Context, tx Tx, events []InboxEvent, waits func(InboxEvent) time.Time) (worked []InboxEvent, err error) {
	now := s.Clock.Now()
	for _, e := range events {
		end := waits(e)
		if end.IsZero() {
			worked = append(worked, e)
			continue
		}
		until := now.Add(s.Policy.Yield << min(e.Failures, maxDoublings))
		if until.After(end) {
			until = end
		}
		if err := tx.DeferEvents(ctx, []string{e.ID}, until, e.afterOutage(), "the contract or its plan is being changed: the author of the change tells of it"); err != nil {
			return nil, err
		}
	}
	return worked, tx.FinishEvents(ctx, idsOf(worked), now)
}
