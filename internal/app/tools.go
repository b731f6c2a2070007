package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/store"
)

// Migrate brings the database up to date, creating it when it is not there, and says what
// it did.
func Migrate(ctx context.Context, d config.Database) (string, error) {
	db, err := open(ctx, d, opening{create: true})
	if err != nil {
		return "", err
	}
	defer db.Close()
	before, err := pending(ctx, db)
	if err != nil {
		return "", err
	}
	if err := db.Migrate(ctx); err != nil {
		return "", err
	}
	if before == 0 {
		return "the database is up to date", nil
	}
	return fmt.Sprintf("%d migrations applied; the database is up to date", before), nil
}

// RotateKey seals everything with the secret key that another key has sealed.
func RotateKey(ctx context.Context, d config.Database) (store.Resealed, error) {
	if d.OtherKeys == "" {
		return store.Resealed{}, errors.New("name the key that has encrypted until now in PERENNIAL_OTHER_SECRET_KEYS, and the new one in PERENNIAL_SECRET_KEY")
	}
	db, err := open(ctx, d, opening{})
	if err != nil {
		return store.Resealed{}, err
	}
	defer db.Close()
	if err := upToDate(ctx, db); err != nil {
		return store.Resealed{}, err
	}
	return db.Reseal(ctx)
}

// Shops lists the stores, oldest first.
func Shops(ctx context.Context, d config.Database) ([]shop.Shop, error) {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return db.Shops().All(ctx)
}

// Connecting says which store is connected, and how.
type Connecting struct {
	At           platform.Shop
	Hour, Minute int // of orders, local to the store
	Settings     shop.Settings
	KeyLost      bool // the secret key of before is lost: what no key opens of the store is removed
}

// Connect adds a store, or gives a known one a new token, and brings in what it
// has. The service, which knows where webhooks go, reconciles the store at once. It says
// what was lost of a store with a secret key; nil: nothing.
func Connect(ctx context.Context, d config.Database, p config.Platform, c clock.Clock, w Connecting) (shop.Shop, *store.Unreadable, error) {
	a, err := New(ctx, Options{
		Settings: config.Server{Database: d, Platform: p, RatePerSecond: 1, RateBurst: 1},
		Clock:    c, Log: slog.New(slog.DiscardHandler), Kind: Production, OwnTokens: true,
	})
	if err != nil {
		return shop.Shop{}, nil, err
	}
	defer a.Close()
	var lost *store.Unreadable
	if w.KeyLost {
		if lost, err = a.Store.DropUnreadable(ctx, w.At.Domain); err != nil {
			return shop.Shop{}, nil, err
		}
	}
	connected, err := a.Intake.Connect(ctx, w.At, w.Hour, w.Minute, w.Settings)
	if err != nil {
		return connected, lost, err
	}
	return connected, lost, connection.Forget(ctx, a.Store.PlatformConnections(), connected.ID)
}

// Finding is the result of one check. Err says what is wrong and what to do.
type Finding struct {
	Name string
	Err  error
}

// Doctor checks everything that the service needs.
func Doctor(ctx context.Context, s config.Server) []Finding {
	findings := []Finding{{"settings", s.Check()}, {"mail", checkMail(ctx, s.Mail)}}
	db, err := open(ctx, s.Database, opening{})
	findings = append(findings, Finding{"database opens", err})
	if err != nil {
		return findings
	}
	defer db.Close()
	current := upToDate(ctx, db)
	findings = append(findings, Finding{"database answers", db.Ping(ctx)}, intact(ctx, db), Finding{"database is up to date", current})
	if current != nil {
		return findings
	}
	findings = append(findings, Finding{"database can be written to", db.Writable(ctx, clock.System{}.Now())}, Finding{"database keeps stores apart", db.CheckRowSecurity(ctx)})
	stores, err := db.Shops().All(ctx)
	if err != nil {
		return append(findings, Finding{"stores", err})
	}
	options := shopify.Options{BaseURL: s.PlatformURL, APIVersion: s.APIVersion, Timeout: s.CallTimeout, Log: slog.New(slog.DiscardHandler)}
	tokens := connections(&App{options: Options{Settings: s, Clock: clock.System{}, Log: options.Log}}, db)
	if tokens != nil {
		options.Tokens = tokens
	}
	client := shopify.New(options)
	for _, store := range stores {
		findings = append(findings, Finding{"connection of " + store.Domain, reach(ctx, client, store)})
		if tokens != nil {
			findings = append(findings, Finding{"permissions of " + store.Domain, granted(ctx, tokens, store)})
		}
		findings = append(findings, Finding{"charges of " + store.Domain, chargeable(store, clock.System{}.Now())})
		findings = append(findings, Finding{"requests for personal data of " + store.Domain, answered(ctx, db, store, clock.System{}.Now())})
		findings = append(findings, Finding{"books of " + store.Domain, compared(store, clock.System{}.Now())})
	}
	return findings
}

// intact has the database check its own files.
func intact(ctx context.Context, db *store.DB) Finding {
	err := db.CheckIntegrity(ctx)
	if errors.Is(err, store.ErrNotChecked) {
		return Finding{fmt.Sprintf("database is intact (%v)", err), nil}
	}
	return Finding{"database is intact", err}
}

func reach(ctx context.Context, client platform.Stores, s shop.Shop) error {
	facts, err := client.Store(ctx, s.At())
	switch {
	case errors.Is(err, platform.ErrDisconnected):
		return fmt.Errorf("the token no longer opens the store: run perennial shops connect --shop %s", s.Domain)
	case err != nil:
		return err
	case facts.TimeZone != s.TimeZone:
		return fmt.Errorf("the store's zone is now %s and was %s: let the service run, which takes that over, and look into its log when it does not", facts.TimeZone, s.TimeZone)
	}
	return nil
}

// compared says that the books of a store have not been compared for too long.
func compared(s shop.Shop, now time.Time) error {
	if why := s.OverdueComparison(now); why != "" {
		return fmt.Errorf("%s: let the service run, and look into its log for what puts the check of the store off", why)
	}
	return nil
}

// chargeable says what keeps a store from being charged.
func chargeable(s shop.Shop, now time.Time) error {
	switch g := s.Guard; {
	case !g.FrozenAt.IsZero():
		return fmt.Errorf("%s. Make sure that no other installation charges the store, then run perennial unfreeze --shop %s --reason \"…\"", g.BlockReason(now), s.Domain)
	case !g.Hold.Since.IsZero():
		return fmt.Errorf("nearly all charges have been declined since %s: ask the payment provider; a few are tried at %s", g.Hold.Since.Format(time.RFC3339), g.Hold.Until.Format(time.RFC3339))
	}
	return nil
}
