package billing

import (
	"context"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Platform is what billing needs of the commerce platform.
type Platform interface {
	platform.Charger
	platform.Scheduler
}

// Service charges what is due and carries out what people ask of attempts.
type Service struct {
	Store    Store
	Platform Platform
	Clock    clock.Clock
	Log      *slog.Logger
	Policy   Policy
}

// Work is the task of acting on everything of a shop that is due.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "billing_work" }

// Refill brings contracts up to date after their series or some of their
// attempts changed: their queues are filled and their next billing dates follow.
// The contracts' progress is written, in the caller's transaction.
func Refill(ctx context.Context, tx Tx, s shop.Shop, contracts []contract.Contract, now time.Time) error {
	if len(contracts) == 0 {
		return nil
	}
	cal, err := s.Calendar()
	if err != nil {
		return err
	}
	ids := make([]contract.ID, len(contracts))
	for i, c := range contracts {
		ids[i] = c.ID
	}
	queues, err := tx.Queues(ctx, ids)
	if err != nil {
		return err
	}
	var missing []Attempt
	for i := range contracts {
		c := &contracts[i]
		q := queues[c.ID]
		added := fill(*c, q, cal, now)
		missing = append(missing, added...)
		c.NextBillingDate = q.Next
		if q.Next.IsZero() && len(added) > 0 {
			c.NextBillingDate = added[0].BillingDate
		}
		c.UpdatedAt = now
	}
	if err := tx.PutAttempts(ctx, missing); err != nil {
		return err
	}
	return tx.PutProgress(ctx, contracts)
}
