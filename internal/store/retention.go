package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
)

var _ retention.Tx = (*Tx)(nil)

// Retention returns the store of retention activities.
func (db *DB) Retention() retention.Store {
	return Scope[retention.Tx]{db, func(tx *Tx) retention.Tx { return tx }}
}

// retentionRow is a row of retention_activities.
type retentionRow struct {
	bun.BaseModel `bun:"table:retention_activities,alias:r"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	ContractID int64
	CustomerID int64
	OccurredAt int64
	Action     string
	Reason     string
	Discount   string
	Info       string
}

// RetentionsOf returns what is kept of a contract, newest first.
func (tx *Tx) RetentionsOf(ctx context.Context, c contract.ID) ([]retention.Activity, error) {
	var rows []retentionRow
	err := tx.q.NewSelect().Model(&rows).Where("r.shop_id = ?", tx.of).Where("r.contract_id = ?", c).Order("r.id DESC").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the retention activities of contract %d: %w", c, err)
	}
	list := make([]retention.Activity, len(rows))
	for i, r := range rows {
		list[i] = retention.Activity{
			ID: retention.ID(r.ID), Contract: contract.ID(r.ContractID), Customer: r.CustomerID, At: instant(r.OccurredAt),
			Details: retention.Details{Action: r.Action, Reason: r.Reason, Discount: r.Discount, Info: r.Info},
		}
	}
	return list, nil
}

// AddRetention inserts an activity and gives it its ID.
func (tx *Tx) AddRetention(ctx context.Context, a *retention.Activity) error {
	id, err := tx.db.ids.take(1)
	if err != nil {
		return err
	}
	row := retentionRow{
		ShopID: int64(tx.of), ID: id, ContractID: int64(a.Contract), CustomerID: a.Customer, OccurredAt: millis(a.At),
		Action: a.Action, Reason: a.Reason, Discount: a.Discount, Info: a.Info,
	}
	if _, err := insert(ctx, tx, []retentionRow{row}, ""); err != nil {
		return err
	}
	a.ID = retention.ID(id)
	return nil
}

// DeleteRetentions forgets activities.
func (tx *Tx) DeleteRetentions(ctx context.Context, ids []retention.ID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.q.NewDelete().Model((*retentionRow)(nil)).Where("r.shop_id = ?", tx.of).Where("r.id IN (?)", bun.List(ids)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget %d retention activities: %w", len(ids), err)
	}
	return nil
}
