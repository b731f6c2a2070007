// Package bulk is the pages on which one action is previewed, started and followed on many
// contracts. Which actions there are and what they do is decided by the domain.
package bulk

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Jobs previews, starts and knows actions on many contracts.
type Jobs interface {
	Preview(ctx context.Context, of shop.ID, sel bulk.Selection, a bulk.Action, by activity.Actor) (bulk.Preview, error)
	Start(ctx context.Context, of shop.ID, req bulk.Request) (bulk.Job, error)
	Stop(ctx context.Context, of shop.ID, id bulk.JobID) (bulk.Job, error)
	Retry(ctx context.Context, of shop.ID, id bulk.JobID, by activity.Actor) (bulk.Job, error)
	Jobs(ctx context.Context, of shop.ID) ([]bulk.Job, error)
	Job(ctx context.Context, of shop.ID, id bulk.JobID) (bulk.Job, error)
	Failures(ctx context.Context, of shop.ID, id bulk.JobID, after contract.ID, limit int) ([]bulk.Item, error)
}

// Options are what the pages need.
type Options struct {
	Jobs  Jobs
	Clock clock.Clock
	// Search reads the query of the list of contracts as what it finds.
	Search func(query string, zone *time.Location) (contract.Filter, error)
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Routes: []dashboard.Route{
			{Pattern: "GET /bulk", Need: staff.ReadStore, Show: m.list},
			{Pattern: "POST /bulk/new", Need: staff.ManageContracts, Show: m.begin},
			{Pattern: "POST /bulk/preview", Need: staff.ManageContracts, Show: m.preview},
			{Pattern: "POST /bulk", Need: staff.ManageContracts, Show: m.start},
			{Pattern: "GET /bulk/{job}", Need: staff.ReadStore, Show: m.job},
			{Pattern: "GET /bulk/{job}/failed.csv", Need: staff.ReadStore, Show: m.failed},
			{Pattern: "POST /bulk/{job}/stop", Need: staff.ManageContracts, Show: m.stop},
			{Pattern: "GET /bulk/{job}/retry", Need: staff.ManageContracts, Show: m.askRetry},
			{Pattern: "POST /bulk/{job}/retry", Need: staff.ManageContracts, Show: m.retry},
		},
		Menu: []dashboard.Entry{{Section: dashboard.Subscriptions, Name: "Bulk actions", Path: "/bulk", Need: staff.ReadStore}},
		Said: map[string]string{
			"bulk-started": "The bulk action was started.",
			"bulk-stopped": "No other contract is begun. Those that were begun are finished.",
			"bulk-retried": "The contracts that failed are tried again.",
		},
	}
}
