package plan

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Repair is the task of finishing changes that were left behind.
type Repair struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Repair) Kind() string { return "plan_repair" }

// repairsAtOnce is how many groups one task takes up; the next takes the others.
const repairsAtOnce = 100

// Repair finishes the changes of a shop's groups that a crash or a lost answer
// left behind. A group that the platform made is adopted; one that it did not
// create is deleted, since no caller has seen it.
func (s *Service) Repair(ctx context.Context, of shop.ID) error {
	store, err := s.shop(ctx, of)
	if err != nil {
		return err
	}
	var due []ID
	err = s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		due, err = tx.WaitingPlanGroups(ctx, s.Clock.Now(), repairsAtOnce)
		return err
	})
	if err != nil {
		return err
	}
	var failed error
	for _, id := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed = errors.Join(failed, s.repair(ctx, store, id))
	}
	return failed
}

// repair finishes the change of one group, if it is still due.
func (s *Service) repair(ctx context.Context, store shop.Shop, id ID) error {
	now := s.Clock.Now()
	var g Group
	err := s.Store.Update(ctx, store.ID, func(tx Tx) (err error) {
		if g, err = tx.PlanGroup(ctx, id); err != nil || g.State == Synced || g.DueAt.After(now) {
			g.State = Synced
			return err
		}
		g.DueAt = now.Add(lease)
		return tx.PutPlanGroup(ctx, &g)
	})
	if err != nil || g.State == Synced {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if !store.Connected {
		return s.postpone(ctx, store.ID, g, outage)
	}
	answer, err := s.sync(ctx, store, &g, true)
	switch {
	case err == nil && g.Pending.Undo, platform.Definite(err) && g.Pending.Undo:
		return s.restore(ctx, store.ID, g)
	case err == nil:
		_, err = s.settle(ctx, store.ID, g, answer)
		return err
	case platform.Definite(err):
		return s.revert(ctx, store, g)
	case errors.Is(err, platform.ErrDisconnected):
		return s.postpone(ctx, store.ID, g, outage)
	default:
		s.Log.WarnContext(ctx, "a plan group is repaired later", "shop", store.Domain, "group", g.ID, "error", err)
		return s.postpone(ctx, store.ID, g, settling)
	}
}
