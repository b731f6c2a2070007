package app

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/store"
)

// opening says how a database is opened.
type opening struct {
	create  bool // when it is not there
	relaxed bool
}

func open(ctx context.Context, d config.Database, how opening) (*store.DB, error) {
	key, err := d.Key()
	if err != nil {
		return nil, err
	}
	others, err := d.Others()
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, store.Options{URL: d.Database, SecretKey: key[:], OtherKeys: others, Create: how.create, Relaxed: how.relaxed, Subscribers: Subscribers()})
}

// openWithoutKey opens a database for what reads and writes no secrets.
func openWithoutKey(ctx context.Context, database string) (*store.DB, error) {
	return store.Open(ctx, store.Options{URL: database, Subscribers: Subscribers()})
}

func prepare(ctx context.Context, db *store.DB, o Options) error {
	ready := upToDate
	if o.Migrate {
		ready = func(ctx context.Context, db *store.DB) error { return db.Migrate(ctx) }
	}
	if err := ready(ctx, db); err != nil {
		return err
	}
	if err := db.CheckRowSecurity(ctx); err != nil {
		o.Log.Warn("the database does not keep stores apart", "error", err)
	}
	return db.Claim(ctx, o.Kind)
}

func pending(ctx context.Context, db *store.DB) (int, error) {
	steps, err := db.Migrations(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, s := range steps {
		if !s.Applied {
			n++
		}
	}
	return n, nil
}

func upToDate(ctx context.Context, db *store.DB) error {
	n, err := pending(ctx, db)
	if err == nil && n > 0 {
		err = fmt.Errorf("the database lacks %d migrations of this version: run perennial migrate", n)
	}
	return err
}
