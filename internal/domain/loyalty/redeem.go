package loyalty

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// RedeemCommand redeems points for a reward.
type RedeemCommand struct {
	Who    CustomerRef
	Rule   RuleID // 0: the rule that costs Points
	Points Points // of rules that let the member choose; 0: not given
	Actor  activity.Actor

	IdempotencyKey string // as in a PointsCommand
}

// Redeem redeems points for a reward. One commit spends the points and stores the reward.
// The platform is called afterwards, and again until it answers; a refusal refunds the
// points.
func (s *Service) Redeem(ctx context.Context, of shop.ID, cmd RedeemCommand) (Member, error) {
	var taken Reward // zero when the request was carried out before
	var store shop.Shop
	m, err := s.act(ctx, of, request{cmd.Who, cmd.IdempotencyKey, cmd.Actor}, func(d *memberTx) error {
		taken, store = Reward{}, d.shop
		rule, ok := d.program.Terms.redeemRule(cmd.Rule)
		if cmd.Rule == 0 {
			if rule, ok = d.program.Terms.redeemRuleFor(cmd.Points); !ok {
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
			if err := d.addCredit(ctx, l, c); err != nil {
				return err
			}
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		taken.Entry = l.Entries[len(l.Entries)-1].ID
		if err := d.tx.PutReward(ctx, taken); err != nil || taken.State == Reserved {
			return err // a reserved reward is published when it is issued
		}
		return d.issued(ctx, taken)
	})
	if err != nil || taken.State != Reserved {
		return m, err
	}
	ctx, cancel := afterCommit(ctx)
	defer cancel()
	if err := s.issue(platform.Interactive(ctx), of, taken.ID); err != nil {
		return Member{}, err
	}
	return s.Member(ctx, store, cmd.Who, "")
}

// price returns the cost and the value of a reward.
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

// Worth returns what the points of a rule that lets the member choose are worth.
func (r RedeemRule) Worth(c money.Currency) money.Amount { return minor(r.Value, c) }

// Unit returns one main unit of a currency, for which earn rules give points.
func Unit(c money.Currency) money.Amount { return minor(1000, c) }

// minor returns thousandths of a main unit as an amount, rounded down.
func minor(milli int64, c money.Currency) money.Amount {
	unit := money.Amount{Minor: 1, Currency: c}.Milli()
	return money.Amount{Minor: milli / unit, Currency: c}
}

// reward returns the reward that a rule gives.
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
