// Package activity is the page of the dashboard with the activity log of a whole store.
package activity

import (
	"context"
	"embed"
	"net/url"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Log reads the activity log.
type Log interface {
	OlderEntries(ctx context.Context, of shop.ID, where []page.Criterion, after page.Cursor, limit int) ([]activity.Entry, page.Cursor, error)
}

// Options are what the page needs.
type Options struct {
	Log Log
	// Criteria reads the parameters of the API's activity log. Days are taken in the zone.
	Criteria func(query url.Values, zone *time.Location) ([]page.Criterion, error)
	Clock    clock.Clock
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Menu:  []dashboard.Entry{{Section: dashboard.Settings, Name: "Activity log", Path: "/activity", Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			{Pattern: "GET /activity", Need: staff.ReadStore, Show: m.list},
			{Pattern: "GET /activity/export.csv", Need: staff.ReadStore, Show: m.export},
		},
	}
}
