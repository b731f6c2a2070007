package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"

	"github.com/uptrace/bun"
)

var _ flow.Tx = (*Tx)(nil)

// CancelFlows returns the store of the flows of cancelling.
func (db *DB) CancelFlows() flow.Store {
	return readScope(db, func(tx *Tx) flow.Tx { return tx }, func(tx *Tx) flow.Reader { return tx })
}

// cancelFlowRow is a row of cancel_flows.
type cancelFlowRow struct {
	bun.BaseModel `bun:"table:cancel_flows,alias:f"`

	ShopID       int64 `bun:"shop_id,pk"`
	Version      int64 `bun:"version,pk"`
	Mode         string
	Instructions string
	Support      string
	HoldBack     int64
	Budget       int64
	Currency     string
	Reasons      string
	PublishedAt  int64
	PublishedBy  string
}

func (r *cancelFlowRow) Columns(m *mapping, f *flow.Flow) {
	m.shop(&r.ShopID)
	mapInt(m, &r.Version, &f.Version)
	mapText(m, &r.Mode, &f.Mode)
	mapText(m, &r.Instructions, &f.Instructions)
	mapText(m, &r.Support, &f.Support)
	mapInt(m, &r.HoldBack, &f.HoldBack)
	mapInt(m, &r.Budget, &f.Budget)
	mapText(m, &r.Currency, &f.Currency)
	mapJSON(m, "reasons", &r.Reasons, &f.Reasons)
	mapTime(m, &r.PublishedAt, &f.PublishedAt)
	mapText(m, &r.PublishedBy, &f.PublishedBy)
	m.within(r.Version)
}

// CancelFlow returns the newest version; Version is 0 when the store has published none.
func (tx *Tx) CancelFlow(ctx context.Context) (flow.Flow, error) {
	list, err := tx.CancelFlows(ctx, 1)
	if err != nil || len(list) == 0 {
		return flow.Flow{}, err
	}
	return list[0], nil
}

// CancelFlowAt returns a version, or NotFound.
func (tx *Tx) CancelFlowAt(ctx context.Context, version int) (flow.Flow, error) {
	var row cancelFlowRow
	switch err := tx.q.NewSelect().Model(&row).Where("f.shop_id = ?", tx.of).Where("f.version = ?", version).Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return flow.Flow{}, fault.New(fault.NotFound, "version %d of the flow of cancelling does not exist", version).Entity("cancelFlow").Code("cancelFlowNotFound")
	case err != nil:
		return flow.Flow{}, fmt.Errorf("read version %d of the flow of cancelling: %w", version, err)
	}
	return readRow[flow.Flow](row)
}

// CancelFlows returns the newest versions, at most limit.
func (tx *Tx) CancelFlows(ctx context.Context, limit int) ([]flow.Flow, error) {
	var rows []cancelFlowRow
	if err := tx.q.NewSelect().Model(&rows).Where("f.shop_id = ?", tx.of).Order("f.version DESC").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the flow of cancelling: %w", err)
	}
	return readRows[flow.Flow](rows)
}

// AddCancelFlow inserts a version; one that exists is a Conflict.
func (tx *Tx) AddCancelFlow(ctx context.Context, f flow.Flow) error {
	row, err := rowOf[cancelFlowRow](tx.of, f)
	if err != nil {
		return err
	}
	added, err := insert(ctx, tx, []cancelFlowRow{row}, "ON CONFLICT DO NOTHING")
	if err == nil && added == 0 {
		return flow.Outdated(f)
	}
	return err
}
