package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/access"
)

type keysCommand struct {
	Create keysCreateCommand `cmd:"" help:"Create a key and print its value, which is shown only this once."`
	List   keysListCommand   `cmd:"" help:"List a store's keys."`
	Revoke keysRevokeCommand `cmd:"" help:"Revoke a key at once."`
}

type keysCreateCommand struct {
	config.Data `embed:""`
	Shop        string   `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	Name        string   `help:"What the key is for." required:""`
	Scopes      []string `help:"What the key may do." default:"*"`
}

// Run creates a key.
func (c *keysCreateCommand) Run(ctx context.Context, out io.Writer) error {
	scopes := make([]access.Scope, 0, len(c.Scopes))
	for _, s := range c.Scopes {
		scope, err := access.ParseScope(s)
		if err != nil {
			return err
		}
		scopes = append(scopes, scope)
	}
	return app.WithAccess(ctx, c.Database, clock.System{}, c.Shop, func(s *access.Service, store app.ShopRef) error {
		value, key, err := s.Create(ctx, store.ID, c.Name, scopes)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n\nkey %d %q for %s with %s: this value is not shown again\n", value, key.ID, key.Name, store.Domain, strings.Join(c.Scopes, ", "))
		return err
	})
}

type keysListCommand struct {
	config.Data `embed:""`
	Shop        string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
}

// Run lists keys, oldest first.
func (c *keysListCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithAccess(ctx, c.Database, clock.System{}, c.Shop, func(s *access.Service, store app.ShopRef) error {
		keys, err := s.List(ctx, store.ID)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tKEY\tNAME\tSCOPES\tCREATED\tLAST USED\tREVOKED")
		for _, k := range keys {
			scopes := make([]string, len(k.Scopes))
			for i, s := range k.Scopes {
				scopes[i] = string(s)
			}
			fmt.Fprintf(table, "%d\t%s…\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Hint, k.Name, strings.Join(scopes, " "), shown(k.CreatedAt), shown(k.LastUsedAt), shown(k.RevokedAt))
		}
		return table.Flush()
	})
}

type keysRevokeCommand struct {
	config.Data `embed:""`
	Shop        string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	ID          int64  `arg:"" help:"The key's number, from keys list."`
}

// Run revokes a key.
func (c *keysRevokeCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithAccess(ctx, c.Database, clock.System{}, c.Shop, func(s *access.Service, store app.ShopRef) error {
		if err := s.Revoke(ctx, store.ID, access.KeyID(c.ID)); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "key %d of %s is revoked\n", c.ID, store.Domain)
		return err
	})
}

// shown writes an instant for people; a zero one is a dash.
func shown(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}
