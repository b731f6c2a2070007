package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// shopRow is a row of shops.
type shopRow struct {
	bun.BaseModel `bun:"table:shops,alias:s"`

	ID             int64 `bun:"id,pk"`
	Domain         string
	PlatformID     int64
	Token          string
	TimeZone       string
	Currency       string
	OrderHour      int64
	OrderMinute    int64
	Connected      bool
	Settings       string
	ReconciledAt   int64
	ReconcileAt    int64
	Reading        string // JSON; empty: none
	SubscribeError string
	FrozenAt       int64
	ConfirmBy      int64
	HeldUntil      int64
	CheckAt        int64
	AwaitsMerchant int64
	OwnerEmail     string
	Guard          string // JSON
	CreatedAt      int64
	Catalogue      int64
	Version        int64
}

// guardNote is what of a guard is never searched for.
type guardNote struct {
	Reason     string `json:"reason,omitempty"`
	Epoch      string `json:"epoch,omitempty"`
	NextEpoch  string `json:"nextEpoch,omitempty"`
	Seen       string `json:"seen,omitempty"`
	ComparedAt int64  `json:"comparedAt,omitempty"`
	CoveredTo  int64  `json:"coveredTo,omitempty"`
	HeldSince  int64  `json:"heldSince,omitempty"`
	HeldTimes  int    `json:"heldTimes,omitempty"`
	CountFrom  int64  `json:"countFrom,omitempty"`
	Connected  int64  `json:"connectedAt,omitempty"`

	ConfirmedAt    int64  `json:"confirmedAt,omitempty"`
	ConfirmedBy    string `json:"confirmedBy,omitempty"`
	DisconnectedAt int64  `json:"disconnectedAt,omitempty"`

	Comparing shop.Reading `json:"comparing,omitzero"`
}

func (r *shopRow) Columns(m *mapping, s *shop.Shop) {
	mapInt(m, &r.ID, &s.ID)
	mapText(m, &r.Domain, &s.Domain)
	mapSame(m, &r.PlatformID, &s.PlatformID)
	mapSealed(m, "token", r.ID, &r.Token, &s.Token)
	mapText(m, &r.TimeZone, &s.TimeZone)
	mapText(m, &r.Currency, &s.Currency)
	mapInt(m, &r.OrderHour, &s.OrderHour)
	mapInt(m, &r.OrderMinute, &s.OrderMinute)
	mapSame(m, &r.Connected, &s.Connected)
	mapJSON(m, "settings", &r.Settings, &s.Settings)
	mapTime(m, &r.ReconciledAt, &s.ReconciledAt)
	mapTime(m, &r.ReconcileAt, &s.ReconcileAt)
	mapJSON(m, "reading", &r.Reading, &s.Reading)
	mapText(m, &r.SubscribeError, &s.SubscribeError)
	mapText(m, &r.OwnerEmail, &s.OwnerEmail)
	mapTime(m, &r.CreatedAt, &s.CreatedAt)
	if !m.toRow {
		s.Catalogue = r.Catalogue // raised by a trigger
	}
	mapSame(m, &r.Version, &s.Version)
	r.guard(m, &s.Guard)
}

func (r *shopRow) guard(m *mapping, g *shop.Guard) {
	mapTime(m, &r.FrozenAt, &g.FrozenAt)
	mapTime(m, &r.ConfirmBy, &g.ConfirmBy)
	mapTime(m, &r.HeldUntil, &g.Hold.Until)
	mapTime(m, &r.CheckAt, &g.CheckAt)
	mapTime(m, &r.AwaitsMerchant, &g.AwaitsSince)
	var n guardNote
	if !m.toRow {
		mapJSON(m, "guard", &r.Guard, &n)
	}
	mapText(m, &n.Reason, &g.Reason)
	mapText(m, &n.Epoch, &g.Epoch)
	mapText(m, &n.NextEpoch, &g.NextEpoch)
	mapText(m, &n.Seen, &g.PlatformEpoch)
	mapTime(m, &n.ComparedAt, &g.ComparedAt)
	mapTime(m, &n.CoveredTo, &g.CoveredTo)
	mapTime(m, &n.HeldSince, &g.Hold.Since)
	mapSame(m, &n.HeldTimes, &g.Hold.Times)
	mapTime(m, &n.CountFrom, &g.Hold.From)
	mapTime(m, &n.Connected, &g.ConnectedAt)
	mapTime(m, &n.ConfirmedAt, &g.ConfirmedAt)
	mapText(m, &n.ConfirmedBy, &g.ConfirmedBy)
	mapTime(m, &n.DisconnectedAt, &g.DisconnectedAt)
	mapSame(m, &n.Comparing, &g.Comparing)
	if m.toRow {
		mapJSON(m, "guard", &r.Guard, &n)
	}
}

