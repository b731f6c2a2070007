package dashboard

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Setup knows which steps of a store's setup are done.
type Setup interface {
	State(ctx context.Context, of shop.Shop) (State, error)
}

// State is what is known of a store's setup.
type State struct {
	Connected    bool
	ScopesKnown  bool     // what the store has granted is known
	Missing      []string // what it has not granted, in words
	WebhookURL   bool     // the service has an address for webhooks
	Subscribed   bool     // the platform was asked to send them
	WebhookError string   // why it refuses; empty: it does not
	Plans        bool
	Mail         bool      // a mail server is set
	ProxySeen    time.Time // when the platform first forwarded a shopper; zero: never
	Contracts    bool
}

// Charging shows what will be charged, and has it charged.
type Charging interface {
	Preview(ctx context.Context, of shop.ID) (confirm.Preview, error)
	Confirm(ctx context.Context, of shop.ID, by activity.Actor) (bool, error)
}

// Syncs knows how far the first sync of a store has come, and what its uninstallation leads
// to.
type Syncs interface {
	Progress(ctx context.Context, of shop.ID) (progress intake.Sync, known bool, err error)
	Departure(ctx context.Context, of shop.ID) (intake.Departure, error)
}

// Privacy knows the requests for personal data.
type Privacy interface {
	List(ctx context.Context, of shop.ID) ([]privacy.Request, error)
	Download(ctx context.Context, of shop.ID, id privacy.ID, by activity.Actor) (privacy.Archive, error)
}
