package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/intake"
)

// eventRow is a row of inbox. An event that waits has a due instant; one that was
// worked, the instant of that; one that was given up, neither.
type eventRow struct {
	bun.BaseModel `bun:"table:inbox,alias:i"`

	ShopID         int64  `bun:"shop_id,pk"`
	ID             string `bun:"id,pk"`
	Topic          string
	TriggeredAt    int64
	APIVersion     string `bun:"api_version"`
	ContractID     int64
	Revision       int64 // the bits of the platform's unsigned number
	Attempt        string
	Key            string
	Cycle          int64
	PaymentMethod  string
	CustomerID     int64
	KeptCustomerID int64
	ReceivedAt     int64
	DueAt          int64 `bun:",nullzero"`
	FinishedAt     int64 `bun:",nullzero"`
	Failures       int64
	Reason         string
}

func (r *eventRow) Columns(m *mapping, e *intake.InboxEvent) {
	m.shop(&r.ShopID)
	mapText(m, &r.ID, &e.ID)
	mapText(m, &r.Topic, &e.Topic)
	mapTime(m, &r.TriggeredAt, &e.TriggeredAt)
	mapText(m, &r.APIVersion, &e.APIVersion)
	mapSame(m, &r.ContractID, &e.Contract)
	mapInt(m, &r.Revision, &e.Revision)
	mapText(m, &r.Attempt, &e.Attempt)
	mapText(m, &r.Key, &e.Key)
	mapInt(m, &r.Cycle, &e.Cycle)
	mapText(m, &r.PaymentMethod, &e.PaymentMethod)
	mapSame(m, &r.CustomerID, &e.Customer)
	mapSame(m, &r.KeptCustomerID, &e.Kept)
	mapTime(m, &r.ReceivedAt, &e.ReceivedAt)
	mapInt(m, &r.Failures, &e.Failures)
	if m.toRow {
		r.DueAt = r.ReceivedAt
	}
}

// ClaimEvents returns at most limit events that are due, longest due first,
// passing over those that another transaction holds, and makes them due again at
// until.
func (tx *Tx) ClaimEvents(ctx context.Context, now, until time.Time, limit int) ([]intake.InboxEvent, error) {
	var rows []eventRow
	q := tx.q.NewSelect().Model(&rows).Where("i.shop_id = ?", bound{tx.of}).Where("i.due_at <= ?", boundAt(now)).
		Order("i.due_at", "i.received_at", "i.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the inbox: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	var domain string
	if err := tx.q.NewSelect().Model((*shopRow)(nil)).Column("domain").Where("s.id = ?", bound{tx.of}).Scan(ctx, &domain); err != nil {
		return nil, fmt.Errorf("read the shop of the inbox: %w", err)
	}
	ids := make([]string, len(rows))
	events, err := readRows[intake.InboxEvent](rows)
	if err != nil {
		return nil, err
	}
	for i := range events {
		ids[i], events[i].Shop = events[i].ID, domain
	}
	return events, tx.putEvents(ctx, ids, "take", func(q *bun.UpdateQuery) *bun.UpdateQuery {
		return q.Set("due_at = ?", boundAt(until))
	})
}

// FinishEvents marks events as worked.
func (tx *Tx) FinishEvents(ctx context.Context, ids []string, now time.Time) error {
	return tx.putEvents(ctx, ids, "finish", func(q *bun.UpdateQuery) *bun.UpdateQuery {
		return q.Set("due_at = NULL").Set("finished_at = ?", boundAt(now))
	})
}

// DeferEvents lets events wait until a later instant, with how often they
// failed and why. A zero instant gives them up.
func (tx *Tx) DeferEvents(ctx context.Context, ids []string, until time.Time, failures int, reason string) error {
	return tx.putEvents(ctx, ids, "put off", func(q *bun.UpdateQuery) *bun.UpdateQuery {
		return q.Set("due_at = NULLIF(?, 0)", millis(until)).Set("failures = ?", failures).Set("reason = ?", clean(reason))
	})
}

func (tx *Tx) putEvents(ctx context.Context, ids []string, what string, set func(*bun.UpdateQuery) *bun.UpdateQuery) error {
	if len(ids) == 0 {
		return nil
	}
	q := set(tx.q.NewUpdate().Model((*eventRow)(nil))).Where("i.shop_id = ?", bound{tx.of}).Where("i.id IN (?)", boundList[string](ids))
	if _, err := q.Exec(ctx); err != nil {
		return fmt.Errorf("%s %d events: %w", what, len(ids), err)
	}
	return nil
}

// DeleteSignatures removes the signatures of events that were received before an instant.
func (tx *Tx) DeleteSignatures(ctx context.Context, before time.Time) error {
	_, err := tx.q.NewDelete().Model((*signatureRow)(nil)).Where("w.shop_id = ?", tx.of).Where("w.received_at < ?", millis(before)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget signatures of events: %w", err)
	}
	return nil
}

// DeleteEvents removes events that were worked before an instant.
func (tx *Tx) DeleteEvents(ctx context.Context, before time.Time) error {
	_, err := tx.q.NewDelete().Model((*eventRow)(nil)).Where("i.shop_id = ?", tx.of).Where("i.finished_at < ?", millis(before)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget events: %w", err)
	}
	return nil
}
