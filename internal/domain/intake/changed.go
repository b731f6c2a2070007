package intake

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// readChanged reads the contracts that events report as changed.
func (s *Service) readChanged(ctx context.Context, b batch) error {
	fresh, err := s.fetch(ctx, b.store, contractsOf(b.events))
	if err != nil {
		return err
	}
	found, err := s.compare(ctx, b.store, fresh, b.known, nil)
	if err != nil {
		return err
	}
	waits := make(deferredContracts)
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error {
		if found.changed {
			if err := s.write(ctx, tx, found, nil, waits); err != nil {
				return err
			}
		}
		_, err := s.finishEvents(ctx, tx, b.events, func(e InboxEvent) time.Time { return waits[contract.ID(e.Contract)] })
		return err
	})
}
