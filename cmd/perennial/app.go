package main

import (
	"context"
	"fmt"
	"io"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/connection"
)

type appCommand struct {
	Config appConfigCommand `cmd:"" help:"Write the platform's configuration file of the app: addresses, scopes, webhooks, app proxy."`
}

type appConfigCommand struct {
	config.Platform `embed:""`

	URL  string             `help:"Public URL of the service. Empty: PERENNIAL_PUBLIC_URL." name:"url" placeholder:"URL"`
	App  connection.AppName `help:"App: subscriptions or memberships." default:"subscriptions" enum:"subscriptions,memberships"`
	Name string             `help:"Name of the app that merchants see." default:"Perennial"`
}

// Run writes the file to standard output.
func (c *appConfigCommand) Run(out io.Writer) error {
	if c.URL == "" {
		c.URL = c.PublicURL
	}
	return app.WriteAppConfig(out, c.Platform, app.AppConfig{App: c.App, Name: c.Name, URL: c.URL})
}

type shopsMigrateCommand struct {
	config.Database `embed:""`
	config.Platform `embed:""`
	Shop            string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
}

// Run exchanges a token that never expires.
func (c *shopsMigrateCommand) Run(ctx context.Context, out io.Writer) error {
	if err := app.MigrateToken(ctx, c.Database, c.Platform, clock.System{}, c.Shop); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s: the access token expires from now on, and is refreshed\n", c.Shop)
	return err
}
