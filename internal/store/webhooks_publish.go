package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// Recipients returns the ids, shop and types of the enabled endpoints, and of the events while
// they are read.
func (tx *Tx) Recipients(ctx context.Context, at time.Time) ([]webhook.Endpoint, error) {
	var rows []struct {
		ID    webhook.EndpointID
		Types string
	}
	events := tx.q.NewSelect().Model((*feedRow)(nil)).ColumnExpr("? AS id", webhook.ToEvents).ColumnExpr("'' AS types").Where("f.shop_id = ?", tx.of).Where("f.close_at > ?", millis(at))
	endpoints := tx.q.NewSelect().Model((*endpointRow)(nil)).Column("e.id", "e.types").Where("e.shop_id = ?", tx.of).Where("e.enabled")
	err := tx.q.NewSelect().TableExpr("(?) AS r", endpoints.UnionAll(events)).Column("r.id", "r.types").Order("r.id").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read who receives webhooks: %w", err)
	}
	list := make([]webhook.Endpoint, len(rows))
	for i, r := range rows {
		list[i] = webhook.Endpoint{ID: r.ID, Shop: tx.of, Enabled: true, Types: webhook.Types}
		if r.ID != webhook.ToEvents {
			mapWords(&mapping{}, &r.Types, &list[i].Types)
		}
	}
	return list, nil
}

// Subjects returns the records that entries are about, as they are in this transaction.
func (tx *Tx) Subjects(ctx context.Context, entries []activity.Entry) (map[webhook.Record]webhook.Subject, error) {
	ids := map[activity.EntityType][]int64{}
	for _, e := range entries {
		ids[e.EntityType] = append(ids[e.EntityType], e.EntityID)
	}
	found := map[webhook.Record]webhook.Subject{}
	type row struct {
		ID         int64
		ContractID int64
		Line       string
		Status     string
		Manual     bool
	}
	read := func(kind activity.EntityType, q *bun.SelectQuery, show func(row) webhook.Subject) error {
		if len(ids[kind]) == 0 {
			return nil
		}
		var rows []row
		if err := q.Where("c.shop_id = ?", tx.of).Scan(ctx, &rows); err != nil {
			return fmt.Errorf("read what %d entries are about: %w", len(ids[kind]), err)
		}
		for _, r := range rows {
			found[webhook.Record{Type: kind, ID: r.ID}] = show(r)
		}
		return nil
	}
	contracts := activity.EntitySubscriptionContractDetails
	q := tx.q.NewSelect().TableExpr("contracts AS c").Column("c.id", "c.line").Where("c.id IN (?)", bun.List(ids[contracts]))
	err := read(contracts, q, func(r row) webhook.Subject {
		return webhook.Subject{Line: shop.Line(r.Line), Contract: contract.ID(r.ID)}
	})
	if err != nil {
		return nil, err
	}
	attempts := activity.EntitySubscriptionBillingAttempt
	q = tx.q.NewSelect().TableExpr("attempts AS a").Column("a.id", "a.contract_id", "c.line", "a.status", "a.manual").
		Join("JOIN contracts AS c ON c.shop_id = a.shop_id AND c.id = a.contract_id").Where("a.shop_id = ?", tx.of).Where("a.id IN (?)", bun.List(ids[attempts]))
	err = read(attempts, q, func(r row) webhook.Subject {
		return webhook.Subject{Line: shop.Line(r.Line), Contract: contract.ID(r.ContractID), Status: billing.Status(r.Status), Manual: r.Manual}
	})
	return found, err
}
