package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// rewardRow is a row of loyalty_rewards.
type rewardRow struct {
	bun.BaseModel `bun:"table:loyalty_rewards,alias:w"`

	ShopID      int64 `bun:"shop_id,pk"`
	ID          int64 `bun:"id,pk"`
	AccountID   int64
	PayerID     int64
	CustomerID  int64
	RuleID      int64
	Type        string
	State       string
	Code        string
	PlatformID  string `bun:"platform_id"`
	Description string
	Points      int64
	Value       int64
	Percent     int64
	MinPurchase int64
	Currency    string
	Combines    bool
	EntryID     int64
	EntrySeq    int64
	OrderID     int64
	OrderName   string
	Uses        int64
	Failures    int64
	Reason      string
	DueAt       int64 `bun:",nullzero"`
	CreatedAt   int64
	IssuedAt    int64
	ExpiresAt   int64
	UsedAt      int64
	UpdatedAt   int64
	Version     int64
}

func rewardRowOf(of shop.ID, t loyalty.Reward) rewardRow {
	return rewardRow{
		ShopID: int64(of), ID: int64(t.ID), AccountID: int64(t.Account), PayerID: int64(t.Payer), CustomerID: t.Customer, RuleID: int64(t.Rule), Type: string(t.Type), State: string(t.State),
		Code: t.Code, PlatformID: t.PlatformID, Description: t.Description, Points: int64(t.Points), Value: t.Value.Minor, Percent: int64(t.Percent),
		MinPurchase: t.MinPurchase.Minor, Currency: string(t.Value.Currency), Combines: t.Combines, EntryID: int64(t.Entry), EntrySeq: t.EntrySeq,
		OrderID: t.Order, OrderName: t.OrderName, Uses: int64(t.Uses), Failures: int64(t.Failures), Reason: t.Reason, DueAt: millis(t.DueAt),
		CreatedAt: millis(t.CreatedAt), IssuedAt: millis(t.IssuedAt), ExpiresAt: millis(t.ExpiresAt), UsedAt: millis(t.UsedAt), UpdatedAt: millis(t.UpdatedAt), Version: t.Version,
	}
}

func (r rewardRow) reward() loyalty.Reward {
	currency := money.Currency(r.Currency)
	return loyalty.Reward{
		ID: loyalty.RewardID(r.ID), Account: loyalty.AccountID(r.AccountID), Payer: loyalty.AccountID(r.PayerID), Customer: r.CustomerID, Rule: loyalty.RuleID(r.RuleID), Type: loyalty.RedeemType(r.Type),
		State: loyalty.State(r.State), Code: r.Code, PlatformID: r.PlatformID, Description: r.Description, Points: loyalty.Points(r.Points),
		Value: money.Amount{Minor: r.Value, Currency: currency}, Percent: int(r.Percent), MinPurchase: money.Amount{Minor: r.MinPurchase, Currency: currency},
		Combines: r.Combines, Entry: loyalty.EntryID(r.EntryID), EntrySeq: r.EntrySeq, Order: r.OrderID, OrderName: r.OrderName, Uses: int(r.Uses),
		Failures: int(r.Failures), Reason: r.Reason, DueAt: instant(r.DueAt), CreatedAt: instant(r.CreatedAt), IssuedAt: instant(r.IssuedAt),
		ExpiresAt: instant(r.ExpiresAt), UsedAt: instant(r.UsedAt), UpdatedAt: instant(r.UpdatedAt), Version: r.Version,
	}
}

func rewardsOf(rows []rewardRow) []loyalty.Reward {
	list := make([]loyalty.Reward, len(rows))
	for i, r := range rows {
		list[i] = r.reward()
	}
	return list
}

// Rewards returns rewards, locked, in the order of their ids.
func (tx *Tx) Rewards(ctx context.Context, ids []loyalty.RewardID) ([]loyalty.Reward, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return tx.rewards(ctx, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("w.id IN (?)", bun.List(ids)) })
}

// RewardsOf returns the rewards of members that are in one of some states, locked.
func (tx *Tx) RewardsOf(ctx context.Context, of []loyalty.AccountID, in ...loyalty.State) ([]loyalty.Reward, error) {
	if len(of) == 0 {
		return nil, nil
	}
	return tx.rewards(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("w.account_id IN (?)", bun.List(of)).Where("w.state IN (?)", bun.List(in))
	})
}

// RewardByCode returns the reward with a discount code, locked; none has no ID.
func (tx *Tx) RewardByCode(ctx context.Context, code string) (loyalty.Reward, error) {
	found, err := tx.rewards(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("w.code = ?", clean(code)).Where("w.code <> ''")
	})
	if err != nil || len(found) == 0 {
		return loyalty.Reward{}, err
	}
	return found[0], nil
}

func (tx *Tx) rewards(ctx context.Context, where func(*bun.SelectQuery) *bun.SelectQuery) ([]loyalty.Reward, error) {
	var rows []rewardRow
	q := where(tx.q.NewSelect().Model(&rows).Where("w.shop_id = ?", tx.of)).Order("w.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read rewards: %w", err)
	}
	return rewardsOf(rows), nil
}

// DueRewards returns at most limit rewards with something due, locked, skipping those that
// another transaction holds.
func (tx *Tx) DueRewards(ctx context.Context, now time.Time, limit int) ([]loyalty.Reward, error) {
	var rows []rewardRow
	q := tx.q.NewSelect().Model(&rows).Where("w.shop_id = ?", tx.of).Where("w.due_at <= ?", millis(now)).Order("w.due_at", "w.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the rewards that are due: %w", err)
	}
	return rewardsOf(rows), nil
}

// PutReward inserts a reward with a Version of 0 and writes another that is still
// what was read.
func (tx *Tx) PutReward(ctx context.Context, t loyalty.Reward) error {
	row := rewardRowOf(tx.of, t)
	if t.Version == 0 {
		row.Version = 1
		_, err := insert(ctx, tx, []rewardRow{row}, "")
		return err
	}
	n, err := update(ctx, tx, []rewardRow{row})
	if err == nil && n != 1 {
		return changed("loyaltyReward", "The reward")
	}
	return err
}
