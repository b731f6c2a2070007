package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/platform"
)

var _ webhook.Tx = (*Tx)(nil)

// Webhooks returns the store of the webhooks.
func (db *DB) Webhooks() webhook.Store {
	return webhookStore{readScope(db, func(tx *Tx) webhook.Tx { return tx }, func(tx *Tx) webhook.FeedReader { return tx }), db}
}

type webhookStore struct {
	ReadScope[webhook.Tx, webhook.FeedReader]
	db *DB
}

// endpointRow is a row of webhook_endpoints.
type endpointRow struct {
	bun.BaseModel `bun:"table:webhook_endpoints,alias:e"`

	ShopID         int64  `bun:"shop_id,pk"`
	ID             int64  `bun:"id,pk"`
	URL            string `bun:"url"`
	Types          string // with spaces between
	Secret         string // sealed, like the old one
	OldSecret      string
	OldSecretUntil int64
	Enabled        bool
	UpcomingOrders bool // wants the upcoming orders
	Reason         string
	FailingSince   int64
	ReplayAt       int64
	ReplayID       int64
	ReplayUntil    int64
	CreatedAt      int64
	UpdatedAt      int64
	Version        int64
}

func (r *endpointRow) Columns(m *mapping, e *webhook.Endpoint) {
	mapShop(m, &r.ShopID, &e.Shop)
	mapInt(m, &r.ID, &e.ID)
	mapText(m, &r.URL, &e.URL)
	mapWords(m, &r.Types, &e.Types)
	mapSealed(m, "secret", r.ShopID, &r.Secret, &e.Secret)
	mapSealed(m, "old_secret", r.ShopID, &r.OldSecret, &e.OldSecret)
	mapTime(m, &r.OldSecretUntil, &e.OldSecretUntil)
	mapSame(m, &r.Enabled, &e.Enabled)
	if m.toRow {
		r.UpcomingOrders = e.WantsUpcoming()
	}
	mapText(m, &r.Reason, &e.Reason)
	mapTime(m, &r.FailingSince, &e.FailingSince)
	mapTime(m, &r.ReplayAt, &e.Resend.After.At)
	mapSame(m, &r.ReplayID, &e.Resend.After.ID)
	mapTime(m, &r.ReplayUntil, &e.Resend.Until)
	mapTime(m, &r.CreatedAt, &e.Created)
	mapTime(m, &r.UpdatedAt, &e.Updated)
	mapSame(m, &r.Version, &e.Version)
	m.within(r.ID)
}

func (db *DB) endpointRow(of shop.ID, e webhook.Endpoint) (endpointRow, error) {
	return sealedRowOf[endpointRow](db.seal, of, e)
}

func (db *DB) endpoint(r endpointRow) (webhook.Endpoint, error) {
	return readSealedRow[webhook.Endpoint](db.seal, r)
}

// LockEndpoints keeps other transactions that would add an endpoint waiting.
func (tx *Tx) LockEndpoints(ctx context.Context) error { return tx.LockKeys(ctx) }

// CountEndpoints returns how many endpoints the shop has.
func (tx *Tx) CountEndpoints(ctx context.Context) (int, error) {
	n, err := tx.q.NewSelect().Model((*endpointRow)(nil)).Where("e.shop_id = ?", tx.of).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count webhook endpoints: %w", err)
	}
	return int(n), nil
}

// Endpoint returns an endpoint under lock, or NotFound.
func (tx *Tx) Endpoint(ctx context.Context, id webhook.EndpointID) (webhook.Endpoint, error) {
	var row endpointRow
	q := tx.q.NewSelect().Model(&row).Where("e.shop_id = ?", tx.of).Where("e.id = ?", id)
	err := tx.dialect().forChange(q).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return webhook.Endpoint{}, webhook.NoEndpoint(id)
	}
	if err != nil {
		return webhook.Endpoint{}, fmt.Errorf("read webhook endpoint %d: %w", id, err)
	}
	return tx.db.endpoint(row)
}

