package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/intake"
)

type shopsSyncCommand struct {
	config.Database `embed:""`

	Shop  string        `arg:"" help:"The store's domain." placeholder:"STORE.myshopify.com"`
	Watch bool          `help:"Print the progress until all contracts are read."`
	Every time.Duration `help:"How often --watch looks." default:"2s"`
}

// Run prints how far the first sync of a store has come.
func (c *shopsSyncCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithIntake(ctx, c.Database, clock.System{}, c.Shop, func(s *intake.Service, of app.ShopRef) error {
		for {
			y, known, err := s.Progress(ctx, of.ID)
			if err != nil {
				return err
			}
			if !known {
				_, err := fmt.Fprintf(out, "%s was read when it was connected\n", of.Domain)
				return err
			}
			if _, err := fmt.Fprintln(out, progressLine(y, clock.System{}.Now())); err != nil {
				return err
			}
			if !c.Watch || !y.FinishedAt.IsZero() {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(c.Every):
			}
		}
	})
}

// progressLine describes how far a sync has come.
func progressLine(y intake.Sync, now time.Time) string {
	line := fmt.Sprintf("%s since %s: %d", y.Stage, shown(y.StageAt), y.Done)
	if y.Total > 0 {
		line += fmt.Sprintf(" of %d contracts", y.Total)
	} else {
		line += " contracts"
	}
	if pace := y.Pace(); pace > 0 {
		line += fmt.Sprintf(", %.1f a second", pace)
	}
	if at := y.EndsAt(now); !at.IsZero() {
		line += ", read by about " + shown(at)
	}
	if y.Failure != "" {
		line += "; the last try failed: " + oneLine(y.Failure)
	}
	return line
}
