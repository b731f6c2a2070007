package loyalty

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// RewardCommand sets the status of a reward.
type RewardCommand struct {
	Reward    RewardID // or Code
	Code      string
	Status    RewardStatus
	Order     int64
	OrderName string
	Actor     activity.Actor
}

// SetReward sets the status of a reward: used, unused again, expired, or refunded.
func (s *Service) SetReward(ctx context.Context, of shop.ID, cmd RewardCommand) (Member, error) {
	var r Reward
	var store shop.Shop
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		d, err := s.begin(ctx, tx)
		if err != nil {
			return err
		}
		store = d.shop
		if r, err = findReward(ctx, tx, cmd); err != nil {
			return err
		}
		if r.Status() == cmd.Status {
			return fault.New(fault.FailedPrecondition, "the reward %d is %s already", r.ID, cmd.Status).Entity("loyaltyReward").Code("rewardStatus").Field("status")
		}
		if r.Type == StoreCredit {
			return fault.New(fault.FailedPrecondition, "the reward %d is store credit, which has no code", r.ID).Entity("loyaltyReward").Code("rewardStatus").Field("status")
		}
		switch cmd.Status {
		case StatusUsed:
			err = r.move(Used)
			r.UsedAt, r.Order, r.OrderName, r.DueAt = d.now, cmd.Order, cmd.OrderName, time.Time{}
			r.Uses++
		case ExpiredCode:
			err = r.move(Lapsed)
			r.DueAt = time.Time{}
		case Unused:
			err = r.move(Issued)
			r.UsedAt, r.Order, r.OrderName, r.Uses, r.DueAt = time.Time{}, 0, "", 0, r.nextUseCheck(d.now)
			if err == nil && !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(d.now) {
				err = fault.New(fault.FailedPrecondition, "the code of reward %d ended on %s", r.ID, r.ExpiresAt.Format(time.RFC3339)).Entity("loyaltyReward").Code("rewardStatus").Field("status")
			}
		case Refunded:
			err = r.move(Returning)
			r.Failures, r.DueAt = 0, d.now.Add(lease)
		}
		if err != nil {
			return err
		}
		r.UpdatedAt = d.now
		if err := tx.PutReward(ctx, r); err != nil {
			return err
		}
		accounts, err := tx.Accounts(ctx, []AccountID{r.Account})
		if err != nil || len(accounts) == 0 {
			return err
		}
		return d.record(ctx, cmd.Actor, accounts[0], note{What: "reward " + string(cmd.Status), Reward: int64(r.ID)})
	})
	if err != nil {
		return Member{}, err
	}
	ctx, cancel := afterCommit(ctx)
	defer cancel()
	if r.State == Returning {
		if err := s.returnReward(platform.Interactive(ctx), of, r.ID); err != nil {
			return Member{}, err
		}
	}
	return s.Member(ctx, store, CustomerRef{Customer: r.Customer}, "")
}

func findReward(ctx context.Context, tx Tx, cmd RewardCommand) (Reward, error) {
	missing := fault.New(fault.NotFound, "the reward does not exist").Entity("loyaltyReward").Code("rewardNotFound")
	if cmd.Reward == 0 {
		r, err := tx.RewardByCode(ctx, cmd.Code)
		if err == nil && r.ID == 0 {
			return Reward{}, missing
		}
		return r, err
	}
	found, err := tx.Rewards(ctx, []RewardID{cmd.Reward})
	if err != nil {
		return Reward{}, err
	}
	if len(found) == 0 {
		return Reward{}, missing
	}
	return found[0], nil
}
