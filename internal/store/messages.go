package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

var _ notify.Tx = (*Tx)(nil)

// Notify returns the store of the messages.
func (db *DB) Notify() notify.Store {
	return Scope[notify.Tx]{db, func(tx *Tx) notify.Tx { return tx }}
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
	Version    int64
}

// messageBody is the JSON text of a message's words.
type messageBody struct {
	Text string `json:"text"`
	HTML string `json:"html"`
}

func (tx *Tx) messageRow(m notify.Message) (messageRow, error) {
	row := messageRow{
		ShopID: int64(tx.of), ID: int64(m.ID), Kind: string(m.Kind), Recipient: m.To, FromName: m.FromName, Subject: m.Subject,
		ContractID: int64(m.Contract), Source: string(m.Actor.Source), Actor: m.Actor.By, ClientIP: m.Actor.ClientIP, DedupeKey: m.DedupeKey,
		Status: string(m.Status), DueAt: millis(m.DueAt), ExpiresAt: millis(m.ExpiresAt), Tries: int64(m.Tries), LastError: m.LastError,
		CreatedAt: millis(m.CreatedAt), SentAt: millis(m.SentAt), Version: m.Version,
	}
	if m.Text == "" && m.HTML == "" {
		return row, nil
	}
	body, err := json.Marshal(messageBody{m.Text, m.HTML})
	if err != nil {
		return messageRow{}, fmt.Errorf("write message %d: %w", m.ID, err)
	}
	row.Body, err = tx.db.seal.seal(tx.of, platform.Token(body))
	return row, err
}

func (tx *Tx) message(r messageRow) (notify.Message, error) {
	m := notify.Message{
		ID: notify.MessageID(r.ID), Kind: notify.Kind(r.Kind), To: r.Recipient, FromName: r.FromName, Content: notify.Content{Subject: r.Subject},
		Contract: contract.ID(r.ContractID), Actor: activity.Actor{Source: activity.Source(r.Source), By: r.Actor, ClientIP: r.ClientIP},
		DedupeKey: r.DedupeKey, Status: notify.Status(r.Status), DueAt: instant(r.DueAt), ExpiresAt: instant(r.ExpiresAt),
		Tries: int(r.Tries), LastError: r.LastError, CreatedAt: instant(r.CreatedAt), SentAt: instant(r.SentAt), Version: r.Version,
	}
	if r.Body == "" {
		return m, nil
	}
	text, err := tx.db.seal.open(shop.ID(r.ShopID), r.Body)
	if err != nil {
		return notify.Message{}, fmt.Errorf("read message %d: %w", r.ID, err)
	}
	var body messageBody
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		return notify.Message{}, fmt.Errorf("read message %d: %w", r.ID, err)
	}
	m.Text, m.HTML = body.Text, body.HTML
	return m, nil
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
