package loyalty

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// RedeemCommand takes a reward for points.
type RedeemCommand struct {
	Who    CustomerRef
	Rule   RuleID // 0: the one that the points are for
	Points Points // of rules that let the member choose; 0: not said
	Actor  activity.Actor

	IdempotencyKey string // as in a PointsCommand
}

// Redeem takes a reward. The points are spent and the reward is noted in one
// commit; the platform is asked afterwards, and again until it answers. What it
// refuses for good gives the points back.
func (s *Service) Redeem(ctx context.Context, of shop.ID, cmd RedeemCommand) (Member, error) {
	var taken Reward // zero when the request was carried out before
	var store shop.Shop
	m, err := s.act(ctx, of, asked{cmd.Who, cmd.IdempotencyKey}, func(d *memberTx) error {
		taken, store = Reward{}, d.shop
		rule, ok := d.program.Terms.redeemRule(cmd.Rule)
		if cmd.Rule == 0 {
			if rule, ok = d.program.Terms.ruleFor(cmd.Points); !ok {
				return fault.New(fault.Invalid, "no redeem rule is for %s points: name one with pointRedeemRuleId", cmd.Points).Entity("pointRedeemRule").Code("pointsFixed").Field("points")
			}
		}
		if !ok {
			return fault.New(fault.NotFound, "redeem rule %d does not exist", cmd.Rule).Entity("pointRedeemRule").Code("redeemRuleNotFound").Field("pointRedeemRuleId")
		}
		l, err := d.open(ctx)
		if err != nil {
			return err
		}
		cost, value, err := rule.price(cmd.Points, d.shop.Currency)
		if err != nil {
			return err
		}
		n, err := d.tx.Number(ctx)
		if err != nil {
			return err
		}
		taken = rule.reward(RewardID(n), d, l.Account, cost, value)
		err = l.Spend(Posting{
			Source: Source{RewardSource, fmt.Sprint(n)}, Reward: taken.ID, Points: cost, Description: rule.Name, Actor: cmd.Actor.By,
		})
		if err != nil {
			return err
		}
		taken.EntrySeq = l.Account.Seq
		if rule.Type == StoreCredit {
			c := Credit{Source: Source{RewardSource, fmt.Sprint(n)}, Amount: value, Note: rule.Name, Actor: cmd.Actor.By}
			if err := d.give(ctx, l, c); err != nil {
				return err
			}
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		taken.Entry = l.Entries[len(l.Entries)-1].ID
		if err := d.tx.PutReward(ctx, taken); err != nil || taken.State == Reserved {
			return err // one that the platform does not have is told when it does
		}
		return d.issued(ctx, taken)
	})
	if err != nil || taken.State != Reserved {
		return m, err
	}
	ctx, cancel := afterwards(ctx)
	defer cancel()
	if err := s.issue(platform.Interactive(ctx), of, taken.ID); err != nil {
		return Member{}, err
	}
	return s.Member(ctx, store, cmd.Who, "")
}

// price returns what a reward costs and what it is worth.
func (r RedeemRule) price(chosen Points, c money.Currency) (Points, money.Amount, error) {
	bad := func(key, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity("pointRedeemRule").Code(key).Field("points")
	}
	if !r.Active {
		return 0, money.Amount{}, fault.New(fault.FailedPrecondition, "redeem rule %d is not active", r.ID).Entity("pointRedeemRule").Code("redeemRuleInactive").Field("pointRedeemRuleId")
	}
	milli := r.Value
	cost := r.Points
	if r.Type == DynamicDiscount {
		switch {
		case chosen <= 0:
			return 0, money.Amount{}, bad("pointsMissing", "redeem rule %d lets the customer choose: say how many points", r.ID)
		case chosen < r.Min:
			return 0, money.Amount{}, bad("pointsTooFew", "redeem rule %d takes at least %s points", r.ID, r.Min)
		case r.Max > 0 && chosen > r.Max:
			return 0, money.Amount{}, bad("pointsTooMany", "redeem rule %d takes at most %s points", r.ID, r.Max)
		case chosen > MaxPoints/1000:
			return 0, money.Amount{}, bad("pointsTooMany", "redeem rule %d takes at most %s points", r.ID, MaxPoints/1000)
		}
		cost, milli = chosen, int64(chosen)*r.Value/int64(r.Points) // rounds down
	} else if chosen > 0 && chosen != cost {
		return 0, money.Amount{}, bad("pointsFixed", "redeem rule %d costs %s points", r.ID, cost)
	}
	value := minor(milli, c)
	if r.Percent == 0 && value.Minor <= 0 {
		return 0, money.Amount{}, bad("pointsTooFew", "so few points are worth nothing in %s", c)
	}
	return cost, value, nil
}

// minor returns thousandths of a main unit as an amount, rounded down.
func minor(milli int64, c money.Currency) money.Amount {
	unit := money.Amount{Minor: 1, Currency: c}.Milli()
	return money.Amount{Minor: milli / unit, Currency: c}
}

// reward makes the reward that a rule gives.
func (r RedeemRule) reward(id RewardID, d *memberTx, a Account, cost Points, value money.Amount) Reward {
	t := Reward{
		ID: id, Account: a.ID, Payer: a.ID, Customer: a.Person.Customer, Rule: r.ID, Type: r.Type, State: Reserved, Description: r.Name, Points: cost, Value: value,
		Percent: r.Percent, MinPurchase: minor(r.MinPurchase, d.shop.Currency), Combines: r.WithProducts,
		Code: codeOf(r.Prefix, d.shop.Token, id, d.now), CreatedAt: d.now, UpdatedAt: d.now, DueAt: d.now.Add(lease),
	}
	if r.ValidDays > 0 {
		t.ExpiresAt = d.now.AddDate(0, 0, r.ValidDays)
	}
	if r.Type == StoreCredit { // it is given in the same commit
		t.State, t.Code, t.DueAt, t.ExpiresAt = Used, "", time.Time{}, time.Time{}
		t.IssuedAt, t.UsedAt, t.Uses = d.now, d.now, 1
	}
	return t
}

// Waits between the calls for a reward.
const (
	lease      = time.Minute // whoever calls has so long
	firstWait  = time.Minute
	longest    = 6 * time.Hour
	maxDoubles = 9
)

// processRewards works the rewards that are due.
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
			return fmt.Errorf("take up rewards: %w", err)
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

// issue makes a reserved reward at the platform. It may be called again: the
// code stays the same. A refusal gives the points back and is returned.
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
		r.DueAt = d.now.Add(min(firstWait<<min(r.Failures-1, maxDoubles), longest))
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

// returnReward ends a reward at the platform and gives its points back, unless it was
// used. The code is ended before that is asked: after it nobody can use it.
func (s *Service) returnReward(ctx context.Context, of shop.ID, id RewardID) error {
	r, store, err := s.reward(ctx, of, id)
	if err != nil || r.State != Returning {
		return err
	}
	failed := s.endCode(ctx, store, r)
	var used use
	if failed == nil {
		used, failed = s.findUse(ctx, store, r)
	}
	if failed == nil && used.order.ID != 0 {
		if err := s.onReward(ctx, of, id, func(d *memberTx, r *Reward) error { return d.used(ctx, r, used) }); err != nil {
			return err
		}
		return fault.New(fault.FailedPrecondition, "the reward %d was used by order %s before it could be taken away: its points stay spent", id, used.order.Name).
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
		r.DueAt = d.now.Add(min(firstWait<<min(r.Failures-1, maxDoubles), longest))
		return nil
	})
	if failed != nil {
		s.Log.WarnContext(ctx, "a reward waits to be ended at the platform", "shop", store.Domain, "reward", id, "error", failed)
	}
	return err
}

