package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/perennialhq/perennial/extensions"
	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/connection"
)

type appCommand struct {
	Config    appConfigCommand    `cmd:"" help:"Write the platform's configuration file of the app: addresses, scopes, webhooks, app proxy."`
	Extension appExtensionCommand `cmd:"" help:"Write the theme app extension: purchase options and a link to the portal."`
}

type appExtensionCommand struct {
	To string `help:"Folder for the extension's files. Files of the same names are replaced." default:"extensions/storefront" placeholder:"FOLDER" type:"path"`
}

// Run writes the extension's files.
func (c *appExtensionCommand) Run(out io.Writer) error {
	n := 0
	files := extensions.Storefront()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(c.To, filepath.FromSlash(name))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755) //nolint:gosec // others may read what is public
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		n++
		return os.WriteFile(to, text, 0o644) //nolint:gosec // the same
	})
	if err != nil {
		return fmt.Errorf("write the extension: %w", err)
	}
	_, err = fmt.Fprintf(out, "%d files are in %s\n", n, c.To)
	return err
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
