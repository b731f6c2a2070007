package settings

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Charging shows what will be charged, and has it charged.
type Charging interface {
	Preview(ctx context.Context, of shop.ID) (confirm.Preview, error)
	Confirm(ctx context.Context, of shop.ID, seen confirm.Fingerprint, by activity.Actor) (bool, error)
}

// Syncs knows how far the first sync of a store has come, and what its uninstallation leads to.
type Syncs interface {
	Departure(ctx context.Context, of shop.ID) (intake.Departure, error)
	Progress(ctx context.Context, of shop.ID) (progress intake.Sync, known bool, err error)
}

// Privacy knows the requests for personal data.
type Privacy interface {
	List(ctx context.Context, of shop.ID) ([]privacy.Request, error)
	Download(ctx context.Context, of shop.ID, id privacy.ID, by activity.Actor) (privacy.Archive, error)
}

// Changes stores settings.
type Changes interface {
	// ChangeSettings has fn change a store's settings, checks and stores them with an entry.
	ChangeSettings(ctx context.Context, domain string, by activity.Actor, fn func(*shop.Settings) error) (shop.Settings, error)
}

// Failures knows the declined charges of a store.
type Failures interface {
	// CasesSince returns the cases that were opened since an instant, at most some thousands of
	// the newest.
	CasesSince(ctx context.Context, of shop.ID, since time.Time) ([]dunning.Case, error)
}

// Accounts knows the addresses that a merchant registers for customer accounts.
type Accounts interface {
	AccountAddresses(of shop.Shop) login.AccountAddresses
}

// Options are what the pages need.
type Options struct {
	Changes  Changes
	Failures Failures
	Charging Charging
	Syncs    Syncs
	Privacy  Privacy
	Portal   Portal
	Accounts Accounts
	Clock    clock.Clock
}

type room struct{ Options }
