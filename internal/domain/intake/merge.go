package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// mergeTimeout is how long the platform may take to merge two customers. A merge that is
// not done by then was refused there.
const mergeTimeout = time.Hour

// merge moves contracts and points of customers that the platform has merged to the
// remaining one: it reads the contracts again and moves the points. It waits while the
// platform still has both customers.
func (s *Service) merge(ctx context.Context, b batch) error {
	var ids []int64
	for _, e := range b.events {
		ids = append(ids, e.Customer, e.Kept)
	}
	slices.Sort(ids)
	there := make(map[int64]bool)
	for chunk := range slices.Chunk(slices.Compact(ids), platform.MaxIDs) {
		found, err := s.Platform.Customers(ctx, b.store.At(), chunk)
		if err != nil {
			return fmt.Errorf("read customers who are merged: %w", err)
		}
		for _, c := range found {
			there[c.ID] = true
		}
	}
	for _, e := range b.events {
		if err := s.mergeOne(ctx, b, e, there); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) mergeOne(ctx context.Context, b batch, e InboxEvent, there map[int64]bool) error {
	now := s.Clock.Now()
	if there[e.Customer] || !there[e.Kept] || e.Customer == 0 {
		return s.Store.Update(ctx, b.store.ID, func(tx Tx) error {
			if later := e.happenedAt().Add(mergeTimeout); there[e.Customer] && there[e.Kept] && now.Before(later) {
				return tx.DeferEvents(ctx, []string{e.ID}, later, e.Failures, "")
			}
			return tx.FinishEvents(ctx, []string{e.ID}, now)
		})
	}
	var theirs []contract.ID
	err := s.Store.View(ctx, b.store.ID, func(tx ReadTx) (err error) {
		theirs, err = tx.ContractsOfCustomer(ctx, e.Customer)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.read(ctx, b.store, theirs, nil); err != nil {
		return err
	}
	if err := s.Points.Merge(ctx, b.store.ID, e.Customer, e.Kept); err != nil {
		return fmt.Errorf("move the points of customer %d: %w", e.Customer, err)
	}
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error {
		if err := tx.MergeCustomer(ctx, e.Customer, e.Kept); err != nil {
			return err
		}
		return tx.FinishEvents(ctx, []string{e.ID}, now)
	})
}
