package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var (
	_ session.Tx     = (*Tx)(nil)
	_ session.LossTx = (*Tx)(nil)

	dueCancelSessions = waiting{"cancel_sessions", "due_at"}
)

// CancelSessions returns the store of the sessions of cancelling.
func (db *DB) CancelSessions() session.Store {
	return readScope(db, func(tx *Tx) session.Tx { return tx }, func(tx *Tx) session.Reader { return tx })
}

// DueCancelShops returns at most limit shops with sessions of cancelling that were left open.
func (s Shops) DueCancelShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, dueCancelSessions, now, limit)
}

// cancelSessionRow is a row of cancel_sessions.
type cancelSessionRow struct {
	bun.BaseModel `bun:"table:cancel_sessions,alias:n"`

	ShopID        int64 `bun:"shop_id,pk"`
	ID            int64 `bun:"id,pk"`
	ContractID    int64
	CustomerID    int64
	FlowVersion   int64
	Step          string
	Outcome       string
	Action        string
	Reason        string
	Comment       string
	Offer         string
	OfferKind     string
	OfferCurrency string
	OfferCost     int64
	Arm           string
	Moves         string
	PlanGroupID   int64
	Orders        int64
	StartedAt     int64
	OfferedAt     int64
	AcceptedAt    int64
	DueAt         int64 `bun:",nullzero"`
	EndedAt       int64
	LostAt        int64
	Version       int64
}

func (r *cancelSessionRow) Columns(m *mapping, s *session.Session) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &s.ID)
	mapInt(m, &r.ContractID, &s.Contract)
	mapInt(m, &r.CustomerID, &s.Customer)
	mapInt(m, &r.FlowVersion, &s.Flow)
	mapText(m, &r.Step, &s.Step)
	mapText(m, &r.Outcome, &s.Outcome)
	mapText(m, &r.Action, &s.Action)
	mapText(m, &r.Reason, &s.Reason)
	mapText(m, &r.Comment, &s.Comment)
	mapJSON(m, "offer", &r.Offer, &s.Offer)
	if m.toRow && s.Offer != nil {
		r.OfferKind = string(s.Offer.Kind)
		if s.Offer.Kind == flow.Discount {
			r.OfferCurrency, r.OfferCost = string(s.Offer.Costs.Currency), s.Offer.Costs.Minor
		}
	}
	mapText(m, &r.Arm, &s.Arm)
	mapJSON(m, "moves", &r.Moves, &s.Moves)
	mapInt(m, &r.PlanGroupID, &s.PlanGroup)
	mapInt(m, &r.Orders, &s.Orders)
	mapTime(m, &r.StartedAt, &s.StartedAt)
	mapTime(m, &r.OfferedAt, &s.OfferedAt)
	mapTime(m, &r.AcceptedAt, &s.AcceptedAt)
	mapTime(m, &r.DueAt, &s.DueAt)
	mapTime(m, &r.EndedAt, &s.EndedAt)
	mapTime(m, &r.LostAt, &s.LostAt)
	mapSame(m, &r.Version, &s.Version)
	m.within(r.ID)
}

// cancelSessions selects the shop's sessions.
func (tx *Tx) cancelSessions(model any) *bun.SelectQuery {
	return tx.q.NewSelect().Model(model).Where("n.shop_id = ?", tx.of)
}

// CancelSession returns a session and, in a transaction that writes, locks it, or NotFound.
func (tx *Tx) CancelSession(ctx context.Context, id session.ID) (session.Session, error) {
	var row cancelSessionRow
	switch err := tx.locked(tx.cancelSessions(&row).Where("n.id = ?", id)).Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return session.Session{}, session.NotFound(id)
	case err != nil:
		return session.Session{}, fmt.Errorf("read cancel session %d: %w", id, err)
	}
	return readRow[session.Session](row)
}

// CancelSessionContract returns the contract of a session, or NotFound, without locking.
func (tx *Tx) CancelSessionContract(ctx context.Context, id session.ID) (contract.ID, error) {
	var c contract.ID
	switch err := tx.cancelSessions((*cancelSessionRow)(nil)).Column("n.contract_id").Where("n.id = ?", id).Scan(ctx, &c); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, session.NotFound(id)
	case err != nil:
		return 0, fmt.Errorf("find the contract of cancel session %d: %w", id, err)
	}
	return c, nil
}

