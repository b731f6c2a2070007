// Package apilog is the page of the dashboard with the requests that keys and applications
// have made in the last week.
package apilog

import (
	"context"
	"embed"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Requests knows what was asked for.
type Requests interface {
	List(ctx context.Context, of shop.ID, f requestlog.Filter, after page.Cursor, limit int) ([]requestlog.Entry, error)
	Refused(ctx context.Context, of shop.ID) (requestlog.Refused, error)
}

// Keys knows the keys of a store.
type Keys interface {
	List(ctx context.Context, of shop.ID) ([]access.Key, error)
}

// Options are what the page needs.
type Options struct {
	Requests Requests
	Keys     Keys
	Clock    clock.Clock
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages:  pages,
		Menu:   []dashboard.Entry{{Section: dashboard.Developers, Name: "API log", Path: "/api-log", Need: staff.ManageKeys}},
		Routes: []dashboard.Route{{Pattern: "GET /api-log", Need: staff.ManageKeys, Show: m.list}},
	}
}
