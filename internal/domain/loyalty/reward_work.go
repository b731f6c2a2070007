package loyalty

import (
	"context"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// processRewards handles the rewards that are due.
func (s *Service) processRewards(ctx context.Context, of shop.ID) error {
	for {
		var due []Reward
		err := s.Store.Update(ctx, of, func(tx Tx) error {
			now := s.Clock.Now()
			var err error
			if due, err = tx.DueRewards(ctx, now, batchSize); err != nil {
				return err
			}
			for i := range due {
				r := &due[i]
				r.DueAt, r.UpdatedAt = now.Add(lease), now
				if err := tx.PutReward(ctx, *r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("claim due rewards: %w", err)
		}
		for _, r := range due {
			switch r.State {
			case Reserved:
				err = s.issue(ctx, of, r.ID)
			case Issued:
				err = s.checkUse(ctx, of, r.ID)
			case Returning:
				err = s.returnReward(ctx, of, r.ID)
			}
			if err != nil && !fault.Is(err, fault.FailedPrecondition) && !fault.Is(err, fault.Unavailable) {
				return err
			}
		}
		if len(due) < batchSize || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// issue creates a reserved reward's discount code on the platform. It can be repeated:
// the code stays the same. A refusal refunds the points and is returned.
func (s *Service) issue(ctx context.Context, of shop.ID, id RewardID) error {
	r, store, err := s.reward(ctx, of, id)
	if err != nil || r.State != Reserved {
		return err
	}
	platformID, failed := s.Platform.CreateDiscountCode(ctx, store.At(), platform.DiscountCode{
		Code: r.Code, Title: "Loyalty reward " + fmt.Sprint(r.ID), Customer: r.Customer, Percent: r.Percent, Amount: r.Value, MinPurchase: r.MinPurchase,
		StartsAt: r.CreatedAt, EndsAt: r.ExpiresAt, Combines: r.Combines,
	})
	refusal, refused := errors.AsType[*platform.Refusal](failed)
	err = s.onReward(ctx, of, id, func(d *memberTx, r *Reward) error {
		if r.State != Reserved {
			return nil
		}
		switch {
		case failed == nil:
			r.PlatformID, r.IssuedAt, r.Failures = platformID, d.now, 0
			r.DueAt = r.nextUseCheck(d.now)
			if err := r.move(Issued); err != nil {
				return err
			}
			return d.issued(ctx, *r)
		case refused:
			r.Reason = refusal.Message
			return d.cancel(ctx, r, "the platform refused: "+refusal.Message)
		}
		r.Failures++
		r.DueAt = d.now.Add(min(firstRetry<<min(r.Failures-1, maxDoubles), maxRetry))
		return nil
	})
	switch {
	case err != nil:
		return err
	case refused:
		return fault.Because(fault.FailedPrecondition, failed, "the platform refused the discount code: %s. The points were given back", refusal.Message).Entity("loyaltyReward").Code("rewardRefused")
	case failed != nil:
		s.Log.WarnContext(ctx, "a reward waits for the platform", "shop", store.Domain, "reward", id, "error", failed)
	}
	return nil
}

// returnReward ends a reward's code on the platform and refunds its points, unless an
// order used it. It ends the code first, so that no order can use it after the query.
func (s *Service) returnReward(ctx context.Context, of shop.ID, id RewardID) error {
	r, store, err := s.reward(ctx, of, id)
	if err != nil || r.State != Returning {
		return err
	}
	failed := s.endCode(ctx, store, r)
	var used codeUse
	if failed == nil {
		used, failed = s.findUse(ctx, store, r)
	}
	if failed == nil && used.order.ID != 0 {
		if err := s.onReward(ctx, of, id, func(d *memberTx, r *Reward) error { return d.markUsed(ctx, r, used) }); err != nil {
			return err
		}
		return fault.New(fault.FailedPrecondition, "the reward %d was used by order %s before it could be refunded: its points stay spent", id, used.order.Name).
			Entity("loyaltyReward").Code("rewardStatus").Field("status")
	}
	err = s.onReward(ctx, of, id, func(d *memberTx, r *Reward) error {
		if r.State != Returning {
			return nil
		}
		if failed == nil {
			return d.cancel(ctx, r, "given back")
		}
		r.Failures++
		r.DueAt = d.now.Add(min(firstRetry<<min(r.Failures-1, maxDoubles), maxRetry))
		return nil
	})
	if failed != nil {
		s.Log.WarnContext(ctx, "a reward waits to be ended at the platform", "shop", store.Domain, "reward", id, "error", failed)
	}
	return err
}

// endCode ends a reward's discount code on the platform.
func (s *Service) endCode(ctx context.Context, store shop.Shop, r Reward) error {
	if r.PlatformID == "" {
		return nil
	}
	err := s.Platform.EndDiscountCode(ctx, store.At(), r.PlatformID)
	if platform.Definite(err) {
		return nil // the code no longer exists
	}
	return err
}
