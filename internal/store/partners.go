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
	"github.com/perennialhq/perennial/internal/platform"
)

var _ partner.Tx = (*Tx)(nil)

// Partners returns the store of the partner feature.
func (db *DB) Partners() partner.Store {
	return partnerStore{Scope[partner.Tx]{db, func(tx *Tx) partner.Tx { return tx }}, db.Shops()}
}

type partnerStore struct {
	Scope[partner.Tx]
	Shops
}

// connectionRow is a row of partner_connections.
type connectionRow struct {
	bun.BaseModel `bun:"table:partner_connections,alias:c"`

	ShopID      int64 `bun:"shop_id,pk"`
	ID          int64 `bun:"id,pk"`
	App         string
	State       string
	Direction   string
	Scopes      string // with spaces between, like wanted
	Wanted      string
	RequestedBy string
	RequestedAt int64
	ExpiresAt   int64
	DecidedBy   string
	DecidedAt   int64
	EndedAt     int64
	EndReason   string
	ReturnURL   string `bun:"return_url"`
	ClientState string
	CodeHash    string // hexadecimal; empty when there is no code
	CodeUntil   int64
	KeyID       int64 `bun:"key_id"`
	KeyAt       int64
	Owed        string
	CallID      string `bun:"call_id"`
	CallAt      int64
	Tries       int64
	Failure     string
	DueAt       int64 `bun:",nullzero"`
	Version     int64
}

func connectionRowOf(of shop.ID, c partner.Connection) connectionRow {
	row := connectionRow{
		ShopID: int64(of), ID: int64(c.ID), App: string(c.App), State: string(c.State), Direction: string(c.Direction),
		Scopes: scopesText(c.Scopes), Wanted: scopesText(c.Wanted), RequestedBy: c.RequestedBy, RequestedAt: millis(c.RequestedAt),
		ExpiresAt: millis(c.ExpiresAt), DecidedBy: c.DecidedBy, DecidedAt: millis(c.DecidedAt), EndedAt: millis(c.EndedAt), EndReason: c.EndReason,
		ReturnURL: c.ReturnURL, ClientState: c.ClientState, CodeUntil: millis(c.CodeUntil), KeyID: int64(c.Token), KeyAt: millis(c.TokenAt),
		Owed: string(c.Notification), CallID: c.CallID, CallAt: millis(c.CallAt), Tries: int64(c.Tries), Failure: c.Failure, DueAt: millis(c.DueAt()), Version: c.Version,
	}
	if c.Code != (access.Hash{}) {
		row.CodeHash = hashText(c.Code)
	}
	return row
}

func (r connectionRow) connection() (partner.Connection, error) {
	code, err := hashOf(r.CodeHash)
	if err != nil {
		return partner.Connection{}, fmt.Errorf("read connection %d: %w", r.ID, err)
	}
	return partner.Connection{
		ID: partner.ConnectionID(r.ID), Shop: shop.ID(r.ShopID), App: access.AppID(r.App), State: partner.State(r.State), Direction: partner.Direction(r.Direction),
		Scopes: scopesOf(r.Scopes), Wanted: scopesOf(r.Wanted), RequestedBy: r.RequestedBy, RequestedAt: instant(r.RequestedAt), ExpiresAt: instant(r.ExpiresAt),
		DecidedBy: r.DecidedBy, DecidedAt: instant(r.DecidedAt), EndedAt: instant(r.EndedAt), EndReason: r.EndReason, ReturnURL: r.ReturnURL, ClientState: r.ClientState,
		Code: code, CodeUntil: instant(r.CodeUntil), Token: access.KeyID(r.KeyID), TokenAt: instant(r.KeyAt),
		Notification: partner.Call(r.Owed), CallID: r.CallID, CallAt: instant(r.CallAt), Tries: int(r.Tries), Failure: r.Failure, Version: r.Version,
	}, nil
}

func connectionsOf(rows []connectionRow) ([]partner.Connection, error) {
	return parsed(rows, connectionRow.connection)
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
	return row.connection()
}

// OpenConnections returns the connections that have not ended, under lock.
func (tx *Tx) OpenConnections(ctx context.Context) ([]partner.Connection, error) {
	var rows []connectionRow
	q := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.state IN (?, ?)", partner.Pending, partner.Connected).Order("c.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read open connections: %w", err)
	}
	return connectionsOf(rows)
}

// DueConnections returns at most limit connections whose DueAt is not after now,
// under lock, passing over those that another transaction holds.
func (tx *Tx) DueConnections(ctx context.Context, now time.Time, limit int) ([]partner.Connection, error) {
	var rows []connectionRow
	q := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.due_at <= ?", millis(now)).Order("c.due_at", "c.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read due connections: %w", err)
	}
	return connectionsOf(rows)
}

// PutConnection inserts a connection whose ID is 0, giving it one, or replaces it
// under the version rule.
func (tx *Tx) PutConnection(ctx context.Context, c *partner.Connection) error {
	if c.ID != 0 {
		n, err := update(ctx, tx, []connectionRow{connectionRowOf(tx.of, *c)})
		if err == nil && n != 1 {
			err = changed("partnerConnection", "The connection")
		}
		if err == nil {
			c.Version++
		}
		return err
	}
	id, err := tx.db.ids.take(1)
	if err != nil {
		return err
	}
	made := *c
	made.ID, made.Shop, made.Version = partner.ConnectionID(id), tx.of, 1
	if _, err := insert(ctx, tx, []connectionRow{connectionRowOf(tx.of, made)}, ""); err != nil {
		if tx.db.engine.duplicate(err) {
			return fault.Because(fault.Conflict, err, "the application has a connection with the store already").Entity("partnerConnection")
		}
		return err
	}
	*c = made
	return nil
}

