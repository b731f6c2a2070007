package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/confirm"
)

// WithConfirm opens a database and lets fn show and confirm what a store is charged.
func WithConfirm(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*confirm.Service, ShopRef) error) error {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return err
	}
	return withStore(ctx, db, domain, func(of ShopRef) error { return fn(&confirm.Service{Store: db.Confirm(), Clock: c}, of) })
}
