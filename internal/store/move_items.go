package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// moveItemRow is a row of move_items.
type moveItemRow struct {
	bun.BaseModel `bun:"table:move_items,alias:i"`

	ShopID     int64 `bun:"shop_id,pk"`
	MoveID     int64 `bun:"move_id,pk"`
	ThereID    int64 `bun:"there_id,pk"`
	CustomerID int64
	Line       string
	Stage      string
	Fit        string
	Failing    bool
	Contract   string
	Findings   string
	NextAt     int64
	Currency   string
	Amount     int64
	Products   string

	ComingHere        int64
	ComingHereOrders  int64
	ComingThere       int64
	ComingThereOrders int64

	Round      int64
	HereID     int64
	Unanswered bool
	Failures   int64
	Code       string
	Reason     string
	Since      int64
	EndedAt    int64
	DueAt      int64 `bun:",nullzero"`
}

func (r *moveItemRow) Columns(m *mapping, v *moving.Item) {
	m.shop(&r.ShopID)
	mapInt(m, &r.MoveID, &v.Move)
	mapSame(m, &r.ThereID, &v.There)
	mapJSON(m, "contract", &r.Contract, &v.Contract)
	if m.toRow {
		r.CustomerID, r.Failing = v.Contract.Customer.ID, v.Failures > 0 || v.Code != ""
	}
	mapText(m, &r.Line, &v.Contract.Line)
	mapText(m, &r.Stage, &v.Stage)
	mapText(m, &r.Fit, &v.Fit)
	mapJSON(m, "findings", &r.Findings, &v.Findings)
	mapTime(m, &r.NextAt, &v.Plan.Date)
	mapText(m, &r.Currency, &v.Plan.Amount.Currency)
	mapSame(m, &r.Amount, &v.Plan.Amount.Minor)
	mapJSON(m, "products", &r.Products, &v.Plan.Lines)
	mapSame(m, &r.ComingHere, &v.Coming.Here)
	mapInt(m, &r.ComingHereOrders, &v.Coming.HereOrders)
	mapSame(m, &r.ComingThere, &v.Coming.There)
	mapInt(m, &r.ComingThereOrders, &v.Coming.ThereOrders)
	mapInt(m, &r.Round, &v.Round)
	mapSame(m, &r.HereID, &v.Here)
	mapSame(m, &r.Unanswered, &v.Unanswered)
	mapInt(m, &r.Failures, &v.Failures)
	mapText(m, &r.Code, &v.Code)
	mapText(m, &r.Reason, &v.Reason)
	mapTime(m, &r.Since, &v.Since)
	mapTime(m, &r.EndedAt, &v.EndedAt)
	mapTime(m, &r.DueAt, &v.DueAt)
	m.within(r.ThereID)
}

// moveItems selects the contracts of a move.
func (tx *Tx) moveItems(rows *[]moveItemRow, of moving.ID) *bun.SelectQuery {
	return tx.q.NewSelect().Model(rows).Where("i.shop_id = ?", tx.of).Where("i.move_id = ?", of)
}

// underWay are the stages of contracts that are between two services.
func underWay() []moving.Stage {
	var list []moving.Stage
	for _, s := range moving.Stages {
		if s.UnderWay() {
			list = append(list, s)
		}
	}
	return list
}

// AddMoveItems adds contracts that were listed and are due, and returns how many the move did not
// have; those that it has and that can still be read are due again.
func (tx *Tx) AddMoveItems(ctx context.Context, of moving.ID, line shop.Line, found []int64, now time.Time) (int, error) {
	rows := make([]moveItemRow, len(found))
	for n, id := range found {
		item := moving.Item{Move: of, There: id, Stage: moving.Found, Contract: moving.Contract{ID: id, Line: line}, Since: now, DueAt: now}
		row, err := rowOf[moveItemRow](tx.of, item)
		if err != nil {
			return 0, err
		}
		rows[n] = row
	}
	added, err := insert(ctx, tx, rows, "ON CONFLICT DO NOTHING")
	if err != nil || int(added) == len(found) {
		return int(added), err
	}
	_, err = tx.q.NewUpdate().Model((*moveItemRow)(nil)).Set("due_at = ?", millis(now)).Where("shop_id = ?", tx.of).Where("move_id = ?", of).
		Where("there_id IN (?)", bun.List(found)).Where("stage IN (?)", bun.List([]moving.Stage{moving.Shadow, moving.Staying})).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("read contracts of move %d again: %w", of, err)
	}
	return int(added), nil
}

