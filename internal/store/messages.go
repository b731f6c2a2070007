package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/notify"
)

var _ notify.Tx = (*Tx)(nil)

// Notify returns the store of the messages.
func (db *DB) Notify() notify.Store {
	return notifyStore{Scope[notify.Tx]{db, func(tx *Tx) notify.Tx { return tx }}}
}

// messageRow is a row of messages.
type messageRow struct {
	bun.BaseModel `bun:"table:messages,alias:m"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	Kind       string
	Recipient  string
	FromName   string
	Subject    string
	Body       string // JSON, sealed; empty when it was forgotten
	ContractID int64
	AttemptID  int64
	CustomerID int64
	Source     string
	Actor      string
	ClientIP   string `bun:"client_ip"`
	DedupeKey  string
	Status     string
	DueAt      int64 `bun:",nullzero"`
	ExpiresAt  int64
	Tries      int64
	LastError  string
	CreatedAt  int64
	SentAt     int64
	MailID     string
	Version    int64

	Channel       string
	ProviderID    string
	Delivery      string
	DeliveryError string
}

// messageBody is the JSON text of a message's words, and of what they are written from.
type messageBody struct {
	Text  string       `json:"text,omitempty"`
	HTML  string       `json:"html,omitempty"`
	Facts notify.Facts `json:"facts,omitzero"`
}

func (r *messageRow) Columns(m *mapping, n *notify.Message) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &n.ID)
	mapText(m, &r.Kind, &n.Kind)
	mapText(m, &r.Recipient, &n.To)
	mapText(m, &r.FromName, &n.FromName)
	mapText(m, &r.Subject, &n.Subject)
	var body string
	texts := messageBody{n.Text, n.HTML, n.Facts}
	if m.toRow {
		mapJSON(m, "body", &body, &texts)
		mapSealed(m, "body", r.ShopID, &r.Body, &body)
	} else {
		mapSealed(m, "body", r.ShopID, &r.Body, &body)
		mapJSON(m, "body", &body, &texts)
		n.Text, n.HTML, n.Facts = texts.Text, texts.HTML, texts.Facts
	}
	mapInt(m, &r.ContractID, &n.Contract)
	mapSame(m, &r.AttemptID, &n.Attempt)
	mapSame(m, &r.CustomerID, &n.Customer)
	mapText(m, &r.Source, &n.Actor.Source)
	mapText(m, &r.Actor, &n.Actor.By)
	mapText(m, &r.ClientIP, &n.Actor.ClientIP)
	mapText(m, &r.DedupeKey, &n.DedupeKey)
	mapText(m, &r.Status, &n.Status)
	mapTime(m, &r.DueAt, &n.DueAt)
	mapTime(m, &r.ExpiresAt, &n.ExpiresAt)
	mapInt(m, &r.Tries, &n.Tries)
	mapText(m, &r.LastError, &n.LastError)
	mapTime(m, &r.CreatedAt, &n.CreatedAt)
	mapTime(m, &r.SentAt, &n.SentAt)
	mapText(m, &r.MailID, &n.MailID)
	mapSame(m, &r.Version, &n.Version)
	mapText(m, &r.Channel, &n.Channel)
	mapText(m, &r.ProviderID, &n.ProviderID)
	mapText(m, &r.Delivery, &n.Delivery)
	mapText(m, &r.DeliveryError, &n.DeliveryError)
	m.within(r.ID)
}

func (tx *Tx) messageRow(m notify.Message) (messageRow, error) {
	return sealedRowOf[messageRow](tx.db.seal, tx.of, m)
}

func (tx *Tx) message(r messageRow) (notify.Message, error) {
	return readSealedRow[notify.Message](tx.db.seal, r)
}

func (tx *Tx) messages(rows []messageRow) ([]notify.Message, error) {
	return parsed(rows, tx.message)
}

// DueMessages returns at most limit messages that are due, earliest first,
// locked, passing over those that another transaction holds.
func (tx *Tx) DueMessages(ctx context.Context, now time.Time, limit int) ([]notify.Message, error) {
	var rows []messageRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Where("m.due_at <= ?", millis(now)).Order("m.due_at", "m.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the messages that wait: %w", err)
	}
	return tx.messages(rows)
}

// WaitingMessages returns the messages to people that are queued, locked, earliest first, passing
// over those that another transaction holds.
func (tx *Tx) WaitingMessages(ctx context.Context, to []string) ([]notify.Message, error) {
	var rows []messageRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Where("m.recipient IN (?)", bun.List(to)).Where("m.due_at IS NOT NULL").
		Where("m.status = ?", notify.Queued).Order("m.due_at", "m.id").Limit(maxWaiting)
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the messages that wait for %d people: %w", len(to), err)
	}
	return tx.messages(rows)
}

// maxWaiting is how many messages are looked at for being reported together.
const maxWaiting = 500

// LettersSince says how many letters people got from an instant on, by address. The messages of
// one letter were sent at one instant.
func (tx *Tx) LettersSince(ctx context.Context, to []string, since time.Time) (map[string]int, error) {
	var rows []struct {
		Recipient string
		N         int
	}
	err := tx.q.NewSelect().TableExpr("messages AS m").Column("m.recipient").ColumnExpr("COUNT(DISTINCT m.sent_at) AS n").Where("m.shop_id = ?", tx.of).
		Where("m.recipient IN (?)", bun.List(to)).Where("m.sent_at >= ?", millis(since)).Where("m.sent_at > 0").Group("m.recipient").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("count the letters to %d people: %w", len(to), err)
	}
	letters := make(map[string]int, len(rows))
	for _, r := range rows {
		letters[r.Recipient] = r.N
	}
	return letters, nil
}

// Messages returns messages, locked, in the order of their ids.
func (tx *Tx) Messages(ctx context.Context, ids []notify.MessageID) ([]notify.Message, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []messageRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Where("m.id IN (?)", bun.List(ids)).Order("m.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read %d messages: %w", len(ids), err)
	}
	return tx.messages(rows)
}

// PutMessages inserts messages whose ID is 0, giving them one, and writes the
// others if their versions are still what was read. A new message whose key is
// taken is dropped, and its ID stays 0.
func (tx *Tx) PutMessages(ctx context.Context, messages []notify.Message) error {
	var kept []messageRow
	for i := range messages {
		m := &messages[i]
		if m.ID == 0 {
			if err := tx.addMessage(ctx, m); err != nil {
				return err
			}
			continue
		}
		row, err := tx.messageRow(*m)
		if err != nil {
			return err
		}
		kept = append(kept, row)
		m.Version++
	}
	n, err := update(ctx, tx, kept)
	if err == nil && n != int64(len(kept)) {
		err = changed("message", "A message")
	}
	return err
}

func (tx *Tx) addMessage(ctx context.Context, m *notify.Message) error {
	id, err := tx.db.ids.take(1)
	if err != nil {
		return err
	}
	made := *m
	made.ID, made.Version = notify.MessageID(id), 1
	row, err := tx.messageRow(made)
	if err != nil {
		return err
	}
	n, err := insert(ctx, tx, []messageRow{row}, "ON CONFLICT (shop_id, dedupe_key) DO NOTHING")
	if err == nil && n == 1 {
		*m = made
	}
	return err
}

// PutDelivery writes what a provider reported of a message that it accepted. The version stays: a
// worker that is sending the message still settles it.
func (tx *Tx) PutDelivery(ctx context.Context, m notify.Message) error {
	_, err := tx.q.NewUpdate().Model((*messageRow)(nil)).Set("delivery = ?", string(m.Delivery)).Set("delivery_error = ?", clean(m.DeliveryError)).
		Where("shop_id = ?", tx.of).Where("id = ?", int64(m.ID)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note the delivery of message %d: %w", m.ID, err)
	}
	return nil
}
