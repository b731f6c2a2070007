package intake

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/platform"
)

// settle reads attempts at the platform and stores their results.
func (s *Service) settle(ctx context.Context, b batch) error {
	store, events := b.store, b.events
	ids := distinct(events, func(e InboxEvent) string { return e.Attempt })
	var found []platform.Attempt
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		part, err := s.Platform.Attempts(ctx, store.At(), chunk)
		if err != nil {
			return fmt.Errorf("read %d attempts: %w", len(chunk), err)
		}
		found = append(found, part...)
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		if err := s.Billing.Settle(ctx, tx, found); err != nil {
			return err
		}
		return tx.FinishEvents(ctx, idsOf(events), s.Clock.Now())
	})
}
