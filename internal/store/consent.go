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
	return tx.Enqueue(ctx, billing.Task{Shop: tx.of})
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

// plain adds the condition that an order costs what the lines of its contract do, and delivery: that
// can be summed here. Any other order is computed (billing.Record.Cost).
func (tx *Tx) plain(q *bun.SelectQuery, variants []int64) *bun.SelectQuery {
	q = q.Where("c.discounts = ''").Where("NOT c.priced").Where("c.one_offs = 0").Where("a.preparation = ''")
	if len(variants) == 0 {
		return q
	}
	return q.Where("NOT EXISTS (?)", tx.q.NewSelect().TableExpr("contract_lines AS l").ColumnExpr("1").Where("l.shop_id = ?", tx.of).
		Where("l.contract_id = c.id").Where("l.variant_id IN (?)", bun.List(variants)))
}

// replaced returns the variants that swap rules of the shop replace.
func (tx *Tx) replaced(ctx context.Context) ([]int64, error) {
	of, err := tx.Shop(ctx)
	if err != nil || !of.Settings.SwapRules {
		return nil, err
	}
	rules, err := tx.SwapRules(ctx)
	var ids []int64
	for _, r := range rules {
		for _, p := range r.Sources {
			ids = append(ids, p.VariantID)
		}
	}
	return billing.Unique(ids), err
}

// computedAtOnce is how many orders are read at once whose cost is computed.
const computedAtOnce = 500

// TotalsToCharge sums the orders that will be charged until an instant, by currency, and
// counts those whose date is at or before now.
func (tx *Tx) TotalsToCharge(ctx context.Context, now, until time.Time) ([]confirm.Total, int, error) {
	variants, err := tx.replaced(ctx)
	if err != nil {
		return nil, 0, err
	}
	var rows []struct {
		Currency money.Currency
		Orders   int
		Overdue  int
		Lines    int64 // thousandths of the main unit
		Delivery int64 // minor units
	}
	err = tx.plain(tx.toCharge(now, until), variants).ColumnExpr("c.currency, COUNT(*) AS orders, SUM(CASE WHEN a.billing_date <= ? THEN 1 ELSE 0 END) AS overdue", millis(now)).
		ColumnExpr("SUM(c.order_amount) AS lines, SUM(c.delivery_price) AS delivery").Group("c.currency").Scan(ctx, &rows)
	if err != nil {
		return nil, 0, fmt.Errorf("sum the orders to be charged: %w", err)
	}
	totals, overdue := make(map[money.Currency]confirm.Total), 0
	add := func(orders int, amount money.Amount) {
		t := totals[amount.Currency]
		totals[amount.Currency] = confirm.Total{Orders: t.Orders + orders, Amount: money.Amount{Minor: t.Amount.Minor + amount.Minor, Currency: amount.Currency}}
	}
	for _, r := range rows {
		add(r.Orders, orderAmount(r.Lines, r.Delivery, r.Currency))
		overdue += r.Overdue
	}
	for after := int64(0); ; {
		var attempts []attemptRow
		q := tx.toCharge(now, until).WhereGroup(" AND NOT ", func(q *bun.SelectQuery) *bun.SelectQuery { return tx.plain(q, variants) })
		if err := q.Model(&attempts).Where("a.id > ?", after).Order("a.id").Limit(computedAtOnce).Scan(ctx); err != nil {
			return nil, 0, fmt.Errorf("read the orders to be charged: %w", err)
		}
		records, err := tx.recordsOf(ctx, attempts)
		if err != nil {
			return nil, 0, err
		}
		for _, r := range records {
			add(1, r.Cost())
			if !r.BillingDate.After(now) {
				overdue++
			}
		}
		if len(attempts) < computedAtOnce {
			break
		}
		after = attempts[len(attempts)-1].ID
	}
	list := make([]confirm.Total, 0, len(totals))
	for _, c := range sortedKeys(totals) {
		list = append(list, totals[c])
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

// orderAmount returns what lines, in thousandths of the main unit, and delivery, in minor
// units, cost together.
func orderAmount(lines, delivery int64, c money.Currency) money.Amount {
	return money.Amount{Minor: lines/money.Amount{Minor: 1, Currency: c}.Milli() + delivery, Currency: c}
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
