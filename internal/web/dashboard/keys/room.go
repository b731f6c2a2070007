// Package keys is the pages of the dashboard on which API keys are made, replaced and revoked.
package keys

import (
	"context"
	"embed"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Keys makes and revokes the API keys of stores.
type Keys interface {
	List(ctx context.Context, of shop.ID) ([]access.Key, error)
	Create(ctx context.Context, of shop.ID, n access.NewKey) (string, access.Key, error)
	Rotate(ctx context.Context, of shop.ID, r access.Rotation) (string, access.Key, error)
	Revoke(ctx context.Context, of shop.ID, id access.KeyID, by activity.Actor) error
}

// Options are what the pages need.
type Options struct {
	Keys  Keys
	Clock clock.Clock
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Menu:  []dashboard.Entry{{Section: dashboard.Developers, Name: "API keys", Path: "/keys", Need: staff.ManageKeys}},
		Said: map[string]string{
			"key-stored": "The key works from now on. It is not shown again.", "key-revoked": "The key was revoked. Requests with it are refused from now on.",
		},
		Routes: []dashboard.Route{
			{Pattern: "GET /keys", Need: staff.ManageKeys, Show: m.list},
			{Pattern: "POST /keys", Need: staff.ManageKeys, Show: m.create},
			{Pattern: "GET /keys/new", Need: staff.ManageKeys, Show: m.askNew},
			{Pattern: "POST /keys/stored", Need: staff.ManageKeys, Show: m.stored},
			{Pattern: "GET /keys/{key}/revoke", Need: staff.ManageKeys, Show: m.askRevocation},
			{Pattern: "POST /keys/{key}/revoke", Need: staff.ManageKeys, Show: m.revoke},
			{Pattern: "GET /keys/{key}/replace", Need: staff.ManageKeys, Show: m.askReplacement},
			{Pattern: "POST /keys/{key}/replace", Need: staff.ManageKeys, Show: m.replace},
		},
	}
}
