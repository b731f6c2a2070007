package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var (
	_ privacy.StoreTx = (*Tx)(nil)

	duePrivacy = waiting{"privacy_requests", "due_at"}
)

// Privacy returns the store of the requests for personal data.
func (db *DB) Privacy() privacy.Store {
	return readScope(db, func(tx *Tx) privacy.StoreTx { return tx }, func(tx *Tx) privacy.ReadTx { return tx })
}

// DuePrivacyShops returns at most limit shops with requests that are due.
func (s Shops) DuePrivacyShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error) {
	return s.waitingFor(ctx, duePrivacy, now, limit)
}

// privacyRow is a row of privacy_requests.
type privacyRow struct {
	bun.BaseModel `bun:"table:privacy_requests,alias:p"`

	ShopID       int64 `bun:"shop_id,pk"`
	ID           int64 `bun:"id,pk"`
	Kind         string
	CustomerID   int64
	ReceivedAt   int64
	DueBy        int64
	DueAt        int64 `bun:",nullzero"`
	ReadyAt      int64
	DownloadedAt int64
	RemindedAt   int64
	ClosedAt     int64
	Records      int64
	Version      int64
}

func (r *privacyRow) Columns(m *mapping, p *privacy.Request) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &p.ID)
	mapText(m, &r.Kind, &p.Kind)
	mapSame(m, &r.CustomerID, &p.Customer)
	mapTime(m, &r.ReceivedAt, &p.ReceivedAt)
	mapTime(m, &r.DueBy, &p.DueBy)
	mapTime(m, &r.DueAt, &p.DueAt)
	mapTime(m, &r.ReadyAt, &p.ReadyAt)
	mapTime(m, &r.DownloadedAt, &p.DownloadedAt)
	mapTime(m, &r.RemindedAt, &p.RemindedAt)
	mapTime(m, &r.ClosedAt, &p.ClosedAt)
	mapInt(m, &r.Records, &p.Records)
	mapSame(m, &r.Version, &p.Version)
	m.within(r.ID)
}

// PutPrivacyRequests inserts requests whose ID is 0, giving them one, and writes the
// others if their versions are still what was read.
func (tx *Tx) PutPrivacyRequests(ctx context.Context, list []privacy.Request) error {
	return putAll[privacyRow](ctx, tx, list,
		func(r *privacy.Request) (*privacy.ID, *int64) { return &r.ID, &r.Version },
		"privacyRequest", "The request")
}

// OpenPrivacyRequests returns the requests of a kind and a customer that are not closed,
// locked, oldest first.
func (tx *Tx) OpenPrivacyRequests(ctx context.Context, k privacy.Kind, customer int64) ([]privacy.Request, error) {
	var rows []privacyRow
	q := tx.q.NewSelect().Model(&rows).Where("p.shop_id = ?", tx.of).Where("p.kind = ?", k).Where("p.customer_id = ?", customer).Where("p.closed_at = 0").Order("p.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the open requests of customer %d: %w", customer, err)
	}
	return readRows[privacy.Request](rows)
}

// DuePrivacyRequests returns at most limit requests that are due, locked, passing over
// those that another transaction holds.
func (tx *Tx) DuePrivacyRequests(ctx context.Context, now time.Time, limit int) ([]privacy.Request, error) {
	var rows []privacyRow
	q := tx.q.NewSelect().Model(&rows).Where("p.shop_id = ?", tx.of).Where("p.due_at <= ?", millis(now)).Order("p.due_at", "p.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the requests for personal data that are due: %w", err)
	}
	return readRows[privacy.Request](rows)
}

// PrivacyRequest returns a request, locked, or NotFound.
func (tx *Tx) PrivacyRequest(ctx context.Context, id privacy.ID) (privacy.Request, error) {
	var row privacyRow
	err := tx.dialect().forUpdate(tx.q.NewSelect().Model(&row).Where("p.shop_id = ?", tx.of).Where("p.id = ?", id)).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return privacy.Request{}, fault.New(fault.NotFound, "there is no request %d", id).Entity("privacyRequest").Code("privacyRequestNotFound")
	case err != nil:
		return privacy.Request{}, fmt.Errorf("read request %d: %w", id, err)
	}
	return readRow[privacy.Request](row)
}