// DomainOf returns the domain of a shop without reading its token, or NotFound.
func (s Shops) DomainOf(ctx context.Context, of shop.ID) (string, error) {
	var domain string
	err := s.db.reader.NewSelect().Model((*shopRow)(nil)).Column("domain").Where("s.id = ?", of).Scan(ctx, &domain)
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
	err := s.db.reader.NewSelect().Table("partner_connections").Column("shop_id").Where("app = ?", clean(string(app))).Where("id = ?", id).Limit(1).Scan(ctx, &of)
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
	err := s.db.reader.NewSelect().Table("partner_connections").Column("shop_id", "id").
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
	q := s.db.reader.NewSelect().Model(&rows).Where("c.shop_id = ?", of)
	if state != "" {
		q = q.Where("c.state = ?", state)
	}
	p.Sort = []page.Sort{{Field: "requestedAt", Desc: true}, {Field: "id", Desc: true}}
	total, err := fetch(ctx, q, connectionFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("read connections: %w", err)
	}
	list, err := connectionsOf(rows)
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

// addCalls adds to a day that has calls already.
const addCalls = `ON CONFLICT (shop_id, app, connection_id, day) DO UPDATE SET calls = partner_calls.calls + EXCLUDED.calls,
	errors = partner_calls.errors + EXCLUDED.errors, last_at = CASE WHEN EXCLUDED.last_at > partner_calls.last_at THEN EXCLUDED.last_at ELSE partner_calls.last_at END`

// CountCalls adds calls to those of their days and notes the last one.
func (s Shops) CountCalls(ctx context.Context, of shop.ID, calls []partner.Calls) error {
	rows := make([]callsRow, len(calls))
	for i, c := range calls {
		rows[i] = callsRow{
			ShopID: int64(of), App: string(c.App), ConnectionID: int64(c.Connection), Day: millis(c.Day),
			Calls: int64(c.Count), Errors: int64(c.Errors), LastAt: millis(c.LastAt),
		}
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
	err := s.db.reader.NewSelect().Model(&rows).Where("u.shop_id = ?", of).Where("u.app = ?", app).Where("u.connection_id = ?", connection).
		Where("u.day >= ?", millis(since)).OrderExpr("u.day DESC").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the calls of an application: %w", err)
	}
	list := make([]partner.Calls, len(rows))
	for i, r := range rows {
		list[i] = partner.Calls{
			App: app, Connection: connection, Day: instant(r.Day), Count: int(r.Calls), Errors: int(r.Errors), LastAt: instant(r.LastAt),
		}
	}
	return list, nil
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

func (db *DB) appRow(a partner.App) (appRow, error) {
	signing, err := db.seal.seal(0, platform.Token(a.Signing))
	return appRow{
		ID: clean(string(a.ID)), Name: clean(a.Name), BaseURL: clean(a.BaseURL), Contact: clean(a.Contact), About: clean(a.About),
		Scopes: scopesText(a.Scopes), Status: string(a.Status), SecretHash: hashText(a.Secret.Hash), OldSecretHash: hashText(a.Secret.Old), OldSecretUntil: millis(a.Secret.OldUntil),
		KeyHash: hashText(a.Key.Hash), OldKeyHash: hashText(a.Key.Old), OldKeyUntil: millis(a.Key.OldUntil), Signing: signing,
		LastUsedAt: millis(a.LastUsedAt), CreatedAt: millis(a.CreatedAt), Version: a.Version,
	}, err
}

func (db *DB) appOf(r appRow) (partner.App, error) {
	a := partner.App{
		ID: access.AppID(r.ID), Name: r.Name, BaseURL: r.BaseURL, Contact: r.Contact, About: r.About, Scopes: scopesOf(r.Scopes), Status: partner.Status(r.Status),
		LastUsedAt: instant(r.LastUsedAt), CreatedAt: instant(r.CreatedAt), Version: r.Version,
	}
	for _, h := range []struct {
		into *access.Hash
		text string
	}{{&a.Secret.Hash, r.SecretHash}, {&a.Secret.Old, r.OldSecretHash}, {&a.Key.Hash, r.KeyHash}, {&a.Key.Old, r.OldKeyHash}} {
		var err error
		if *h.into, err = hashOf(h.text); err != nil {
			return partner.App{}, fmt.Errorf("read the application %s: %w", r.ID, err)
		}
	}
	a.Secret.OldUntil, a.Key.OldUntil = instant(r.OldSecretUntil), instant(r.OldKeyUntil)
	signing, err := db.seal.open(0, r.Signing)
	if err != nil {
		return partner.App{}, fmt.Errorf("read the application %s: %w", r.ID, err)
	}
	a.Signing = string(signing)
	return a, nil
}

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
	err = s.db.update(ctx, 0, func(tx *Tx) error {
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
	err := s.db.update(ctx, 0, func(tx *Tx) error {
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
	return s.db.update(ctx, 0, func(tx *Tx) error {
		_, err := tx.q.NewUpdate().Model((*appRow)(nil)).Set("last_used_at = ?", millis(at)).Where("a.id = ?", string(id)).Where("a.last_used_at < ?", millis(at)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note the use of the application %s: %w", id, err)
		}
		return nil
	})
}
