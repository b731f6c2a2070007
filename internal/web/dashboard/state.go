package dashboard

import (
	"context"
	"time"

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
