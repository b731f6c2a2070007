package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ portal.Tx = (*Tx)(nil)

// Portal returns the store of the portal's settings and of what subscribers prefer.
func (db *DB) Portal() portal.Store {
	return readScope(db, func(tx *Tx) portal.Tx { return tx }, func(tx *Tx) portal.ReadTx { return tx })
}

// portalSettingsRow is a row of portal_settings.
type portalSettingsRow struct {
	bun.BaseModel `bun:"table:portal_settings,alias:s"`

	ShopID        int64 `bun:"shop_id,pk"`
	Settings      string
	AccountSecret string // sealed
	UpdatedAt     int64
	Version       int64
}

func (r *portalSettingsRow) Columns(m *mapping, v *portal.Settings) {
	m.shop(&r.ShopID)
	mapJSON(m, "settings", &r.Settings, v)
	mapSealed(m, "account_secret", r.ShopID, &r.AccountSecret, &v.AccountSecret)
	mapTime(m, &r.UpdatedAt, &v.UpdatedAt)
	mapSame(m, &r.Version, &v.Version)
}

// PortalSettings returns the shop's settings; the default ones when it has set none.
func (tx *Tx) PortalSettings(ctx context.Context) (portal.Settings, error) {
	var row portalSettingsRow
	q := tx.q.NewSelect().Model(&row).Where("s.shop_id = ?", tx.of)
	if err := tx.locked(q).Scan(ctx); errors.Is(err, sql.ErrNoRows) {
		return portal.Settings{}, nil
	} else if err != nil {
		return portal.Settings{}, fmt.Errorf("read the settings of the portal: %w", err)
	}
	return readSealedRow[portal.Settings](tx.db.seal, row)
}

// PutPortalSettings writes settings if their version is still what was read.
func (tx *Tx) PutPortalSettings(ctx context.Context, s *portal.Settings) error {
	s.Version++
	row, err := sealedRowOf[portalSettingsRow](tx.db.seal, tx.of, *s)
	if err != nil {
		return err
	}
	n, err := insert(ctx, tx, []portalSettingsRow{row}, `ON CONFLICT (shop_id) DO UPDATE SET settings = EXCLUDED.settings, account_secret = EXCLUDED.account_secret,
		updated_at = EXCLUDED.updated_at, version = EXCLUDED.version WHERE portal_settings.version = EXCLUDED.version - 1`)
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "the settings of the portal have changed").Entity("customerPortalSettings").Code("changedMeanwhile")
	}
	return err
}

// portalPreferencesRow is a row of portal_preferences.
type portalPreferencesRow struct {
	bun.BaseModel `bun:"table:portal_preferences,alias:p"`

	ShopID     int64 `bun:"shop_id,pk"`
	CustomerID int64 `bun:"customer_id,pk"`
	Language   string
	MailsOff   string
	UpdatedAt  int64
	Version    int64
}

func (r *portalPreferencesRow) Columns(m *mapping, v *portal.Preferences) {
	m.shop(&r.ShopID)
	mapSame(m, &r.CustomerID, &v.Customer)
	mapText(m, &r.Language, &v.Language)
	mapWords(m, &r.MailsOff, &v.Off)
	mapTime(m, &r.UpdatedAt, &v.UpdatedAt)
	mapSame(m, &r.Version, &v.Version)
}

// PortalPreferences returns a customer's preferences; the default ones when the customer has set none.
func (tx *Tx) PortalPreferences(ctx context.Context, customer int64) (portal.Preferences, error) {
	var row portalPreferencesRow
	q := tx.q.NewSelect().Model(&row).Where("p.shop_id = ?", tx.of).Where("p.customer_id = ?", customer)
	if err := tx.locked(q).Scan(ctx); errors.Is(err, sql.ErrNoRows) {
		return portal.Preferences{Customer: customer}, nil
	} else if err != nil {
		return portal.Preferences{}, fmt.Errorf("read the preferences of customer %d: %w", customer, err)
	}
	return readRow[portal.Preferences](row)
}

// RefusedKinds returns the kinds of e-mail that the subscribers of contracts do not want.
func (tx *Tx) RefusedKinds(ctx context.Context, contracts []contract.ID) (map[contract.ID][]notify.Kind, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	var rows []struct {
		portalPreferencesRow

		Contract int64
	}
	err := tx.q.NewSelect().Model((*portalPreferencesRow)(nil)).ColumnExpr("p.*").ColumnExpr("c.id AS contract").
		Join("JOIN contracts AS c ON c.shop_id = p.shop_id AND c.customer_id = p.customer_id").
		Where("p.shop_id = ?", tx.of).Where("c.id IN (?)", bun.List(contracts)).Where("p.mails_off <> ''").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the preferences of the customers of %d contracts: %w", len(contracts), err)
	}
	refused := make(map[contract.ID][]notify.Kind, len(rows))
	for _, row := range rows {
		p, err := readRow[portal.Preferences](row.portalPreferencesRow)
		if err != nil {
			return nil, err
		}
		refused[contract.ID(row.Contract)] = p.Off
	}
	return refused, nil
}

// KindsRefusedBy returns the kinds of e-mail that customers do not want.
func (tx *Tx) KindsRefusedBy(ctx context.Context, customers []int64) (map[int64][]notify.Kind, error) {
	if len(customers) == 0 {
		return nil, nil
	}
	var rows []portalPreferencesRow
	err := tx.q.NewSelect().Model(&rows).Where("p.shop_id = ?", tx.of).Where("p.customer_id IN (?)", bun.List(customers)).Where("p.mails_off <> ''").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the preferences of %d customers: %w", len(customers), err)
	}
	list, err := readRows[portal.Preferences](rows)
	refused := make(map[int64][]notify.Kind, len(list))
	for _, p := range list {
		refused[p.Customer] = p.Off
	}
	return refused, err
}

// PutPortalPreferences writes preferences if their version is still what was read.
func (tx *Tx) PutPortalPreferences(ctx context.Context, p *portal.Preferences) error {
	p.Version++
	row, err := rowOf[portalPreferencesRow](tx.of, *p)
	if err != nil {
		return err
	}
	n, err := insert(ctx, tx, []portalPreferencesRow{row}, `ON CONFLICT (shop_id, customer_id) DO UPDATE SET language = EXCLUDED.language,
		mails_off = EXCLUDED.mails_off, updated_at = EXCLUDED.updated_at, version = EXCLUDED.version WHERE portal_preferences.version = EXCLUDED.version - 1`)
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "the preferences have changed").Entity("customerPreferences").Code("changedMeanwhile")
	}
	return err
}

// IsMember reports whether a customer has an ACTIVE contract of the membership line.
func (db *DB) IsMember(ctx context.Context, of shop.ID, customer int64) (bool, error) {
	member, err := db.in(of).NewSelect().Model((*contractRow)(nil)).Where("c.shop_id = ?", of).Where("c.customer_id = ?", customer).
		Where("c.line = ?", shop.Memberships).Where("c.status = ?", contract.Active).Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("ask whether customer %d is a member: %w", customer, err)
	}
	return member, nil
}
