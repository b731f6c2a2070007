package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ partner.Tx = (*Tx)(nil)

// Partners returns the store of the partner feature.
func (db *DB) Partners() partner.Store {
	return partnerStore{readScope(db, func(tx *Tx) partner.Tx { return tx }, func(tx *Tx) partner.ReadTx { return tx }), db.Shops()}
}

type partnerStore struct {
	ReadScope[partner.Tx, partner.ReadTx]
	Shops
}

// connectionRow is a row of partner_connections.
type connectionRow struct {
	bun.BaseModel `bun:"table:partner_connections,alias:c"`

	ShopID       int64 `bun:"shop_id,pk"`
	ID           int64 `bun:"id,pk"`
	App          string
	State        string
	Direction    string
	Scopes       string // with spaces between, like wanted
	Wanted       string
	RequestedBy  string
	RequestedAt  int64
	ExpiresAt    int64
	DecidedBy    string
	DecidedAt    int64
	EndedAt      int64
	EndReason    string
	ReturnURL    string `bun:"return_url"`
	ClientState  string
	CodeHash     string // hexadecimal; empty when there is no code
	CodeUntil    int64
	KeyID        int64 `bun:"key_id"`
	TokenAt      int64
	Notification string
	CallID       string `bun:"call_id"`
	CallAt       int64
	Tries        int64
	Failure      string
	DueAt        int64 `bun:",nullzero"`
	Version      int64
}

func (r *connectionRow) Columns(m *mapping, c *partner.Connection) {
	mapShop(m, &r.ShopID, &c.Shop)
	mapInt(m, &r.ID, &c.ID)
	mapText(m, &r.App, &c.App)
	mapText(m, &r.State, &c.State)
	mapText(m, &r.Direction, &c.Direction)
	mapWords(m, &r.Scopes, &c.Scopes)
	mapWords(m, &r.Wanted, &c.Wanted)
	mapText(m, &r.RequestedBy, &c.RequestedBy)
	mapTime(m, &r.RequestedAt, &c.RequestedAt)
	mapTime(m, &r.ExpiresAt, &c.ExpiresAt)
	mapText(m, &r.DecidedBy, &c.DecidedBy)
	mapTime(m, &r.DecidedAt, &c.DecidedAt)
	mapTime(m, &r.EndedAt, &c.EndedAt)
	mapText(m, &r.EndReason, &c.EndReason)
	mapText(m, &r.ReturnURL, &c.ReturnURL)
	mapText(m, &r.ClientState, &c.ClientState)
	mapHash(m, "code_hash", &r.CodeHash, &c.Code)
	mapTime(m, &r.CodeUntil, &c.CodeUntil)
	mapInt(m, &r.KeyID, &c.Token)
	mapTime(m, &r.TokenAt, &c.TokenAt)
	mapText(m, &r.Notification, &c.Notification)
	mapText(m, &r.CallID, &c.CallID)
	mapTime(m, &r.CallAt, &c.CallAt)
	mapInt(m, &r.Tries, &c.Tries)
	mapText(m, &r.Failure, &c.Failure)
	if m.toRow {
		r.DueAt = millis(c.DueAt())
	}
	mapSame(m, &r.Version, &c.Version)
	m.within(r.ID)
}

func noConnection(id partner.ConnectionID) error {
	return fault.New(fault.NotFound, "partner connection %d does not exist", id).Entity("partnerConnection").Code("connectionNotFound")
}

// Connection returns a connection under lock, or NotFound.
func (tx *Tx) Connection(ctx context.Context, id partner.ConnectionID) (partner.Connection, error) {
	var row connectionRow
	q := tx.q.NewSelect().Model(&row).Where("c.shop_id = ?", tx.of).Where("c.id = ?", id)
	err := tx.dialect().forUpdate(q).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return partner.Connection{}, noConnection(id)
	}
	if err != nil {
		return partner.Connection{}, fmt.Errorf("read connection %d: %w", id, err)
	}
	return readRow[partner.Connection](row)
}

