package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// without returns the message without its words and what they are written from, which stay sealed.
func (r messageRow) without() notify.Message {
	m := notify.Message{
		ID: notify.MessageID(r.ID), Kind: notify.Kind(r.Kind), Channel: notify.Channel(r.Channel), To: r.Recipient, Contract: contract.ID(r.ContractID), Attempt: r.AttemptID, Customer: r.CustomerID,
		Status: notify.Status(r.Status), DueAt: instant(r.DueAt), LastError: r.LastError, CreatedAt: instant(r.CreatedAt), SentAt: instant(r.SentAt), Tries: int(r.Tries),
		Delivery: notify.Delivery(r.Delivery), DeliveryError: r.DeliveryError,
	}
	m.Subject = r.Subject
	return m
}

func withoutWords(rows []messageRow) []notify.Message {
	list := make([]notify.Message, len(rows))
	for i, r := range rows {
		list[i] = r.without()
	}
	return list
}

// MessageList returns at most limit messages that fit a filter, newest first, without their words.
func (db *DB) MessageList(ctx context.Context, of shop.ID, f notify.Filter, limit int) ([]notify.Message, error) {
	var rows []messageRow
	q := db.in(of).NewSelect().Model(&rows).ExcludeColumn("body").Where("m.shop_id = ?", of).Order("m.id DESC").Limit(int64(limit))
	if f.Before != 0 {
		q = q.Where("m.id < ?", f.Before)
	}
	if f.To != "" {
		q = q.Where("m.recipient = ?", f.To)
	}
	if f.Contract != 0 {
		q = q.Where("m.contract_id = ?", f.Contract)
	}
	switch f.Show {
	case notify.ShowWaiting:
		q = q.Where("m.due_at IS NOT NULL")
	case notify.ShowFailed: // a condition of its own, for the sake of its index
		q = q.Where("m.status = 'FAILED'")
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return withoutWords(rows), nil
}

// messageFields are the fields by which messages are sorted.
var messageFields = map[string]field{"id": {"id", whole}}

// ofLine leaves out messages about contracts of the other line, and those to users of the dashboard.
func (db *DB) ofLine(ctx context.Context, q *bun.SelectQuery, of shop.ID, line shop.Line) (*bun.SelectQuery, error) {
	q = q.Where("m.shop_id = ?", of).Where("m.kind IN (?)", bun.List(notify.Kinds()))
	other, some, err := db.otherLine(ctx, of, line, "own_contract_facets")
	if err != nil || !some {
		return q, err
	}
	return q.Where("NOT EXISTS (SELECT 1 FROM contracts AS x WHERE x.shop_id = m.shop_id AND x.id = m.contract_id AND x.line = ?)", other), nil
}

// MessagesWhere returns a page of the messages that fit a query, newest first and without their words,
// and how many there are.
func (db *DB) MessagesWhere(ctx context.Context, of shop.ID, ask notify.Query, p page.Request) ([]notify.Message, int, error) {
	var rows []messageRow
	q, err := db.ofLine(ctx, db.in(of).NewSelect().Model(&rows).ExcludeColumn("body"), of, ask.Line)
	if err != nil {
		return nil, 0, err
	}
	if ask.Contract != 0 {
		q = q.Where("m.contract_id = ?", ask.Contract)
	}
	if ask.Kind != "" {
		q = q.Where("m.kind = ?", ask.Kind)
	}
	switch ask.Status {
	case "":
	case notify.Failed: // a condition of its own, for the sake of its index
		q = q.Where("m.status = 'FAILED'")
	default:
		q = q.Where("m.status = ?", ask.Status)
	}
	p.Sort = []page.Sort{{Field: "id", Desc: true}}
	total, err := fetch(ctx, q, messageFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("list messages: %w", err)
	}
	return withoutWords(rows), total, nil
}

// Message returns a message that MessagesWhere lists without a filter, or NotFound.
func (db *DB) Message(ctx context.Context, of shop.ID, line shop.Line, id notify.MessageID) (notify.Message, error) {
	var row messageRow
	q, err := db.ofLine(ctx, db.in(of).NewSelect().Model(&row).ExcludeColumn("body").Where("m.id = ?", id), of, line)
	if err != nil {
		return notify.Message{}, err
	}
	if err := q.Scan(ctx); errors.Is(err, sql.ErrNoRows) {
		return notify.Message{}, notify.NoMessage(id)
	} else if err != nil {
		return notify.Message{}, fmt.Errorf("read message %d: %w", id, err)
	}
	return row.without(), nil
}