// PutEndpoint inserts an endpoint whose ID is 0, giving it one, or replaces it
// under the version rule.
func (tx *Tx) PutEndpoint(ctx context.Context, e *webhook.Endpoint) error {
	made := *e
	if made.ID == 0 {
		id, err := tx.db.ids.take(1)
		if err != nil {
			return err
		}
		made.ID = webhook.EndpointID(id)
	}
	row, err := tx.db.endpointRow(tx.of, made)
	if err != nil {
		return err
	}
	made.Version++
	if e.ID == 0 {
		row.Version = made.Version
		_, err = insert(ctx, tx, []endpointRow{row}, "")
	} else {
		var n int64
		if n, err = update(ctx, tx, []endpointRow{row}); err == nil && n != 1 {
			err = changed("webhookEndpoint", "The webhook endpoint")
		}
	}
	if err == nil {
		*e = made
	}
	return err
}

// DeleteEndpoint removes an endpoint and all that is on its way to it.
func (tx *Tx) DeleteEndpoint(ctx context.Context, id webhook.EndpointID) error {
	if _, err := tx.q.NewDelete().Model((*endpointRow)(nil)).Where("e.shop_id = ?", tx.of).Where("e.id = ?", id).Exec(ctx); err != nil {
		return fmt.Errorf("remove webhook endpoint %d: %w", id, err)
	}
	return nil
}

// Endpoints returns a shop's endpoints, oldest first.
func (s webhookStore) Endpoints(ctx context.Context, of shop.ID) ([]webhook.Endpoint, error) {
	var rows []endpointRow
	if err := s.db.in(of).NewSelect().Model(&rows).Where("e.shop_id = ?", of).Order("e.created_at", "e.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read webhook endpoints: %w", err)
	}
	return parsed(rows, s.db.endpoint)
}

// webhookRow is a row of webhook_messages.
type webhookRow struct {
	bun.BaseModel `bun:"table:webhook_messages,alias:m"`

	ShopID      int64  `bun:"shop_id,pk"`
	ID          string `bun:"id,pk"`
	Type        string
	Line        string
	ContractID  int64
	AttemptID   int64
	CustomerID  int64
	RecordID    int64
	At          int64
	Sequence    int64
	CauseSource string
	CauseBy     string
	Added       int64
	Position    int64
	PlaceAt     int64  `bun:",nullzero"`
	Body        string // sealed
	ExpiresAt   int64
}

func (r *webhookRow) Columns(m *mapping, w *webhook.Message) {
	mapShop(m, &r.ShopID, &w.Shop)
	mapText(m, &r.ID, &w.ID)
	mapText(m, &r.Type, &w.Type)
	mapText(m, &r.Line, &w.Line)
	mapInt(m, &r.ContractID, &w.Contract)
	mapSame(m, &r.AttemptID, &w.Attempt)
	mapSame(m, &r.CustomerID, &w.Customer)
	mapSame(m, &r.RecordID, &w.Record)
	mapTime(m, &r.At, &w.At)
	mapSame(m, &r.Sequence, &w.Sequence)
	mapText(m, &r.CauseSource, &w.Cause.Source)
	mapText(m, &r.CauseBy, &w.Cause.By)
	mapSame(m, &r.Position, &w.Position)
	body := string(w.Body)
	mapSealed(m, "body", r.ShopID, &r.Body, &body)
	if m.toRow {
		r.ExpiresAt = millis(w.At.Add(webhook.Retention))
	} else if body != "" {
		w.Body = []byte(body)
	}
}

func (db *DB) webhookMessage(r webhookRow) (webhook.Message, error) {
	return readSealedRow[webhook.Message](db.seal, r)
}

// Message returns a message, or NotFound.
func (s webhookStore) Message(ctx context.Context, of shop.ID, id webhook.MessageID) (webhook.Message, error) {
	var row webhookRow
	err := s.db.in(of).NewSelect().Model(&row).Where("m.shop_id = ?", of).Where("m.id = ?", id).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return webhook.Message{}, missing("the webhook message")
	}
	if err != nil {
		return webhook.Message{}, fmt.Errorf("read webhook message %s: %w", id, err)
	}
	return s.db.webhookMessage(row)
}

