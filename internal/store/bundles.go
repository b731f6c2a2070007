package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var (
	_ bundle.Tx    = (*Tx)(nil)
	_ bundle.Shelf = (*DB)(nil)
)

// BundleKeeping returns the store of the bundle feature.
func (db *DB) BundleKeeping() bundle.Store {
	return Scope[bundle.Tx]{db, func(tx *Tx) bundle.Tx { return tx }}
}

// bundleRow is a row of bundles.
type bundleRow struct {
	bun.BaseModel `bun:"table:bundles,alias:b"`

	ShopID    int64 `bun:"shop_id,pk"`
	ID        int64 `bun:"id,pk"`
	Line      string
	Settings  string // JSON
	CreatedAt int64
	UpdatedAt int64
	Version   int64
}

func (r *bundleRow) Columns(m *mapping, s *bundle.Settings) {
	text := *s
	text.ID, text.Line, text.CreatedAt, text.UpdatedAt, text.Version = 0, "", time.Time{}, time.Time{}, 0 // they have columns
	mapJSON(m, "settings", &r.Settings, &text)
	if !m.toRow {
		*s = text
	}
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &s.ID)
	mapText(m, &r.Line, &s.Line)
	mapTime(m, &r.CreatedAt, &s.CreatedAt)
	mapTime(m, &r.UpdatedAt, &s.UpdatedAt)
	mapSame(m, &r.Version, &s.Version)
	m.within(r.ID)
}

// Bundle returns a bundle of a line, or NotFound.
func (db *DB) Bundle(ctx context.Context, of shop.ID, line shop.Line, id bundle.ID) (bundle.Settings, error) {
	var row bundleRow
	err := db.in(of).NewSelect().Model(&row).Where("b.shop_id = ?", of).Where("b.id = ?", id).Where("b.line = ?", line).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return bundle.Settings{}, bundle.NotFound(id)
	}
	if err != nil {
		return bundle.Settings{}, fmt.Errorf("read bundle %d: %w", id, err)
	}
	return readRow[bundle.Settings](row)
}

// bundleFields are the fields by which bundles can be sorted.
var bundleFields = map[string]field{"id": {"id", whole}, "createdAt": {"created_at", whole}, "updatedAt": {"updated_at", whole}}

// Bundles returns a page of a line's bundles, oldest first unless the page says
// otherwise, and how many there are.
func (db *DB) Bundles(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]bundle.Settings, int, error) {
	var rows []bundleRow
	q := db.in(of).NewSelect().Model(&rows).Where("b.shop_id = ?", of).Where("b.line = ?", line)
	total, err := fetch(ctx, q, bundleFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("read the bundles: %w", err)
	}
	list, err := readRows[bundle.Settings](rows)
	return list, total, err
}

// BundleOf returns the bundle whose box the contract is; false when the contract is not a
// box. It locks nothing.
func (db *DB) BundleOf(ctx context.Context, of shop.ID, c contract.Contract) (bundle.Settings, bool, error) {
	list, _, err := db.Bundles(ctx, of, c.Line, page.Request{})
	if err != nil {
		return bundle.Settings{}, false, err
	}
	s, ok := bundle.Of(list, c)
	return s, ok, nil
}

// BundleOf is the same inside a transaction.
func (tx *Tx) BundleOf(ctx context.Context, c contract.Contract) (bundle.Settings, bool, error) {
	list, err := tx.AllBundles(ctx)
	if err != nil {
		return bundle.Settings{}, false, err
	}
	s, ok := bundle.Of(list, c)
	return s, ok, nil
}

// WaitingBoxes returns at most limit contracts whose order has fallen due and waits for its box to be
// completed, by their ids. The orders are looked at again by until.
func (db *DB) WaitingBoxes(ctx context.Context, of shop.ID, until time.Time, limit int) ([]contract.ID, error) {
	var ids []contract.ID
	err := db.in(of).NewSelect().Model((*attemptRow)(nil)).Column("contract_id").Where("a.shop_id = ?", of).Where("a.status = 'QUEUED'").Where("a.due_at <= ?", millis(until)).
		Where("a.preparation LIKE ?", `%"asked":true%`).Order("a.contract_id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read which orders of shop %d wait for their boxes: %w", of, err)
	}
	return ids, nil
}

// LockBundles makes other changes of the shop's bundles wait until this
// transaction ends.
func (tx *Tx) LockBundles(ctx context.Context) error {
	var id int64
	q := tx.q.NewSelect().Model((*shopRow)(nil)).Column("id").Where("s.id = ?", tx.of)
	if err := tx.dialect().forUpdate(q).Scan(ctx, &id); err != nil {
		return fmt.Errorf("lock the bundles of shop %d: %w", tx.of, err)
	}
	return nil
}

// AllBundles returns every bundle of both lines, oldest first.
func (tx *Tx) AllBundles(ctx context.Context) ([]bundle.Settings, error) {
	var rows []bundleRow
	if err := tx.q.NewSelect().Model(&rows).Where("b.shop_id = ?", tx.of).Order("b.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the bundles: %w", err)
	}
	return readRows[bundle.Settings](rows)
}

// PlanLines returns the lines of the selling plans that are known.
func (tx *Tx) PlanLines(ctx context.Context, plans []int64) (map[int64]shop.Line, error) {
	lines := make(map[int64]shop.Line, len(plans))
	if len(plans) == 0 {
		return lines, nil
	}
	var rows []struct {
		ID   int64
		Line shop.Line
	}
	err := tx.q.NewSelect().TableExpr("plan_options AS o").Join("JOIN plan_groups AS g ON g.shop_id = o.shop_id AND g.id = o.group_id").
		ColumnExpr("o.id, g.line").Where("o.shop_id = ?", tx.of).Where("o.id IN (?)", bun.List(plans)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the lines of %d selling plans: %w", len(plans), err)
	}
	for _, r := range rows {
		lines[r.ID] = r.Line
	}
	return lines, nil
}

// PutBundle inserts a bundle whose ID is 0, giving it one, or replaces it under
// the version rule.
func (tx *Tx) PutBundle(ctx context.Context, s *bundle.Settings) error {
	err := putOne[bundleRow](ctx, tx, s, func(s *bundle.Settings) (*bundle.ID, *int64) { return &s.ID, &s.Version }, "subscriptionBundleSettings", "The bundle")
	if err != nil {
		return err
	}
	return errors.Join(tx.catalogued(ctx), tx.reprice(ctx))
}

// DeleteBundle removes a bundle under the version rule.
func (tx *Tx) DeleteBundle(ctx context.Context, s bundle.Settings) error {
	result, err := tx.q.NewDelete().Model((*bundleRow)(nil)).Where("b.shop_id = ?", tx.of).
		Where("b.id = ?", s.ID).Where("b.version = ?", s.Version).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove bundle %d: %w", s.ID, err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(changed("subscriptionBundleSettings", "The bundle"), err)
	}
	return errors.Join(tx.catalogued(ctx), tx.reprice(ctx))
}
