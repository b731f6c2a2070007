package billing

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Relocate moves the calendars of contracts, what they wait for, and their orders to come,
// to the same local days in the zone that the store has now, in the caller's transaction. An order
// that has fallen due, is being charged, or was put to an hour of its own stays, and so
// does one whose hour has passed there: nobody has missed it.
func Relocate(ctx context.Context, tx Tx, of shop.Shop, contracts []contract.Contract, from cadence.Calendar, now time.Time) error {
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
	there, err := tx.AttemptsOf(ctx, ids, Queued, Skipped)
	if err != nil {
		return err
	}
	var moved []Attempt
	for _, a := range there {
		date := from.In(to, a.BillingDate)
		if !a.BillingDate.After(now) || !date.After(now) || date.Equal(a.BillingDate) {
			continue
		}
		if a.BillingDate, a.UpdatedAt = date, now; a.Status == Queued {
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
