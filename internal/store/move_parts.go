package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/moving"
)

// movePartRow is a row of move_parts.
type movePartRow struct {
	bun.BaseModel `bun:"table:move_parts,alias:p"`

	ShopID     int64  `bun:"shop_id,pk"`
	MoveID     int64  `bun:"move_id,pk"`
	Kind       string `bun:"kind,pk"`
	Line       string `bun:"line,pk"`
	ThereID    string `bun:"there_id,pk"`
	Name       string
	HereID     int64
	CustomerID int64
	Stage      string
	Fit        string
	Findings   string
	Reason     string
	Data       string
	Plans      string
	Unread     bool
	Filed      bool
	SeenAt     int64
	BegunAt    int64
	MadeAt     int64
}

func (r *movePartRow) Columns(m *mapping, v *moving.Part) {
	m.shop(&r.ShopID)
	mapInt(m, &r.MoveID, &v.Move)
	mapText(m, &r.Kind, &v.Kind)
	mapText(m, &r.Line, &v.Line)
	mapText(m, &r.ThereID, &v.There)
	mapText(m, &r.Name, &v.Name)
	mapSame(m, &r.HereID, &v.Here)
	mapSame(m, &r.CustomerID, &v.Customer)
	mapText(m, &r.Stage, &v.Stage)
	mapText(m, &r.Fit, &v.Fit)
	mapJSON(m, "findings", &r.Findings, &v.Findings)
	mapText(m, &r.Reason, &v.Reason)
	mapJSON(m, "data", &r.Data, &v.Data)
	mapJSON(m, "plans", &r.Plans, &v.Plans)
	mapSame(m, &r.Unread, &v.Unread)
	mapSame(m, &r.Filed, &v.Filed)
	mapTime(m, &r.SeenAt, &v.SeenAt)
	mapTime(m, &r.BegunAt, &v.BegunAt)
	mapTime(m, &r.MadeAt, &v.MadeAt)
	m.within(r.MoveID)
}

// partKey is the rest of the primary key within a move.
const partKey = "ON CONFLICT (shop_id, move_id, kind, line, there_id) DO UPDATE SET "

// ListMoveParts adds parts that were listed; those that the move has will be read again.
func (tx *Tx) ListMoveParts(ctx context.Context, parts []moving.Part) error {
	rows, err := rowsOf[movePartRow](tx.of, parts...)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, partKey+"unread = excluded.unread, seen_at = excluded.seen_at")
	return err
}

// PutMoveParts writes parts of moves.
func (tx *Tx) PutMoveParts(ctx context.Context, parts []moving.Part) error {
	rows, err := rowsOf[movePartRow](tx.of, parts...)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, partKey+`name = excluded.name, here_id = excluded.here_id, customer_id = excluded.customer_id, stage = excluded.stage, fit = excluded.fit,
		findings = excluded.findings, reason = excluded.reason, data = excluded.data, plans = excluded.plans, unread = excluded.unread, filed = excluded.filed,
		seen_at = excluded.seen_at, begun_at = excluded.begun_at, made_at = excluded.made_at`)
	return err
}

// DropMoveParts removes parts that are not made and were listed before an instant, unless they come
// from a file.
func (tx *Tx) DropMoveParts(ctx context.Context, of moving.ID, before time.Time) error {
	_, err := tx.q.NewDelete().Model((*movePartRow)(nil)).Where("shop_id = ?", tx.of).Where("move_id = ?", of).
		Where("seen_at < ?", millis(before)).Where("stage <> ?", moving.PartMade).Where("made_at = 0").Where("NOT filed").Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove parts of move %d: %w", of, err)
	}
	return nil
}

// MoveParts returns at most limit parts of a move by their keys, after one, that match.
func (tx *Tx) MoveParts(ctx context.Context, of moving.ID, match moving.PartMatch, after moving.PartKey, limit int) ([]moving.Part, error) {
	var rows []movePartRow
	q := tx.q.NewSelect().Model(&rows).Where("p.shop_id = ?", tx.of).Where("p.move_id = ?", of).Order("p.kind", "p.line", "p.there_id").Limit(int64(limit))
	if after != (moving.PartKey{}) {
		q = q.Where("(p.kind, p.line, p.there_id) > (?, ?, ?)", after.Kind, after.Line, after.There)
	}
	if match.Kind != "" {
		q = q.Where("p.kind = ?", match.Kind)
	}
	if len(match.There) > 0 {
		q = q.Where("p.there_id IN (?)", bun.List(match.There))
	}
	if len(match.Stages) > 0 {
		q = q.Where("p.stage IN (?)", bun.List(match.Stages))
	}
	if match.Unread {
		q = q.Where("p.unread")
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the parts of move %d: %w", of, err)
	}
	return readRows[moving.Part](rows)
}

// MovePartCounts counts the parts of a move by kind, stage and fit.
func (tx *Tx) MovePartCounts(ctx context.Context, of moving.ID) ([]moving.PartCount, error) {
	var list []moving.PartCount
	q := tx.q.NewSelect().Model((*movePartRow)(nil)).Column("p.kind", "p.stage", "p.fit").ColumnExpr("COUNT(*) AS n").
		Where("p.shop_id = ?", tx.of).Where("p.move_id = ?", of).Group("p.kind", "p.stage", "p.fit").Order("p.kind", "p.stage", "p.fit")
	if err := q.Scan(ctx, &list); err != nil {
		return nil, fmt.Errorf("count the parts of move %d: %w", of, err)
	}
	return list, nil
}