func (db *DB) shopRow(s shop.Shop) (shopRow, error) { return sealedRowOf[shopRow](db.seal, s.ID, s) }

func (db *DB) shopOf(r shopRow) (shop.Shop, error) {
	s, err := readSealedRow[shop.Shop](db.seal, r)
	s.SMS = db.sms
	return s, err
}

// SendsSMS says that the installation has a provider of SMS. Nothing may run yet.
func (db *DB) SendsSMS() { db.sms = true }

// oneShop reads the shop of a query.
func (db *DB) oneShop(ctx context.Context, q *bun.SelectQuery, row *shopRow) (shop.Shop, error) {
	switch err := q.Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return shop.Shop{}, fault.New(fault.NotFound, "the store is not known here").Entity("shop").Code("shopNotFound")
	case err != nil:
		return shop.Shop{}, fmt.Errorf("read a shop: %w", err)
	}
	return db.shopOf(*row)
}

// Shop returns the transaction's shop. The row is not locked, since everything
// that happens to the shop would wait for it. If it has changed by the time it is
// written, the transaction is run once more, and then it is.
func (tx *Tx) Shop(ctx context.Context) (shop.Shop, error) {
	var row shopRow
	q := tx.q.NewSelect().Model(&row).Where("s.id = ?", bound{tx.of})
	if tx.lockShop {
		q = tx.dialect().forUpdate(q)
	}
	return tx.db.oneShop(ctx, q, &row)
}

// ShopToCharge is Shop, and keeps others from changing the shop until the
// transaction ends. Transactions that charge it do not wait for each other.
func (tx *Tx) ShopToCharge(ctx context.Context) (shop.Shop, error) {
	if tx.lockShop || !tx.dialect().locks {
		return tx.Shop(ctx)
	}
	var row shopRow
	return tx.db.oneShop(ctx, tx.q.NewSelect().Model(&row).Where("s.id = ?", tx.of).For("SHARE"), &row)
}

// PutShop writes the transaction's shop. Its ID and domain never change.
func (tx *Tx) PutShop(ctx context.Context, s shop.Shop) error {
	if s.ID != tx.of {
		return fault.New(fault.Internal, "shop %d is written in a transaction on shop %d", s.ID, tx.of)
	}
	row, err := tx.db.shopRow(s)
	if err != nil {
		return err
	}
	row.Version++
	result, err := tx.q.NewUpdate().Model(&row).ExcludeColumn("id", "domain", "created_at", "catalogue").
		Where("s.id = ?", tx.of).Where("s.version = ?", s.Version).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write shop %d: %w", s.ID, err)
	}
	n, err := result.RowsAffected()
	if err == nil && n != 1 {
		tx.stale = !tx.lockShop
		return changed("shop", "The shop")
	}
	return err
}

// changed is the Conflict of a row that is not what was read any more.
func changed(entity, thing string) error {
	return fault.New(fault.Conflict, "%s has changed", thing).Entity(entity).Code("changedMeanwhile")
}

// Shops asks what concerns more than one shop, or comes before the shop is known.
type Shops struct{ db *DB }

// Shops returns the questions across shops.
func (db *DB) Shops() Shops { return Shops{db} }

