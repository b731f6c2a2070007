package store

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

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
	list := make([]notify.Message, len(rows))
	for i, r := range rows {
		list[i] = notify.Message{
			ID: notify.MessageID(r.ID), Kind: notify.Kind(r.Kind), To: r.Recipient, Status: notify.Status(r.Status), DueAt: instant(r.DueAt), LastError: r.LastError,
			CreatedAt: instant(r.CreatedAt), SentAt: instant(r.SentAt), Tries: int(r.Tries), Customer: r.CustomerID,
		}
		list[i].Subject, list[i].Contract = r.Subject, contract.ID(r.ContractID)
	}
	return list, nil
}
