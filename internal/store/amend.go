package store

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ amend.Chores = (*DB)(nil)

// ContractsToAmend returns at most limit contracts of the shop whose AmendAt is at
// or before now, earliest first.
func (db *DB) ContractsToAmend(ctx context.Context, of shop.ID, now time.Time, limit int) ([]contract.Contract, error) {
	var rows []contractRow
	err := db.reader.NewSelect().Model(&rows).Where("c.shop_id = ?", of).Where("c.amend_at <= ?", millis(now)).
		Order("c.amend_at", "c.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the contracts that wait for a change: %w", err)
	}
	list := make([]contract.Contract, len(rows))
	for i := range rows {
		if list[i], err = rows[i].contract(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ShopsToAmend returns at most limit shops that have contracts whose AmendAt is at
// or before now, the longest waiting first.
func (s Shops) ShopsToAmend(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, toAmend, now, limit)
}
