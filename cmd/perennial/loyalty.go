package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
)

type loyaltyCommand struct {
	Start loyaltyStartCommand `cmd:"" help:"Start a store's loyalty programme, or change how it runs."`
	Stop  loyaltyStopCommand  `cmd:"" help:"Stop a store's loyalty programme. Members keep what they have."`
}

type loyaltyStartCommand struct {
	config.Data  `embed:""`
	Shop         string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	Since        string `help:"Day from which orders count; those that are past are counted at once. Default: today." placeholder:"YYYY-MM-DD"`
	OptIn        *bool  `help:"Customers are members once they are enrolled, not by their first order." negatable:""`
	PendingDays  *int   `help:"Days between earning points and being able to spend them."`
	ExpireMonths *int   `help:"Months after which points expire; 0: never."`
}

// Run starts a programme. One that runs keeps its rules, and what is not named.
func (c *loyaltyStartCommand) Run(ctx context.Context, out io.Writer) error {
	now := clock.System{}.Now()
	since := now
	if c.Since != "" {
		var err error
		if since, err = time.Parse(time.DateOnly, c.Since); err != nil {
			return fmt.Errorf("since: %q is not a day such as 2026-01-31", c.Since)
		}
	}
	return app.WithLoyalty(ctx, c.Database, clock.System{}, c.Shop, func(s *loyalty.Service, store app.ShopRef) error {
		program, err := s.Program(ctx, store.ID)
		if err != nil {
			return err
		}
		if program.Version > 0 && c.Since == "" {
			since = program.StartedAt
		}
		terms := program.Terms
		set(&terms.PendingDays, c.PendingDays)
		if c.OptIn != nil {
			terms.Enrol = loyalty.Auto
			if *c.OptIn {
				terms.Enrol = loyalty.OptIn
			}
		}
		if months := c.ExpireMonths; months != nil {
			terms.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.NoExpiry}
			if *months > 0 {
				terms.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: *months}
			}
		}
		if err := s.Enable(ctx, store.ID, since, terms); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "the loyalty programme of %s runs: orders since %s count\n", store.Domain, since.Format(time.DateOnly))
		return err
	})
}

type loyaltyStopCommand struct {
	config.Data `embed:""`
	Shop        string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
}

// Run stops a programme.
func (c *loyaltyStopCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithLoyalty(ctx, c.Database, clock.System{}, c.Shop, func(s *loyalty.Service, store app.ShopRef) error {
		if err := s.Disable(ctx, store.ID); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "the loyalty programme of %s has stopped\n", store.Domain)
		return err
	})
}
