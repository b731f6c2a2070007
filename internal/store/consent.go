package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

var _ confirm.Tx = (*Tx)(nil)

// Confirm returns the store of the confirmation of charges.
func (db *DB) Confirm() confirm.Store {
	return readScope(db, func(tx *Tx) confirm.Tx { return tx }, func(tx *Tx) confirm.ReadTx { return tx })
}

// EnqueueCharges asks for the shop's due orders to be charged.
func (tx *Tx) EnqueueCharges(ctx context.Context) error {
	return tx.reprice(ctx) // customers learn what swap rules do now that it will be charged
}

// toCharge selects the queued orders, aliased a, of contracts, aliased c, that will be
// charged until an instant. Of several that a contract has missed only the newest is.
func (tx *Tx) toCharge(now, until time.Time) *bun.SelectQuery {
	newer := tx.q.NewSelect().TableExpr("attempts AS n").ColumnExpr("1").Where("n.shop_id = ?", tx.of).Where("n.contract_id = a.contract_id").Where("n.cycle > a.cycle").
		Where("n.status IN (?)", bun.List(billing.Open)).Where("n.billing_date <= ?", millis(now))
	return tx.q.NewSelect().Model((*attemptRow)(nil)).Join("JOIN contracts AS c ON c.shop_id = a.shop_id AND c.id = a.contract_id").
		Where("a.shop_id = ?", tx.of).Where("a.due_at <= ?", millis(until)).Where("a.status = ?", billing.Queued).Where("a.billing_date <= ?", millis(until)).
		Where("c.status = ?", contract.Active).Where("c.auto_charge").Where("NOT EXISTS (?)", newer)
}

// TotalsToCharge sums the orders that will be charged until an instant, by currency, and
// counts those whose date is at or before now.
func (tx *Tx) TotalsToCharge(ctx context.Context, now, until time.Time) ([]confirm.Total, int, error) {
	var rows []struct {
		Currency money.Currency
		Orders   int
		Overdue  int
		Amount   int64
	}
	err := tx.toCharge(now, until).ColumnExpr("c.currency, COUNT(*) AS orders, SUM(CASE WHEN a.billing_date <= ? THEN 1 ELSE 0 END) AS overdue", millis(now)).
		ColumnExpr("SUM(a.expected) AS amount").Group("c.currency").Order("c.currency").Scan(ctx, &rows)
	if err != nil {
		return nil, 0, fmt.Errorf("sum the orders to be charged: %w", err)
	}
	overdue, list := 0, make([]confirm.Total, len(rows))
	for i, r := range rows {
		list[i] = confirm.Total{Orders: r.Orders, Amount: money.Amount{Minor: r.Amount, Currency: r.Currency}}
		overdue += r.Overdue
	}
	return list, overdue, nil
}

// OrdersToCharge returns at most limit of the orders that will be charged until an
// instant, earliest first.
func (tx *Tx) OrdersToCharge(ctx context.Context, now, until time.Time, limit int) ([]confirm.Order, error) {
	var rows []attemptRow
	if err := tx.toCharge(now, until).Model(&rows).Order("a.billing_date", "a.id").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the orders to be charged: %w", err)
	}
	records, err := tx.recordsOf(ctx, rows)
	list := make([]confirm.Order, len(records))
	for i, r := range records {
		list[i] = confirm.Order{Attempt: r.ID, Contract: r.Of.ID, Cycle: r.Cycle, Date: r.BillingDate, Amount: r.Cost()}
	}
	return list, err
}

// MissedOrders counts, up to limit, the orders whose date has passed since an instant and
// that were not charged because the shop was disconnected.
func (tx *Tx) MissedOrders(ctx context.Context, since, now time.Time, limit int) (int, error) {
	missed := tx.q.NewSelect().TableExpr("attempts AS a").ColumnExpr("1").Where("a.shop_id = ?", tx.of).Where("a.billing_date >= ?", millis(since)).
		Where("a.billing_date <= ?", millis(now)).Where("a.status IN (?)", bun.List([]billing.Status{billing.Queued, billing.ConnectionGone})).Limit(int64(limit))
	var n int
	if err := tx.q.NewSelect().TableExpr("(?) AS missed", missed).ColumnExpr("COUNT(*)").Scan(ctx, &n); err != nil {
		return 0, fmt.Errorf("count the orders that were missed: %w", err)
	}
	return n, nil
}
