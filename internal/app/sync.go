package app

import (
	"context"
	"log/slog"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/store"
)

// WithIntake opens a database and lets fn ask how far the first sync of a store has come.
// It calls no platform.
func WithIntake(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*intake.Service, ShopRef) error) error {
	return withService(ctx, d, domain, func(db *store.DB) *intake.Service {
		return &intake.Service{Store: db.Intake(), Clock: c, Log: slog.New(slog.DiscardHandler)}
	}, fn)
}
