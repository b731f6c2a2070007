package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var (
	_ moving.Tx = (*Tx)(nil)

	dueMoves = waiting{"moves", "due_at"}
)

// Moves returns the store of moves.
func (db *DB) Moves() moving.Store {
	return readScope(db, func(tx *Tx) moving.Tx { return tx }, func(tx *Tx) moving.ReadTx { return tx })
}

// DueMoveShops returns at most limit shops with moves that are due.
func (s Shops) DueMoveShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, dueMoves, now, limit)
}

// moveRow is a row of moves.
type moveRow struct {
	bun.BaseModel `bun:"table:moves,alias:m"`

	ShopID      int64 `bun:"shop_id,pk"`
	ID          int64 `bun:"id,pk"`
	Direction   string
	Address     string
	Memberships string
	Loyalty     string
	APIKey      string `bun:"api_key"` // sealed
	Rate        int64
	Plans       string
	File        string
	Status      string
	Paused      bool
	StartedBy   string
	ClientIP    string
	Line        string
	Page        int64
	Announced   int64
	Wave        int64
	Failures    int64
	Failure     string
	FailedAt    int64
	ListedAt    int64
	ListAt      int64
	Since       int64
	CreatedAt   int64
	ReadAt      int64
	EndedAt     int64
	DueAt       int64 `bun:",nullzero"`
	Version     int64

	PartsSource   int64
	PartsPage     int64
	PartsBeganAt  int64
	PartsReadAt   int64
	PartsMake     bool
	PartsDeclined bool
}

func (r *moveRow) Columns(m *mapping, v *moving.Move) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &v.ID)
	mapText(m, &r.Direction, &v.Direction)
	mapText(m, &r.Address, &v.Peer.Address)
	mapText(m, &r.Memberships, &v.Peer.Memberships)
	mapText(m, &r.Loyalty, &v.Peer.Loyalty)
	mapSealed(m, "api_key", r.ShopID, &r.APIKey, &v.Peer.Key)
	if m.toRow {
		r.Rate = int64(math.Round(v.Peer.Rate * 1000))
	} else {
		v.Peer.Rate = float64(r.Rate) / 1000
		v.By.Source = activity.MerchantPortal
	}
	mapJSON(m, "plans", &r.Plans, &v.Plans)
	mapJSON(m, "file", &r.File, &v.File)
	mapText(m, &r.Status, &v.Status)
	mapSame(m, &r.Paused, &v.Paused)
	mapText(m, &r.StartedBy, &v.By.By)
	mapText(m, &r.ClientIP, &v.By.ClientIP)
	mapText(m, &r.Line, &v.Line)
	mapInt(m, &r.Page, &v.Page)
	mapInt(m, &r.Announced, &v.Announced)
	mapInt(m, &r.Wave, &v.Wave)
	mapInt(m, &r.Failures, &v.Failures)
	mapText(m, &r.Failure, &v.Failure)
	mapTime(m, &r.FailedAt, &v.FailedAt)
	mapTime(m, &r.ListedAt, &v.ListedAt)
	mapTime(m, &r.ListAt, &v.ListAt)
	mapTime(m, &r.Since, &v.Since)
	mapTime(m, &r.CreatedAt, &v.CreatedAt)
	mapTime(m, &r.ReadAt, &v.ReadAt)
	mapTime(m, &r.EndedAt, &v.EndedAt)
	mapTime(m, &r.DueAt, &v.DueAt)
	mapSame(m, &r.Version, &v.Version)
	mapInt(m, &r.PartsSource, &v.Parts.Source)
	mapInt(m, &r.PartsPage, &v.Parts.Page)
	mapTime(m, &r.PartsBeganAt, &v.Parts.BeganAt)
	mapTime(m, &r.PartsReadAt, &v.Parts.ReadAt)
	mapSame(m, &r.PartsMake, &v.Parts.Make)
	mapSame(m, &r.PartsDeclined, &v.Parts.Declined)
	m.within(r.ID)
}

// PutMove inserts a move whose ID is 0, giving it one, and writes another one if its version is
// still what was read.
func (tx *Tx) PutMove(ctx context.Context, v *moving.Move) error {
	if v.ID == 0 {
		id, err := tx.db.ids.take(1)
		if err != nil {
			return err
		}
		v.ID, v.Version = moving.ID(id), 1
		row, err := sealedRowOf[moveRow](tx.db.seal, tx.of, *v)
		if err != nil {
			return err
		}
		_, err = insert(ctx, tx, []moveRow{row}, "")
		return err
	}
	row, err := sealedRowOf[moveRow](tx.db.seal, tx.of, *v)
	if err != nil {
		return err
	}
	n, err := update(ctx, tx, []moveRow{row})
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "The move was changed meanwhile").Entity("move").Code("changedMeanwhile")
	}
	if err == nil {
		v.Version++
	}
	return err
}

