package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/app/doctor"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/store"
)

// Doctor checks everything that the service needs.
func Doctor(ctx context.Context, s config.Server, d config.Doctor) []doctor.Finding {
	return doctor.Run(ctx, doctor.Options{
		Settings: s, Doctor: d, Clock: clock.System{},
		Open:       func(ctx context.Context) (*store.DB, error) { return open(ctx, s.Database, opening{}) },
		MailServer: func() (*deliver.SMTP, error) { return mailServer(s.Mail) },
	})
}
