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

// webhookDeliveryRow is a row of webhook_deliveries.
type webhookDeliveryRow struct {
	bun.BaseModel `bun:"table:webhook_deliveries,alias:d"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	EndpointID int64
	MessageID  string
	Type       string
	ContractID int64
	CustomerID int64
	At         int64
	Status     string
	Tries      int64
	DueAt      int64 `bun:",nullzero"`
	TriedAt    int64
	StatusCode int64
	Error      string
	DurationMs int64 // of the last try
	Response   string
	Version    int64
}

func (r *webhookDeliveryRow) Columns(m *mapping, d *webhook.Delivery) {
	mapShop(m, &r.ShopID, &d.Shop)
	mapInt(m, &r.ID, &d.ID)
	mapInt(m, &r.EndpointID, &d.Endpoint)
	mapText(m, &r.MessageID, &d.Message)
	mapText(m, &r.Type, &d.Type)
	mapInt(m, &r.ContractID, &d.Contract)
	mapSame(m, &r.CustomerID, &d.Customer)
	mapTime(m, &r.At, &d.At)
	mapText(m, &r.Status, &d.Status)
	mapInt(m, &r.Tries, &d.Tries)
	mapTime(m, &r.DueAt, &d.Due)
	mapTime(m, &r.TriedAt, &d.TriedAt)
	mapInt(m, &r.StatusCode, &d.Code)
	mapText(m, &r.Error, &d.Error)
	took := d.Took.Milliseconds()
	mapSame(m, &r.DurationMs, &took)
	d.Took = time.Duration(took) * time.Millisecond
	mapText(m, &r.Response, &d.Answer)
	mapSame(m, &r.Version, &d.Version)
}

// Delivery returns a delivery, or NotFound.
func (tx *Tx) Delivery(ctx context.Context, id webhook.DeliveryID) (webhook.Delivery, error) {
	var row webhookDeliveryRow
	err := tx.q.NewSelect().Model(&row).Where("d.shop_id = ?", tx.of).Where("d.id = ?", id).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return webhook.Delivery{}, webhook.NoDelivery(id)
	}
	if err != nil {
		return webhook.Delivery{}, fmt.Errorf("read webhook delivery %d: %w", id, err)
	}
	return readRow[webhook.Delivery](row)
}

// Deliveries returns those of deliveries that exist.
func (tx *Tx) Deliveries(ctx context.Context, ids []webhook.DeliveryID) ([]webhook.Delivery, error) {
	var rows []webhookDeliveryRow
	if err := tx.q.NewSelect().Model(&rows).Where("d.shop_id = ?", tx.of).Where("d.id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read %d webhook deliveries: %w", len(ids), err)
	}
	return readRows[webhook.Delivery](rows)
}

// DueDeliveries returns at most limit deliveries to an endpoint whose Due is not after
// now and whose message has a body, in the order of their events.
func (tx *Tx) DueDeliveries(ctx context.Context, to webhook.EndpointID, now time.Time, limit int) ([]webhook.Delivery, error) {
	var rows []webhookDeliveryRow
	err := tx.q.NewSelect().Model(&rows).Where("d.shop_id = ?", tx.of).Where("d.endpoint_id = ?", to).Where("d.due_at <= ?", millis(now)).
		Where("d.message_id NOT IN (?)", withoutBody(tx.q, tx.of)).Order("d.at", "d.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the due webhooks of endpoint %d: %w", to, err)
	}
	return readRows[webhook.Delivery](rows)
}

// InFlight returns how many deliveries to an endpoint are being sent.
func (tx *Tx) InFlight(ctx context.Context, to webhook.EndpointID, now time.Time) (int, error) {
	n, err := tx.q.NewSelect().Model((*webhookDeliveryRow)(nil)).Where("d.shop_id = ?", tx.of).Where("d.endpoint_id = ?", to).
		Where("d.due_at > ?", millis(now)).Where("d.status = ?", webhook.Sending).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the webhooks on their way to endpoint %d: %w", to, err)
	}
	return int(n), nil
}

// follower is a delivery that waits, with what it is about.
type follower struct {
	ID         int64
	ContractID int64
	CustomerID int64
	At         int64
	DueAt      int64
	Status     string
}

// before reports whether it comes before another delivery.
func (f follower) before(at, id int64) bool { return f.At < at || f.At == at && f.ID < id }

// queueOf returns, in their order, what waits for the endpoint of deliveries about the same contracts
// and customers.
func (tx *Tx) queueOf(ctx context.Context, list []webhook.Delivery) (map[[2]int64][]follower, error) {
	var contracts, customers []int64
	for _, d := range list {
		contracts, customers = append(contracts, int64(d.Contract)), append(customers, d.Customer)
	}
	var rows []follower
	err := tx.q.NewSelect().Model((*webhookDeliveryRow)(nil)).Column("id", "contract_id", "customer_id", "at", "due_at", "status").Where("d.shop_id = ?", tx.of).
		Where("d.endpoint_id = ?", list[0].Endpoint).Where("d.contract_id IN (?)", bun.List(contracts)).Where("d.customer_id IN (?)", bun.List(customers)).
		Where("(d.contract_id <> 0 OR d.customer_id <> 0)").Where("d.due_at IS NOT NULL").Order("d.at", "d.id").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read what waits with %d webhook deliveries: %w", len(list), err)
	}
	queues := map[[2]int64][]follower{}
	for _, f := range rows {
		about := [2]int64{f.ContractID, f.CustomerID}
		queues[about] = append(queues[about], f)
	}
	return queues, nil
}

// PrecedingDue returns, for each of deliveries to one endpoint, when the earliest one is due that
// precedes it: about the same contract or customer. Those without are left out.
func (tx *Tx) PrecedingDue(ctx context.Context, list []webhook.Delivery) (map[webhook.DeliveryID]time.Time, error) {
	if len(list) == 0 {
		return nil, nil
	}
	queues, err := tx.queueOf(ctx, list)
	if err != nil {
		return nil, err
	}
	preceding := map[webhook.DeliveryID]time.Time{}
	for _, d := range list {
		if queue := queues[[2]int64{int64(d.Contract), d.Customer}]; len(queue) > 0 && queue[0].before(millis(d.At), int64(d.ID)) {
			preceding[d.ID] = instant(queue[0].DueAt)
		}
	}
	return preceding, nil
}

// ReleaseNext makes the deliveries that follow those of a list, all to one endpoint, due at an
// instant, if they are due later.
func (tx *Tx) ReleaseNext(ctx context.Context, list []webhook.Delivery, at time.Time) error {
	if len(list) == 0 {
		return nil
	}
	queues, err := tx.queueOf(ctx, list)
	if err != nil {
		return err
	}
	var next []int64
	for _, d := range list {
		for _, f := range queues[[2]int64{int64(d.Contract), d.Customer}] {
			if f.before(millis(d.At), int64(d.ID)) || f.ID == int64(d.ID) {
				continue
			}
			if f.Status == string(webhook.Pending) && f.DueAt > millis(at) {
				next = append(next, f.ID)
			}
			break
		}
	}
	if len(next) == 0 {
		return nil
	}
	_, err = tx.q.NewUpdate().Model((*webhookDeliveryRow)(nil)).Set("due_at = ?", millis(at)).Set("version = d.version + 1").
		Where("d.shop_id = ?", tx.of).Where("d.id IN (?)", bun.List(next)).Where("d.due_at > ?", millis(at)).Where("d.status = ?", webhook.Pending).Exec(ctx)
	if err != nil {
		return fmt.Errorf("let the next ones follow %d webhook deliveries: %w", len(list), err)
	}
	return nil
}

// PutDeliveries replaces deliveries under the version rule.
func (tx *Tx) PutDeliveries(ctx context.Context, list ...webhook.Delivery) error {
	rows, err := rowsOf[webhookDeliveryRow](tx.of, list...)
	if err != nil {
		return err
	}
	n, err := update(ctx, tx, rows)
	if err == nil && n != int64(len(rows)) {
		err = changed("webhookDelivery", "The webhook delivery")
	}
	return err
}

// waitingOf changes what waits for an endpoint, or of a message when the endpoint
// is 0.
func (tx *Tx) waitingOf(to webhook.EndpointID, of webhook.MessageID) *bun.UpdateQuery {
	q := tx.q.NewUpdate().Model((*webhookDeliveryRow)(nil)).Set("version = d.version + 1").Where("d.shop_id = ?", tx.of).Where("d.due_at IS NOT NULL")
	if to == 0 {
		return q.Where("d.message_id = ?", of)
	}
	return q.Where("d.endpoint_id = ?", to)
}

// FailDeliveries ends all deliveries of an endpoint that wait, or of a message when the
// endpoint is 0.
func (tx *Tx) FailDeliveries(ctx context.Context, to webhook.EndpointID, of webhook.MessageID, why string) error {
	if _, err := tx.waitingOf(to, of).Set("status = ?", webhook.Failed).Set("due_at = NULL").Set("error = ?", why).Exec(ctx); err != nil {
		return fmt.Errorf("give up webhooks: %w", err)
	}
	return nil
}

// PostponeDeliveries lets the deliveries of a message wait.
func (tx *Tx) PostponeDeliveries(ctx context.Context, of webhook.MessageID, until time.Time, why string) error {
	if _, err := tx.waitingOf(0, of).Set("status = ?", webhook.Pending).Set("due_at = ?", millis(until)).Set("error = ?", why).Exec(ctx); err != nil {
		return fmt.Errorf("put off webhook message %s: %w", of, err)
	}
	return nil
}

// DueEndpoints returns the endpoints with deliveries that are due and have a body.
func (s webhookStore) DueEndpoints(ctx context.Context, of shop.ID, now time.Time) ([]webhook.EndpointID, error) {
	var ids []webhook.EndpointID
	err := s.db.in(of).NewSelect().Model((*webhookDeliveryRow)(nil)).Distinct().Column("endpoint_id").Where("d.shop_id = ?", of).Where("d.due_at <= ?", millis(now)).
		Where("d.message_id NOT IN (?)", withoutBody(s.db.in(of), of)).Order("endpoint_id").Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find the endpoints that are owed something: %w", err)
	}
	return ids, nil
}

// deliveryFields are the fields by which deliveries are sorted.
var deliveryFields = map[string]field{"id": {"id", whole}, "at": {"at", whole}}

// Deliveries returns a page of a shop's deliveries, newest first, and how many
// there are.
func (s webhookStore) Deliveries(ctx context.Context, of shop.ID, ask webhook.DeliveryFilter, p page.Request) ([]webhook.Delivery, int, error) {
	var rows []webhookDeliveryRow
	q := s.db.in(of).NewSelect().Model(&rows).Where("d.shop_id = ?", of)
	if ask.Endpoint != 0 {
		q = q.Where("d.endpoint_id = ?", ask.Endpoint)
	}
	if ask.Status != "" {
		q = q.Where("d.status = ?", ask.Status)
	}
	p.Sort = []page.Sort{{Field: "at", Desc: true}, {Field: "id", Desc: true}}
	total, err := fetch(ctx, q, deliveryFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("read webhook deliveries: %w", err)
	}
	list, err := readRows[webhook.Delivery](rows)
	return list, total, err
}
