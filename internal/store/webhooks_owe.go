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

// oweFor writes what entries owe to the shop's endpoints; the first entry has the
// number first, and so on. A shop without endpoints costs one look into an index,
// and only for entries that could owe something.
func (tx *Tx) oweFor(ctx context.Context, first int64, entries []activity.Entry) error {
	var telling []activity.Entry
	for i, e := range entries {
		if webhook.Publishes(e) {
			e.ID = first + int64(i)
			telling = append(telling, e)
		}
	}
	if len(telling) == 0 {
		return nil
	}
	endpoints, err := tx.EnabledEndpoints(ctx)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	subjects, err := tx.subjects(ctx, telling)
	if err != nil {
		return err
	}
	// A change that several entries tell of is told once.
	type what struct {
		kind     webhook.Type
		contract contract.ID
		attempt  int64
	}
	told := map[what]bool{}
	var list []webhook.Message
	for _, e := range telling {
		about, known := subjects[subject{e.EntityType, e.EntityID}]
		if !known {
			continue
		}
		for _, t := range webhook.TypesOf(e, about) {
			w := what{kind: t, contract: about.Contract}
			if e.EntityType == activity.EntitySubscriptionBillingAttempt && !t.AboutContract() {
				w.attempt = e.EntityID
			}
			if told[w] {
				continue
			}
			told[w] = true
			list = append(list, webhook.Message{
				ID: webhook.NewMessageID(tx.of, e.ID, t, e.At), Shop: tx.of, Type: t, Line: about.Line, Contract: w.contract, Attempt: w.attempt, At: e.At,
			})
		}
	}
	return tx.AddMessages(ctx, webhook.Address(endpoints, list)...)
}

// EnabledEndpoints returns the shop's enabled endpoints with what they are told of.
func (tx *Tx) EnabledEndpoints(ctx context.Context) ([]webhook.Endpoint, error) {
	var rows []endpointRow
	err := tx.q.NewSelect().Model(&rows).Column("id", "types").Where("e.shop_id = ?", tx.of).Where("e.enabled").Order("e.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read who listens: %w", err)
	}
	list := make([]webhook.Endpoint, len(rows))
	for i, r := range rows {
		list[i] = webhook.Endpoint{ID: webhook.EndpointID(r.ID), Types: typesOf(r.Types), Enabled: true}
	}
	return list, nil
}

// subject names what an entry is about.
type subject struct {
	kind activity.EntityType
	id   int64
}

// subjects returns what entries are about, as it stands in this transaction.
func (tx *Tx) subjects(ctx context.Context, entries []activity.Entry) (map[subject]webhook.Subject, error) {
	ids := map[activity.EntityType][]int64{}
	for _, e := range entries {
		ids[e.EntityType] = append(ids[e.EntityType], e.EntityID)
	}
	found := map[subject]webhook.Subject{}
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
			found[subject{kind, r.ID}] = show(r)
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
