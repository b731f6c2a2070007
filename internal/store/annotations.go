package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// annotationRow is a row of marks.
type annotationRow struct {
	bun.BaseModel `bun:"table:annotations,alias:m"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	Target     string
	ContractID int64
	AttemptID  int64
	Tags       string // JSON
	Note       string
	DueAt      int64 `bun:",nullzero"`
	Failures   int64
	Version    int64
}

func (r *annotationRow) Columns(m *mapping, a *billing.Annotation) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &a.ID)
	mapText(m, &r.Target, &a.Target)
	mapInt(m, &r.ContractID, &a.Contract)
	mapInt(m, &r.AttemptID, &a.Attempt)
	mapJSON(m, "tags", &r.Tags, &a.Tags)
	mapText(m, &r.Note, &a.Note)
	mapTime(m, &r.DueAt, &a.DueAt)
	mapInt(m, &r.Failures, &a.Failures)
	mapSame(m, &r.Version, &a.Version)
	m.within(r.ID)
}

// DueAnnotations returns at most limit annotations whose DueAt is at or before now, earliest
// first, locked, passing over those that another transaction holds.
func (tx *Tx) DueAnnotations(ctx context.Context, now time.Time, limit int) ([]billing.Annotation, error) {
	var rows []annotationRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Where("m.due_at <= ?", millis(now)).Order("m.due_at", "m.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the due annotations: %w", err)
	}
	return readRows[billing.Annotation](rows)
}

// PutAnnotations inserts annotations whose ID is 0, giving them one, and writes the others if
// their versions are still what was read.
func (tx *Tx) PutAnnotations(ctx context.Context, list []billing.Annotation) error {
	return putAll[annotationRow](ctx, tx, list,
		func(m *billing.Annotation) (*billing.AnnotationID, *int64) { return &m.ID, &m.Version },
		"annotation", "The annotation")
}

// DeleteAnnotations removes annotations.
func (tx *Tx) DeleteAnnotations(ctx context.Context, ids []billing.AnnotationID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.q.NewDelete().Model((*annotationRow)(nil)).Where("m.shop_id = ?", tx.of).Where("m.id IN (?)", bun.List(ids)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove %d annotations: %w", len(ids), err)
	}
	return nil
}

// Subscribed returns the selling plans that ACTIVE contracts of customers have.
func (tx *Tx) Subscribed(ctx context.Context, customers []int64) ([]billing.Subscribed, error) {
	if len(customers) == 0 {
		return nil, nil
	}
	var list []billing.Subscribed
	err := tx.q.NewSelect().Model((*contractRow)(nil)).ColumnExpr("c.customer_id AS customer, c.id AS contract, l.selling_plan_id AS plan").
		Join("JOIN contract_lines AS l ON l.shop_id = c.shop_id AND l.contract_id = c.id").
		Where("c.shop_id = ?", tx.of).Where("c.customer_id IN (?)", bun.List(customers)).Where("c.status = ?", contract.Active).Where("l.selling_plan_id <> 0").
		Order("c.id", "l.position").Scan(ctx, &list)
	if err != nil {
		return nil, fmt.Errorf("read what %d customers subscribe to: %w", len(customers), err)
	}
	return list, nil
}

// DueAnnotationShops returns at most limit shops that have annotations whose DueAt is at or
// before now, the longest waiting first.
func (s Shops) DueAnnotationShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, dueAnnotations, now, limit)
}

var dueAnnotations = waiting{"annotations", "due_at"}
