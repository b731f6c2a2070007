package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/web"
)

// place says where the installation lives. All nodes of an installation say the
// same.
func (a *App) place(ctx context.Context) (repair.Place, error) {
	database, err := a.Store.Place(ctx)
	if err != nil {
		return repair.Place{}, err
	}
	u, err := url.Parse(a.options.Settings.PublicURL)
	if err != nil {
		return repair.Place{}, fmt.Errorf("read the public URL: %w", err)
	}
	return repair.Place{Database: database, Host: u.Hostname()}, nil
}

// noneFrozen is the check of readiness: with a store frozen requests are served,
// and its orders wait.
func (a *App) noneFrozen(ctx context.Context) error {
	n, err := a.Store.Shops().Frozen(ctx)
	if err == nil && n > 0 {
		err = fmt.Errorf("%w: %d stores are frozen: run perennial doctor", web.ErrDegraded, n)
	}
	return err
}

// WithRepair opens a database and lets fn look after a store's books. The platform
// is not asked.
func WithRepair(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*repair.Service, ShopRef) error) error {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return err
	}
	defer db.Close()
	id, err := db.Shops().IDOf(ctx, domain)
	if err != nil {
		return err
	}
	s := &repair.Service{
		Store: db.Repair(), Clock: c, Log: slog.New(slog.DiscardHandler), Policy: repair.Policy{Horizon: billing.DefaultPolicy().Horizon},
	}
	return fn(s, ShopRef{id, domain})
}
