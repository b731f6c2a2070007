package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// Migrate brings the database up to date, creating it when it is not there, and says what
// it did.
func Migrate(ctx context.Context, d config.Database) (string, error) {
	db, err := open(ctx, d, opening{create: true})
	if err != nil {
		return "", err
	}
	defer db.Close()
	before, err := pending(ctx, db)
	if err != nil {
		return "", err
	}
	if err := db.Migrate(ctx); err != nil {
		return "", err
	}
	if before == 0 {
		return "the database is up to date", nil
	}
	return fmt.Sprintf("%d migrations applied; the database is up to date", before), nil
}

// RotateKey seals everything with the secret key that another key has sealed.
func RotateKey(ctx context.Context, d config.Database) (store.Resealed, error) {
	if d.OtherKeys == "" {
		return store.Resealed{}, errors.New("name the key that has encrypted until now in PERENNIAL_OTHER_SECRET_KEYS, and the new one in PERENNIAL_SECRET_KEY")
	}
	db, err := open(ctx, d, opening{})
	if err != nil {
		return store.Resealed{}, err
	}
	defer db.Close()
	if err := upToDate(ctx, db); err != nil {
		return store.Resealed{}, err
	}
	return db.Reseal(ctx)
}

// Shops lists the stores, oldest first.
func Shops(ctx context.Context, d config.Database) ([]shop.Shop, error) {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return db.Shops().All(ctx)
}

// Connecting says which store is connected, and how.
type Connecting struct {
	At           platform.Shop
	Hour, Minute int // of orders, local to the store
	Settings     shop.Settings
	KeyLost      bool // the secret key of before is lost: what no key opens of the store is removed
}

// Connect adds a store, or gives a known one a new token, and brings in what it
// has. The service, which knows where webhooks go, reconciles the store at once. It says
// what was lost of a store with a secret key; nil: nothing.
func Connect(ctx context.Context, d config.Database, p config.Platform, c clock.Clock, w Connecting) (shop.Shop, *store.Unreadable, error) {
	a, err := New(ctx, Options{
		Settings: config.Server{Database: d, Platform: p, RatePerSecond: 1, RateBurst: 1},
		Clock:    c, Log: slog.New(slog.DiscardHandler), Kind: Production, OwnTokens: true,
	})
	if err != nil {
		return shop.Shop{}, nil, err
	}
	defer a.Close()
	var lost *store.Unreadable
	if w.KeyLost {
		if lost, err = a.Store.DropUnreadable(ctx, w.At.Domain); err != nil {
			return shop.Shop{}, nil, err
		}
	}
	connected, err := a.Intake.Connect(ctx, w.At, w.Hour, w.Minute, w.Settings)
	if err != nil {
		return connected, lost, err
	}
	return connected, lost, connection.Forget(ctx, a.Store.PlatformConnections(), connected.ID)
}