// OpenConnections returns the connections that have not ended, under lock.
func (tx *Tx) OpenConnections(ctx context.Context) ([]partner.Connection, error) {
	var rows []connectionRow
	q := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.state IN (?, ?)", partner.Pending, partner.Connected).Order("c.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read open connections: %w", err)
	}
	return readRows[partner.Connection](rows)
}

// DueConnections returns at most limit connections whose DueAt is not after now,
// under lock, passing over those that another transaction holds.
func (tx *Tx) DueConnections(ctx context.Context, now time.Time, limit int) ([]partner.Connection, error) {
	var rows []connectionRow
	q := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.due_at <= ?", millis(now)).Order("c.due_at", "c.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read due connections: %w", err)
	}
	return readRows[partner.Connection](rows)
}

// PutConnection inserts a connection whose ID is 0, giving it one, or replaces it
// under the version rule.
func (tx *Tx) PutConnection(ctx context.Context, c *partner.Connection) error {
	made := *c
	made.Shop = tx.of
	err := putOne[connectionRow](ctx, tx, &made,
		func(c *partner.Connection) (*partner.ConnectionID, *int64) { return &c.ID, &c.Version }, "partnerConnection", "The connection")
	if c.ID == 0 && tx.db.engine.duplicate(err) {
		return fault.Because(fault.Conflict, err, "the application has a connection with the store already").Entity("partnerConnection")
	}
	if err != nil {
		return err
	}
	*c = made
	return nil
}

// DomainOf returns the domain of a shop without reading its token, or NotFound.
func (s Shops) DomainOf(ctx context.Context, of shop.ID) (string, error) {
	var domain string
	err := s.db.in(of).NewSelect().Model((*shopRow)(nil)).Column("domain").Where("s.id = ?", of).Scan(ctx, &domain)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fault.New(fault.NotFound, "the store is not known here").Entity("shop").Code("shopNotFound")
	}
	if err != nil {
		return "", fmt.Errorf("read the domain of shop %d: %w", of, err)
	}
	return domain, nil
}

// ShopOfConnection returns the shop of an application's connection, or NotFound.
func (s Shops) ShopOfConnection(ctx context.Context, app access.AppID, id partner.ConnectionID) (shop.ID, error) {
	var of shop.ID
	err := s.db.acrossShops().NewSelect().Table("partner_connections").Column("shop_id").Where("app = ?", clean(string(app))).Where("id = ?", id).Limit(1).Scan(ctx, &of)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, noConnection(id)
	}
	if err != nil {
		return 0, fmt.Errorf("find connection %d: %w", id, err)
	}
	return of, nil
}

// ConnectionByCode returns the shop and number of an application's connection
// whose code has the hash, or NotFound.
func (s Shops) ConnectionByCode(ctx context.Context, app access.AppID, code access.Hash) (shop.ID, partner.ConnectionID, error) {
	var of shop.ID
	var id partner.ConnectionID
	err := s.db.acrossShops().NewSelect().Table("partner_connections").Column("shop_id", "id").
		Where("code_hash = ?", hashText(code)).Where("app = ?", clean(string(app))).Limit(1).Scan(ctx, &of, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, fault.New(fault.NotFound, "there is no such code").Entity("partnerConnection")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("find the connection of a code: %w", err)
	}
	return of, id, nil
}

// connectionFields are the fields by which connections are sorted.
var connectionFields = map[string]field{"id": {"id", whole}, "requestedAt": {"requested_at", whole}}

// Connections returns a page of a shop's connections, newest first, and how many
// there are. An empty state means all.
func (s Shops) Connections(ctx context.Context, of shop.ID, state partner.State, p page.Request) ([]partner.Connection, int, error) {
	var rows []connectionRow
	q := s.db.in(of).NewSelect().Model(&rows).Where("c.shop_id = ?", of)
	if state != "" {
		q = q.Where("c.state = ?", state)
	}
	p.Sort = []page.Sort{{Field: "requestedAt", Desc: true}, {Field: "id", Desc: true}}
	total, err := fetch(ctx, q, connectionFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("read connections: %w", err)
	}
	list, err := readRows[partner.Connection](rows)
	return list, total, err
}

