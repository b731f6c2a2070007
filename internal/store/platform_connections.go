package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ connection.Tx = (*Tx)(nil)

// PlatformConnections returns the store of the connections with the platform.
func (db *DB) PlatformConnections() connection.Store {
	return platformConnections{readScope(db, func(tx *Tx) connection.Tx { return tx }, func(tx *Tx) connection.ReadTx { return tx }), db.Shops()}
}

type platformConnections struct {
	ReadScope[connection.Tx, connection.ReadTx]
	Shops
}

// platformConnectionRow is a row of platform_connections.
type platformConnectionRow struct {
	bun.BaseModel `bun:"table:platform_connections,alias:p"`

	ShopID           int64  `bun:"shop_id,pk"`
	App              string `bun:"app,pk"`
	AccessToken      string // sealed, like the other two
	ExpiresAt        int64
	RefreshToken     string
	RefreshExpiresAt int64
	PreviousToken    string
	Migrating        bool
	Scopes           string // separated by commas
	Asked            string // separated by commas
	GrantedAt        int64
	RenewedAt        int64
	Holder           string
	HeldUntil        int64
	Failures         int64
	RetryAt          int64
	Refused          string
}

func (r *platformConnectionRow) Columns(m *mapping, c *connection.Connection) {
	m.shop(&r.ShopID)
	mapText(m, &r.App, &c.App)
	mapSealed(m, "access_token", r.ShopID, &r.AccessToken, &c.Access)
	mapTime(m, &r.ExpiresAt, &c.ExpiresAt)
	mapSealed(m, "refresh_token", r.ShopID, &r.RefreshToken, &c.Refresh)
	mapTime(m, &r.RefreshExpiresAt, &c.RefreshExpiresAt)
	mapSealed(m, "previous_token", r.ShopID, &r.PreviousToken, &c.Previous)
	mapSame(m, &r.Migrating, &c.Migrating)
	mapVia(m, "scopes", &r.Scopes, &c.Scopes, commasText, parseCommas)
	mapVia(m, "asked", &r.Asked, &c.Asked, commasText, parseCommas)
	mapTime(m, &r.GrantedAt, &c.GrantedAt)
	mapTime(m, &r.RenewedAt, &c.RenewedAt)
	mapText(m, &r.Holder, &c.Holder)
	mapTime(m, &r.HeldUntil, &c.HeldUntil)
	mapInt(m, &r.Failures, &c.Failures)
	mapTime(m, &r.RetryAt, &c.RetryAt)
	mapText(m, &r.Refused, &c.Refused)
}

// stateRow is a row of oauth_states.
type stateRow struct {
	bun.BaseModel `bun:"table:oauth_states,alias:o"`

	State     string `bun:"state,pk"` // SHA-256, hexadecimal
	ExpiresAt int64
}

// PlatformConnection returns the connection of an app, locked unless the transaction is
// read-only. One that does not exist yet is locked too: otherwise two transactions could
// create it.
func (tx *Tx) PlatformConnection(ctx context.Context, app connection.AppName) (connection.Connection, error) {
	row := platformConnectionRow{ShopID: int64(tx.of), App: clean(string(app))}
	if tx.readOnly {
		err := tx.q.NewSelect().Model(&row).Where("p.shop_id = ?", tx.of).Where("p.app = ?", row.App).Scan(ctx)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return connection.Connection{App: app}, nil
		case err != nil:
			return connection.Connection{}, fmt.Errorf("read the connection of the app %s: %w", app, err)
		}
		return tx.db.platformConnectionOf(row)
	}
	if _, err := insert(ctx, tx, []platformConnectionRow{row}, "ON CONFLICT DO NOTHING"); err != nil {
		return connection.Connection{}, err
	}
	q := tx.q.NewSelect().Model(&row).Where("p.shop_id = ?", tx.of).Where("p.app = ?", row.App)
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return connection.Connection{}, fmt.Errorf("read the connection of the app %s: %w", app, err)
	}
	return tx.db.platformConnectionOf(row)
}

// PutPlatformConnection writes a connection that the transaction has read.
func (tx *Tx) PutPlatformConnection(ctx context.Context, c connection.Connection) error {
	row, err := sealedRowOf[platformConnectionRow](tx.db.seal, tx.of, c)
	if err != nil {
		return err
	}
	_, err = tx.q.NewUpdate().Model(&row).ExcludeColumn("shop_id", "app").Where("p.shop_id = ?", tx.of).Where("p.app = ?", row.App).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write the connection of the app %s: %w", c.App, err)
	}
	return nil
}

func (db *DB) platformConnectionOf(r platformConnectionRow) (connection.Connection, error) {
	return readSealedRow[connection.Connection](db.seal, r)
}

// commasText writes a list with commas between.
func commasText(list []string) (string, error) { return clean(strings.Join(list, ",")), nil }

// parseCommas is the reverse of commasText.
func parseCommas(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, ","), nil
}

// Connections returns the connections of a shop that have tokens, by app.
func (s platformConnections) Connections(ctx context.Context, of shop.ID) ([]connection.Connection, error) {
	var rows []platformConnectionRow
	err := s.Shops.db.in(of).NewSelect().Model(&rows).Where("p.shop_id = ?", of).Where("p.access_token <> ''").Order("p.app").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the connections: %w", err)
	}
	return parsed(rows, s.Shops.db.platformConnectionOf)
}

// UseState stores that a state was used, and forgets some that have expired.
func (s platformConnections) UseState(ctx context.Context, state connection.StateHash, now, expires time.Time) (first bool, err error) {
	err = s.Shops.db.updateShared(ctx, func(tx *Tx) error {
		n, err := insert(ctx, tx, []stateRow{{State: hashText(state), ExpiresAt: millis(expires)}}, "ON CONFLICT DO NOTHING")
		if err != nil {
			return err
		}
		first = n == 1
		_, err = tx.q.NewRaw("DELETE FROM oauth_states WHERE state IN (SELECT state FROM oauth_states WHERE expires_at < ? LIMIT 100)", now.UnixMilli()).Exec(ctx)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("use the state of an installation: %w", err)
	}
	return first, nil
}
