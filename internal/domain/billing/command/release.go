package command

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ReleaseHeld charges the orders again that are held because the store could not take payments,
// at the store's next order time. It returns their number.
func (s *Service) ReleaseHeld(ctx context.Context, of shop.ID, by activity.Actor) (int, error) {
	n := 0
	err := s.Store.Update(ctx, of, func(tx billing.Tx) error {
		n = 0
		now := s.Clock.Now()
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		contracts, err := tx.ContractsInDunning(ctx)
		if err != nil {
			return err
		}
		contracts = slices.DeleteFunc(contracts, func(c contract.Contract) bool { return c.Dunning.State != dunning.Held })
		known, _ := billing.ContractsByID(contracts, nil)
		var ids []billing.AttemptID
		for _, c := range contracts {
			ids = append(ids, billing.AttemptID(c.Dunning.Attempt))
		}
		attempts, err := tx.Attempts(ctx, ids)
		if err != nil {
			return err
		}
		attempts = slices.DeleteFunc(attempts, func(a billing.Attempt) bool { return a.Status != billing.Failure || a.Dunning.State != dunning.Held })
		entries := make([]activity.Entry, len(attempts))
		for i := range attempts {
			a := &attempts[i]
			g, err := billing.CaseInputs(store, *a)
			if err != nil {
				return err
			}
			at := g.Calendar.At(now).Add(g.Spread)
			if !at.After(now) {
				at = g.Calendar.At(now.In(g.Calendar.Zone).AddDate(0, 0, 1)).Add(g.Spread)
			}
			a.Dunning.Retry(dunning.ByHand, at)
			a.DueAt, a.UpdatedAt = at, now
			billing.SyncCase(known[a.Contract], *a, store)
			entries[i] = billing.NewEntry(*a, activity.BillingAttemptUpdated, activity.Info, by, now, billing.EntryInfo{Cycle: a.Cycle, Reason: "the store can take payments again", To: at.Format(time.RFC3339)})
		}
		n = len(attempts)
		if err := tx.PutAttempts(ctx, attempts); err != nil {
			return err
		}
		if err := tx.PutProgress(ctx, contracts); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
	return n, err
}
