package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// sealedColumn is a column with texts that are sealed, each for the shop of its row.
type sealedColumn struct {
	table  string
	column string
	key    []string // columns of the primary key
	shop   string   // column of the shop; empty: none
}

// sealedColumns are all of them: whatever calls seal has its column here.
func sealedColumns() []sealedColumn {
	return []sealedColumn{
		{"shops", "token", []string{"id"}, "id"},
		{"platform_connections", "access_token", []string{"shop_id", "app"}, "shop_id"},
		{"platform_connections", "refresh_token", []string{"shop_id", "app"}, "shop_id"},
		{"platform_connections", "previous_token", []string{"shop_id", "app"}, "shop_id"},
		{"partner_apps", "signing", []string{"id"}, ""},
		{"webhook_endpoints", "secret", []string{"shop_id", "id"}, "shop_id"},
		{"webhook_endpoints", "old_secret", []string{"shop_id", "id"}, "shop_id"},
		{"webhook_messages", "body", []string{"shop_id", "id"}, "shop_id"},
		{"messages", "body", []string{"shop_id", "id"}, "shop_id"},
		{"portal_sessions", "id_token", []string{"shop_id", "hash"}, "shop_id"},
		{"portal_settings", "account_secret", []string{"shop_id"}, "shop_id"},
		{"portal_account_sign_ins", "nonce", []string{"shop_id", "state"}, "shop_id"},
		{"portal_account_sign_ins", "verifier", []string{"shop_id", "state"}, "shop_id"},
		{"users", "totp_secret", []string{"id"}, ""},
		{"moves", "api_key", []string{"shop_id", "id"}, "shop_id"},
		{"move_files", "content", []string{"shop_id", "move_id", "part"}, "shop_id"},
	}
}

// resealAtOnce is how many texts are read together.
const resealAtOnce = 500

// Resealed says what a rotation of the secret key has done.
type Resealed struct {
	Texts int // that are sealed with the present key now
	Lost  int // that no key opens
}

// Reseal encrypts with the current key what an older key that is still configured has
// encrypted. It may run while the database is in use, and may be run again. A text that
// changes meanwhile is encrypted with the current key by that change.
func (db *DB) Reseal(ctx context.Context) (Resealed, error) {
	var sum Resealed
	for _, c := range sealedColumns() {
		if err := db.resealColumn(ctx, c, &sum); err != nil {
			return sum, fmt.Errorf("seal %s.%s: %w", c.table, c.column, err)
		}
	}
	return sum, nil
}

// sealedText is a text of a column.
type sealedText struct {
	Key  string // the primary key as text
	Shop int64
	Text string
}

// asText joins the columns of a primary key to one text, in which they compare as they do.
func (c sealedColumn) asText() string {
	text := "CAST(" + c.key[len(c.key)-1] + " AS TEXT)"
	if len(c.key) == 2 {
		text = "CAST(" + c.key[0] + " AS TEXT) || '/' || " + text
	}
	return text
}

func (db *DB) resealColumn(ctx context.Context, c sealedColumn, sum *Resealed) error {
	owner := "0"
	if c.shop != "" {
		owner = c.shop
	}
	key := bun.Safe(c.asText())
	for last := ""; ; {
		var texts []sealedText
		err := db.acrossShops().NewSelect().TableExpr("?", bun.Ident(c.table)).ColumnExpr("? AS key, ? AS shop, ? AS text", key, bun.Safe(owner), bun.Ident(c.column)).
			Where("? > ?", key, last).Where("? <> ''", bun.Ident(c.column)).OrderExpr("?", key).Limit(resealAtOnce).Scan(ctx, &texts)
		if err != nil {
			return err
		}
		if len(texts) == 0 {
			return nil
		}
		last = texts[len(texts)-1].Key
		texts = slices.DeleteFunc(texts, func(t sealedText) bool { return db.seal.current(shop.ID(t.Shop), t.Text) })
		var part Resealed
		err = db.updateAcrossShops(ctx, func(tx *Tx) error {
			part = Resealed{} // it may be run again
			for _, t := range texts {
				plain, err := db.seal.open(shop.ID(t.Shop), t.Text)
				if err != nil {
					part.Lost++
					continue
				}
				sealed, err := db.seal.seal(shop.ID(t.Shop), plain)
				if err != nil {
					return err
				}
				if _, err := tx.q.NewUpdate().TableExpr("?", bun.Ident(c.table)).Set("? = ?", bun.Ident(c.column), sealed).
					Where("? = ?", key, t.Key).Where("? = ?", bun.Ident(c.column), t.Text).Exec(ctx); err != nil {
					return err
				}
				part.Texts++
			}
			return nil
		})
		if err != nil {
			return err
		}
		sum.Texts, sum.Lost = sum.Texts+part.Texts, sum.Lost+part.Lost
	}
}

