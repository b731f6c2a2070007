// Package texts is the pages of the dashboard on which a merchant writes texts of the portal in
// place of the product's own.
package texts

import (
	"context"
	"embed"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// Wordings keeps the texts of merchants.
type Wordings interface {
	List(ctx context.Context, of shop.ID) ([]wording.Text, error)
	Save(ctx context.Context, of shop.ID, d wording.Draft, by activity.Actor) error
}

// Options are what the pages need.
type Options struct {
	Wordings  Wordings
	Catalogue *locale.Catalogue
	Clock     clock.Clock
}

type room struct{ Options }

// path is that of the list, and what the paths of texts begin with.
const path = "/texts"

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages:  pages,
		Styles: ".words,.index.texts td.words{white-space:pre-line;overflow-wrap:anywhere}.texts :is(td,th).wide{max-width:22rem}",
		Said:   map[string]string{"text-saved": "The text was saved. Customers see it within half a minute.", "text-reset": "The text was reset. Customers see the default within half a minute."},
		Menu:   []dashboard.Entry{{Section: dashboard.Settings, Name: "Portal texts", Path: path, Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			{Pattern: "GET /texts", Need: staff.ReadStore, Show: m.list},
			{Pattern: "GET /texts/{language}/{key}", Need: staff.ReadStore, Show: m.edit},
			{Pattern: "POST /texts/{language}/{key}", Need: staff.ManageStore, Show: m.save},
			{Pattern: "POST /texts/{language}/{key}/preview", Need: staff.ReadStore, Show: m.preview},
			{Pattern: "GET /texts/{language}/{key}/reset", Need: staff.ManageStore, Show: m.askReset},
			{Pattern: "POST /texts/{language}/{key}/reset", Need: staff.ManageStore, Show: m.reset},
		},
	}
}
