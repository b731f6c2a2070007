package app

import (
	"context"
	"errors"
	"slices"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// ChangeSettings opens a database, changes a store's settings and returns them.
func ChangeSettings(ctx context.Context, d config.Database, c clock.Clock, domain string, by activity.Actor, fn func(*shop.Settings) error) (shop.Settings, error) {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return shop.Settings{}, err
	}
	defer db.Close()
	return changeSettings(ctx, db, c, domain, by, fn)
}

// ChangeSettings changes a store's settings and returns them.
func (a *App) ChangeSettings(ctx context.Context, domain string, by activity.Actor, fn func(*shop.Settings) error) (shop.Settings, error) {
	return changeSettings(ctx, a.Store, a.options.Clock, domain, by, fn)
}

func changeSettings(ctx context.Context, db *store.DB, c clock.Clock, domain string, by activity.Actor, fn func(*shop.Settings) error) (shop.Settings, error) {
	id, err := db.Shops().IDOf(ctx, domain)
	if err != nil {
		return shop.Settings{}, err
	}
	var settings shop.Settings
	err = db.Update(ctx, id, func(tx *store.Tx) error {
		s, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		before := s.Settings
		if err := fn(&s.Settings); err != nil {
			return err
		}
		if err := errors.Join(access.CheckRate(s.Settings), s.Settings.Check()); err != nil {
			return err
		}
		if err := errors.Join(notify.CheckKinds("disabledMails", s.Settings.DisabledMails), notify.CheckKinds("enabledMails", s.Settings.EnabledMails), notify.CheckSMSKinds("enabledSms", s.Settings.EnabledSMS)); err != nil {
			return err
		}
		if !slices.Equal(before.Memberships, s.Settings.Memberships) {
			s.ResetReconciliation(c.Now()) // contracts change their line: all are read again
		}
		if err := s.Settings.Dunning.Check(); err != nil {
			return err
		}
		settings = s.Settings
		if err := tx.PutShop(ctx, s); err != nil {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(id), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: by, At: c.Now(),
			Info: activity.Details(settingsNote{before, settings}),
		})
	})
	return settings, err
}

// settingsNote is the additional information of an entry about settings.
type settingsNote struct {
	From shop.Settings `json:"from"`
	To   shop.Settings `json:"to"`
}
