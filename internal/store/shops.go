package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// shopRow is a row of shops.
type shopRow struct {
	bun.BaseModel `bun:"table:shops,alias:s"`

	ID           int64 `bun:"id,pk"`
	Domain       string
	PlatformID   int64
	Token        string
	TimeZone     string
	Currency     string
	OrderHour    int64
	OrderMinute  int64
	Connected    bool
	Settings     string
	ReconciledAt int64
	ReconcileAt  int64
	Reading      string // JSON; empty: none
	Unheard      string
	FrozenAt     int64
	ConfirmBy    int64
	HeldUntil    int64
	CheckAt      int64

	AwaitsMerchant int64
	OwnerEmail     string

	Guard     string // JSON
	CreatedAt int64
	Catalogue int64
	Version   int64
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

func (db *DB) shopRow(s shop.Shop) (shopRow, error) {
	token, err := db.seal.seal(s.ID, s.Token)
	if err != nil {
		return shopRow{}, err
	}
	settings, err := json.Marshal(s.Settings)
	if err != nil {
		return shopRow{}, fmt.Errorf("write the settings of %s: %w", s.Domain, err)
	}
	g := s.Guard
	guard, err := json.Marshal(guardNote{
		Reason: clean(g.Reason), Epoch: clean(g.Epoch), NextEpoch: clean(g.NextEpoch), Seen: clean(g.PlatformEpoch), ComparedAt: millis(g.ComparedAt), CoveredTo: millis(g.CoveredTo),
		HeldSince: millis(g.Hold.Since), HeldTimes: g.Hold.Times, CountFrom: millis(g.Hold.From), Connected: millis(g.ConnectedAt),
		Comparing:   g.Comparing,
		ConfirmedAt: millis(g.ConfirmedAt), ConfirmedBy: clean(g.ConfirmedBy), DisconnectedAt: millis(g.DisconnectedAt),
	})
	if err != nil {
		return shopRow{}, fmt.Errorf("write the guard of %s: %w", s.Domain, err)
	}
	reading := ""
	if s.Reading != (shop.Reading{}) {
		text, err := json.Marshal(s.Reading)
		if err != nil {
			return shopRow{}, fmt.Errorf("write how far the reading of %s has come: %w", s.Domain, err)
		}
		reading = string(text)
	}
	return shopRow{
		FrozenAt: millis(g.FrozenAt), ConfirmBy: millis(g.ConfirmBy), HeldUntil: millis(g.Hold.Until), CheckAt: millis(g.CheckAt), Guard: string(guard),
		AwaitsMerchant: millis(g.AwaitsSince), OwnerEmail: clean(s.OwnerEmail),
		ID: int64(s.ID), Domain: clean(s.Domain), PlatformID: s.PlatformID, Token: token, TimeZone: clean(s.TimeZone), Currency: clean(string(s.Currency)),
		OrderHour: int64(s.OrderHour), OrderMinute: int64(s.OrderMinute), Connected: s.Connected, Settings: string(settings),
		ReconciledAt: millis(s.ReconciledAt), ReconcileAt: millis(s.ReconcileAt), Reading: reading, Unheard: clean(s.SubscribeError), CreatedAt: millis(s.CreatedAt), Version: s.Version,
	}, nil
}

func (db *DB) shopOf(r shopRow) (shop.Shop, error) {
	token, err := db.seal.open(shop.ID(r.ID), r.Token)
	if err != nil {
		return shop.Shop{}, err
	}
	s := shop.Shop{
		ID: shop.ID(r.ID), Domain: r.Domain, PlatformID: r.PlatformID, Token: token, TimeZone: r.TimeZone, Currency: money.Currency(r.Currency),
		OrderHour: int(r.OrderHour), OrderMinute: int(r.OrderMinute), Connected: r.Connected,
		ReconciledAt: instant(r.ReconciledAt), ReconcileAt: instant(r.ReconcileAt), SubscribeError: r.Unheard, CreatedAt: instant(r.CreatedAt), Catalogue: r.Catalogue, Version: r.Version,
	}
	if err := json.Unmarshal([]byte(r.Settings), &s.Settings); err != nil {
		return shop.Shop{}, fmt.Errorf("read the settings of %s: %w", s.Domain, err)
	}
	if r.Reading != "" {
		if err := json.Unmarshal([]byte(r.Reading), &s.Reading); err != nil {
			return shop.Shop{}, fmt.Errorf("read how far the reading of %s has come: %w", s.Domain, err)
		}
	}
	var n guardNote
	if err := json.Unmarshal([]byte(r.Guard), &n); err != nil {
		return shop.Shop{}, fmt.Errorf("read the guard of %s: %w", s.Domain, err)
	}
	s.Guard = shop.Guard{
		FrozenAt: instant(r.FrozenAt), ConfirmBy: instant(r.ConfirmBy), CheckAt: instant(r.CheckAt),
		Hold:   shop.Hold{Until: instant(r.HeldUntil), Since: instant(n.HeldSince), Times: n.HeldTimes, From: instant(n.CountFrom)},
		Reason: n.Reason, Epoch: n.Epoch, NextEpoch: n.NextEpoch, PlatformEpoch: n.Seen, ComparedAt: instant(n.ComparedAt), CoveredTo: instant(n.CoveredTo),
		ConnectedAt: instant(n.Connected), Comparing: n.Comparing,
		Consent: shop.Consent{
			AwaitsSince: instant(r.AwaitsMerchant), ConfirmedAt: instant(n.ConfirmedAt), ConfirmedBy: n.ConfirmedBy, DisconnectedAt: instant(n.DisconnectedAt),
		},
	}
	s.OwnerEmail = r.OwnerEmail
	return s, nil
}

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
	key, err := row.key()
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

// TouchKeys notes when keys of a shop were last used. An instant before the one
// that is noted changes nothing, and versions stay.
func (s Shops) TouchKeys(ctx context.Context, of shop.ID, used map[access.KeyID]time.Time) error {
	if len(used) == 0 {
		return nil
	}
	return s.db.Update(ctx, of, func(tx *Tx) error {
		for _, id := range sortedKeys(used) {
			at := millis(used[id])
			_, err := tx.q.NewUpdate().Model((*keyRow)(nil)).Set("last_used_at = ?", at).
				Where("k.shop_id = ?", of).Where("k.id = ?", id).Where("k.last_used_at < ?", at).Exec(ctx)
			if err != nil {
				return fmt.Errorf("note the use of key %d: %w", id, err)
			}
		}
		return nil
	})
}
