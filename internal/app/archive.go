package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/analytics"
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
			if err := priceOrders(ctx, db, c, of); err != nil {
				return err
			}
			_, err := figures.Rebuild(ctx, of)
			return err
		},
	}
}

// pricedAtOnce is the number of contracts whose orders one transaction prices.
const pricedAtOnce = 200

// priceOrders computes what the upcoming orders of an imported store are expected to cost.
func priceOrders(ctx context.Context, db *store.DB, c clock.Clock, of shop.ID) error {
	for more := true; more; {
		err := db.Update(ctx, of, func(tx *store.Tx) (err error) {
			more, err = tx.RepriceNext(ctx, c.Now(), pricedAtOnce)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
