package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ activity.Older = (*DB)(nil)

// entriesPerStep is how many entries one step of reading the activity log looks at.
const entriesPerStep = 10_000

// OlderEntries returns at most limit entries that meet every criterion, of a bounded number
// after a cursor, and where to go on.
func (db *DB) OlderEntries(ctx context.Context, of shop.ID, where []page.Criterion, after page.Cursor, limit int) ([]activity.Entry, page.Cursor, error) {
	var rows []entryRow
	step, outer, err := db.olderStep(of, where, after)
	if err != nil {
		return nil, page.Cursor{}, err
	}
	q := db.in(of).NewSelect().ModelTableExpr("(?) AS e", step.Limit(entriesPerStep)).Model(&rows)
	for _, c := range outer {
		if q, err = db.engine.dialect().meet(q, entryFields, c); err != nil {
			return nil, page.Cursor{}, err
		}
	}
	if err := q.OrderExpr("e.recorded_at DESC, e.id DESC").Limit(int64(limit + 1)).Scan(ctx); err != nil {
		return nil, page.Cursor{}, fmt.Errorf("read the activity log: %w", err)
	}
	more := len(rows) > limit
	entries, err := readRows[activity.Entry](rows[:min(len(rows), limit)])
	if err != nil {
		return nil, page.Cursor{}, err
	}
	if more {
		last := entries[limit-1]
		return entries, page.Cursor{At: last.At, ID: last.ID}, nil
	}
	next, err := db.endOfStep(ctx, of, where, after)
	return entries, next, err
}

// olderStep selects the entries after a cursor, newest first. What an index finds narrows it;
// outer are the criteria that are left.
func (db *DB) olderStep(of shop.ID, where []page.Criterion, after page.Cursor) (step *bun.SelectQuery, outer []page.Criterion, err error) {
	step = db.in(of).NewSelect().Model((*entryRow)(nil)).Where("e.shop_id = ?", of)
	if !after.At.IsZero() {
		step = step.Where("e.recorded_at <= ?", millis(after.At)).Where("e.recorded_at < ? OR e.id < ?", millis(after.At), after.ID)
	}
	for _, c := range where {
		if c.Field != activity.FieldAt && (c.Field != activity.FieldEntityID || c.Op != page.Equals) {
			outer = append(outer, c)
			continue
		}
		if step, err = db.engine.dialect().meet(step, entryFields, c); err != nil {
			return nil, nil, err
		}
	}
	return step.OrderExpr("e.recorded_at DESC, e.id DESC"), outer, nil
}

// endOfStep returns the last entry that a step looks at, or the zero cursor when it has looked
// at all that there are.
func (db *DB) endOfStep(ctx context.Context, of shop.ID, where []page.Criterion, after page.Cursor) (page.Cursor, error) {
	step, _, err := db.olderStep(of, where, after)
	if err != nil {
		return page.Cursor{}, err
	}
	var last []entryRow
	if err := step.Model(&last).Column("recorded_at", "id").Offset(entriesPerStep - 1).Limit(1).Scan(ctx); err != nil {
		return page.Cursor{}, fmt.Errorf("find the end of a step in the activity log: %w", err)
	}
	if len(last) == 0 {
		return page.Cursor{}, nil
	}
	return page.Cursor{At: instant(last[0].RecordedAt), ID: last[0].ID}, nil
}
