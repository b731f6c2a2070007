package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/plan"
)

var _ delivery.Tx = (*Tx)(nil)

// Delivery returns the store of the delivery feature.
func (db *DB) Delivery() delivery.Store {
	return readScope(db, func(tx *Tx) delivery.Tx { return tx }, func(tx *Tx) delivery.ReadTx { return tx })
}

// deliveryRow is a row of delivery_profiles.
type deliveryRow struct {
	bun.BaseModel `bun:"table:delivery_profiles,alias:d"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	PlatformID int64 `bun:",nullzero"`
	Name       string
	PlanGroups string // JSON, as what is pending
	Pending    string
	BusyUntil  int64
	DueAt      int64 `bun:",nullzero"`
	CreatedAt  int64
	UpdatedAt  int64
	Version    int64
}

func (r *deliveryRow) Columns(m *mapping, p *delivery.Profile) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &p.ID)
	mapSame(m, &r.PlatformID, &p.PlatformID)
	mapText(m, &r.Name, &p.Name)
	mapJSON(m, "plan_groups", &r.PlanGroups, &p.Groups)
	mapJSON(m, "pending", &r.Pending, &p.Pending)
	mapTime(m, &r.BusyUntil, &p.BusyUntil)
	mapTime(m, &r.DueAt, &p.DueAt)
	mapTime(m, &r.CreatedAt, &p.CreatedAt)
	mapTime(m, &r.UpdatedAt, &p.UpdatedAt)
	mapSame(m, &r.Version, &p.Version)
	m.within(r.ID)
}

// LockProfiles makes other changes of the shop's profiles wait until this
// transaction ends.
func (tx *Tx) LockProfiles(ctx context.Context) error {
	var id int64
	q := tx.q.NewSelect().Model((*shopRow)(nil)).Column("id").Where("s.id = ?", tx.of)
	if err := tx.dialect().forUpdate(q).Scan(ctx, &id); err != nil {
		return fmt.Errorf("lock the delivery profiles of shop %d: %w", tx.of, err)
	}
	return nil
}

// DeliveryProfile returns a profile, or NotFound. A number that is ours and the
// platform's of another profile is ours.
func (tx *Tx) DeliveryProfile(ctx context.Context, ref delivery.Ref) (delivery.Profile, error) {
	columns := []string{"id", "platform_id"}
	if ref.Platform {
		columns = columns[1:]
	}
	for _, column := range columns {
		var row deliveryRow
		q := tx.q.NewSelect().Model(&row).Where("d.shop_id = ?", tx.of).Where("? = ?", ident("d."+column), ref.Number)
		switch err := tx.dialect().forUpdate(q).Scan(ctx); {
		case errors.Is(err, sql.ErrNoRows):
			continue
		case err != nil:
			return delivery.Profile{}, fmt.Errorf("read delivery profile %d: %w", ref.Number, err)
		}
		return readRow[delivery.Profile](row)
	}
	return delivery.Profile{}, fault.New(fault.NotFound, "delivery profile %d does not exist", ref.Number).Entity("deliveryProfile").Code("deliveryProfileNotFound").Field("id")
}

// DeliveryProfiles returns all profiles, oldest first.
func (tx *Tx) DeliveryProfiles(ctx context.Context) ([]delivery.Profile, error) {
	var rows []deliveryRow
	q := tx.q.NewSelect().Model(&rows).Where("d.shop_id = ?", tx.of).Order("d.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the delivery profiles: %w", err)
	}
	return readRows[delivery.Profile](rows)
}

// PutDeliveryProfile inserts a profile whose ID is 0, giving it one, or replaces
// it under the version rule.
func (tx *Tx) PutDeliveryProfile(ctx context.Context, p *delivery.Profile) error {
	return putOne[deliveryRow](ctx, tx, p, func(p *delivery.Profile) (*delivery.ID, *int64) { return &p.ID, &p.Version }, "deliveryProfile", "The delivery profile")
}

// DeleteDeliveryProfile removes a profile under the version rule.
func (tx *Tx) DeleteDeliveryProfile(ctx context.Context, p delivery.Profile) error {
	result, err := tx.q.NewDelete().Model((*deliveryRow)(nil)).Where("d.shop_id = ?", tx.of).
		Where("d.id = ?", p.ID).Where("d.version = ?", p.Version).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove delivery profile %d: %w", p.ID, err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(changed("deliveryProfile", "The delivery profile"), err)
	}
	return nil
}

// SellingPlanGroups returns the platform's ids of the shop's selling plan groups
// that the platform has, in order. They are not locked.
func (tx *Tx) SellingPlanGroups(ctx context.Context) ([]int64, error) {
	var ids []int64
	err := tx.q.NewSelect().Model((*planGroupRow)(nil)).Column("platform_id").
		Where("g.shop_id = ?", tx.of).Where("g.platform_id <> 0").Where("g.state <> ?", plan.Deleting).Order("g.platform_id").Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read the selling plan groups: %w", err)
	}
	return ids, nil
}
