package loyalty

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// The platform sends no webhook for orders without a contract. The service queries the
// order that used a code when the member's contracts are charged, before the code
// expires, and otherwise at growing intervals within these bounds.
const (
	minUseCheck = time.Hour
	maxUseCheck = 24 * time.Hour
)

// nextUseCheck returns when to query next whether the code was used.
func (r Reward) nextUseCheck(now time.Time) time.Time {
	at := now.Add(min(max(now.Sub(r.IssuedAt)/2, minUseCheck), maxUseCheck))
	if !r.ExpiresAt.IsZero() && r.ExpiresAt.After(now) && r.ExpiresAt.Before(at) {
		return r.ExpiresAt
	}
	return at
}

// codeUse is an order that used a discount code.
type codeUse struct {
	order platform.OrderRef
	at    time.Time
}

// checkUse queries whether an issued code was used. An unused code that has ended expires.
func (s *Service) checkUse(ctx context.Context, of shop.ID, id RewardID) error {
	r, store, err := s.reward(ctx, of, id)
	if err != nil || r.State != Issued {
		return err
	}
	var found codeUse
	var failed error
	found.order, found.at, failed = s.Platform.OrderWithCode(ctx, store.At(), r.Code)
	if refusal, refused := errors.AsType[*platform.Refusal](failed); refused {
		s.Log.WarnContext(ctx, "the platform does not say whether a reward was used", "shop", store.Domain, "reward", id, "refusal", refusal.Error())
		failed = nil // a retry would get the same answer
	}
	return s.onReward(ctx, of, id, func(d *memberTx, r *Reward) error {
		switch {
		case r.State != Issued:
		case failed != nil:
			r.Failures++
			r.DueAt = d.now.Add(min(firstRetry<<min(r.Failures-1, maxDoubles), maxRetry))
		case found.order.ID != 0:
			return d.markUsed(ctx, r, found)
		case !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(d.now):
			r.DueAt = time.Time{}
			return r.move(Lapsed)
		default:
			r.Failures, r.DueAt = 0, r.nextUseCheck(d.now)
		}
		return nil
	})
}

// markUsed records the order that used a reward.
func (d *memberTx) markUsed(ctx context.Context, r *Reward, by codeUse) error {
	if err := r.move(Used); err != nil {
		return err
	}
	r.UsedAt, r.Order, r.OrderName, r.Uses, r.Failures, r.DueAt = by.at, by.order.ID, by.order.Name, 1, 0, time.Time{}
	accounts, err := d.tx.Accounts(ctx, []AccountID{r.Account})
	if err != nil || len(accounts) == 0 {
		return err
	}
	return d.record(ctx, activity.System, accounts[0], note{What: "reward " + string(StatusUsed), Reward: int64(r.ID), Order: by.order.Name})
}

// findUse queries whether an order used a reward before its code was ended. A reward
// that the merchant marked as used before is not queried: the merchant decides.
func (s *Service) findUse(ctx context.Context, store shop.Shop, r Reward) (found codeUse, err error) {
	if r.Uses > 0 || r.PlatformID == "" {
		return codeUse{}, nil
	}
	found.order, found.at, err = s.Platform.OrderWithCode(ctx, store.At(), r.Code)
	if _, refused := errors.AsType[*platform.Refusal](err); refused {
		err = nil
	}
	return found, err
}

// checkRewardsOf makes the issued rewards of customers with new orders due for a check.
func (d *memberTx) checkRewardsOf(ctx context.Context, ordered []Fact) error {
	var customers []int64
	for _, f := range ordered {
		if (f.Type == Purchase || f.Type == Renewal) && !slices.Contains(customers, f.Customer.Customer) {
			customers = append(customers, f.Customer.Customer)
		}
	}
	accounts, err := d.tx.AccountsOf(ctx, customers)
	if err != nil {
		return err
	}
	ids := make([]AccountID, len(accounts))
	for i, a := range accounts {
		ids[i] = a.ID
	}
	rewards, err := d.tx.RewardsOf(ctx, ids, Issued)
	if err != nil {
		return err
	}
	for _, r := range rewards {
		r.DueAt, r.UpdatedAt = d.now, d.now
		if err := d.tx.PutReward(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
