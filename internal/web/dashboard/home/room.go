// Package home is the first page of the dashboard: what a store's setup still needs, its
// figures, what needs a person, and what has happened.
package home

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/webhook"
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

// Figures computes the figures of a store.
type Figures interface {
	Overview(ctx context.Context, of shop.Shop, days int) (analytics.Overview, error)
}

// Endpoints knows where a store's webhooks go.
type Endpoints interface {
	Endpoints(ctx context.Context, of shop.ID) ([]webhook.Endpoint, error)
}

// Partners knows the connections of a store with applications.
type Partners interface {
	List(ctx context.Context, of shop.ID, state partner.State, p page.Request) ([]partner.View, int, error)
}

// Log reads what has happened in a store.
type Log interface {
	// LatestEntries returns the newest entries of the activity log.
	LatestEntries(ctx context.Context, of shop.ID, limit int) ([]activity.Entry, error)
	// WaitingBoxes returns at most limit contracts whose order has fallen due and waits for its box to
	// be completed. The orders are looked at again by until.
	WaitingBoxes(ctx context.Context, of shop.ID, until time.Time, limit int) ([]contract.ID, error)
	// CaseCounts counts the orders that were declined and are not given up, by the class of
	// their last decline.
	CaseCounts(ctx context.Context, of shop.ID) (map[dunning.Class]int, error)
}

// Options are what the page needs.
type Options struct {
	Figures   Figures
	Endpoints Endpoints
	Partners  Partners
	Log       Log
	Setup     Setup
	Syncs     Syncs
	Clock     clock.Clock
}

type room struct {
	Options

	cache cache
}

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{Options: o}
	return dashboard.Room{Pages: pages, Routes: []dashboard.Route{
		{Pattern: "GET ", Need: staff.ReadStore, Show: m.home}, {Pattern: "GET /home/figures", Need: staff.ReadStore, Show: m.part},
	}}
}
