package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// SetupMark returns when a step of the setup was first seen to work; zero: it was not.
func (s Shops) SetupMark(ctx context.Context, of shop.ID, step string) (time.Time, error) {
	var at int64
	err := s.db.in(of).NewSelect().Table("setup_marks").Column("at").Where("shop_id = ?", of).Where("step = ?", step).Scan(ctx, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the setup of shop %d: %w", of, err)
	}
	return instant(at), nil
}

// MarkSetup notes when a step of the setup was first seen to work.
func (s Shops) MarkSetup(ctx context.Context, of shop.ID, step string, at time.Time) error {
	return s.db.Update(ctx, of, func(tx *Tx) error {
		_, err := tx.q.NewRaw("INSERT INTO setup_marks (shop_id, step, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", of, step, millis(at)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note the setup of shop %d: %w", of, err)
		}
		return nil
	})
}

// HasPlans reports whether a store has a group of plans.
func (s Shops) HasPlans(ctx context.Context, of shop.ID) (bool, error) {
	return s.has(ctx, of, "plan_groups")
}

// HasContracts reports whether a store has a contract.
func (s Shops) HasContracts(ctx context.Context, of shop.ID) (bool, error) {
	return s.has(ctx, of, "contracts")
}

func (s Shops) has(ctx context.Context, of shop.ID, table string) (bool, error) {
	var n int
	err := s.db.in(of).NewSelect().TableExpr("?", ident(table)).ColumnExpr("1").Where("shop_id = ?", of).Limit(1).Scan(ctx, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s of shop %d: %w", table, of, err)
	}
	return true, nil
}
