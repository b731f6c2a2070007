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
	"github.com/perennialhq/perennial/internal/domain/activity"
)

type keysCommand struct {
	Create keysCreateCommand `cmd:"" help:"Create a key and print its value, which is shown only this once."`
	List   keysListCommand   `cmd:"" help:"List a store's keys."`
	Import keysImportCommand `cmd:"" help:"Take over a key that was made elsewhere. Only its hash is kept."`
	Rotate keysRotateCommand `cmd:"" help:"Make a key that follows another one, and print its value."`
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
	scopes, err := access.ParseScopes(c.Scopes)
	if err != nil {
		return err
	}
	return app.WithAccess(ctx, c.Database, clock.System{}, c.Shop, func(s *access.Service, store app.ShopRef) error {
		value, key, err := s.Create(ctx, store.ID, access.NewKey{Name: c.Name, Scopes: scopes, Actor: activity.Operator})
		if err != nil {
			return err
		}
		return shownOnce(out, value, key, store.Domain)
	})
}

// shownOnce prints a value that cannot be read again.
func shownOnce(out io.Writer, value string, key access.Key, domain string) error {
	_, err := fmt.Fprintf(out, "%s\n\nkey %d %q for %s with %s: this value is not shown again\n", value, key.ID, key.Name, domain, listed(key.Scopes, ", "))
	return err
}

func listed(scopes []access.Scope, separator string) string {
	texts := make([]string, len(scopes))
	for i, s := range scopes {
		texts[i] = string(s)
	}
	return strings.Join(texts, separator)
}

type keysImportCommand struct {
	config.Data `embed:""`
	Shop        string   `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	Name        string   `help:"What the key is for." required:""`
	Scopes      []string `help:"What the key may do." default:"*"`
	KeyFile     string   `help:"File that holds the key; - reads standard input." required:"" placeholder:"FILE"`
}

// Run takes over a key.
func (c *keysImportCommand) Run(ctx context.Context, out io.Writer) error {
	scopes, err := access.ParseScopes(c.Scopes)
	if err != nil {
		return err
	}
	value, err := readSecret("the key", c.KeyFile)
	if err != nil {
		return err
	}
	return app.WithAccess(ctx, c.Database, clock.System{}, c.Shop, func(s *access.Service, store app.ShopRef) error {
		key, err := s.Import(ctx, store.ID, value, access.NewKey{Name: c.Name, Scopes: scopes, Actor: activity.Operator})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "key %d %q (%s…) opens %s with %s\n", key.ID, key.Name, key.Hint, store.Domain, listed(key.Scopes, ", "))
		return err
	})
}

type keysRotateCommand struct {
	config.Data `embed:""`
	Shop        string         `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	ID          int64          `arg:"" help:"The key's number, from keys list."`
	Grace       *time.Duration `help:"How long the old key still works, such as 24h. Without it, until it is revoked." placeholder:"24h"`
}

// Run makes a key that follows another one.
func (c *keysRotateCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithAccess(ctx, c.Database, clock.System{}, c.Shop, func(s *access.Service, store app.ShopRef) error {
		value, key, err := s.Rotate(ctx, store.ID, access.Rotation{Key: access.KeyID(c.ID), Grace: c.Grace, Actor: activity.Operator})
		if err != nil {
			return err
		}
		return shownOnce(out, value, key, store.Domain)
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
			fmt.Fprintf(table, "%d\t%s…\t%s\t%s\t%s\t%s\t%s\n", k.ID, oneLine(k.Hint), oneLine(k.Name), listed(k.Scopes, " "), shown(k.CreatedAt), shown(k.LastUsedAt), shown(k.RevokedAt))
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
		if err := s.Revoke(ctx, store.ID, access.KeyID(c.ID), activity.Operator); err != nil {
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
