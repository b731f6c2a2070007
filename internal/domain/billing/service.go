package billing

import (
	"context"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Platform is what billing needs of the commerce platform.
type Platform interface {
	platform.Charger
	platform.Scheduler
	Orders
	Annotator
}

// Orders is what billing needs to make an order what it should be before it is
// charged. The methods are those of the platform's Editor and Catalogue.
type Orders interface {
	Detail(ctx context.Context, shop platform.Shop, contract int64) (platform.Detail, error)
	EditContract(ctx context.Context, shop platform.Shop, contract int64, e platform.Edit) (platform.Detail, error)
	CycleOrder(ctx context.Context, shop platform.Shop, of platform.CycleRef) (platform.CycleOrder, error)
	EditCycle(ctx context.Context, shop platform.Shop, of platform.CycleRef, e platform.Edit) (platform.CycleOrder, error)
	DropCycleEdit(ctx context.Context, shop platform.Shop, of platform.CycleRef) error
	Variants(ctx context.Context, shop platform.Shop, ids []int64) ([]platform.Variant, error)
}

// Service charges what is due and carries out what people ask of attempts.
type Service struct {
	Store    Store
	Platform Platform
	Clock    clock.Clock
	Log      *slog.Logger
	Policy   Policy
	Plans    plan.Book // prices of selling plans; nil: none has any
	// OneCaller makes the calls of a batch one after the other, so that a
	// simulation decides what happens between them.
	OneCaller bool
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
	if err := readPutOff(ctx, tx, contracts, queues, cal); err != nil {
		return err
	}
	var missing []Attempt
	var carrying []*contract.Contract
	for i := range contracts {
		c := &contracts[i]
		if c.OneOffs > 0 {
			carrying = append(carrying, c)
		}
		q := queues[c.ID]
		added := fill(*c, q, cal, now)
		missing = append(missing, added...)
		reached := q.LastCycle
		if len(added) > 0 {
			c.QueueUpdatedAt = now
			reached = added[len(added)-1].Cycle
		}
		switch {
		case c.Status == contract.Expired:
			c.Overrides = nil
		case planned(*c):
			if last, ends := c.LastCycle(); ends {
				reached = min(reached, last) // what was to come later may come back
			}
			c.Overrides = dropWishes(c.Overrides, 1, reached) // those orders have them, or were made
		}
		c.NextBillingDate = q.Next
		for _, a := range added {
			if c.NextBillingDate.IsZero() || a.BillingDate.Before(c.NextBillingDate) {
				c.NextBillingDate = a.BillingDate
			}
		}
		predictEnd(c, q, cal, now)
		c.UpdatedAt = now
	}
	if err := tx.PutAttempts(ctx, missing); err != nil {
		return err
	}
	if err := settleOneOffs(ctx, tx, carrying, now); err != nil {
		return err
	}
	return tx.PutProgress(ctx, contracts)
}
