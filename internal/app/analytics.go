package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/store"
)

// WithAnalytics opens a database and lets fn compute the figures of a store again.
func WithAnalytics(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*analytics.Rebuilder, ShopRef) error) error {
	return withService(ctx, d, domain, func(db *store.DB) *analytics.Rebuilder {
		return &analytics.Rebuilder{Store: db.AnalyticsRebuild(), Clock: c}
	}, fn)
}