// AddShop inserts a shop and gives it its ID and version. A domain that is taken
// is a Conflict.
func (s Shops) AddShop(ctx context.Context, added *shop.Shop) error {
	made := *added
	err := s.db.updateShared(ctx, func(tx *Tx) error {
		id, err := tx.block(ctx, "shop", 1)
		if err != nil {
			return err
		}
		made.ID, made.Version = shop.ID(id), 1
		row, err := s.db.shopRow(made)
		if err != nil {
			return err
		}
		_, err = tx.q.NewInsert().Model(&row).Exec(ctx)
		return err
	})
	if s.db.engine.duplicate(err) {
		return fault.Because(fault.Conflict, err, "the store %s is known already", added.Domain).Entity("shop").Code("shopExists")
	}
	if err != nil {
		return fmt.Errorf("add the shop %s: %w", added.Domain, err)
	}
	*added = made
	return nil
}

// ShopByDomain returns a shop, or NotFound.
func (s Shops) ShopByDomain(ctx context.Context, domain string) (shop.Shop, error) {
	var row shopRow
	return s.db.oneShop(ctx, s.db.reader.NewSelect().Model(&row).Where("s.domain = ?", clean(domain)), &row)
}

// IDOf returns the number of a shop without reading its token, or NotFound.
func (s Shops) IDOf(ctx context.Context, domain string) (shop.ID, error) {
	var id shop.ID
	err := s.db.reader.NewSelect().Model((*shopRow)(nil)).Column("id").Where("s.domain = ?", clean(domain)).Scan(ctx, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fault.New(fault.NotFound, "the store %s is not known here", domain).Entity("shop").Code("shopNotFound")
	}
	if err != nil {
		return 0, fmt.Errorf("find the shop %s: %w", domain, err)
	}
	return id, nil
}

// Shop returns a shop, or NotFound.
func (s Shops) Shop(ctx context.Context, id shop.ID) (shop.Shop, error) {
	var row shopRow
	return s.db.oneShop(ctx, s.db.reader.NewSelect().Model(&row).Where("s.id = ?", id), &row)
}

// All returns every shop, oldest first.
func (s Shops) All(ctx context.Context) ([]shop.Shop, error) {
	var rows []shopRow
	if err := s.db.reader.NewSelect().Model(&rows).Order("s.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the shops: %w", err)
	}
	return parsed(rows, s.db.shopOf)
}

// KeyByHash returns the key with the hash and its shop, or NotFound. It is the
// one question that is asked before the shop is known.
func (s Shops) KeyByHash(ctx context.Context, h access.Hash) (access.Key, shop.Shop, error) {
	var row keyRow
	err := s.db.acrossShops().NewSelect().Model(&row).Relation("Shop").Where("k.hash = ?", hashText(h)).Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return access.Key{}, shop.Shop{}, fault.New(fault.NotFound, "no such key").Entity("apiKey")
	}
	if err != nil {
		return access.Key{}, shop.Shop{}, fmt.Errorf("find a key: %w", err)
	}
	key, err := readRow[access.Key](row)
	if err != nil {
		return access.Key{}, shop.Shop{}, err
	}
	if key.App != "" {
		var status partner.Status
		if err := s.db.reader.NewSelect().Table("partner_apps").Column("status").Where("id = ?", key.App).Scan(ctx, &status); err != nil {
			return access.Key{}, shop.Shop{}, fmt.Errorf("read the application of a token: %w", err)
		}
		key.AppSuspended = status != partner.Live
	}
	of, err := s.db.shopOf(*row.Shop)
	return key, of, err
}

// KnownHash reports whether some shop has a key with the hash.
func (s Shops) KnownHash(ctx context.Context, h access.Hash) (bool, error) {
	found, err := s.db.acrossShops().NewSelect().Model((*keyRow)(nil)).Where("k.hash = ?", hashText(h)).Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("find a key: %w", err)
	}
	return found, nil
}

// TouchKey notes when a key of a shop was last used, and from which address. An instant before the one
// that is noted changes nothing, and the version stays.
func (s Shops) TouchKey(ctx context.Context, of shop.ID, key access.KeyID, at time.Time, from string) error {
	return s.db.Update(ctx, of, func(tx *Tx) error {
		_, err := tx.q.NewUpdate().Model((*keyRow)(nil)).Set("last_used_at = ?", millis(at)).Set("last_used_from = ?", from).
			Where("k.shop_id = ?", of).Where("k.id = ?", key).Where("k.last_used_at < ?", millis(at)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note the use of key %d: %w", key, err)
		}
		return nil
	})
}
