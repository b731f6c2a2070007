package app

import (
	"context"
	"log/slog"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// WithPrivacy opens a database and lets fn answer a store's requests for personal data.
func WithPrivacy(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*privacy.Service, ShopRef) error) error {
	return withService(ctx, d, domain, func(db *store.DB) *privacy.Service {
		return &privacy.Service{Store: db.Privacy(), Clock: c, Log: slog.New(slog.DiscardHandler)}
	}, fn)
}

// remindOfPrivacy returns what sends the owner of a store an e-mail about open requests.
func remindOfPrivacy(c clock.Clock) func(context.Context, privacy.StoreTx, shop.Shop, []privacy.Request) error {
	return func(ctx context.Context, tx privacy.StoreTx, of shop.Shop, open []privacy.Request) error {
		return notify.PrivacyReminder(ctx, tx, of, len(open), privacy.Open(open)[0].DueBy, c.Now())
	}
}
