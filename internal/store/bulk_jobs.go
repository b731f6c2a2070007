package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var (
	_ bulk.Tx        = (*Tx)(nil)
	_ bulk.MarkTx    = (*Tx)(nil)
	_ bulk.Directory = (*DB)(nil)

	dueBulkJobs = waiting{"bulk_jobs", "due_at"}
)

// Bulk returns the store of the actions on many contracts.
func (db *DB) Bulk() bulk.Store {
	return readScope(db, func(tx *Tx) bulk.Tx { return tx }, func(tx *Tx) bulk.ReadTx { return tx })
}

// DueBulkShops returns at most limit shops with actions on many contracts that are due.
func (s Shops) DueBulkShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, dueBulkJobs, now, limit)
}

// bulkJobRow is a row of bulk_jobs.
type bulkJobRow struct {
	bun.BaseModel `bun:"table:bulk_jobs,alias:j"`

	ShopID      int64 `bun:"shop_id,pk"`
	ID          int64 `bun:"id,pk"`
	Kind        string
	Action      string
	Selection   string
	Status      string
	Request     string
	StartedBy   string
	ClientIP    string
	RetryOf     int64
	Total       int64
	Collected   int64
	CollectedTo int64
	Succeeded   int64
	Failed      int64
	CreatedAt   int64
	StartedAt   int64
	EndedAt     int64
	DueAt       int64 `bun:",nullzero"`
	Version     int64
}

func (r *bulkJobRow) Columns(m *mapping, j *bulk.Job) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &j.ID)
	mapJSON(m, "action", &r.Action, &j.Action)
	mapText(m, &r.Kind, &j.Action.Kind)
	mapVia(m, "selection", &r.Selection, &j.Selection, selectionText, parseJSON)
	mapText(m, &r.Status, &j.Status)
	mapText(m, &r.Request, &j.Key)
	mapText(m, &r.StartedBy, &j.By.By)
	mapText(m, &r.ClientIP, &j.By.ClientIP)
	if !m.toRow {
		j.By.Source = activity.MerchantPortalBulkAutomation
	}
	mapInt(m, &r.RetryOf, &j.RetryOf)
	mapInt(m, &r.Total, &j.Total)
	mapInt(m, &r.Collected, &j.Collected)
	mapInt(m, &r.CollectedTo, &j.Cursor)
	mapInt(m, &r.Succeeded, &j.Succeeded)
	mapInt(m, &r.Failed, &j.Failed)
	mapTime(m, &r.CreatedAt, &j.CreatedAt)
	mapTime(m, &r.StartedAt, &j.StartedAt)
	mapTime(m, &r.EndedAt, &j.EndedAt)
	mapTime(m, &r.DueAt, &j.DueAt)
	mapSame(m, &r.Version, &j.Version)
	m.within(r.ID)
}

// selectionText writes a selection as JSON, and an empty one as an empty text.
func selectionText(s bulk.Selection) (string, error) {
	if s.Empty() {
		return "", nil
	}
	return jsonText(s)
}

// PutBulkJob inserts a job whose ID is 0, giving it one, and writes another one if its
// version is still what was read.
func (tx *Tx) PutBulkJob(ctx context.Context, j *bulk.Job) error {
	isNew := j.ID == 0
	err := putOne[bulkJobRow](ctx, tx, j, func(j *bulk.Job) (*bulk.JobID, *int64) { return &j.ID, &j.Version }, "bulkAutomation", "The bulk action")
	if isNew && fault.Is(err, fault.Conflict) {
		return bulk.KeyTaken(err)
	}
	return err
}

// BulkJob returns a job and, in a transaction that writes, locks it, or NotFound.
func (tx *Tx) BulkJob(ctx context.Context, id bulk.JobID) (bulk.Job, error) {
	var row bulkJobRow
	q := tx.q.NewSelect().Model(&row).Where("j.shop_id = ?", tx.of).Where("j.id = ?", id)
	switch err := tx.locked(q).Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return bulk.Job{}, bulk.JobNotFound(id)
	case err != nil:
		return bulk.Job{}, fmt.Errorf("read bulk action %d: %w", id, err)
	}
	return readRow[bulk.Job](row)
}

// locked locks the rows of a query unless the transaction only reads.
func (tx *Tx) locked(q *bun.SelectQuery) *bun.SelectQuery {
	if tx.readOnly {
		return q
	}
	return tx.dialect().forUpdate(q)
}

// BulkJobByKey returns the job that a request with the key started.
func (tx *Tx) BulkJobByKey(ctx context.Context, key string) (bulk.Job, bool, error) {
	var row bulkJobRow
	switch err := tx.q.NewSelect().Model(&row).Where("j.shop_id = ?", tx.of).Where("j.request = ?", clean(key)).Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return bulk.Job{}, false, nil
	case err != nil:
		return bulk.Job{}, false, fmt.Errorf("find a bulk action by its request: %w", err)
	}
	j, err := readRow[bulk.Job](row)
	return j, true, err
}

// BulkJobs returns at most limit jobs, newest first; with open, only those that are.
func (tx *Tx) BulkJobs(ctx context.Context, open bool, limit int) ([]bulk.Job, error) {
	var rows []bulkJobRow
	q := tx.q.NewSelect().Model(&rows).Where("j.shop_id = ?", tx.of).Order("j.id DESC").Limit(int64(limit))
	if open {
		q = q.Where("j.due_at IS NOT NULL")
	}
	if err := tx.locked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the bulk actions: %w", err)
	}
	return readRows[bulk.Job](rows)
}

// DueBulkJobs returns at most limit jobs that are due, locked, passing over those that
// another transaction holds.
func (tx *Tx) DueBulkJobs(ctx context.Context, now time.Time, limit int) ([]bulk.Job, error) {
	var rows []bulkJobRow
	q := tx.q.NewSelect().Model(&rows).Where("j.shop_id = ?", tx.of).Where("j.due_at <= ?", millis(now)).Order("j.due_at", "j.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the bulk actions that are due: %w", err)
	}
	return readRows[bulk.Job](rows)
}

// MatchingContracts returns at most limit contracts that pass the filter, by id, after one.
func (db *DB) MatchingContracts(ctx context.Context, of shop.ID, f contract.Filter, after contract.ID, limit int) ([]contract.ID, error) {
	from := facetsOf(db)
	if dated(f) {
		from = contractsOfShop(db)
	}
	from.walked = true
	var ids []contract.ID
	q := from.where(from.query(of).ColumnExpr("?.id", ident(from.alias)), of, f).Where("?.id > ?", ident(from.alias), after)
	if err := q.OrderExpr("?.id", ident(from.alias)).Limit(int64(limit)).Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("find the contracts that match: %w", err)
	}
	return ids, nil
}

// CountMatching returns how many contracts pass the filter.
func (db *DB) CountMatching(ctx context.Context, of shop.ID, f contract.Filter) (int, error) {
	n, err := db.tally(ctx, of, f)
	if err != nil {
		return 0, fmt.Errorf("count the contracts that match: %w", err)
	}
	return n.hits, nil
}
