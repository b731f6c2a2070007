package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
)

// Run serves until the context ends, then drains.
func (c *serveCommand) Run(ctx context.Context) error {
	if err := c.Check(); err != nil {
		return err
	}
	return app.Serve(ctx, app.Options{Settings: c.Server, Clock: clock.System{}, Log: logger(os.Stderr, c.LogLevel), Kind: app.Production})
}

// Run migrates the database.
func (c *migrateCommand) Run(ctx context.Context, out io.Writer) error {
	report, err := app.Migrate(ctx, c.Database)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, report)
	return err
}