// endCode takes a reward's code away at the platform.
func (s *Service) endCode(ctx context.Context, store shop.Shop, r Reward) error {
	if r.PlatformID == "" {
		return nil
	}
	err := s.Platform.EndDiscountCode(ctx, store.At(), r.PlatformID)
	if platform.Definite(err) {
		return nil // there is nothing left to end
	}
	return err
}

func (s *Service) reward(ctx context.Context, of shop.ID, id RewardID) (r Reward, store shop.Shop, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
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

// onReward lets do change a reward under its lock and writes it.
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

// cancel gives back what a reward took: to whoever has the reward, by way of the member
// whose lots paid for it.
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
	if len(accounts) == 1 { // who paid for the reward has it
		return d.save(ctx, l)
	}
	to, err := d.whole(ctx, accounts[1-payer])
	if err != nil {
		return err
	}
	l.MoveTo(to, activity.Platform.By)
	return d.save(ctx, l, to)
}

// withLots adds to the open lots those closed ones that uses name.
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

// RewardCommand says what became of a reward.
type RewardCommand struct {
	Reward    RewardID // or Code
	Code      string
	Status    RewardStatus
	Order     int64
	OrderName string
	Actor     activity.Actor
}

// SetReward notes what became of a reward: it was used, is to be usable again,
// is over, or is taken away and its points given back.
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
	ctx, cancel := afterwards(ctx)
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
