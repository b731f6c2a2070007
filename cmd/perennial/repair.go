package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/repair"
)

type stuckCommand struct {
	config.Database `embed:""`
	Shop            string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	JSON            bool   `help:"Print JSON." name:"json"`
}

// Run prints what of a store a person has to look at.
func (c *stuckCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithRepair(ctx, c.Database, clock.System{}, c.Shop, func(s *repair.Service, store app.ShopRef) error {
		list, err := s.Stuck(ctx, store.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			encoder := json.NewEncoder(out)
			encoder.SetIndent("", "  ")
			return encoder.Encode(list)
		}
		return shownStuck(out, list)
	})
}

func shownStuck(out io.Writer, list repair.Stuck) error {
	for _, stop := range []struct{ what, why string }{{"not connected", list.Gone}, {"not charged", list.Frozen}, {"held", list.Held}, {"no webhooks", list.Unheard}, {"behind", list.Behind}, {"not compared", list.Compared}} {
		if stop.why != "" {
			fmt.Fprintf(out, "%s: %s\n", stop.what, oneLine(stop.why))
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tNUMBER\tCONTRACT\tCYCLE\tSINCE\tREASON")
	for _, a := range list.Attempts {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%s\n", a.Status, a.ID, a.Contract, a.Cycle, shown(a.Since), oneLine(a.Reason))
	}
	for _, f := range list.Findings {
		fmt.Fprintf(table, "%s\t\t%d\t%d\t%s\t%s\n", f.Kind, f.Contract, f.Cycle, shown(f.Since), oneLine(f.What))
	}
	for _, w := range append(list.Events, list.Tasks...) {
		fmt.Fprintf(table, "%s\t%s\t\t\t%s\t%s\n", w.Kind, oneLine(w.ID), shown(w.At), oneLine(w.Reason))
	}
	return table.Flush()
}

type retryCommand struct {
	config.Database `embed:""`
	Shop            string            `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	Attempt         billing.AttemptID `arg:"" help:"Number of the billing attempt."`
}

// Run has a charge without an end looked into.
func (c *retryCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithRepair(ctx, c.Database, clock.System{}, c.Shop, func(s *repair.Service, store app.ShopRef) error {
		if err := s.Retry(ctx, store.ID, c.Attempt, activity.Operator); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "the service asks the platform for billing attempt %d now: see its activity log\n", c.Attempt)
		return err
	})
}

type unfreezeCommand struct {
	config.Database `embed:""`
	Shop            string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	Reason          string `help:"Why it is safe to charge the store from here: no other installation does." required:""`
}

// Run lets a frozen store be charged again.
func (c *unfreezeCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithRepair(ctx, c.Database, clock.System{}, c.Shop, func(s *repair.Service, store app.ShopRef) error {
		if err := s.Unfreeze(ctx, store.ID, c.Reason, activity.Operator); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%s is charged again as soon as the platform has confirmed the epoch\n", store.Domain)
		return err
	})
}
