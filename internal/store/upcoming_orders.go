package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// unpublishedOrders selects contracts, aliased c, whose upcoming order is not published yet.
func unpublishedOrders(db bun.IDB) *bun.SelectQuery {
	return db.NewSelect().TableExpr("contracts AS c").Where("c.notify_at IS NOT NULL").Where("c.notified_for <> c.next_billing_date")
}

// upcomingEndpoints selects the shops, aliased e, that have an endpoint which subscribes to
// upcoming orders, or read events. The orders of other shops are not searched.
func (s Shops) upcomingEndpoints(now time.Time) *bun.SelectQuery {
	recipients := s.db.reader.NewSelect().Model((*endpointRow)(nil)).Column("e.shop_id").Where("e.enabled").Where("e.upcoming_orders").
		Union(s.db.reader.NewSelect().Model((*feedRow)(nil)).Column("f.shop_id").Where("f.close_at > ?", boundAt(now)))
	return s.db.acrossShops().NewSelect().TableExpr("(?) AS e", recipients).Where("EXISTS (?)", s.chargedShops(now).ColumnExpr("1").Where("s.id = e.shop_id"))
}

// firstUnpublishedOrder selects the earliest instant at which an upcoming order of a shop,
// aliased e, is published. It runs for each of these: the orders of a shop without a recipient
// stay unpublished for good.
func (s Shops) firstUnpublishedOrder() *bun.SelectQuery {
	return unpublishedOrders(s.db.reader).ColumnExpr("MIN(c.notify_at)").Where("c.shop_id = e.shop_id")
}

// UpcomingOrderShops returns at most limit shops that have orders to announce.
func (s Shops) UpcomingOrderShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	var ids []shop.ID
	err := s.upcomingEndpoints(now).Distinct().Column("e.shop_id").Where("(?) <= ?", s.firstUnpublishedOrder(), boundAt(now)).Order("e.shop_id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find the shops with orders to announce: %w", err)
	}
	return ids, nil
}

// nextUpcomingOrder asks for the earliest instant at which an order is announced.
func (s Shops) nextUpcomingOrder(now time.Time) *bun.SelectQuery {
	return s.db.reader.NewSelect().TableExpr("(?) AS announced", s.upcomingEndpoints(now).ColumnExpr("(?) AS at", s.firstUnpublishedOrder())).ColumnExpr("MIN(announced.at)")
}

// UpcomingOrders returns at most limit contracts whose next order is due to be
// announced, with the attempts that wait for it, locked.
func (tx *Tx) UpcomingOrders(ctx context.Context, now time.Time, limit int) ([]webhook.Upcoming, error) {
	type row struct {
		ID              contract.ID
		Line            shop.Line
		NextBillingDate int64
	}
	var rows []row
	err := unpublishedOrders(tx.q).Column("c.id", "c.line", "c.next_billing_date").Where("c.shop_id = ?", tx.of).Where("c.notify_at <= ?", millis(now)).
		Order("c.notify_at", "c.id").Limit(int64(limit)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the contracts with an order to announce: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.ID, b.ID) }) // the order in which rows are locked
	list, at, ids := make([]webhook.Upcoming, len(rows)), make(map[contract.ID]int, len(rows)), make([]contract.ID, len(rows))
	for i, r := range rows {
		list[i] = webhook.Upcoming{Line: r.Line, Contract: r.ID, Date: instant(r.NextBillingDate)}
		at[r.ID], ids[i] = i, r.ID
	}
	var attempts []struct {
		ID          int64
		ContractID  contract.ID
		BillingDate int64
	}
	// Attempts are locked and read before contracts are written, as everywhere: who was
	// first to charge, skip or move one has had their way.
	q := tx.q.NewSelect().TableExpr("attempts AS a").Column("a.id", "a.contract_id", "a.billing_date").Where("a.shop_id = ?", tx.of).
		Where("a.contract_id IN (?)", bun.List(ids)).Where("a.status IN (?)", bun.List(billing.Open)).Where("a.status = ?", billing.Queued).
		Where("NOT a.notified").Order("a.contract_id", "a.cycle")
	if err := tx.dialect().forUpdate(q).Scan(ctx, &attempts); err != nil {
		return nil, fmt.Errorf("read the orders to announce: %w", err)
	}
	for _, a := range attempts {
		if u := &list[at[a.ContractID]]; millis(u.Date) == a.BillingDate {
			u.Attempts = append(u.Attempts, a.ID)
		}
	}
	return list, nil
}

// MarkPublished notes that orders are announced, or passed over.
func (tx *Tx) MarkPublished(ctx context.Context, list []webhook.Upcoming) error {
	var attempts []int64
	for _, u := range list {
		attempts = append(attempts, u.Attempts...)
	}
	if len(attempts) > 0 {
		_, err := tx.q.NewUpdate().TableExpr("attempts AS a").Set("notified = ?", true).Where("a.shop_id = ?", tx.of).Where("a.id IN (?)", bun.List(attempts)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note that %d orders are announced: %w", len(attempts), err)
		}
	}
	for _, u := range list {
		_, err := tx.q.NewUpdate().TableExpr("contracts AS c").Set("notified_for = ?", millis(u.Date)).Where("c.shop_id = ?", tx.of).Where("c.id = ?", u.Contract).
			Where("c.next_billing_date = ?", millis(u.Date)).Exec(ctx) // one that has another date by now is not done
		if err != nil {
			return fmt.Errorf("note that the order of contract %d is announced: %w", u.Contract, err)
		}
	}
	return nil
}
