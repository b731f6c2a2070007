package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/privacy"
)

type privacyCommand struct {
	List   privacyListCommand   `cmd:"" help:"List the requests for personal data of a store, and what is overdue."`
	Export privacyExportCommand `cmd:"" help:"Write what is stored about a customer to a zip file."`
}

type privacyListCommand struct {
	config.Database `embed:""`

	Shop string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
}

// Run lists requests, newest first.
func (c *privacyListCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithPrivacy(ctx, c.Database, clock.System{}, c.Shop, func(s *privacy.Service, of app.ShopRef) error {
		list, err := s.List(ctx, of.ID)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "NUMBER\tWHAT\tCUSTOMER\tRECEIVED\tDUE BY\tSTATE")
		for _, r := range list {
			fmt.Fprintf(table, "%d\t%s\t%d\t%s\t%s\t%s\n", r.ID, r.Kind, r.Customer, shown(r.ReceivedAt), shown(r.DueBy), stateOf(r, clock.System{}.Now()))
		}
		return table.Flush()
	})
}

// stateOf describes where a request stands.
func stateOf(r privacy.Request, now time.Time) string {
	switch {
	case !r.ClosedAt.IsZero():
		return "closed"
	case r.Overdue(now):
		return "OVERDUE"
	case !r.DownloadedAt.IsZero():
		return "downloaded"
	case r.Available():
		return "ready"
	}
	return "open"
}

type privacyExportCommand struct {
	config.Database `embed:""`

	Shop     string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	Request  int64  `help:"Number of a request of privacy list." xor:"whose"`
	Customer int64  `help:"Number of a customer who has asked the store." xor:"whose"`
	File     string `help:"File to write; empty: named by the customer and the day." placeholder:"FILE"`
}

// Run writes an export to a file that only the operator may read.
func (c *privacyExportCommand) Run(ctx context.Context, out io.Writer) error {
	if c.Request == 0 && c.Customer == 0 {
		return errors.New("name a --request or a --customer")
	}
	return app.WithPrivacy(ctx, c.Database, clock.System{}, c.Shop, func(s *privacy.Service, of app.ShopRef) error {
		var a privacy.Archive
		var err error
		if c.Request != 0 {
			a, err = s.Download(ctx, of.ID, privacy.ID(c.Request), activity.Operator)
		} else {
			a, err = s.ExportCustomer(ctx, of.ID, c.Customer, activity.Operator)
		}
		if err != nil {
			return err
		}
		name := c.File
		if name == "" {
			name = a.Name
		}
		if err := os.WriteFile(name, a.Zip, 0o600); err != nil { //nolint:gosec // the operator names the file
			return err
		}
		_, err = fmt.Fprintf(out, "%s holds what is stored about the customer: pass it on to them, and delete it\n", name)
		return err
	})
}