// callsRow is a row of partner_calls.
type callsRow struct {
	bun.BaseModel `bun:"table:partner_calls,alias:u"`

	ShopID       int64  `bun:"shop_id,pk"`
	App          string `bun:"app,pk"`
	ConnectionID int64  `bun:"connection_id,pk"`
	Day          int64  `bun:"day,pk"` // midnight UTC
	Calls        int64
	Errors       int64
	LastAt       int64
}

func (r *callsRow) Columns(m *mapping, c *partner.Calls) {
	m.shop(&r.ShopID)
	mapText(m, &r.App, &c.App)
	mapInt(m, &r.ConnectionID, &c.Connection)
	mapTime(m, &r.Day, &c.Day)
	mapInt(m, &r.Calls, &c.Count)
	mapInt(m, &r.Errors, &c.Errors)
	mapTime(m, &r.LastAt, &c.LastAt)
}

// addCalls adds to a day that has calls already.
const addCalls = `ON CONFLICT (shop_id, app, connection_id, day) DO UPDATE SET calls = partner_calls.calls + EXCLUDED.calls,
	errors = partner_calls.errors + EXCLUDED.errors, last_at = CASE WHEN EXCLUDED.last_at > partner_calls.last_at THEN EXCLUDED.last_at ELSE partner_calls.last_at END`

// CountCalls adds calls to those of their days and notes the last one.
func (s Shops) CountCalls(ctx context.Context, of shop.ID, calls []partner.Calls) error {
	rows, err := rowsOf[callsRow](of, calls...)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, of, func(tx *Tx) error {
		_, err := insert(ctx, tx, rows, addCalls)
		return err
	})
}

// CallsOf returns what an application called in a shop since a day, the newest
// day first.
func (s Shops) CallsOf(ctx context.Context, of shop.ID, app access.AppID, connection partner.ConnectionID, since time.Time) ([]partner.Calls, error) {
	var rows []callsRow
	err := s.db.in(of).NewSelect().Model(&rows).Where("u.shop_id = ?", of).Where("u.app = ?", app).Where("u.connection_id = ?", connection).
		Where("u.day >= ?", millis(since)).OrderExpr("u.day DESC").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the calls of an application: %w", err)
	}
	return readRows[partner.Calls](rows)
}

// appRow is a row of partner_apps.
type appRow struct {
	bun.BaseModel `bun:"table:partner_apps,alias:a"`

	ID             string `bun:"id,pk"`
	Name           string
	BaseURL        string `bun:"base_url"`
	Contact        string
	About          string
	Scopes         string
	Status         string
	SecretHash     string
	OldSecretHash  string
	OldSecretUntil int64
	KeyHash        string
	OldKeyHash     string
	OldKeyUntil    int64
	Signing        string // encrypted
	LastUsedAt     int64
	CreatedAt      int64
	Version        int64
}

func (r *appRow) Columns(m *mapping, a *partner.App) {
	mapText(m, &r.ID, &a.ID)
	mapText(m, &r.Name, &a.Name)
	mapText(m, &r.BaseURL, &a.BaseURL)
	mapText(m, &r.Contact, &a.Contact)
	mapText(m, &r.About, &a.About)
	mapWords(m, &r.Scopes, &a.Scopes)
	mapText(m, &r.Status, &a.Status)
	mapHash(m, "secret_hash", &r.SecretHash, &a.Secret.Hash)
	mapHash(m, "old_secret_hash", &r.OldSecretHash, &a.Secret.Old)
	mapTime(m, &r.OldSecretUntil, &a.Secret.OldUntil)
	mapHash(m, "key_hash", &r.KeyHash, &a.Key.Hash)
	mapHash(m, "old_key_hash", &r.OldKeyHash, &a.Key.Old)
	mapTime(m, &r.OldKeyUntil, &a.Key.OldUntil)
	mapSealed(m, "signing", 0, &r.Signing, &a.Signing)
	mapTime(m, &r.LastUsedAt, &a.LastUsedAt)
	mapTime(m, &r.CreatedAt, &a.CreatedAt)
	mapSame(m, &r.Version, &a.Version)
}

