package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
)

// syncRow is a row of first_syncs.
type syncRow struct {
	bun.BaseModel `bun:"table:first_syncs,alias:y"`

	ShopID     int64 `bun:"shop_id,pk"`
	StartedAt  int64 `bun:"started_at,pk"`
	Stage      string
	StageAt    int64
	Done       int64
	Total      int64
	Worked     int64 // milliseconds
	NotedAt    int64
	FinishedAt int64
	Owner      string
	LeaseUntil int64
	Failure    string
	AwaySince  int64
	Version    int64
}

func (r *syncRow) Columns(m *mapping, y *intake.Sync) {
	m.shop(&r.ShopID)
	mapTime(m, &r.StartedAt, &y.StartedAt)
	mapText(m, &r.Stage, &y.Stage)
	mapTime(m, &r.StageAt, &y.StageAt)
	mapInt(m, &r.Done, &y.Done)
	mapInt(m, &r.Total, &y.Total)
	if m.toRow {
		r.Worked = y.Worked.Milliseconds()
	} else {
		y.Worked = time.Duration(r.Worked) * time.Millisecond
	}
	mapTime(m, &r.NotedAt, &y.NotedAt)
	mapTime(m, &r.FinishedAt, &y.FinishedAt)
	mapText(m, &r.Owner, &y.Owner)
	mapTime(m, &r.LeaseUntil, &y.LeaseUntil)
	mapText(m, &r.Failure, &y.Failure)
	mapTime(m, &r.AwaySince, &y.AwaySince)
	mapSame(m, &r.Version, &y.Version)
	m.within(r.StartedAt)
}

// LatestSync returns the first sync of the shop's last connection; false when there is
// none. It is locked unless the transaction is read-only.
func (tx *Tx) LatestSync(ctx context.Context) (intake.Sync, bool, error) {
	var r syncRow
	q := tx.q.NewSelect().Model(&r).Where("y.shop_id = ?", tx.of).Order("y.started_at DESC").Limit(1)
	if !tx.readOnly {
		q = tx.dialect().forUpdate(q)
	}
	err := q.Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return intake.Sync{}, false, nil
	}
	if err != nil {
		return intake.Sync{}, false, fmt.Errorf("read how far the first sync has come: %w", err)
	}
	y, err := readRow[intake.Sync](r)
	return y, err == nil, err
}

// PutSync inserts a first sync whose Version is 0, and writes another one if its version
// is still what was read.
func (tx *Tx) PutSync(ctx context.Context, y intake.Sync) error {
	before := y.Version
	y.Version++
	row, err := rowOf[syncRow](tx.of, y)
	if err != nil {
		return err
	}
	if before == 0 {
		if _, err := insert(ctx, tx, []syncRow{row}, ""); err != nil {
			return fmt.Errorf("note a first sync: %w", err)
		}
		return nil
	}
	result, err := tx.q.NewUpdate().Model(&row).ExcludeColumn("shop_id", "started_at").
		Where("y.shop_id = ?", tx.of).Where("y.started_at = ?", row.StartedAt).Where("y.version = ?", before).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note how far the first sync has come: %w", err)
	}
	n, err := result.RowsAffected()
	if err == nil && n != 1 {
		return changed("sync", "The first sync")
	}
	return err
}

// CancelledSince returns at most limit of the shop's contracts that were cancelled at or
// after an instant, and counts all.
func (tx *Tx) CancelledSince(ctx context.Context, since time.Time, limit int) ([]contract.ID, int, error) {
	q := tx.q.NewSelect().Model((*contractRow)(nil)).Where("c.shop_id = ?", tx.of).Where("c.status = ?", contract.Cancelled).Where("c.cancelled_at >= ?", millis(since))
	n, err := q.Count(ctx)
	if err != nil || n == 0 {
		return nil, 0, err
	}
	var ids []contract.ID
	err = tx.q.NewSelect().Model((*contractRow)(nil)).Column("id").Where("c.shop_id = ?", tx.of).Where("c.status = ?", contract.Cancelled).Where("c.cancelled_at >= ?", millis(since)).
		Order("c.id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, 0, fmt.Errorf("find the contracts that were cancelled: %w", err)
	}
	return ids, int(n), nil
}

// RunningContracts counts the shop's contracts that are active or paused.
func (tx *Tx) RunningContracts(ctx context.Context) (int, error) {
	n, err := tx.q.NewSelect().Model((*contractRow)(nil)).Where("c.shop_id = ?", tx.of).Where("c.status IN (?)", bun.List([]contract.Status{contract.Active, contract.Paused})).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the contracts that run: %w", err)
	}
	return int(n), nil
}
