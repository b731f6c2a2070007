// Package home is the first page of the dashboard: what a store's setup still needs.
package home

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

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

// Syncs knows what the uninstallation of a store leads to.
type Syncs interface {
	Departure(ctx context.Context, of shop.ID) (intake.Departure, error)
}

// Options are what the page needs.
type Options struct {
	Setup Setup
	Syncs Syncs
	Clock clock.Clock
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{Pages: pages, Routes: []dashboard.Route{{Pattern: "GET ", Need: staff.ReadStore, Show: m.home}}}
}
