package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// accountSignInRow is a row of portal_account_sign_ins.
type accountSignInRow struct {
	bun.BaseModel `bun:"table:portal_account_sign_ins,alias:a"`

	ShopID    int64  `bun:"shop_id,pk"`
	State     string `bun:"state,pk"` // hexadecimal
	Browser   string // hexadecimal
	Nonce     string // sealed
	Verifier  string // sealed
	CreatedAt int64
	ExpiresAt int64
	UsedAt    int64
}

func (r *accountSignInRow) Columns(m *mapping, a *login.AccountSignIn) {
	m.shop(&r.ShopID)
	mapHash(m, "state", &r.State, &a.State)
	mapHash(m, "browser", &r.Browser, &a.Browser)
	mapSealed(m, "nonce", r.ShopID, &r.Nonce, &a.Nonce)
	mapSealed(m, "verifier", r.ShopID, &r.Verifier, &a.Verifier)
	mapTime(m, &r.CreatedAt, &a.CreatedAt)
	mapTime(m, &r.ExpiresAt, &a.ExpiresAt)
	mapTime(m, &r.UsedAt, &a.UsedAt)
}

// AddAccountSignIn stores a sign-in and deletes some that expired a while before it began.
func (tx *Tx) AddAccountSignIn(ctx context.Context, a login.AccountSignIn) error {
	row, err := sealedRowOf[accountSignInRow](tx.db.seal, tx.of, a)
	if err != nil {
		return err
	}
	if _, err := insert(ctx, tx, []accountSignInRow{row}, ""); err != nil {
		return err
	}
	return tx.forgetExpired(ctx, (*accountSignInRow)(nil), "state", a.CreatedAt.Add(-rememberSignIns))
}

// rememberSignIns is how long an expired sign-in is distinguished from an unknown one.
const rememberSignIns = 24 * time.Hour

// AccountSignIn returns the sign-in with the state, locked, or NotFound.
func (tx *Tx) AccountSignIn(ctx context.Context, state login.Hash) (login.AccountSignIn, error) {
	var row accountSignInRow
	q := tx.q.NewSelect().Model(&row).Where("a.shop_id = ?", tx.of).Where("a.state = ?", hashText(state))
	err := tx.dialect().forUpdate(q).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return login.AccountSignIn{}, missing("the sign-in")
	}
	if err != nil {
		return login.AccountSignIn{}, fmt.Errorf("read a sign-in with an account: %w", err)
	}
	return readSealedRow[login.AccountSignIn](tx.db.seal, row)
}

// UseAccountSignIn marks a sign-in as used, and forgets its secrets.
func (tx *Tx) UseAccountSignIn(ctx context.Context, state login.Hash, at time.Time) error {
	_, err := tx.q.NewUpdate().Model((*accountSignInRow)(nil)).Set("used_at = ?", millis(at)).Set("nonce = ''").Set("verifier = ''").
		Where("a.shop_id = ?", tx.of).Where("a.state = ?", hashText(state)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("use a sign-in with an account: %w", err)
	}
	return nil
}

// AccountClient returns the store's client of customer accounts; the zero value when it has none.
func (s loginStore) AccountClient(ctx context.Context, of shop.ID) (platform.AccountClient, error) {
	var row portalSettingsRow
	err := s.Shops.db.in(of).NewSelect().Model(&row).Where("s.shop_id = ?", of).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return platform.AccountClient{}, nil
	}
	if err != nil {
		return platform.AccountClient{}, fmt.Errorf("read the client of customer accounts: %w", err)
	}
	settings, err := readSealedRow[portal.Settings](s.Shops.db.seal, row)
	return platform.AccountClient{ID: settings.AccountClient, Secret: settings.AccountSecret}, err
}
