package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/support"
)

var _ support.Tx = (*Tx)(nil)

// Support returns the store of what the people of a store see of contracts.
func (db *DB) Support() support.Store {
	return readScope(db, func(tx *Tx) support.Tx { return tx }, func(tx *Tx) support.ReadTx { return tx })
}

// commentRow is a row of contract_comments.
type commentRow struct {
	bun.BaseModel `bun:"table:contract_comments,alias:o"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	ContractID int64
	Author     string
	Body       string
	CreatedAt  int64
}

func (r *commentRow) Columns(m *mapping, c *support.Comment) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &c.ID)
	mapInt(m, &r.ContractID, &c.Contract)
	mapText(m, &r.Author, &c.Author)
	mapText(m, &r.Body, &c.Text)
	mapTime(m, &r.CreatedAt, &c.At)
	m.within(r.ID)
}

// AddComment inserts a comment and gives it its number.
func (tx *Tx) AddComment(ctx context.Context, c *support.Comment) error {
	id, err := tx.db.ids.take(1)
	if err != nil {
		return err
	}
	c.ID = support.CommentID(id)
	rows, err := rowsOf[commentRow](tx.of, *c)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, "")
	return err
}

// DeleteComment deletes a comment of an author on a contract, if it exists.
func (tx *Tx) DeleteComment(ctx context.Context, c contract.ID, id support.CommentID, author string) error {
	_, err := tx.q.NewDelete().Model((*commentRow)(nil)).Where("o.shop_id = ?", tx.of).Where("o.contract_id = ?", int64(c)).Where("o.id = ?", int64(id)).
		Where("o.author = ?", clean(author)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete comment %d: %w", id, err)
	}
	return nil
}

// CommentsOn returns at most limit comments on a contract, the newest first.
func (tx *Tx) CommentsOn(ctx context.Context, c contract.ID, before support.Position, limit int) ([]support.Comment, error) {
	var rows []commentRow
	q := tx.q.NewSelect().Model(&rows).Where("o.shop_id = ?", tx.of).Where("o.contract_id = ?", int64(c)).OrderExpr("o.created_at DESC, o.id DESC").Limit(int64(limit))
	if !before.At.IsZero() {
		q = q.Where("(o.created_at < ? OR o.created_at = ? AND o.id < ?)", millis(before.At), millis(before.At), before.ID)
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the comments on contract %d: %w", c, err)
	}
	return readRows[support.Comment](rows)
}

// EntriesAbout returns at most limit entries about a contract and its attempts, the newest first.
// An entity's entries are read through their index, so that the work grows with the attempts of
// the contract and with what is shown.
func (tx *Tx) EntriesAbout(ctx context.Context, c contract.ID, f support.Filter, limit int) ([]activity.Entry, error) {
	attempts := tx.q.NewSelect().TableExpr("attempts AS a").Column("a.id").Where("a.shop_id = ?", tx.of).Where("a.contract_id = ?", int64(c))
	var rows []entryRow
	q := tx.q.NewSelect().Model(&rows).Where("e.shop_id = ?", tx.of).
		Where("e.entity_id IN (SELECT ? UNION ALL ?)", int64(c), attempts).
		Where("(e.entity_type = ? AND e.entity_id = ? OR e.entity_type = ?)", activity.EntitySubscriptionContractDetails, int64(c), activity.EntitySubscriptionBillingAttempt).
		OrderExpr("e.recorded_at DESC, e.id DESC").Limit(int64(limit))
	for column, value := range map[string]string{"source": string(f.Source), "event": string(f.Event), "status": string(f.Status)} {
		if value != "" {
			q = q.Where("e.? = ?", ident(column), value)
		}
	}
	if at := f.Before.At; !at.IsZero() {
		q = q.Where("(e.recorded_at < ? OR e.recorded_at = ? AND e.id < ?)", millis(at), millis(at), f.Before.ID)
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the activity of contract %d: %w", c, err)
	}
	return readRows[activity.Entry](rows)
}

// isAhead is the condition of attempts that are open, or skipped with a date after an instant.
const isAhead = "(a.status IN (?) OR a.status = ? AND a.billing_date > ?)"

// AheadOf returns at most limit attempts of a contract that are open, or skipped with a date
// after now, by date.
func (tx *Tx) AheadOf(ctx context.Context, c contract.ID, now time.Time, limit int) ([]billing.Attempt, error) {
	return tx.attempts(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("a.contract_id = ?", int64(c)).Where(isAhead, bun.List(billing.Open), billing.Skipped, boundAt(now)).OrderExpr("a.billing_date, a.cycle").Limit(int64(limit))
	})
}

// PastOf returns at most limit attempts of a contract that are neither open nor skipped with a
// date after now, the newest first.
func (tx *Tx) PastOf(ctx context.Context, c contract.ID, now time.Time, limit int) ([]billing.Attempt, error) {
	return tx.attempts(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("a.contract_id = ?", int64(c)).Where("NOT "+isAhead, bun.List(billing.Open), billing.Skipped, boundAt(now)).
			OrderExpr("a.cycle DESC").Limit(int64(limit))
	})
}

// MailsOf returns at most limit e-mails about a contract, the newest first, without their texts.
func (tx *Tx) MailsOf(ctx context.Context, c contract.ID, limit int) ([]notify.Message, error) {
	var rows []messageRow
	q := tx.q.NewSelect().Model(&rows).ExcludeColumn("body").Where("m.shop_id = ?", tx.of).Where("m.contract_id = ?", int64(c)).
		OrderExpr("m.created_at DESC, m.id DESC").Limit(int64(limit))
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the e-mails about contract %d: %w", c, err)
	}
	return tx.messages(rows)
}

// MailOf returns an e-mail about a contract, or NotFound.
func (tx *Tx) MailOf(ctx context.Context, c contract.ID, id notify.MessageID) (notify.Message, error) {
	var row messageRow
	err := tx.q.NewSelect().Model(&row).Where("m.shop_id = ?", tx.of).Where("m.contract_id = ?", int64(c)).Where("m.id = ?", int64(id)).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return notify.Message{}, fault.New(fault.NotFound, "e-mail %d does not exist", id).Entity("message").Code("messageNotFound")
	case err != nil:
		return notify.Message{}, fmt.Errorf("read e-mail %d: %w", id, err)
	}
	return tx.message(row)
}
