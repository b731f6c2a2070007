package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
)

var _ overview.ReadTx = (*Tx)(nil)

// Overview returns the store of what subscribers see.
func (db *DB) Overview() overview.Store {
	return readScope(db, func(tx *Tx) overview.ReadTx { return tx }, func(tx *Tx) overview.ReadTx { return tx })
}

// SubscriberContracts returns at most limit contracts of a customer, newest first.
func (tx *Tx) SubscriberContracts(ctx context.Context, customer int64, limit int) ([]contract.Contract, error) {
	var rows []contractRow
	err := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.customer_id = ?", customer).OrderExpr("c.created_at DESC, c.id DESC").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the contracts of a customer: %w", err)
	}
	return readRows[contract.Contract](rows)
}

// OrdersOf returns the attempts of contracts that are open, skipped or were declined, and of all
// others the newest ones, at most past.
func (tx *Tx) OrdersOf(ctx context.Context, contracts []contract.ID, past int) ([]billing.Attempt, error) {
	var rows []attemptRow
	q := tx.q.NewSelect().Model(&rows).Where("a.shop_id = ?", tx.of).Where("a.contract_id IN (?)", bun.List(contracts)).OrderExpr("a.contract_id, a.cycle")
	if past > 0 {
		newest := tx.q.NewSelect().TableExpr("attempts AS n").Column("n.id").Where("n.shop_id = ?", tx.of).Where("n.contract_id IN (?)", bun.List(contracts)).
			Where("n.status NOT IN (?)", bun.List(billing.Unfinished)).OrderExpr("n.cycle DESC").Limit(int64(past))
		q = q.Where("(a.status IN (?) OR a.id IN (?))", bun.List(billing.Unfinished), newest)
	} else {
		q = q.Where("a.status IN (?)", bun.List(billing.Unfinished))
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the orders of %d contracts: %w", len(contracts), err)
	}
	return readRows[billing.Attempt](rows)
}

// PastOrders returns a page of the attempts of a contract that are neither open nor skipped with a
// date after now, the newest first.
func (tx *Tx) PastOrders(ctx context.Context, c contract.ID, p overview.PastPage) ([]billing.Attempt, error) {
	return tx.attempts(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.Where("a.contract_id = ?", int64(c)).Where("NOT "+isAhead, bun.List(billing.Open), billing.Skipped, boundAt(p.Now)).OrderExpr("a.cycle DESC").Limit(int64(p.Limit))
		if p.Before > 0 {
			q = q.Where("a.cycle < ?", p.Before)
		}
		return q
	})
}
