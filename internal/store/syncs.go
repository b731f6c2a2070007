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

// LatestSync returns the first sync of the shop's last connection, locked; false when
// there is none.
func (tx *Tx) LatestSync(ctx context.Context) (intake.Sync, bool, error) {
	var r syncRow
	err := tx.dialect().forUpdate(tx.q.NewSelect().Model(&r).Where("y.shop_id = ?", tx.of).Order("y.started_at DESC").Limit(1)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return intake.Sync{}, false, nil
	}
	if err != nil {
		return intake.Sync{}, false, fmt.Errorf("read how far the first sync has come: %w", err)
	}
	return intake.Sync{
		StartedAt: instant(r.StartedAt), Stage: intake.Stage(r.Stage), StageAt: instant(r.StageAt), Done: int(r.Done), Total: int(r.Total), Worked: time.Duration(r.Worked) * time.Millisecond,
		NotedAt: instant(r.NotedAt), FinishedAt: instant(r.FinishedAt), Owner: r.Owner, LeaseUntil: instant(r.LeaseUntil), Failure: r.Failure, AwaySince: instant(r.AwaySince), Version: r.Version,
	}, true, nil
}

// PutSync inserts a first sync whose Version is 0, and writes another one if its version
// is still what was read.
func (tx *Tx) PutSync(ctx context.Context, y intake.Sync) error {
	row := syncRow{
		ShopID: int64(tx.of), StartedAt: millis(y.StartedAt), Stage: string(y.Stage), StageAt: millis(y.StageAt), Done: int64(y.Done), Total: int64(y.Total), Worked: y.Worked.Milliseconds(),
		NotedAt: millis(y.NotedAt), FinishedAt: millis(y.FinishedAt), Owner: clean(y.Owner), LeaseUntil: millis(y.LeaseUntil), Failure: clean(y.Failure), AwaySince: millis(y.AwaySince), Version: y.Version + 1,
	}
	if y.Version == 0 {
		if _, err := insert(ctx, tx, []syncRow{row}, ""); err != nil {
			return fmt.Errorf("note a first sync: %w", err)
		}
		return nil
	}
	result, err := tx.q.NewUpdate().Model(&row).ExcludeColumn("shop_id", "started_at").
		Where("y.shop_id = ?", tx.of).Where("y.started_at = ?", row.StartedAt).Where("y.version = ?", y.Version).Exec(ctx)
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
