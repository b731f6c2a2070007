// Package cancellations is the pages about customers who cancel: why they do, what offers kept,
// and the editor of the flow that they go through.
package cancellations

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Flows reads and publishes the store's flow.
type Flows interface {
	Current(ctx context.Context, of shop.ID) (flow.Flow, error)
	Versions(ctx context.Context, of shop.ID) ([]flow.Flow, error)
	Publish(ctx context.Context, of shop.ID, f flow.Flow, base int, by activity.Actor) (flow.Flow, error)
}

// Reports says what the flow came to.
type Reports interface {
	Report(ctx context.Context, of shop.ID, from, to time.Time) (report.Report, error)
}

// Figures names the store's plan groups.
type Figures interface {
	Scope(ctx context.Context, of shop.Shop) (analytics.Scope, error)
}

// Options are what the pages need.
type Options struct {
	Flows   Flows
	Reports Reports
	Figures Figures
	Clock   clock.Clock
}

type room struct{ Options }

// The paths of the pages.
const (
	path     = "/cancellations"
	flowPath = path + "/flow"
)

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Menu: []dashboard.Entry{
			{Section: dashboard.Subscriptions, Name: "Cancellations", Path: path, Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "Cancellation flow", Path: flowPath, Need: staff.ManageStore},
		},
		Routes: []dashboard.Route{
			{Pattern: "GET " + path, Need: staff.ReadStore, Show: m.report},
			{Pattern: "GET " + path + ".csv", Need: staff.ReadStore, Show: m.download},
			{Pattern: "GET " + flowPath, Need: staff.ManageStore, Show: m.edit},
			{Pattern: "POST " + flowPath, Need: staff.ManageStore, Show: m.submit},
		},
		Said: map[string]string{
			"flow-published": "The flow was published. Customers who start to cancel from now on go through it.",
		},
	}
}
