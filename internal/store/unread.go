package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// unreadRow is a row of unread_contracts.
type unreadRow struct {
	bun.BaseModel `bun:"table:unread_contracts,alias:u"`

	ShopID     int64 `bun:"shop_id,pk"`
	ContractID int64 `bun:"contract_id,pk"`
	Reason     string
	SinceAt    int64
	SeenAt     int64
}

// PutUnread notes contracts that cannot be taken over. One that was noted before
// keeps since when.
func (tx *Tx) PutUnread(ctx context.Context, list []contract.Unread) error {
	rows := make([]unreadRow, len(list))
	for i, u := range list {
		rows[i] = unreadRow{ShopID: int64(tx.of), ContractID: int64(u.ID), Reason: clean(u.Reason), SinceAt: millis(u.Since), SeenAt: millis(u.SeenAt)}
	}
	_, err := insert(ctx, tx, rows, "ON CONFLICT (shop_id, contract_id) DO UPDATE SET reason = EXCLUDED.reason, seen_at = EXCLUDED.seen_at")
	return err
}

// UnreadContracts returns at most limit contracts that cannot be taken over, by id,
// after one.
func (tx *Tx) UnreadContracts(ctx context.Context, after contract.ID, limit int) ([]contract.Unread, error) {
	var rows []unreadRow
	err := tx.q.NewSelect().Model(&rows).Where("u.shop_id = ?", tx.of).Where("u.contract_id > ?", after).Order("u.contract_id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the contracts that cannot be read: %w", err)
	}
	list := make([]contract.Unread, len(rows))
	for i, r := range rows {
		list[i] = contract.Unread{ID: contract.ID(r.ContractID), Reason: r.Reason, Since: instant(r.SinceAt), SeenAt: instant(r.SeenAt)}
	}
	return list, nil
}

// DeleteUnread removes the notes of contracts which were seen last before an instant.
func (tx *Tx) DeleteUnread(ctx context.Context, ids []contract.ID, before time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.q.NewDelete().Model((*unreadRow)(nil)).Where("u.shop_id = ?", tx.of).Where("u.contract_id IN (?)", bun.List(ids)).
		Where("u.seen_at < ?", millis(before)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget contracts that could not be read: %w", err)
	}
	return nil
}
