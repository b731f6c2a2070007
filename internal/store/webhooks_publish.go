package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// EnabledEndpoints returns the ids, shop and types of the enabled endpoints.
func (tx *Tx) EnabledEndpoints(ctx context.Context) ([]webhook.Endpoint, error) {
	var rows []endpointRow
	err := tx.q.NewSelect().Model(&rows).Column("id", "types").Where("e.shop_id = ?", tx.of).Where("e.enabled").Order("e.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the enabled webhook endpoints: %w", err)
	}
	list := make([]webhook.Endpoint, len(rows))
	for i, r := range rows {
		list[i] = webhook.Endpoint{ID: webhook.EndpointID(r.ID), Shop: tx.of, Enabled: true}
		mapWords(&mapping{}, &r.Types, &list[i].Types)
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