// DueMoveItems returns at most limit contracts of a move that are due, locked, the longest due first;
// with underWay, only those that are between the services.
func (tx *Tx) DueMoveItems(ctx context.Context, of moving.ID, now time.Time, between bool, limit int) ([]moving.Item, error) {
	var rows []moveItemRow
	q := tx.moveItems(&rows, of).Where("i.due_at <= ?", millis(now)).Order("i.due_at", "i.there_id").Limit(int64(limit))
	if between {
		q = q.Where("i.stage IN (?)", bun.List(underWay()))
	}
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the contracts of move %d that are due: %w", of, err)
	}
	return readRows[moving.Item](rows)
}

// NextMoveItem returns when the next contract of a move is due; zero: none is.
func (tx *Tx) NextMoveItem(ctx context.Context, of moving.ID, between bool) (time.Time, error) {
	var next int64
	q := tx.q.NewSelect().Model((*moveItemRow)(nil)).ColumnExpr("COALESCE(MIN(i.due_at), 0)").Where("i.shop_id = ?", tx.of).Where("i.move_id = ?", of).Where("i.due_at IS NOT NULL")
	if between {
		q = q.Where("i.stage IN (?)", bun.List(underWay()))
	}
	if err := q.Scan(ctx, &next); err != nil {
		return time.Time{}, fmt.Errorf("find when move %d goes on: %w", of, err)
	}
	return instant(next), nil
}

// WaitingMoveItems returns at most limit shadows of a move that go, locked, by their numbers. One that
// was given back because of a failure waits for a person.
func (tx *Tx) WaitingMoveItems(ctx context.Context, of moving.ID, limit int) ([]moving.Item, error) {
	var rows []moveItemRow
	q := tx.moveItems(&rows, of).Where("i.stage = ?", moving.Shadow).Where("i.code = ''").Order("i.there_id").Limit(int64(limit))
	if err := tx.locked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the contracts of move %d that wait: %w", of, err)
	}
	return readRows[moving.Item](rows)
}

// MoveItem returns a contract of a move, locked, or NotFound.
func (tx *Tx) MoveItem(ctx context.Context, of moving.ID, there int64) (moving.Item, error) {
	var rows []moveItemRow
	err := tx.locked(tx.moveItems(&rows, of).Where("i.there_id = ?", there)).Scan(ctx)
	if err == nil && len(rows) == 0 || errors.Is(err, sql.ErrNoRows) {
		return moving.Item{}, fault.New(fault.NotFound, "move %d has no contract %d", of, there).Entity("move").Code("moveItemNotFound")
	}
	if err != nil {
		return moving.Item{}, fmt.Errorf("read contract %d of move %d: %w", there, of, err)
	}
	return readRow[moving.Item](rows[0])
}

// PutMoveItems writes contracts of moves.
func (tx *Tx) PutMoveItems(ctx context.Context, items []moving.Item) error {
	rows, err := rowsOf[moveItemRow](tx.of, items...)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, replaceMoveItem)
	return err
}

// AddReadItems adds contracts of a file, and replaces those that the move has and that are not on
// their way.
func (tx *Tx) AddReadItems(ctx context.Context, items []moving.Item) error {
	rows, err := rowsOf[moveItemRow](tx.of, items...)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, replaceMoveItem+" WHERE move_items.stage IN ('FOUND', 'SHADOW', 'STAYING')")
	return err
}

// RemoveMoveItems removes all contracts of a move.
func (tx *Tx) RemoveMoveItems(ctx context.Context, of moving.ID) error {
	_, err := tx.q.NewDelete().Model((*moveItemRow)(nil)).Where("shop_id = ?", tx.of).Where("move_id = ?", of).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove the contracts of move %d: %w", of, err)
	}
	return nil
}

const replaceMoveItem = `ON CONFLICT (shop_id, move_id, there_id) DO UPDATE SET customer_id = excluded.customer_id, line = excluded.line, stage = excluded.stage,
		fit = excluded.fit, failing = excluded.failing, contract = excluded.contract, findings = excluded.findings, next_at = excluded.next_at, currency = excluded.currency,
		amount = excluded.amount, products = excluded.products, coming_here = excluded.coming_here, coming_here_orders = excluded.coming_here_orders,
		coming_there = excluded.coming_there, coming_there_orders = excluded.coming_there_orders, round = excluded.round, here_id = excluded.here_id, unanswered = excluded.unanswered, failures = excluded.failures, code = excluded.code,
		reason = excluded.reason, since = excluded.since, ended_at = excluded.ended_at, due_at = excluded.due_at`

