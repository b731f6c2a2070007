package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// bulkItemRow is a row of bulk_items.
type bulkItemRow struct {
	bun.BaseModel `bun:"table:bulk_items,alias:i"`

	ShopID     int64 `bun:"shop_id,pk"`
	JobID      int64 `bun:"job_id,pk"`
	ContractID int64 `bun:"contract_id,pk"`
	Status     string
	DueAt      int64 `bun:",nullzero"`
	Tries      int64
	AttemptID  int64
	MoveTo     int64
	Discount   string
	Changed    bool
	Code       string
	Reason     string
	EndedAt    int64
}

func (r *bulkItemRow) Columns(m *mapping, i *bulk.Item) {
	m.shop(&r.ShopID)
	mapInt(m, &r.JobID, &i.Job)
	mapInt(m, &r.ContractID, &i.Contract)
	mapText(m, &r.Status, &i.Status)
	mapTime(m, &r.DueAt, &i.DueAt)
	mapInt(m, &r.Tries, &i.Tries)
	mapInt(m, &r.AttemptID, &i.Intent.Attempt)
	mapTime(m, &r.MoveTo, &i.Intent.Date)
	mapText(m, &r.Discount, &i.Intent.Discount)
	mapSame(m, &r.Changed, &i.Changed)
	mapText(m, &r.Code, &i.Code)
	mapText(m, &r.Reason, &i.Reason)
	mapTime(m, &r.EndedAt, &i.EndedAt)
	m.within(r.ContractID)
}

// bulkItems selects the contracts of a job.
func (tx *Tx) bulkItems(rows *[]bulkItemRow, job bulk.JobID) *bun.SelectQuery {
	return tx.q.NewSelect().Model(rows).Where("i.shop_id = ?", tx.of).Where("i.job_id = ?", job)
}

// BulkItems returns at most limit contracts of a job in a status, by id, after one.
func (tx *Tx) BulkItems(ctx context.Context, job bulk.JobID, in bulk.ItemStatus, after contract.ID, limit int) ([]bulk.Item, error) {
	var rows []bulkItemRow
	q := tx.bulkItems(&rows, job).Where("i.status = ?", in).Where("i.contract_id > ?", after).Order("i.contract_id").Limit(int64(limit))
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the contracts of bulk action %d: %w", job, err)
	}
	return readRows[bulk.Item](rows)
}

// AddBulkItems adds contracts that wait to a job and returns how many it did not have.
func (tx *Tx) AddBulkItems(ctx context.Context, job bulk.JobID, due time.Time, contracts []contract.ID) (int, error) {
	rows := make([]bulkItemRow, len(contracts))
	for n, id := range contracts {
		rows[n] = bulkItemRow{ShopID: int64(tx.of), JobID: int64(job), ContractID: int64(id), Status: string(bulk.Waiting), DueAt: millis(due)}
	}
	added, err := insert(ctx, tx, rows, "ON CONFLICT DO NOTHING")
	return int(added), err
}

// DueBulkItems returns at most limit contracts of a job that are due, locked, passing over
// those that another transaction holds; with begun, only those that were begun.
func (tx *Tx) DueBulkItems(ctx context.Context, job bulk.JobID, now time.Time, begun bool, limit int) ([]bulk.Item, error) {
	var rows []bulkItemRow
	q := tx.bulkItems(&rows, job).Where("i.due_at <= ?", millis(now)).Order("i.due_at", "i.contract_id").Limit(int64(limit))
	if begun {
		q = q.Where("i.status = ?", bulk.Begun)
	}
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the contracts of bulk action %d that are due: %w", job, err)
	}
	return readRows[bulk.Item](rows)
}

// NextBulkItem returns when the next contract of a job is due; zero: all are settled. With
// begun, only those that were begun count.
func (tx *Tx) NextBulkItem(ctx context.Context, job bulk.JobID, begun bool) (time.Time, error) {
	var next int64
	q := tx.q.NewSelect().Model((*bulkItemRow)(nil)).ColumnExpr("COALESCE(MIN(i.due_at), 0)").Where("i.shop_id = ?", tx.of).Where("i.job_id = ?", job).Where("i.due_at IS NOT NULL")
	if begun {
		q = q.Where("i.status = ?", bulk.Begun)
	}
	if err := q.Scan(ctx, &next); err != nil {
		return time.Time{}, fmt.Errorf("find when bulk action %d goes on: %w", job, err)
	}
	return instant(next), nil
}

// BulkItemsOf returns the given contracts of a job, locked, by id.
func (tx *Tx) BulkItemsOf(ctx context.Context, job bulk.JobID, contracts []contract.ID) ([]bulk.Item, error) {
	var rows []bulkItemRow
	q := tx.bulkItems(&rows, job).Where("i.contract_id IN (?)", bun.List(contracts)).Order("i.contract_id")
	if err := tx.locked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read contracts of bulk action %d: %w", job, err)
	}
	return readRows[bulk.Item](rows)
}

// PutBulkItems writes contracts that were read in this transaction.
func (tx *Tx) PutBulkItems(ctx context.Context, items []bulk.Item) error {
	rows, err := rowsOf[bulkItemRow](tx.of, items...)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, `ON CONFLICT (shop_id, job_id, contract_id) DO UPDATE SET status = excluded.status, due_at = excluded.due_at, tries = excluded.tries,
		attempt_id = excluded.attempt_id, move_to = excluded.move_to, discount = excluded.discount, changed = excluded.changed, code = excluded.code, reason = excluded.reason, ended_at = excluded.ended_at`)
	return err
}

// MarkBulkChanged marks contracts of a job, and those of billing attempts, as changed.
func (tx *Tx) MarkBulkChanged(ctx context.Context, job bulk.JobID, contracts []contract.ID, attempts []int64) error {
	q := tx.q.NewUpdate().Model((*bulkItemRow)(nil)).Set("changed = ?", true).Where("shop_id = ?", tx.of).Where("job_id = ?", job)
	if len(attempts) > 0 {
		var of []contract.ID
		err := tx.q.NewSelect().TableExpr("attempts AS a").Column("a.contract_id").Where("a.shop_id = ?", tx.of).Where("a.id IN (?)", bun.List(attempts)).Scan(ctx, &of)
		if err != nil {
			return fmt.Errorf("find the contracts of attempts: %w", err)
		}
		contracts = append(contracts, of...)
	}
	if _, err := q.Where("contract_id IN (?)", bun.List(contracts)).Exec(ctx); err != nil {
		return fmt.Errorf("mark contracts of bulk action %d: %w", job, err)
	}
	return nil
}