// OpenCancelSession returns the contract's session that has not ended.
func (tx *Tx) OpenCancelSession(ctx context.Context, c contract.ID) (session.Session, bool, error) {
	var row cancelSessionRow
	switch err := tx.locked(tx.cancelSessions(&row).Where("n.contract_id = ?", c).Where("n.due_at IS NOT NULL")).Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return session.Session{}, false, nil
	case err != nil:
		return session.Session{}, false, fmt.Errorf("read the open cancel session of contract %d: %w", c, err)
	}
	s, err := readRow[session.Session](row)
	return s, true, err
}

// CancelSessionsOf returns a customer's sessions that began at or after an instant, newest
// first, without locking.
func (tx *Tx) CancelSessionsOf(ctx context.Context, customer int64, since time.Time) ([]session.Session, error) {
	var rows []cancelSessionRow
	q := tx.cancelSessions(&rows).Where("n.customer_id = ?", customer).Where("n.started_at >= ?", millis(since)).Order("n.started_at DESC", "n.id DESC")
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the cancel sessions of customer %d: %w", customer, err)
	}
	return readRows[session.Session](rows)
}

// DiscountsSince returns what discounts that were accepted at or after an instant cost.
func (tx *Tx) DiscountsSince(ctx context.Context, since time.Time, in money.Currency) (int64, error) {
	var sum int64
	q := tx.cancelSessions((*cancelSessionRow)(nil)).ColumnExpr("CAST(COALESCE(SUM(n.offer_cost), 0) AS bigint)").Where("n.accepted_at >= ?", millis(since)).
		Where("n.offer_cost > 0").Where("n.offer_currency = ?", in)
	if err := q.Scan(ctx, &sum); err != nil {
		return 0, fmt.Errorf("sum the discounts of offers: %w", err)
	}
	return sum, nil
}

// DueCancelSessions returns at most limit sessions that were left open, without locking.
func (tx *Tx) DueCancelSessions(ctx context.Context, now time.Time, limit int) ([]session.ID, error) {
	var ids []session.ID
	q := tx.cancelSessions((*cancelSessionRow)(nil)).Column("n.id").Where("n.due_at <= ?", millis(now)).Order("n.due_at", "n.id").Limit(int64(limit))
	if err := q.Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("find the cancel sessions that were left open: %w", err)
	}
	return ids, nil
}

// PutCancelSession inserts a session whose ID is 0, giving it one, and writes another one if
// its version is still what was read.
func (tx *Tx) PutCancelSession(ctx context.Context, s *session.Session) error {
	return putOne[cancelSessionRow](ctx, tx, s, func(s *session.Session) (*session.ID, *int64) { return &s.ID, &s.Version }, "cancelSession", "The session of cancelling")
}

// LoseCancelSessions sets when contracts have ended in sessions that have ended before.
func (tx *Tx) LoseCancelSessions(ctx context.Context, ended map[contract.ID]time.Time) error {
	var of []contract.ID
	q := tx.cancelSessions((*cancelSessionRow)(nil)).ColumnExpr("DISTINCT n.contract_id").Where("n.contract_id IN (?)", bun.List(slices.Sorted(maps.Keys(ended)))).
		Where("n.lost_at = 0").Order("n.contract_id")
	if err := q.Scan(ctx, &of); err != nil {
		return fmt.Errorf("find the cancel sessions of %d contracts: %w", len(ended), err)
	}
	for _, c := range of {
		_, err := tx.q.NewUpdate().Model((*cancelSessionRow)(nil)).Set("lost_at = ?", millis(ended[c])).Set("version = version + 1").
			Where("shop_id = ?", tx.of).Where("contract_id = ?", c).Where("lost_at = 0").Where("due_at IS NULL").Exec(ctx)
		if err != nil {
			return fmt.Errorf("note that contract %d has ended: %w", c, err)
		}
	}
	return nil
}
