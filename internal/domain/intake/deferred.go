package intake

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// deferredContracts is the contracts that are not stored yet, because their author is
// still editing them or their selling plan is being created, with until when.
type deferredContracts map[contract.ID]time.Time

func (w deferredContracts) has(id contract.ID) bool { return !w[id].IsZero() }

// methods returns the payment methods of the deferred contracts, with until when.
func (w deferredContracts) methods(ctx context.Context, tx Tx) (map[string]time.Time, error) {
	if len(w) == 0 {
		return nil, nil
	}
	rows, err := tx.Contracts(ctx, contractKeys(w))
	held := make(map[string]time.Time, len(rows))
	for _, c := range rows {
		if until := w[c.ID]; until.After(held[c.PaymentMethod]) {
			held[c.PaymentMethod] = until
		}
	}
	return held, err
}

// finishEvents marks events as processed and returns them, except deferred ones: those
// become due again soon, and no later than the deferral ends.
func (s *Service) finishEvents(ctx context.Context, tx Tx, events []InboxEvent, waits func(InboxEvent) time.Time) (worked []InboxEvent, err error) {
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
		if err := tx.DeferEvents(ctx, []string{e.ID}, until, e.afterOutage(), "the contract or its plan is being changed, and the author of the change records it"); err != nil {
			return nil, err
		}
	}
	return worked, tx.FinishEvents(ctx, idsOf(worked), now)
}
