package app

import (
	"context"
	"log/slog"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/store"
)

// ShopRef names a store.
type ShopRef struct {
	ID     shop.ID
	Domain string
}

// withStore lets fn work on a store of a database that was opened, and closes the database.
func withStore(ctx context.Context, db *store.DB, domain string, fn func(ShopRef) error) error {
	defer db.Close()
	id, err := db.Shops().IDOf(ctx, domain)
	if err != nil {
		return err
	}
	return fn(ShopRef{id, domain})
}

// withService opens a database and lets fn use a service of it, on a store.
func withService[S any](ctx context.Context, d config.Database, domain string, build func(*store.DB) S, fn func(S, ShopRef) error) error {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return err
	}
	return withStore(ctx, db, domain, func(of ShopRef) error { return fn(build(db), of) })
}

// WithAccess opens a database and lets fn work on a store's keys. Keys are
// hashed, so no secret is needed.
func WithAccess(ctx context.Context, database string, c clock.Clock, domain string, fn func(*access.Service, ShopRef) error) error {
	db, err := openWithoutKey(ctx, database)
	if err != nil {
		return err
	}
	s := &access.Service{Store: db.Access(), Clock: c, Log: slog.New(slog.DiscardHandler)}
	return withStore(ctx, db, domain, func(of ShopRef) error { return fn(s, of) })
}

// WithLoyalty opens a database and lets fn work on a store's programme. No secret
// is needed, because nothing is asked of the platform.
func WithLoyalty(ctx context.Context, database string, c clock.Clock, domain string, fn func(*loyalty.Service, ShopRef) error) error {
	db, err := openWithoutKey(ctx, database)
	if err != nil {
		return err
	}
	s := &loyalty.Service{Store: db.Loyalty(), Reader: db, Clock: c, Log: slog.New(slog.DiscardHandler)}
	return withStore(ctx, db, domain, func(of ShopRef) error { return fn(s, of) })
}

// WithRepair opens a database and lets fn compare and repair a store's orders. It does not
// call the platform.
func WithRepair(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*repair.Service, ShopRef) error) error {
	return withService(ctx, d, domain, func(db *store.DB) *repair.Service {
		return &repair.Service{Store: db.Repair(), Clock: c, Log: slog.New(slog.DiscardHandler), Policy: repair.Policy{Horizon: billing.DefaultPolicy().Horizon}}
	}, fn)
}

// WithPortal opens a database and lets fn work on the settings of a store's portal. It does not call
// the platform.
func WithPortal(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*portal.Service, ShopRef) error) error {
	return withService(ctx, d, domain, func(db *store.DB) *portal.Service { return &portal.Service{Store: db.Portal(), Clock: c} }, fn)
}

// WithPartners opens a database and lets fn work on the register of applications.
// It calls no application.
func WithPartners(ctx context.Context, d config.Database, c clock.Clock, fn func(*partner.Service) error) error {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return err
	}
	defer db.Close()
	return fn(&partner.Service{Store: db.Partners(), Clock: c, Log: slog.New(slog.DiscardHandler)})
}

// ReleaseHeld opens a database and has the orders charged again that wait because
// a store could not take payments. It returns how many there are.
func ReleaseHeld(ctx context.Context, d config.Database, c clock.Clock, domain string, by activity.Actor) (int, error) {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return releaseHeld(ctx, db, c, domain, by)
}

// ReleaseHeld has the orders charged again that wait because a store could not
// take payments.
func (a *App) ReleaseHeld(ctx context.Context, domain string, by activity.Actor) (int, error) {
	return releaseHeld(ctx, a.Store, a.options.Clock, domain, by)
}

func releaseHeld(ctx context.Context, db *store.DB, c clock.Clock, domain string, by activity.Actor) (int, error) {
	id, err := db.Shops().IDOf(ctx, domain)
	if err != nil {
		return 0, err
	}
	bills := &command.Service{Env: &billing.Env{Store: db.Billing(), Clock: c, Log: slog.New(slog.DiscardHandler)}}
	return bills.ReleaseHeld(ctx, id, by)
}

// WithStaff opens a database and lets fn work on the users of a store's dashboard. It sends
// no e-mail.
func WithStaff(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*staff.Service, ShopRef) error) error {
	return withService(ctx, d, domain, func(db *store.DB) *staff.Service { return &staff.Service{Store: db.Staff(), Clock: c, RealClock: c} }, fn)
}
