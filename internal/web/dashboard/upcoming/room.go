// Package upcoming has the calendar of a store's upcoming orders, the orders of a day, and
// the questions by which one is moved or skipped.
package upcoming

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/upcoming"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

//go:embed upcoming.css
var styles string

// Queue shows the orders that are queued.
type Queue interface {
	Days(ctx context.Context, of shop.ID, from, to time.Time, zone *time.Location) ([]upcoming.Day, error)
	Orders(ctx context.Context, of shop.ID, from, to time.Time, page int) (upcoming.Day, []upcoming.Order, error)
	Order(ctx context.Context, of shop.ID, id billing.AttemptID) (upcoming.Order, error)
}

// Orders changes orders that are queued.
type Orders interface {
	Reschedule(ctx context.Context, of shop.ID, c command.Reschedule) (billing.Record, error)
	Skip(ctx context.Context, of shop.ID, c command.Skip) (billing.Record, error)
}

// Options are what the room needs.
type Options struct {
	Queue  Queue
	Orders Orders
	Clock  clock.Clock
}

// room answers with pages.
type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages, Styles: styles,
		Menu: []dashboard.Entry{{Section: dashboard.Subscriptions, Name: "Upcoming orders", Path: "/upcoming", Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			{Pattern: "GET /upcoming", Need: staff.ReadStore, Show: m.month},
			{Pattern: "GET /upcoming/{day}", Need: staff.ReadStore, Show: m.day},
			{Pattern: "GET /upcoming/{order}/move", Need: staff.ManageContracts, Show: m.askMove},
			{Pattern: "POST /upcoming/{order}/move", Need: staff.ManageContracts, Show: m.move},
			{Pattern: "GET /upcoming/{order}/skip", Need: staff.ManageContracts, Show: m.askSkip},
			{Pattern: "POST /upcoming/{order}/skip", Need: staff.ManageContracts, Show: m.skip},
		},
		Said: map[string]string{"order-moved": "The order was moved to this day.", "order-skipped": "The order was skipped. The contract's next one comes on its date."},
	}
}