func (db *DB) appRow(a partner.App) (appRow, error) { return sealedRowOf[appRow](db.seal, 0, a) }

func (db *DB) appOf(r appRow) (partner.App, error) { return readSealedRow[partner.App](db.seal, r) }

func (db *DB) oneApp(ctx context.Context, q *bun.SelectQuery, row *appRow) (partner.App, error) {
	switch err := q.Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return partner.App{}, fault.New(fault.NotFound, "the application is not known").Entity("partnerApp").Code("partnerNotFound")
	case err != nil:
		return partner.App{}, fmt.Errorf("read an application: %w", err)
	}
	return db.appOf(*row)
}

// AddApp inserts an application. An id that is taken is a Conflict.
func (s Shops) AddApp(ctx context.Context, a *partner.App) error {
	made := *a
	made.Version = 1
	row, err := s.db.appRow(made)
	if err != nil {
		return err
	}
	err = s.db.updateShared(ctx, func(tx *Tx) error {
		_, err := tx.q.NewInsert().Model(&row).Exec(ctx)
		return err
	})
	if s.db.engine.duplicate(err) {
		return fault.Because(fault.Conflict, err, "there is an application %q already", a.ID).Entity("partnerApp").Code("partnerExists").Field("id")
	}
	if err != nil {
		return fmt.Errorf("add the application %s: %w", a.ID, err)
	}
	*a = made
	return nil
}

// ChangeApp changes an application under lock and returns it, or NotFound.
func (s Shops) ChangeApp(ctx context.Context, id access.AppID, fn func(*partner.App) error) (partner.App, error) {
	var a partner.App
	err := s.db.updateShared(ctx, func(tx *Tx) error {
		var row appRow
		var err error
		if a, err = s.db.oneApp(ctx, tx.dialect().forUpdate(tx.q.NewSelect().Model(&row).Where("a.id = ?", clean(string(id)))), &row); err != nil {
			return err
		}
		if err := fn(&a); err != nil {
			return err
		}
		a.Version++
		if row, err = s.db.appRow(a); err != nil {
			return err
		}
		if _, err := tx.q.NewUpdate().Model(&row).ExcludeColumn("id", "created_at").Where("a.id = ?", row.ID).Exec(ctx); err != nil {
			return fmt.Errorf("write the application %s: %w", id, err)
		}
		return nil
	})
	return a, err
}

// App returns an application, or NotFound.
func (s Shops) App(ctx context.Context, id access.AppID) (partner.App, error) {
	var row appRow
	return s.db.oneApp(ctx, s.db.reader.NewSelect().Model(&row).Where("a.id = ?", clean(string(id))), &row)
}

// AppByKey returns the application with the hash of an application key, the
// present one or the one before; NotFound.
func (s Shops) AppByKey(ctx context.Context, h access.Hash) (partner.App, error) {
	var row appRow
	text := hex.EncodeToString(h[:])
	return s.db.oneApp(ctx, s.db.reader.NewSelect().Model(&row).Where("a.key_hash = ? OR a.old_key_hash = ?", text, text).Limit(1), &row)
}

// Apps returns every application, by id.
func (s Shops) Apps(ctx context.Context) ([]partner.App, error) {
	var rows []appRow
	if err := s.db.reader.NewSelect().Model(&rows).Order("a.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the applications: %w", err)
	}
	return parsed(rows, s.db.appOf)
}

// TouchApp notes when an application was last used, forwards only.
func (s Shops) TouchApp(ctx context.Context, id access.AppID, at time.Time) error {
	return s.db.updateShared(ctx, func(tx *Tx) error {
		_, err := tx.q.NewUpdate().Model((*appRow)(nil)).Set("last_used_at = ?", millis(at)).Where("a.id = ?", string(id)).Where("a.last_used_at < ?", millis(at)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note the use of the application %s: %w", id, err)
		}
		return nil
	})
}