// Unreadable is what no key opens any more of a shop, whose token was among it.
type Unreadable struct {
	Endpoints int // webhook endpoints whose secrets are lost: they are disabled
	Webhooks  int // bodies of webhooks, which are not sent again
	Mails     int // bodies of e-mails, which are not sent
	Apps      int // applications of partners, of all shops, whose signing secrets are lost
}

// DropUnreadable removes of a shop what no key opens, where its token is among it, so that
// the shop can be connected again. It returns nil when the token opens, and where there is
// none.
func (db *DB) DropUnreadable(ctx context.Context, domain string) (*Unreadable, error) {
	var row sealedText
	err := db.reader.NewSelect().Table("shops").ColumnExpr("id AS shop, token AS text").Where("domain = ?", domain).Scan(ctx, &row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the token of %s: %w", domain, err)
	}
	of := shop.ID(row.Shop)
	if _, err := db.seal.open(of, row.Text); err == nil {
		return nil, nil
	}
	var lost Unreadable
	err = db.Update(ctx, of, func(tx *Tx) error {
		lost = Unreadable{}
		if _, err := tx.q.NewUpdate().Table("shops").Set("token = ''").Where("id = ?", of).Exec(ctx); err != nil {
			return err
		}
		connections := 0 // the store's token is lost with them, and is given again
		counts := map[string]*int{
			"platform_connections": &connections, "webhook_endpoints": &lost.Endpoints, "webhook_messages": &lost.Webhooks, "messages": &lost.Mails, "partner_apps": &lost.Apps}
		for _, c := range sealedColumns() {
			if c.table == "shops" || c.column == "old_secret" {
				continue
			}
			if err := tx.dropColumn(ctx, c, counts[c.table]); err != nil {
				return fmt.Errorf("%s.%s: %w", c.table, c.column, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("remove what no key opens of %s: %w", domain, err)
	}
	return &lost, nil
}

// lostSecret is why an endpoint is disabled whose secret no key opens.
const lostSecret = "its secret was lost with the secret key of the installation: rotate it, then enable the endpoint again"

// dropColumn counts the texts of the shop that no key opens, and removes those of rows that
// are the shop's.
func (tx *Tx) dropColumn(ctx context.Context, c sealedColumn, count *int) error {
	key := bun.Safe(c.asText())
	q := tx.q.NewSelect().TableExpr("?", bun.Ident(c.table)).ColumnExpr("? AS key, ? AS text", key, bun.Ident(c.column)).Where("? <> ''", bun.Ident(c.column))
	owner := shop.ID(0)
	if c.shop != "" {
		owner = tx.of
		q = q.Where("? = ?", bun.Ident(c.shop), tx.of)
	}
	var texts []sealedText
	if err := q.Scan(ctx, &texts); err != nil {
		return err
	}
	for _, t := range texts {
		if _, err := tx.db.seal.open(owner, t.Text); err == nil {
			continue
		}
		if count != nil {
			*count++
		}
		if c.shop == "" {
			continue
		}
		u := tx.q.NewUpdate().TableExpr("?", bun.Ident(c.table)).Set("? = ''", bun.Ident(c.column)).Where("? = ?", key, t.Key)
		if c.table == "webhook_endpoints" {
			u = u.Set("old_secret = ''").Set("enabled = ?", false).Set("reason = ?", lostSecret)
		}
		if _, err := u.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}
