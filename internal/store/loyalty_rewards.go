package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/loyalty"
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

func (r *rewardRow) Columns(m *mapping, t *loyalty.Reward) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &t.ID)
	mapInt(m, &r.AccountID, &t.Account)
	mapInt(m, &r.PayerID, &t.Payer)
	mapSame(m, &r.CustomerID, &t.Customer)
	mapInt(m, &r.RuleID, &t.Rule)
	mapText(m, &r.Type, &t.Type)
	mapText(m, &r.State, &t.State)
	mapText(m, &r.Code, &t.Code)
	mapText(m, &r.PlatformID, &t.PlatformID)
	mapText(m, &r.Description, &t.Description)
	mapInt(m, &r.Points, &t.Points)
	mapText(m, &r.Currency, &t.Value.Currency)
	mapAmount(m, &r.Value, &t.Value, t.Value.Currency)
	mapInt(m, &r.Percent, &t.Percent)
	mapAmount(m, &r.MinPurchase, &t.MinPurchase, t.Value.Currency)
	mapSame(m, &r.Combines, &t.Combines)
	mapInt(m, &r.EntryID, &t.Entry)
	mapSame(m, &r.EntrySeq, &t.EntrySeq)
	mapSame(m, &r.OrderID, &t.Order)
	mapText(m, &r.OrderName, &t.OrderName)
	mapInt(m, &r.Uses, &t.Uses)
	mapInt(m, &r.Failures, &t.Failures)
	mapText(m, &r.Reason, &t.Reason)
	mapTime(m, &r.DueAt, &t.DueAt)
	mapTime(m, &r.CreatedAt, &t.CreatedAt)
	mapTime(m, &r.IssuedAt, &t.IssuedAt)
	mapTime(m, &r.ExpiresAt, &t.ExpiresAt)
	mapTime(m, &r.UsedAt, &t.UsedAt)
	mapTime(m, &r.UpdatedAt, &t.UpdatedAt)
	mapSame(m, &r.Version, &t.Version)
	m.within(r.ID)
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
	return readRows[loyalty.Reward](rows)
}

// DueRewards returns at most limit rewards with something due, locked, skipping those that
// another transaction holds.
func (tx *Tx) DueRewards(ctx context.Context, now time.Time, limit int) ([]loyalty.Reward, error) {
	var rows []rewardRow
	q := tx.q.NewSelect().Model(&rows).Where("w.shop_id = ?", tx.of).Where("w.due_at <= ?", millis(now)).Order("w.due_at", "w.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the rewards that are due: %w", err)
	}
	return readRows[loyalty.Reward](rows)
}

// PutReward inserts a reward with a Version of 0 and writes another that is still
// what was read.
func (tx *Tx) PutReward(ctx context.Context, t loyalty.Reward) error {
	row, err := rowOf[rewardRow](tx.of, t)
	if err != nil {
		return err
	}
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
