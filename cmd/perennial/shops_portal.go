package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/platform"
)

type shopsPortalCommand struct {
	config.Database `embed:""`
	Shop            string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`

	Disable []portal.Toggle `help:"Actions that subscribers may no longer do: ${toggles}." placeholder:"ACTION"`
	Enable  []portal.Toggle `help:"Actions that they may do again." placeholder:"ACTION"`

	SkipMax        *int    `help:"Orders in a row that may be skipped, 1 to 52; 0: no limit."`
	PauseMaxDays   *int    `help:"Days that a pause may last; 0: no limit."`
	RescheduleMin  *int    `help:"Days from today to the earliest day to which an order may be moved."`
	RescheduleMax  *int    `help:"Days from today to the latest one; 0: 365."`
	Upcoming       *int    `help:"Orders to come that pages show, 1 to 24; 0: 6."`
	CutoffDays     *int    `help:"Days before an order from which on it cannot be changed, up to 30; 0: it can until it is charged."`
	SwapWhenFrozen *bool   `help:"Let subscribers swap products who are held to the orders that they committed to." negatable:""`
	ReasonRequired *bool   `help:"Ask for a feedback with every cancellation." negatable:""`
	SupportEmail   *string `help:"E-mail address at which subscribers reach the store; empty: none."`
	SupportPhone   *string `help:"Telephone number at which they do; empty: none."`
	SupportURL     *string `name:"support-url" help:"Address of the store's help page, https; empty: none."`

	AccountClientID   *string `name:"account-client-id" help:"Client id of the store's customer accounts, with which subscribers sign in on the service's address; empty: they cannot."`
	AccountSecretFile *string `help:"File with the client secret of a confidential client; empty: it is a public client." placeholder:"FILE"`
}

// Run changes settings of the portal. What is not named stays.
func (c *shopsPortalCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithPortal(ctx, c.Database, clock.System{}, c.Shop, func(s *portal.Service, store app.ShopRef) error {
		if err := (portal.Settings{Off: c.Enable}).Check(); err != nil {
			return err
		}
		secret, err := accountSecret(c.AccountSecretFile)
		if err != nil {
			return err
		}
		settings, err := s.ChangeSettings(ctx, store.ID, activity.Operator, func(is *portal.Settings) error {
			set(&is.SkipMax, c.SkipMax)
			set(&is.PauseMaxDays, c.PauseMaxDays)
			set(&is.RescheduleMin, c.RescheduleMin)
			set(&is.RescheduleMax, c.RescheduleMax)
			set(&is.Upcoming, c.Upcoming)
			set(&is.CutoffDays, c.CutoffDays)
			set(&is.SwapWhenFrozen, c.SwapWhenFrozen)
			set(&is.ReasonRequired, c.ReasonRequired)
			set(&is.Support.Email, c.SupportEmail)
			set(&is.Support.Phone, c.SupportPhone)
			set(&is.Support.URL, c.SupportURL)
			set(&is.AccountClient, c.AccountClientID)
			set(&is.AccountSecret, secret)
			is.Off = changed(is.Off, c.Disable, c.Enable)
			return nil
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s: switched off %s, orders skipped in a row %d, days of a pause %d (0: no limit), moved by %d to %d days, orders shown %d, cut-off %d days, swaps in a commitment %t, cancellations need a feedback %t, support %q %q %q, client of customer accounts %q, with a secret %t\n",
			c.Shop, enumerated(settings.Off), settings.SkipMax, settings.PauseMaxDays, settings.RescheduleMin, settings.LatestDay(), settings.Shown(), settings.CutoffDays,
			settings.SwapWhenFrozen, settings.ReasonRequired, settings.Support.Email, settings.Support.Phone, settings.Support.URL,
			settings.AccountClient, settings.AccountSecret != "")
		return err
	})
}

// accountSecret returns the secret in a file; nil: no file is named. A file without a name has none.
func accountSecret(file *string) (*platform.Token, error) {
	if file == nil {
		return nil, nil
	}
	var secret platform.Token
	if *file != "" {
		text, err := os.ReadFile(*file)
		if err != nil {
			return nil, err
		}
		secret = platform.Token(strings.TrimSpace(string(text)))
	}
	return &secret, nil
}
