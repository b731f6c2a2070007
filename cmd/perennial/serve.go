package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
)

// gcPercent is how far a server's memory may grow before what is not used any more is
// collected, in percent of what is used. Little is used, some 20 MB, so that Go's own
// 100 collects often: a tenth of the work of a renewal.
const gcPercent = 200

// Run serves until the context ends, then drains.
func (c *serveCommand) Run(ctx context.Context) error {
	if err := c.Check(); err != nil {
		return err
	}
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		debug.SetGCPercent(gcPercent)
	}
	return app.Serve(ctx, app.Options{Settings: c.Server, Clock: clock.System{}, Log: logger(os.Stderr, c.LogLevel), Kind: app.Production, Version: version()})
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