// Messages returns those of messages that exist, by id.
func (s webhookStore) Messages(ctx context.Context, of shop.ID, ids []webhook.MessageID) (map[webhook.MessageID]webhook.Message, error) {
	var rows []webhookRow
	if err := s.db.in(of).NewSelect().Model(&rows).Where("m.shop_id = ?", of).Where("m.id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read %d webhook messages: %w", len(ids), err)
	}
	list, err := parsed(rows, s.db.webhookMessage)
	byID := make(map[webhook.MessageID]webhook.Message, len(list))
	for _, m := range list {
		byID[m.ID] = m
	}
	return byID, err
}

// MessagesWithoutBody returns at most limit messages without a body whose deliveries are due, or
// which wait for a position, in the order of their events.
func (s webhookStore) MessagesWithoutBody(ctx context.Context, of shop.ID, now time.Time, limit int) ([]webhook.Message, error) {
	var rows []webhookRow
	err := s.db.in(of).NewSelect().Model(&rows).Where("m.shop_id = ?", of).Where("m.body = ''").
		Where("EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.shop_id = m.shop_id AND d.message_id = m.id AND d.due_at <= ?0) OR m.place_at <= ?0 AND m.position = 0", millis(now)).
		Order("m.at").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the webhooks without a body: %w", err)
	}
	return parsed(rows, s.db.webhookMessage)
}

// withoutBody selects the ids of a shop's messages without a body.
func withoutBody(q interface{ NewSelect() *bun.SelectQuery }, of shop.ID) *bun.SelectQuery {
	return q.NewSelect().Model((*webhookRow)(nil)).Column("m.id").Where("m.shop_id = ?", of).Where("m.body = ''")
}

// SetBody gives a message its body, if it has none.
func (tx *Tx) SetBody(ctx context.Context, id webhook.MessageID, text []byte) error {
	sealed, err := tx.db.seal.seal(tx.of, platform.Token(text))
	if err != nil {
		return err
	}
	_, err = tx.q.NewUpdate().Model((*webhookRow)(nil)).Set("body = ?", sealed).Set(mayBePlaced).Where("m.shop_id = ?", tx.of).Where("m.id = ?", id).Where("m.body = ''").Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep the body of webhook message %s: %w", id, err)
	}
	return nil
}

// AddMessages keeps messages with a delivery to each of their endpoints and has them sent.
func (tx *Tx) AddMessages(ctx context.Context, list ...webhook.Addressed) error {
	if len(list) == 0 {
		return nil
	}
	n := len(list)
	for _, o := range list {
		n += len(o.To)
	}
	id, err := tx.db.ids.take(n)
	if err != nil {
		return err
	}
	if err := tx.numberMessages(ctx, list); err != nil {
		return err
	}
	messages, deliveries := make([]webhookRow, len(list)), make([]webhookDeliveryRow, 0, n)
	for i, o := range list {
		if messages[i], err = sealedRowOf[webhookRow](tx.db.seal, tx.of, o.Message); err != nil {
			return err
		}
		messages[i].Added = id
		id++
		for _, to := range o.To {
			if to == webhook.ToEvents {
				messages[i].PlaceAt = millis(o.At)
				continue
			}
			deliveries = append(deliveries, webhookDeliveryRow{
				ShopID: int64(tx.of), ID: id, EndpointID: int64(to), MessageID: string(o.ID), Type: string(o.Type), ContractID: int64(o.Contract),
				CustomerID: o.Customer, At: millis(o.At), Status: string(webhook.Pending), DueAt: millis(o.At), Version: 1,
			})
			id++
		}
	}
	if _, err := insert(ctx, tx, messages, ""); err != nil {
		return err
	}
	if _, err := insert(ctx, tx, deliveries, ""); err != nil {
		return err
	}
	err = tx.forget(ctx, (*webhookRow)(nil), "id", list[0].At, func(q bun.QueryBuilder) bun.QueryBuilder { // events are removed in their order
		return q.Where("m.shop_id = ?", tx.of).Where("m.position = 0").Where("m.place_at IS NULL")
	})
	if err != nil {
		return err
	}
	return tx.Enqueue(ctx, webhook.Work{Shop: tx.of})
}
