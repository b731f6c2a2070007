package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/upcoming"
)

var _ upcoming.ReadTx = (*Tx)(nil)

// Upcoming returns the store of the orders that are queued.
func (db *DB) Upcoming() upcoming.Store {
	return readScope(db, func(tx *Tx) upcoming.ReadTx { return tx }, func(tx *Tx) upcoming.ReadTx { return tx })
}

// queued selects the orders, aliased a, that are queued and charged automatically, with the
// current history, aliased h, of their contracts, by which they are counted.
func (tx *Tx) queued() *bun.SelectQuery {
	return tx.q.NewSelect().TableExpr("attempts AS a").
		Join("JOIN contract_history AS h ON h.shop_id = a.shop_id AND h.contract_id = a.contract_id AND h.valid_to = 0").
		Where("a.shop_id = ?", bound{tx.of}).Where("h.shop_id = ?", bound{tx.of}).
		Where("a.due_at IS NOT NULL").Where("a.status = 'QUEUED'") // as in the index
}

// QueueSums sums the orders that are charged from one instant to before another, by quarter of
// an hour.
func (tx *Tx) QueueSums(ctx context.Context, from, to time.Time) ([]upcoming.Sum, error) {
	var rows []quarterRow
	err := tx.q.NewSelect().Model((*quarterRow)(nil)).ColumnExpr("q.quarter, q.currency, SUM(q.orders) AS orders, SUM(q.amount) AS amount").
		Where("q.shop_id = ?", bound{tx.of}).Where("q.quarter >= ?", bound{int64(analytics.QuarterOf(from))}).Where("q.quarter < ?", bound{int64(analytics.QuarterOf(to))}).
		GroupExpr("q.quarter, q.currency").OrderExpr("q.quarter, q.currency").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("sum the orders of days: %w", err)
	}
	list := make([]upcoming.Sum, len(rows))
	for i, r := range rows {
		list[i] = upcoming.Sum{At: analytics.Quarter(r.Quarter).Start(), Orders: int(r.Orders), Amount: money.Amount{Minor: r.Amount, Currency: money.Currency(r.Currency)}}
	}
	return list, nil
}

// queuedOrderRow is an order that is queued, as it is shown.
type queuedOrderRow struct {
	ID              int64
	ContractID      int64
	Line            string
	Cycle           int
	DueAt           int64
	BillingDate     int64
	NextBillingDate int64
	Moved           bool
	CustomerName    string
	CustomerEmail   string
	Currency        string
	Expected        int64
}

// shown adds what is shown of an order.
func shown(q *bun.SelectQuery) *bun.SelectQuery {
	return q.Join("JOIN contracts AS c ON c.shop_id = a.shop_id AND c.id = a.contract_id").
		ColumnExpr("a.id, a.contract_id, c.line, a.cycle, a.due_at, a.billing_date, c.next_billing_date, a.moved, c.customer_name, c.customer_email, h.currency, a.expected")
}

func (r queuedOrderRow) order() upcoming.Order {
	return upcoming.Order{
		Attempt: billing.AttemptID(r.ID), Contract: contract.ID(r.ContractID), Line: shop.Line(r.Line), Cycle: r.Cycle, Date: instant(r.DueAt), Moved: r.Moved,
		Next: r.BillingDate == r.NextBillingDate, Customer: r.CustomerName, Email: r.CustomerEmail,
		Amount: money.Amount{Minor: r.Expected, Currency: money.Currency(r.Currency)},
	}
}

// QueueOrders returns at most limit of the orders that are charged from one instant to before
// another, earliest first, after the first ones.
func (tx *Tx) QueueOrders(ctx context.Context, from, to time.Time, offset, limit int) ([]upcoming.Order, error) {
	var rows []queuedOrderRow
	// The page is found first, so that nothing is read of orders that are passed over.
	page := tx.q.NewSelect().TableExpr("attempts AS a").Column("a.id").Where("a.shop_id = ?", bound{tx.of}).Where("a.due_at IS NOT NULL").
		Where("a.due_at >= ?", boundAt(from)).Where("a.due_at < ?", boundAt(to)).Where("a.status = 'QUEUED'").
		Order("a.due_at", "a.contract_id", "a.id").Limit(int64(limit)).Offset(int64(offset))
	if err := shown(tx.queued()).Where("a.id IN (?)", page).OrderExpr("a.due_at, a.contract_id, a.id").Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read the orders of a day: %w", err)
	}
	list := make([]upcoming.Order, len(rows))
	for i, r := range rows {
		list[i] = r.order()
	}
	return list, nil
}

// QueueOrder returns an order that is queued, or NotFound.
func (tx *Tx) QueueOrder(ctx context.Context, id billing.AttemptID) (upcoming.Order, error) {
	var rows []queuedOrderRow
	if err := shown(tx.queued()).Where("a.id = ?", bound{int64(id)}).Scan(ctx, &rows); err != nil {
		return upcoming.Order{}, fmt.Errorf("read order %d: %w", id, err)
	}
	if len(rows) == 0 {
		return upcoming.Order{}, upcoming.NotFound()
	}
	return rows[0].order(), nil
}
