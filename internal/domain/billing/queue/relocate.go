package queue

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Relocate moves the calendars of contracts, what they wait for, and their upcoming orders to the
// same local days in the store's new time zone, in the caller's transaction. An order that has
// fallen due, is in flight or has an hour of its own stays, and so does one whose hour has
// passed there: it is not missed.
func Relocate(ctx context.Context, tx billing.Tx, of shop.Shop, contracts []contract.Contract, from cadence.Calendar, now time.Time) error {
	to, err := of.Calendar()
	if err != nil {
		return err
	}
	ids := make([]contract.ID, len(contracts))
	byID := make(map[contract.ID]contract.Contract, len(contracts))
	for i := range contracts {
		contracts[i].Relocate(from, to, now)
	}
	if err := tx.PutContracts(ctx, contracts); err != nil {
		return err
	}
	for i, c := range contracts {
		ids[i], byID[c.ID] = c.ID, c
	}
	there, err := tx.AttemptsOf(ctx, ids, billing.Queued, billing.Skipped)
	if err != nil {
		return err
	}
	var moved []billing.Attempt
	for _, a := range there {
		date := from.In(to, a.BillingDate)
		if !a.BillingDate.After(now) || !date.After(now) || date.Equal(a.BillingDate) {
			continue
		}
		if a.BillingDate, a.UpdatedAt = date, now; a.Status == billing.Queued {
			a.DueAt = date
		}
		if a.Moved || byID[a.Contract].SeriesOf(a.Cycle).Moved {
			a.PublishAt = now
		}
		moved = append(moved, a)
	}
	if err := tx.PutAttempts(ctx, moved); err != nil {
		return err
	}
	return Refill(ctx, tx, of, contracts, now)
}
