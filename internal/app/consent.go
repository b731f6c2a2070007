package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/store"
)

// WithConfirm opens a database and lets fn show and confirm what a store is charged.
func WithConfirm(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*confirm.Service, ShopRef) error) error {
	return withService(ctx, d, domain, func(db *store.DB) *confirm.Service { return &confirm.Service{Store: db.Confirm(), Clock: c} }, fn)
}
