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

func (r *unreadRow) Columns(m *mapping, u *contract.Unread) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ContractID, &u.ID)
	mapText(m, &r.Reason, &u.Reason)
	mapTime(m, &r.SinceAt, &u.Since)
	mapTime(m, &r.SeenAt, &u.SeenAt)
}

// PutUnread notes contracts that cannot be taken over. One that was noted before
// keeps since when.
func (tx *Tx) PutUnread(ctx context.Context, list []contract.Unread) error {
	rows, err := rowsOf[unreadRow](tx.of, list...)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, "ON CONFLICT (shop_id, contract_id) DO UPDATE SET reason = EXCLUDED.reason, seen_at = EXCLUDED.seen_at")
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
	return readRows[contract.Unread](rows)
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
