package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// WithArchive opens a database and lets fn write and read archives of stores.
func WithArchive(ctx context.Context, d config.Database, c clock.Clock, version string, fn func(*archive.Service) error) error {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := upToDate(ctx, db); err != nil {
		return err
	}
	return fn(archiveOn(db, c, version))
}

func archiveOn(db *store.DB, c clock.Clock, version string) *archive.Service {
	figures := &analytics.Rebuilder{Store: db.AnalyticsRebuild(), Clock: c}
	return &archive.Service{
		Store: db.Archive(), Clock: c, Version: version,
		Figures: func(ctx context.Context, of shop.ID) error {
			if err := billing.PriceOrders(ctx, db.Billing(), of, c); err != nil {
				return err
			}
			_, err := figures.Rebuild(ctx, of)
			return err
		},
	}
}
