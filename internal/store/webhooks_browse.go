package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// deliveriesPerStep is how many deliveries one step of reading their list looks at.
const deliveriesPerStep = 10_000

// BrowseDeliveries returns at most limit deliveries that the filter selects, of a bounded
// number after a cursor, and where to go on.
func (s webhookStore) BrowseDeliveries(ctx context.Context, of shop.ID, ask webhook.DeliveryFilter, after page.Cursor, limit int) ([]webhook.Delivery, page.Cursor, error) {
	step := func(model any) *bun.SelectQuery {
		q := s.db.in(of).NewSelect().Model(model).Where("d.shop_id = ?", of)
		if ask.Endpoint != 0 {
			q = q.Where("d.endpoint_id = ?", ask.Endpoint)
		}
		if !after.At.IsZero() {
			q = q.Where("d.at <= ?", millis(after.At)).Where("d.at < ? OR d.id < ?", millis(after.At), after.ID)
		}
		return q.OrderExpr("d.at DESC, d.id DESC")
	}
	var rows []webhookDeliveryRow
	q := s.db.in(of).NewSelect().ModelTableExpr("(?) AS d", step((*webhookDeliveryRow)(nil)).Limit(deliveriesPerStep)).Model(&rows)
	if ask.Status != "" {
		q = q.Where("d.status = ?", ask.Status)
	}
	if err := q.OrderExpr("d.at DESC, d.id DESC").Limit(int64(limit + 1)).Scan(ctx); err != nil {
		return nil, page.Cursor{}, fmt.Errorf("read webhook deliveries: %w", err)
	}
	list, err := readRows[webhook.Delivery](rows[:min(len(rows), limit)])
	if err != nil {
		return nil, page.Cursor{}, err
	}
	if len(rows) > limit {
		return list, page.Cursor{At: list[limit-1].At, ID: int64(list[limit-1].ID)}, nil
	}
	var last []webhookDeliveryRow
	if err := step(&last).Column("at", "id").Offset(deliveriesPerStep - 1).Limit(1).Scan(ctx); err != nil {
		return nil, page.Cursor{}, fmt.Errorf("find the end of a step in the webhook deliveries: %w", err)
	}
	if len(last) == 0 {
		return list, page.Cursor{}, nil
	}
	return list, page.Cursor{At: instant(last[0].At), ID: last[0].ID}, nil
}

// Delivery returns a delivery, or NotFound.
func (s webhookStore) Delivery(ctx context.Context, of shop.ID, id webhook.DeliveryID) (webhook.Delivery, error) {
	var row webhookDeliveryRow
	err := s.db.in(of).NewSelect().Model(&row).Where("d.shop_id = ?", of).Where("d.id = ?", id).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return webhook.Delivery{}, webhook.NoDelivery(id)
	}
	if err != nil {
		return webhook.Delivery{}, fmt.Errorf("read webhook delivery %d: %w", id, err)
	}
	return readRow[webhook.Delivery](row)
}

// RecentResults returns the results of the newest deliveries since an instant, by endpoint.
func (s webhookStore) RecentResults(ctx context.Context, of shop.ID, since time.Time) (map[webhook.EndpointID]webhook.Results, error) {
	var rows []struct {
		EndpointID int64
		Delivered  int64
		Failed     int64
	}
	newest := s.db.in(of).NewSelect().Model((*webhookDeliveryRow)(nil)).Column("endpoint_id", "status").Where("d.shop_id = ?", of).Where("d.at > ?", millis(since)).
		Where("d.tries > 0 OR d.status = ?", webhook.Failed).OrderExpr("d.at DESC, d.id DESC").Limit(deliveriesPerStep)
	err := s.db.in(of).NewSelect().TableExpr("(?) AS n", newest).Column("endpoint_id").
		ColumnExpr("SUM(CASE WHEN status = ? THEN 1 ELSE 0 END) AS delivered", webhook.Delivered).
		ColumnExpr("SUM(CASE WHEN status = ? THEN 0 ELSE 1 END) AS failed", webhook.Delivered).Group("endpoint_id").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("count the results of webhook deliveries: %w", err)
	}
	results := make(map[webhook.EndpointID]webhook.Results, len(rows))
	for _, r := range rows {
		results[webhook.EndpointID(r.EndpointID)] = webhook.Results{Delivered: int(r.Delivered), Failed: int(r.Failed)}
	}
	return results, nil
}

// FailedDeliveries returns at most limit deliveries to an endpoint that failed for good, in the
// order of their events.
func (tx *Tx) FailedDeliveries(ctx context.Context, to webhook.EndpointID, since time.Time, limit int) ([]webhook.Delivery, error) {
	var rows []webhookDeliveryRow
	err := tx.q.NewSelect().Model(&rows).Where("d.shop_id = ?", tx.of).Where("d.endpoint_id = ?", to).Where("d.at >= ?", millis(since)).
		Where("d.status = ?", webhook.Failed).Order("d.at", "d.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the failed webhooks of endpoint %d: %w", to, err)
	}
	return readRows[webhook.Delivery](rows)
}

// CountDeliveries returns how many deliveries to an endpoint have an event from one instant to
// another one.
func (tx *Tx) CountDeliveries(ctx context.Context, to webhook.EndpointID, since, until time.Time) (int, error) {
	n, err := tx.q.NewSelect().Model((*webhookDeliveryRow)(nil)).Where("d.shop_id = ?", tx.of).Where("d.endpoint_id = ?", to).
		Where("d.at >= ?", millis(since)).Where("d.at <= ?", millis(until)).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the webhooks of endpoint %d: %w", to, err)
	}
	return int(n), nil
}

// RestartDeliveries makes at most limit deliveries to an endpoint due with all their tries, except
// those that are being sent, and returns what is left.
func (tx *Tx) RestartDeliveries(ctx context.Context, to webhook.EndpointID, r webhook.Resend, now time.Time, limit int) (webhook.Resend, error) {
	after := func(q bun.QueryBuilder) bun.QueryBuilder {
		return q.Where("d.shop_id = ?", tx.of).Where("d.endpoint_id = ?", to).Where("d.at >= ?", millis(r.After.At)).
			Where("d.at > ? OR d.id > ?", millis(r.After.At), r.After.ID).Where("d.at <= ?", millis(r.Until))
	}
	var last []webhookDeliveryRow
	err := tx.q.NewSelect().Model(&last).Column("at", "id").ApplyQueryBuilder(after).Order("d.at", "d.id").Offset(int64(limit - 1)).Limit(1).Scan(ctx)
	if err != nil {
		return r, fmt.Errorf("find the webhooks of endpoint %d: %w", to, err)
	}
	q := tx.q.NewUpdate().Model((*webhookDeliveryRow)(nil)).Set("status = ?", webhook.Pending).Set("tries = 0").Set("due_at = ?", millis(now)).Set("version = d.version + 1").
		ApplyQueryBuilder(after).Where("d.status <> ? OR d.due_at <= ?", webhook.Sending, millis(now))
	left := webhook.Resend{}
	if len(last) > 0 {
		left = webhook.Resend{After: page.Cursor{At: instant(last[0].At), ID: last[0].ID}, Until: r.Until}
		q = q.Where("d.at <= ?", last[0].At).Where("d.at < ? OR d.id <= ?", last[0].At, last[0].ID)
	}
	if _, err := q.Exec(ctx); err != nil {
		return r, fmt.Errorf("send the webhooks of endpoint %d again: %w", to, err)
	}
	return left, nil
}
