package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/confirm"
)

type shopsConfirmCommand struct {
	config.Database `embed:""`

	Shop string `arg:"" help:"The store's domain." placeholder:"STORE.myshopify.com"`
	Yes  bool   `help:"Confirm what is shown without asking."`
}

// Run shows what a store will be charged and, when the person agrees, confirms it.
func (c *shopsConfirmCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithConfirm(ctx, c.Database, clock.System{}, c.Shop, func(s *confirm.Service, of app.ShopRef) error {
		p, err := s.Preview(ctx, of.ID)
		if err != nil {
			return err
		}
		if err := shownPreview(out, of.Domain, p); err != nil {
			return err
		}
		if p.Awaits.IsZero() {
			_, err := fmt.Fprintf(out, "%s is confirmed already: its orders are charged\n", of.Domain)
			return err
		}
		if !c.Yes {
			fmt.Fprintf(out, "Charge the orders of %s from now on? Type yes: ", of.Domain)
			answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("read the answer: %w", err)
			}
			if strings.TrimSpace(answer) != "yes" {
				return errors.New("nothing is confirmed, and nothing is charged")
			}
		}
		if _, err := s.Confirm(ctx, of.ID, p.Fingerprint(), activity.Operator); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s is confirmed: its orders are charged\n", of.Domain)
		return err
	})
}

// shownPreview prints what will be charged.
func shownPreview(out io.Writer, domain string, p confirm.Preview) error {
	fmt.Fprintf(out, "%s: %d orders until %s, %d of them overdue\n", oneLine(domain), p.Orders(), p.Until.Format(time.RFC3339), p.Overdue)
	if p.Syncing {
		fmt.Fprintln(out, "the contracts are still being read: there may be more orders, and nothing can be confirmed before perennial shops sync shows that they are read")
	}
	for _, t := range p.Totals {
		fmt.Fprintf(out, "%d orders of together %s %s\n", t.Orders, t.Amount, t.Amount.Currency)
	}
	if len(p.First) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DATE\tCONTRACT\tORDER\tAMOUNT")
	for _, o := range p.First {
		fmt.Fprintf(table, "%s\t%d\t%d\t%s %s\n", shown(o.Date), o.Contract, o.Cycle, o.Amount, o.Amount.Currency)
	}
	return table.Flush()
}
