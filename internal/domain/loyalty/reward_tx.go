package loyalty

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// issued publishes that a reward can be used, and leaves the e-mail with its code.
func (d *memberTx) issued(ctx context.Context, r Reward) error {
	if err := d.tx.PublishMemberEvents(ctx, Event{PointsSpent, r.Customer, int64(r.ID), d.now, d.actor}); err != nil {
		return err
	}
	return d.mailReward(ctx, r)
}

// The lease and the retry delays of calls to the platform about a reward.
const (
	lease      = time.Minute // other workers wait this long for the caller
	firstRetry = time.Minute
	maxRetry   = 6 * time.Hour
	maxDoubles = 9
)

func (s *Service) reward(ctx context.Context, of shop.ID, id RewardID) (r Reward, store shop.Shop, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		var err error
		if store, err = tx.Shop(ctx); err != nil {
			return err
		}
		found, err := tx.Rewards(ctx, []RewardID{id})
		if err != nil || len(found) == 0 {
			return err
		}
		r = found[0]
		return nil
	})
	return r, store, err
}

// onReward changes a reward with do, under its lock, and writes it.
func (s *Service) onReward(ctx context.Context, of shop.ID, id RewardID, do func(*memberTx, *Reward) error) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		d, err := s.begin(ctx, tx)
		if err != nil {
			return err
		}
		found, err := tx.Rewards(ctx, []RewardID{id})
		if err != nil || len(found) == 0 {
			return err
		}
		r := found[0]
		if err := do(d, &r); err != nil {
			return err
		}
		r.UpdatedAt = d.now
		return tx.PutReward(ctx, r)
	})
}

// cancel refunds the points of a reward to the lots that paid for it. If the payer was
// merged into another member since, the refunded points move on to the reward's owner.
func (d *memberTx) cancel(ctx context.Context, r *Reward, why string) error {
	if err := r.move(Cancelled); err != nil {
		return err
	}
	r.DueAt = time.Time{}
	accounts, err := d.tx.Accounts(ctx, []AccountID{r.Payer, r.Account})
	if err != nil {
		return err
	}
	payer := slices.IndexFunc(accounts, func(a Account) bool { return a.ID == r.Payer })
	if payer < 0 {
		return nil
	}
	uses, err := d.tx.UsesOf(ctx, r.Payer, r.EntrySeq)
	if err != nil {
		return err
	}
	open, err := d.tx.OpenLots(ctx, []AccountID{r.Payer})
	if err != nil {
		return err
	}
	lots, err := d.withLots(ctx, r.Payer, open, uses)
	if err != nil {
		return err
	}
	l := d.ledger(accounts[payer], lots)
	l.Refund(Posting{Source: Source{RewardSource, fmt.Sprint(r.ID)}, Reward: r.ID, Description: "Given back: " + r.Description, Note: why}, uses)
	if len(accounts) == 1 { // the payer still owns the reward
		return d.save(ctx, l)
	}
	to, err := d.openAll(ctx, accounts[1-payer])
	if err != nil {
		return err
	}
	l.MoveTo(to, activity.Platform.By)
	return d.save(ctx, l, to)
}

// withLots adds the closed lots that uses refer to.
func (d *memberTx) withLots(ctx context.Context, of AccountID, open []Lot, uses []Use) ([]Lot, error) {
	have := make(map[int64]bool, len(open))
	for _, lot := range open {
		have[lot.Seq] = true
	}
	var missing []int64
	for _, u := range uses {
		if u.Lot != 0 && !have[u.Lot] {
			have[u.Lot] = true
			missing = append(missing, u.Lot)
		}
	}
	closed, err := d.tx.Lots(ctx, of, missing)
	return append(open, closed...), err
}
