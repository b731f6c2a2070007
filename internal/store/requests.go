package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var (
	_ requestlog.Store = (*DB)(nil)

	expiredRequests = waiting{"api_requests", "expires_at"}
)

// cleanAfter is how long expired requests may stay, so that a shop is cleaned in one go.
const cleanAfter = time.Hour

// requestRow is a row of api_requests.
type requestRow struct {
	bun.BaseModel `bun:"table:api_requests,alias:r"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	At         int64
	KeyID      int64
	KeyName    string
	App        string
	Method     string
	Path       string
	Parameters string // with spaces between
	Status     int64
	TookMs     int64
	RequestID  string
	ExpiresAt  int64
}

func (r *requestRow) Columns(m *mapping, e *requestlog.Entry) {
	m.shop(&r.ShopID)
	mapSame(m, &r.ID, &e.ID)
	mapTime(m, &r.At, &e.At)
	mapInt(m, &r.KeyID, &e.Key)
	mapText(m, &r.KeyName, &e.KeyName)
	mapText(m, &r.App, &e.App)
	mapText(m, &r.Method, &e.Method)
	mapText(m, &r.Path, &e.Path)
	mapWords(m, &r.Parameters, &e.Parameters)
	mapInt(m, &r.Status, &e.Status)
	took := e.Took.Milliseconds()
	mapSame(m, &r.TookMs, &took)
	e.Took = time.Duration(took) * time.Millisecond
	mapText(m, &r.RequestID, &e.RequestID)
	if m.toRow {
		r.ExpiresAt = millis(e.At.Add(requestlog.Retention))
	}
}

// AddRequests stores requests of a shop. One whose ID is taken is left out.
func (db *DB) AddRequests(ctx context.Context, of shop.ID, list []requestlog.Entry) error {
	return db.Update(ctx, of, func(tx *Tx) error { return tx.AddRequests(ctx, list) })
}

// AddRequests stores requests. One whose ID is taken is left out.
func (tx *Tx) AddRequests(ctx context.Context, list []requestlog.Entry) error {
	rows, err := rowsOf[requestRow](tx.of, list...)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, "ON CONFLICT DO NOTHING")
	return err
}

// Requests returns at most limit requests of a shop since an instant, newest first, after a
// cursor.
func (db *DB) Requests(ctx context.Context, of shop.ID, f requestlog.Filter, since time.Time, after page.Cursor, limit int) ([]requestlog.Entry, error) {
	var rows []requestRow
	q := db.in(of).NewSelect().Model(&rows).Where("r.shop_id = ?", of).Where("r.at > ?", millis(since))
	if f.Key != 0 {
		q = q.Where("r.key_id = ?", f.Key)
	}
	if f.Request != "" {
		q = q.Where("r.request_id = ?", f.Request)
	}
	switch {
	case f.Status != 0: // in the words of the index, which has two
		q = q.Where("r.status = ?", f.Status).Where("r.status IN (403, 429)")
	case f.Failed:
		q = q.Where("r.status >= 400")
	}
	if !f.Until.IsZero() {
		q = q.Where("r.at < ?", millis(f.Until))
	}
	if !after.At.IsZero() {
		q = q.Where("r.at < ? OR r.at = ? AND r.id < ?", millis(after.At), millis(after.At), after.ID)
	}
	if err := q.OrderExpr("r.at DESC, r.id DESC").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the API log: %w", err)
	}
	return readRows[requestlog.Entry](rows)
}

// Refused counts the requests of a shop since an instant that were refused, each status as far
// as requestlog.MostCounted.
func (db *DB) Refused(ctx context.Context, of shop.ID, since time.Time) (requestlog.Refused, error) {
	var r requestlog.Refused
	for status, n := range map[int]*int{403: &r.Forbidden, 429: &r.Limited} {
		some := db.in(of).NewSelect().Model((*requestRow)(nil)).ColumnExpr("1 AS one").Where("r.shop_id = ?", of).Where("r.status = ?", status).
			Where("r.status IN (403, 429)").Where("r.at > ?", millis(since)).Limit(requestlog.MostCounted)
		if err := db.in(of).NewSelect().TableExpr("(?) AS refused", some).ColumnExpr("COUNT(*)").Scan(ctx, n); err != nil {
			return r, fmt.Errorf("count the requests that were refused: %w", err)
		}
	}
	return r, nil
}

// ForgetRequests deletes about limit requests of a shop that have expired, at least as many when
// there are.
func (db *DB) ForgetRequests(ctx context.Context, of shop.ID, now time.Time, limit int) (int, error) {
	var n int64
	err := db.Update(ctx, of, func(tx *Tx) error {
		old := tx.q.NewSelect().Model((*requestRow)(nil)).Column("id").Where("r.shop_id = ?", of).Where("r.at <= ?", millis(now.Add(-requestlog.Retention))).
			OrderExpr("r.at, r.id").Limit(int64(limit))
		done, err := tx.q.NewDelete().Model((*requestRow)(nil)).Where("r.shop_id = ?", of).Where("r.id IN (?)", tx.dialect().skipLocked(old)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("forget requests of the API log: %w", err)
		}
		n, err = done.RowsAffected()
		return err
	})
	return int(n), err
}

// ExpiredRequestShops returns at most limit shops with requests in the API log that have
// expired for a while.
func (s Shops) ExpiredRequestShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, expiredRequests, now.Add(-cleanAfter), limit)
}
