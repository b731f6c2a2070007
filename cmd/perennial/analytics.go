package main

import (
	"context"
	"fmt"
	"io"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/analytics"
)

type analyticsCommand struct {
	Rebuild analyticsRebuildCommand `cmd:"" help:"Compute the figures of a store again from the history of its contracts and orders."`
}

type analyticsRebuildCommand struct {
	config.Database `embed:""`
	Shop            string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
}

// Run computes figures again and says whether they were right.
func (c *analyticsRebuildCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithAnalytics(ctx, c.Database, clock.System{}, c.Shop, func(r *analytics.Rebuilder, store app.ShopRef) error {
		done, err := r.Rebuild(ctx, store.ID)
		if err != nil {
			return err
		}
		found := "the figures were right"
		if done.Differs {
			found = "the figures differed and were replaced"
		}
		_, err = fmt.Fprintf(out, "%s: %s; %d changes of contracts and %d orders were added up; the history of %d contracts begins now\n",
			store.Domain, found, done.Versions, done.Outcomes, done.Added)
		return err
	})
}
