package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
)

var _ design.Tx = (*Tx)(nil)

// PortalDesigns returns the store of how merchants have the portal look.
func (db *DB) PortalDesigns() design.Store {
	return readScope(db, func(tx *Tx) design.Tx { return tx }, func(tx *Tx) design.ReadTx { return tx })
}

// portalDesignRow is a row of portal_designs.
type portalDesignRow struct {
	bun.BaseModel `bun:"table:portal_designs,alias:d"`

	ShopID    int64 `bun:"shop_id,pk"`
	Design    string
	UpdatedAt int64
	Version   int64
}

func (r *portalDesignRow) Columns(m *mapping, v *design.Design) {
	m.shop(&r.ShopID)
	mapJSON(m, "design", &r.Design, v)
	mapTime(m, &r.UpdatedAt, &v.UpdatedAt)
	mapSame(m, &r.Version, &v.Version)
}

// PortalDesign returns the shop's design; the default one when it has set none.
func (tx *Tx) PortalDesign(ctx context.Context) (design.Design, error) {
	var row portalDesignRow
	q := tx.q.NewSelect().Model(&row).Where("d.shop_id = ?", tx.of)
	if err := tx.locked(q).Scan(ctx); errors.Is(err, sql.ErrNoRows) {
		return design.Design{}, nil
	} else if err != nil {
		return design.Design{}, fmt.Errorf("read the design of the portal: %w", err)
	}
	return readRow[design.Design](row)
}

// PutPortalDesign writes a design if its version is still what was read.
func (tx *Tx) PutPortalDesign(ctx context.Context, d *design.Design) error {
	d.Version++
	rows, err := rowsOf[portalDesignRow](tx.of, *d)
	if err != nil {
		return err
	}
	n, err := insert(ctx, tx, rows, `ON CONFLICT (shop_id) DO UPDATE SET design = EXCLUDED.design, updated_at = EXCLUDED.updated_at, version = EXCLUDED.version
		WHERE portal_designs.version = EXCLUDED.version - 1`)
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "the design of the portal has changed").Entity("portalDesign").Code("portalDesignChanged")
	}
	return err
}

// portalLogoRow is a row of portal_logos.
type portalLogoRow struct {
	bun.BaseModel `bun:"table:portal_logos,alias:l"`

	ShopID  int64  `bun:"shop_id,pk"`
	Hash    string `bun:"hash,pk"`
	Picture string // base64
}

func (r *portalLogoRow) Columns(m *mapping, p *design.Picture) {
	m.shop(&r.ShopID)
	mapText(m, &r.Hash, &p.Hash)
	mapVia(m, "picture", &r.Picture, &p.PNG, func(b []byte) (string, error) { return base64.StdEncoding.EncodeToString(b), nil }, base64.StdEncoding.DecodeString)
}

// PortalLogo returns the picture with a hash, or nil.
func (tx *Tx) PortalLogo(ctx context.Context, hash string) ([]byte, error) {
	var row portalLogoRow
	err := tx.q.NewSelect().Model(&row).Where("l.shop_id = ?", tx.of).Where("l.hash = ?", hash).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the logo %s: %w", hash, err)
	}
	p, err := readRow[design.Picture](row)
	return p.PNG, err
}

// AddPortalLogo writes a picture, unless it is there.
func (tx *Tx) AddPortalLogo(ctx context.Context, p design.Picture) error {
	rows, err := rowsOf[portalLogoRow](tx.of, p)
	if err != nil {
		return err
	}
	if _, err := insert(ctx, tx, rows, "ON CONFLICT (shop_id, hash) DO NOTHING"); err != nil {
		return fmt.Errorf("write the logo %s: %w", p.Hash, err)
	}
	return nil
}

// DeletePortalLogos deletes all pictures but those with the hashes.
func (tx *Tx) DeletePortalLogos(ctx context.Context, keep []string) error {
	q := tx.q.NewDelete().Model((*portalLogoRow)(nil)).Where("l.shop_id = ?", tx.of)
	if len(keep) > 0 {
		q = q.Where("l.hash NOT IN (?)", bun.List(keep))
	}
	if _, err := q.Exec(ctx); err != nil {
		return fmt.Errorf("delete logos: %w", err)
	}
	return nil
}