// Move returns a move and, in a transaction that writes, locks it, or NotFound.
func (tx *Tx) Move(ctx context.Context, id moving.ID) (moving.Move, error) {
	var row moveRow
	q := tx.q.NewSelect().Model(&row).Where("m.shop_id = ?", tx.of).Where("m.id = ?", id)
	switch err := tx.locked(q).Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return moving.Move{}, moving.NotFound(id)
	case err != nil:
		return moving.Move{}, fmt.Errorf("read move %d: %w", id, err)
	}
	return readSealedRow[moving.Move](tx.db.seal, row)
}

// Moves returns all moves, the newest first.
func (tx *Tx) Moves(ctx context.Context) ([]moving.Move, error) {
	var rows []moveRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Order("m.id DESC")
	if err := tx.locked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the moves: %w", err)
	}
	return tx.moves(rows)
}

// DueMoves returns at most limit moves that are due, locked, passing over those that another
// transaction holds.
func (tx *Tx) DueMoves(ctx context.Context, now time.Time, limit int) ([]moving.Move, error) {
	var rows []moveRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Where("m.due_at <= ?", millis(now)).Order("m.due_at", "m.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the moves that are due: %w", err)
	}
	return tx.moves(rows)
}

func (tx *Tx) moves(rows []moveRow) ([]moving.Move, error) {
	return parsed(rows, func(r moveRow) (moving.Move, error) { return readSealedRow[moving.Move](tx.db.seal, r) })
}

// comparedRow is a row of move_orders.
type comparedRow struct {
	bun.BaseModel `bun:"table:move_orders,alias:o"`

	ShopID   int64 `bun:"shop_id,pk"`
	MoveID   int64 `bun:"move_id,pk"`
	ThereID  int64 `bun:"there_id,pk"`
	DueOn    int64 `bun:"due_on,pk"`
	OrderID  int64 `bun:"order_id,pk"`
	Verdict  string
	Currency string
	Planned  int64
	Charged  int64
	Made     bool
	Text     string
}

func (r *comparedRow) Columns(m *mapping, v *moving.Compared) {
	m.shop(&r.ShopID)
	mapInt(m, &r.MoveID, &v.Move)
	mapSame(m, &r.ThereID, &v.There)
	mapTime(m, &r.DueOn, &v.Date)
	mapSame(m, &r.OrderID, &v.Order)
	mapText(m, &r.Verdict, &v.Verdict)
	currency := v.Planned.Currency
	if currency == "" {
		currency = v.Charged.Currency
	}
	mapText(m, &r.Currency, &currency)
	mapAmount(m, &r.Planned, &v.Planned, currency)
	mapAmount(m, &r.Charged, &v.Charged, currency)
	if m.toRow {
		r.Made = v.Charged.Currency != ""
	} else if !r.Made {
		v.Charged.Currency = ""
	}
	mapText(m, &r.Text, &v.Text)
	m.within(r.ThereID)
}

// AddCompared notes orders that were compared; one that is known is replaced.
func (tx *Tx) AddCompared(ctx context.Context, list []moving.Compared) error {
	rows, err := rowsOf[comparedRow](tx.of, list...)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, `ON CONFLICT (shop_id, move_id, there_id, due_on, order_id) DO UPDATE SET verdict = excluded.verdict, currency = excluded.currency,
		planned = excluded.planned, charged = excluded.charged, made = excluded.made, text = excluded.text`)
	return err
}

// ComparedOrders returns at most limit orders that were compared, the newest first.
func (tx *Tx) ComparedOrders(ctx context.Context, of moving.ID, verdicts []moving.Verdict, limit int) ([]moving.Compared, error) {
	var rows []comparedRow
	q := tx.q.NewSelect().Model(&rows).Where("o.shop_id = ?", tx.of).Where("o.move_id = ?", of).Order("o.due_on DESC", "o.there_id").Limit(int64(limit))
	if len(verdicts) > 0 {
		q = q.Where("o.verdict IN (?)", bun.List(verdicts))
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the compared orders of move %d: %w", of, err)
	}
	return readRows[moving.Compared](rows)
}

// MoveTallies counts the compared orders by verdict.
func (tx *Tx) MoveTallies(ctx context.Context, of moving.ID) ([]moving.Tally, error) {
	var list []moving.Tally
	q := tx.q.NewSelect().Model((*comparedRow)(nil)).ColumnExpr("o.verdict").ColumnExpr("COUNT(*) AS n").Where("o.shop_id = ?", tx.of).Where("o.move_id = ?", of).Group("o.verdict").Order("o.verdict")
	if err := q.Scan(ctx, &list); err != nil {
		return nil, fmt.Errorf("count the compared orders of move %d: %w", of, err)
	}
	return list, nil
}
