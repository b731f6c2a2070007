package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var (
	_ lifecycle.Finder = (*DB)(nil)
	_ create.Creations = (*DB)(nil)
)

// ContractsToAmend returns at most limit contracts of the shop whose AmendAt is at
// or before now, earliest first.
func (db *DB) ContractsToAmend(ctx context.Context, of shop.ID, now time.Time, limit int) ([]contract.Contract, error) {
	var rows []contractRow
	err := db.in(of).NewSelect().Model(&rows).Where("c.shop_id = ?", of).Where("c.amend_at <= ?", millis(now)).
		Order("c.amend_at", "c.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the contracts that wait for a change: %w", err)
	}
	return readRows[contract.Contract](rows)
}

// ShopsToAmend returns at most limit shops that have contracts whose AmendAt is at
// or before now, the longest waiting first.
func (s Shops) ShopsToAmend(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, toAmend, now, limit)
}

// creationRow is a row of contract_creations.
type creationRow struct {
	bun.BaseModel `bun:"table:contract_creations,alias:n"`

	ShopID      int64  `bun:"shop_id,pk"`
	Request     string `bun:"request,pk"`
	RequestedAt int64
	ExpiresAt   int64
	ContractID  int64
}

// putCreation replaces what is noted of a request.
const putCreation = `ON CONFLICT (shop_id, request) DO UPDATE SET requested_at = EXCLUDED.requested_at, expires_at = EXCLUDED.expires_at, contract_id = EXCLUDED.contract_id`

// Creation returns what is known of a request by which a contract is made, and that may be repeated at an instant.
func (db *DB) Creation(ctx context.Context, of shop.ID, request string, now time.Time) (create.Creation, error) {
	known := create.Creation{Request: request}
	err := db.View(ctx, of, func(tx *Tx) error {
		var row creationRow
		err := tx.q.NewSelect().Model(&row).Where("n.shop_id = ?", tx.of).Where("n.request = ?", request).Where("n.expires_at > ?", millis(now)).Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read what a request has made: %w", err)
		}
		known.At, known.Contract = instant(row.RequestedAt), contract.ID(row.ContractID)
		return nil
	})
	return known, err
}

// PutCreation notes which contract a request has, or that it was given up.
func (db *DB) PutCreation(ctx context.Context, of shop.ID, c create.Creation) error {
	return db.Update(ctx, of, func(tx *Tx) error {
		return tx.putCreation(ctx, c, "contract_creations.contract_id IN (0, EXCLUDED.contract_id)")
	})
}

// putCreation notes a request in place of what is noted where the condition holds, or where that has expired.
func (tx *Tx) putCreation(ctx context.Context, c create.Creation, where string) error {
	row := creationRow{ShopID: int64(tx.of), Request: c.Request, RequestedAt: millis(c.At), ExpiresAt: millis(c.At.Add(idempotency.AnswerTTL)), ContractID: int64(c.Contract)}
	noted, err := insert(ctx, tx, []creationRow{row}, fmt.Sprintf("%s WHERE (%s) OR contract_creations.expires_at <= %d", putCreation, where, millis(c.At)))
	switch {
	case err != nil:
		return err
	case noted == 0:
		return fault.New(fault.Unavailable, "another process carries this request out: send it again with the same Idempotency-Key").Code(fault.InDoubt)
	}
	return tx.forgetExpired(ctx, (*creationRow)(nil), "request", c.At.Add(-create.Remembered))
}

// BeginCreation notes that a request is carried out now, unless another process has begun that.
func (db *DB) BeginCreation(ctx context.Context, of shop.ID, c create.Creation, was time.Time) error {
	return db.Update(ctx, of, func(tx *Tx) error {
		return tx.putCreation(ctx, c, fmt.Sprintf("contract_creations.contract_id = 0 AND contract_creations.requested_at = %d", millis(was)))
	})
}

// DeleteCreation deletes a request that created no contract.
func (db *DB) DeleteCreation(ctx context.Context, of shop.ID, request string) error {
	return db.Update(ctx, of, func(tx *Tx) error {
		_, err := tx.q.NewDelete().Model((*creationRow)(nil)).Where("n.shop_id = ?", tx.of).Where("n.request = ?", request).Exec(ctx)
		if err != nil {
			return fmt.Errorf("forget a request: %w", err)
		}
		return nil
	})
}