// MoveItems returns at most limit contracts of a move by their numbers, after one, that match.
func (tx *Tx) MoveItems(ctx context.Context, of moving.ID, match moving.Match, after int64, limit int) ([]moving.Item, error) {
	var rows []moveItemRow
	q := tx.moveItems(&rows, of).Order("i.there_id").Limit(int64(limit))
	if after != 0 {
		q = q.Where("i.there_id > ?", after)
	}
	if len(match.Stages) > 0 {
		q = q.Where("i.stage IN (?)", bun.List(match.Stages))
	}
	if match.Fit != "" {
		q = q.Where("i.fit = ?", match.Fit)
	}
	if match.Failing {
		q = q.Where("i.failing")
	}
	if match.Code != "" {
		q = q.Where("EXISTS (SELECT 1 FROM "+tx.dialect().jsonRows+" WHERE f.value->>'code' = ?)", bun.Ident("i.findings"), match.Code)
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the contracts of move %d: %w", of, err)
	}
	return readRows[moving.Item](rows)
}

// MoveCounts counts the contracts of a move by stage, fit and currency.
func (tx *Tx) MoveCounts(ctx context.Context, of moving.ID) ([]moving.Count, error) {
	var list []moving.Count
	q := tx.q.NewSelect().Model((*moveItemRow)(nil)).Column("i.stage", "i.fit", "i.currency").ColumnExpr("COUNT(*) AS n").
		ColumnExpr("SUM(CASE WHEN i.failing THEN 1 ELSE 0 END) AS failing").ColumnExpr("SUM(i.amount) AS amount").
		ColumnExpr("SUM(i.coming_here) AS here").ColumnExpr("SUM(i.coming_here_orders) AS here_orders").
		ColumnExpr("SUM(i.coming_there) AS there").ColumnExpr("SUM(i.coming_there_orders) AS there_orders").
		Where("i.shop_id = ?", tx.of).Where("i.move_id = ?", of).Group("i.stage", "i.fit", "i.currency").Order("i.stage", "i.fit", "i.currency")
	if err := q.Scan(ctx, &list); err != nil {
		return nil, fmt.Errorf("count the contracts of move %d: %w", of, err)
	}
	return list, nil
}

// MoveFindings groups the findings about the contracts of a move by code, the most frequent first.
func (tx *Tx) MoveFindings(ctx context.Context, of moving.ID) ([]moving.FindingCount, error) {
	var list []moving.FindingCount
	q := tx.q.NewSelect().Model((*moveItemRow)(nil)).Join("CROSS JOIN "+tx.dialect().jsonRows, bun.Ident("i.findings")).
		ColumnExpr("f.value->>'code' AS code").ColumnExpr("f.value->>'fit' AS fit").ColumnExpr("COUNT(DISTINCT i.there_id) AS contracts").ColumnExpr("MIN(f.value->>'text') AS example").
		Where("i.shop_id = ?", tx.of).Where("i.move_id = ?", of).Where("i.stage <> ?", moving.Moved).GroupExpr("1, 2").OrderExpr("3 DESC, 1, 2")
	if err := q.Scan(ctx, &list); err != nil {
		return nil, fmt.Errorf("group the findings of move %d: %w", of, err)
	}
	return list, nil
}

// NextToMove counts, by currency, the contracts that WaitingMoveItems returns.
func (tx *Tx) NextToMove(ctx context.Context, of moving.ID, limit int) ([]moving.Count, error) {
	next := tx.q.NewSelect().Model((*moveItemRow)(nil)).Where("i.shop_id = ?", tx.of).Where("i.move_id = ?", of).
		Where("i.stage = ?", moving.Shadow).Where("i.code = ''").Order("i.there_id").Limit(int64(limit))
	var list []moving.Count
	err := tx.q.NewSelect().TableExpr("(?) AS i", next).Column("i.currency").ColumnExpr("COUNT(*) AS n").ColumnExpr("SUM(i.amount) AS amount").
		ColumnExpr("SUM(i.coming_here) AS here").ColumnExpr("SUM(i.coming_here_orders) AS here_orders").
		ColumnExpr("SUM(i.coming_there) AS there").ColumnExpr("SUM(i.coming_there_orders) AS there_orders").Group("i.currency").Order("i.currency").Scan(ctx, &list)
	if err != nil {
		return nil, fmt.Errorf("count the contracts of move %d that go next: %w", of, err)
	}
	return list, nil
}

// ArrivedSince returns how many contracts of a move were moved since an instant, and when the first of
// them was.
func (tx *Tx) ArrivedSince(ctx context.Context, of moving.ID, since time.Time) (int, time.Time, error) {
	var n, first int64
	q := tx.q.NewSelect().Model((*moveItemRow)(nil)).ColumnExpr("COUNT(*)").ColumnExpr("COALESCE(MIN(i.ended_at), 0)").
		Where("i.shop_id = ?", tx.of).Where("i.move_id = ?", of).Where("i.stage = ?", moving.Moved).Where("i.ended_at >= ?", millis(since))
	if err := q.Scan(ctx, &n, &first); err != nil {
		return 0, time.Time{}, fmt.Errorf("count the contracts of move %d that have arrived: %w", of, err)
	}
	return int(n), instant(first), nil
}