// PrivacyRequests returns at most limit requests, newest first.
func (tx *Tx) PrivacyRequests(ctx context.Context, limit int) ([]privacy.Request, error) {
	var rows []privacyRow
	if err := tx.q.NewSelect().Model(&rows).Where("p.shop_id = ?", tx.of).Order("p.id DESC").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the requests for personal data: %w", err)
	}
	return readRows[privacy.Request](rows)
}

// PersonalData returns all that is stored about a customer, a section for each of the
// personal tables.
func (tx *Tx) PersonalData(ctx context.Context, customer int64) ([]privacy.Section, error) {
	list := make([]privacy.Section, len(personalTables))
	for i, table := range personalTables {
		list[i] = privacy.Section{Name: table.name, Title: table.title, Records: []privacy.Record{}}
		rows, err := tx.personalRows(ctx, table, customer)
		if err != nil {
			return nil, fmt.Errorf("collect the %s of customer %d: %w", table.name, customer, err)
		}
		for _, row := range rows {
			record, err := tx.personalRecord(table, row)
			if err != nil {
				return nil, err
			}
			list[i].Records = append(list[i].Records, record)
		}
	}
	return list, nil
}

// sealedWhenFinal leaves out the text of a message that is not sent yet: it may hold a
// link with which to sign in.
const sealedWhenFinal = "CASE WHEN status IN ('" + string(notify.Queued) + "', '" + string(notify.Sending) + "') THEN '' ELSE body END AS body"

func (tx *Tx) personalRows(ctx context.Context, table personalTable, customer int64) ([]map[string]any, error) {
	columns := make([]string, len(table.columns))
	for i, c := range table.columns {
		name, how, _ := strings.Cut(c, ":")
		if columns[i] = name; how == "sealed" {
			columns[i] = sealedWhenFinal
		}
	}
	var rows []map[string]any
	query := "SELECT " + strings.Join(columns, ", ") + " FROM " + table.name + " WHERE shop_id = ?0 AND " + table.rows + " ORDER BY 1"
	return rows, tx.q.NewRaw(query, int64(tx.of), customer).Scan(ctx, &rows)
}

// personalRecord returns what is exported of a row.
func (tx *Tx) personalRecord(table personalTable, row map[string]any) (privacy.Record, error) {
	var record privacy.Record
	currency, _ := row["currency"].(string)
	for _, column := range table.columns {
		name, how, _ := strings.Cut(column, ":")
		value, err := tx.personalValue(how, row[name], money.Currency(currency))
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", name, table.name, err)
		}
		if value != nil {
			record = append(record, privacy.Field{Name: name, Value: value})
		}
	}
	return record, nil
}

// personalValue returns a value of a column as it is exported; nil leaves it out.
func (tx *Tx) personalValue(how string, value any, c money.Currency) (any, error) {
	switch v := value.(type) {
	case []byte:
		return tx.personalValue(how, string(v), c)
	case string:
		if v == "" {
			return nil, nil
		}
		switch how {
		case "json":
			if json.Valid([]byte(v)) {
				return json.RawMessage(v), nil
			}
		case "sealed":
			text, err := tx.db.seal.open(tx.of, v)
			return json.RawMessage(text), err
		}
	case int64:
		switch how {
		case "at":
			if v == 0 {
				return nil, nil
			}
			return instant(v), nil
		case "money":
			return money.Amount{Minor: v, Currency: c}.String(), nil
		case "milli":
			return money.Amount{Minor: v / money.Amount{Minor: 1, Currency: c}.Milli(), Currency: c}.String(), nil
		}
	}
	return value, nil
}
