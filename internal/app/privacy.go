package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// WithPrivacy opens a database and lets fn answer a store's requests for personal data.
func WithPrivacy(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*privacy.Service, ShopRef) error) error {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return err
	}
	s := &privacy.Service{Store: db.Privacy(), Clock: c, Log: slog.New(slog.DiscardHandler)}
	return withStore(ctx, db, domain, func(of ShopRef) error { return fn(s, of) })
}

// answered says that a request for personal data of a store is overdue.
func answered(ctx context.Context, db *store.DB, of shop.Shop, now time.Time) error {
	s := &privacy.Service{Store: db.Privacy(), Clock: clock.System{}, Log: slog.New(slog.DiscardHandler)}
	list, err := s.List(ctx, of.ID)
	if err != nil {
		return err
	}
	overdue := 0
	for _, r := range privacy.Open(list) {
		if r.Overdue(now) {
			overdue++
		}
	}
	if overdue > 0 {
		return fmt.Errorf("%d requests are open after their 30 days: run perennial privacy list --shop %s, then perennial privacy export for each export and pass it on; look into the log for what keeps an erasure from its end", overdue, of.Domain)
	}
	return nil
}

// remindOfPrivacy returns what sends the owner of a store an e-mail about open requests.
func remindOfPrivacy(c clock.Clock) func(context.Context, privacy.StoreTx, shop.Shop, []privacy.Request) error {
	return func(ctx context.Context, tx privacy.StoreTx, of shop.Shop, open []privacy.Request) error {
		return notify.PrivacyReminder(ctx, tx, of, len(open), privacy.Open(open)[0].DueBy, c.Now())
	}
}
