package app

import (
	"context"
	"log/slog"

	"github.com/perennialhq/perennial/internal/app/doctor"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// Doctor checks everything that the service needs.
func Doctor(ctx context.Context, s config.Server, d config.Doctor) []doctor.Finding {
	o := doctor.Options{
		Settings: s, Doctor: d, Clock: clock.System{},
		Open:        func(ctx context.Context) (*store.DB, error) { return open(ctx, s.Database, opening{}) },
		MailServer:  func() (*deliver.SMTP, error) { return mailServer(s.Mail) },
		SMSProvider: func() *deliver.Twilio { return smsProvider(s.SMS, s.PublicURL) },
		Missing:     missingScopes,
	}
	if s.ClientID != "" {
		o.TokenOf = tokenOf
		o.Tokens = func(db *store.DB) platform.Tokens {
			return connections(&App{options: Options{Settings: s, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler)}}, db)
		}
	}
	return doctor.Run(ctx, o)
}

// missingScopes returns what the service needs and a store has not granted.
func missingScopes(granted []string) []doctor.Scope {
	var list []doctor.Scope
	for _, s := range platform.MissingScopes(platform.Scopes(), granted) {
		list = append(list, doctor.Scope{Name: s.Name, Without: string(s.Feature), Required: s.Required})
	}
	return list
}

// tokenOf returns what is known of the token with which a store is called. Nothing is of one
// that an operator gave.
func tokenOf(ctx context.Context, db *store.DB, of shop.Shop) (doctor.Token, error) {
	list, err := db.PlatformConnections().Connections(ctx, of.ID)
	if err != nil {
		return doctor.Token{}, err
	}
	for _, c := range list {
		if c.App == connection.Primary {
			return doctor.Token{
				IssuedAt: c.RenewedAt, ExpiresAt: c.ExpiresAt, Fixed: c.ExpiresAt.IsZero(), Renewable: c.Refresh != "", RenewableUntil: c.RefreshExpiresAt,
				RenewalsRefused: c.Refused, RenewalsFailed: c.Failures,
			}, nil
		}
	}
	return doctor.Token{}, nil
}
