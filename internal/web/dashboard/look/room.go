// Package look is the page of the dashboard on which a merchant chooses how the portal looks.
package look

import (
	"context"
	"embed"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// Designs keeps how portals look.
type Designs interface {
	Design(ctx context.Context, of shop.ID) (design.Design, error)
	Save(ctx context.Context, of shop.ID, d design.Draft, by activity.Actor) (design.Design, error)
	Logo(ctx context.Context, of shop.ID, hash string) ([]byte, error)
}

// Samples draws the portal.
type Samples interface {
	// Sample returns screens of the portal with a design, light or dark, each as a page that needs
	// nothing else, and what the one style element of each holds. The logo is a PNG; nil: there is
	// none.
	Sample(ctx context.Context, of shop.Shop, d design.Design, logo []byte, dark bool) (screens []string, styles string, err error)
}

// Options are what the page needs.
type Options struct {
	Designs Designs
	Samples Samples
}

type room struct{ Options }

// path is that of the page.
const path = "/design"

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Styles: ".looks{display:flex;flex-wrap:wrap;gap:var(--s-4)}.looks figure{display:grid;grid-template-columns:minmax(0,1fr);gap:var(--s-2);width:390px;max-width:100%}" +
			".looks .phone{height:46rem;overflow:auto;border:var(--line);border-radius:var(--r-3)}.looks iframe{display:block;width:100%;height:100rem;border:0}.looks .phone+.phone{height:44rem}.looks .phone+.phone iframe{height:60rem}" +
			".hues{display:flex;gap:var(--s-2)}.hues [type=color]{width:3rem;flex:none;padding:2px}.logo-now{background:#fff;border:var(--line);border-radius:var(--r-2);padding:var(--s-3);justify-self:start;max-width:100%}.logo-now img{display:block;max-width:100%;max-height:4rem;width:auto;height:auto}",
		Said: map[string]string{
			"design-saved": "The design was saved. Customers see it within half a minute.",
			"design-reset": "The design was reset. Customers see the default within half a minute.",
		},
		Menu: []dashboard.Entry{{Section: dashboard.Settings, Name: "Portal design", Path: path, Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			{Pattern: "GET /design", Need: staff.ReadStore, Show: m.show},
			{Pattern: "POST /design", Need: staff.ManageStore, Show: m.save, Upload: dashboard.Upload{Field: "logo", Max: design.MaxUpload}},
			{Pattern: "GET /design/reset", Need: staff.ManageStore, Show: m.askReset},
			{Pattern: "POST /design/reset", Need: staff.ManageStore, Show: m.reset},
		},
	}
}
