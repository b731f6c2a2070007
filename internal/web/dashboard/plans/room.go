// Package plans is the pages of plan groups: which there are, what is offered and sold on them,
// and what a customer sees of them.
package plans

import (
	"context"
	"embed"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Book knows the groups.
type Book interface {
	PlanGroups(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]plan.Group, int, error)
	PlanGroup(ctx context.Context, of shop.ID, line shop.Line, id plan.ID) (plan.Group, error)
}

// Groups makes, changes and removes groups, here and at the platform.
type Groups interface {
	Create(ctx context.Context, of shop.ID, c plan.CreateCommand) (plan.Group, error)
	Update(ctx context.Context, of shop.ID, c plan.UpdateCommand) (plan.Group, error)
	Delete(ctx context.Context, of shop.ID, c plan.DeleteCommand) error
	// FindProducts returns the first products of the store whose titles have words that begin with those
	// of a text; more: there are others.
	FindProducts(ctx context.Context, of shop.ID, text string) (list []plan.Titled, more bool, err error)
}

// Figures counts the contracts of groups.
type Figures interface {
	// ActiveByGroup returns how many contracts are ACTIVE, by plan group.
	ActiveByGroup(ctx context.Context, of shop.ID) (map[int64]int64, error)
}

// Options are what the pages need.
type Options struct {
	Book    Book
	Groups  Groups
	Figures Figures
	Clock   clock.Clock
}

type room struct{ Options }

// path is that of the list of groups.
const path = "/plans"

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	read := func(pattern string, show dashboard.Show) dashboard.Route {
		return dashboard.Route{Pattern: "GET " + path + pattern, Need: staff.ReadStore, Show: show}
	}
	change := func(method, pattern string, show dashboard.Show) dashboard.Route {
		return dashboard.Route{Pattern: method + " " + path + pattern, Need: staff.ManageStore, Show: show}
	}
	return dashboard.Room{
		Pages: pages,
		Menu:  []dashboard.Entry{{Section: dashboard.Plans, Name: "Plan groups", Path: path, Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			read("", m.list),
			change("GET", "/new", m.begin),
			change("POST", "/new", m.create),
			change("POST", "/preview", m.previewPart),
			read("/{group}", m.group),
			change("POST", "/{group}", m.saveTerms),
			change("GET", "/{group}/delete", m.askDelete),
			change("POST", "/{group}/delete", m.remove),
			change("GET", "/{group}/options/{option}", m.option),
			change("POST", "/{group}/options/{option}", m.saveOption),
			change("GET", "/{group}/options/{option}/remove", m.askRemoveOption),
			change("POST", "/{group}/options/{option}/remove", m.removeOption),
			change("GET", "/{group}/products/add", m.addForm),
			change("POST", "/{group}/products/add", m.add),
			change("GET", "/{group}/products/remove", m.removeForm),
			change("POST", "/{group}/products/remove", m.removeProducts),
		},
		Said: map[string]string{
			"plan-created": "The plan group was made, here and at the platform.",
			"plan-saved":   "The change was saved, here and at the platform.",
			"plan-deleted": "The plan group was deleted. Contracts on its plans go on as they are.",
			"plan-option":  "The option was removed. Contracts on it go on as they are.",
			"plan-added":   "The products are sold on the plans of this group now.",
			"plan-removed": "The products were taken out of this group. Contracts with them go on as they are.",
		},
	}
}
