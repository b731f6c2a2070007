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

// Nobody tells of an order without a contract. The platform is asked for the order
// that used a code: when the member's contracts are charged, before the code ends,
// and otherwise less and less often.
const (
	soonest = time.Hour
	latest  = 24 * time.Hour
)

// nextUseCheck returns when the platform is asked next whether a code was used.
func (r Reward) nextUseCheck(now time.Time) time.Time {
	at := now.Add(min(max(now.Sub(r.IssuedAt)/2, soonest), latest))
	if !r.ExpiresAt.IsZero() && r.ExpiresAt.After(now) && r.ExpiresAt.Before(at) {
		return r.ExpiresAt
	}
	return at
}

// use is an order that used a code.
type use struct {
	order platform.OrderRef
	at    time.Time
}

// checkUse asks whether a code was used. One that ended without is over.
func (s *Service) checkUse(ctx context.Context, of shop.ID, id RewardID) error {
	r, store, err := s.reward(ctx, of, id)
	if err != nil || r.State != Issued {
		return err
	}
	var found use
	var failed error
	found.order, found.at, failed = s.Platform.OrderWithCode(ctx, store.At(), r.Code)
	if refusal, refused := errors.AsType[*platform.Refusal](failed); refused {
		s.Log.WarnContext(ctx, "the platform does not say whether a reward was used", "shop", store.Domain, "reward", id, "refusal", refusal.Error())
		failed = nil // it will not say later either
	}
	return s.onReward(ctx, of, id, func(d *memberTx, r *Reward) error {
		switch {
		case r.State != Issued:
		case failed != nil:
			r.Failures++
			r.DueAt = d.now.Add(min(firstWait<<min(r.Failures-1, maxDoubles), longest))
		case found.order.ID != 0:
			return d.used(ctx, r, found)
		case !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(d.now):
			r.DueAt = time.Time{}
			return r.move(Lapsed)
		default:
			r.Failures, r.DueAt = 0, r.nextUseCheck(d.now)
		}
		return nil
	})
}

// used notes the order that used a reward.
func (d *memberTx) used(ctx context.Context, r *Reward, by use) error {
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

// findUse asks whether a reward that is being taken away was used before. Of one
// that is known to be used the merchant decides.
func (s *Service) findUse(ctx context.Context, store shop.Shop, r Reward) (found use, err error) {
	if r.Uses > 0 || r.PlatformID == "" {
		return use{}, nil
	}
	found.order, found.at, err = s.Platform.OrderWithCode(ctx, store.At(), r.Code)
	if _, refused := errors.AsType[*platform.Refusal](err); refused {
		err = nil
	}
	return found, err
}

// lookAfter lets the rewards be looked at of those who have ordered something.
func (d *memberTx) lookAfter(ctx context.Context, ordered []Fact) error {
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
