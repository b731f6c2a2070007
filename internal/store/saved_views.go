package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/domain/staff"
)

var _ savedview.Tx = (*Tx)(nil)

// SavedViews returns the store of saved searches.
func (db *DB) SavedViews() savedview.Store {
	return readScope(db, func(tx *Tx) savedview.Tx { return tx }, func(tx *Tx) savedview.ReadTx { return tx })
}

// savedViewRow is a row of saved_views.
type savedViewRow struct {
	bun.BaseModel `bun:"table:saved_views,alias:v"`

	ShopID    int64 `bun:"shop_id,pk"`
	ID        int64 `bun:"id,pk"`
	UserID    int64
	Name      string
	Query     string
	Shared    bool
	CreatedAt int64
	Version   int64
}

func (r *savedViewRow) Columns(m *mapping, v *savedview.View) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &v.ID)
	mapInt(m, &r.UserID, &v.Owner)
	mapText(m, &r.Name, &v.Name)
	mapText(m, &r.Query, &v.Query)
	mapSame(m, &r.Shared, &v.Shared)
	mapTime(m, &r.CreatedAt, &v.CreatedAt)
	mapSame(m, &r.Version, &v.Version)
	m.within(r.ID)
}

// SavedViews returns the views of a user and those that are shared, by id.
func (tx *Tx) SavedViews(ctx context.Context, owner staff.UserID) ([]savedview.View, error) {
	var rows []savedViewRow
	q := tx.q.NewSelect().Model(&rows).Where("v.shop_id = ?", tx.of).Where("(v.user_id = ? OR v.shared)", int64(owner)).Order("v.id")
	if err := tx.locked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the saved views: %w", err)
	}
	return readRows[savedview.View](rows)
}

// PutSavedView inserts a view whose ID is 0, giving it one, or replaces it if its version is
// still what was read.
func (tx *Tx) PutSavedView(ctx context.Context, v *savedview.View) error {
	return putOne[savedViewRow](ctx, tx, v, func(v *savedview.View) (*savedview.ID, *int64) { return &v.ID, &v.Version }, "savedView", "The view")
}

// DeleteSavedView deletes a view, if it exists.
func (tx *Tx) DeleteSavedView(ctx context.Context, id savedview.ID) error {
	if _, err := tx.q.NewDelete().Model((*savedViewRow)(nil)).Where("v.shop_id = ?", tx.of).Where("v.id = ?", id).Exec(ctx); err != nil {
		return fmt.Errorf("delete saved view %d: %w", id, err)
	}
	return nil
}
