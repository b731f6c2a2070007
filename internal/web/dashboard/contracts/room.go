// Package contracts has the list of a store's contracts, with searches that users save, and
// the search of the whole store. One contract is package contract's.
package contracts

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

//go:embed contracts.css
var styles string

// Directory finds contracts.
type Directory interface {
	// Search returns a page of the contracts that pass a filter, and how many do.
	Search(ctx context.Context, of shop.ID, f contract.Filter, p page.Request) ([]contract.Contract, int, error)
	// CountMatching returns how many contracts pass a filter.
	CountMatching(ctx context.Context, of shop.ID, f contract.Filter) (int, error)
	// MatchingRows returns at most limit contracts that pass a filter, by id, after one.
	MatchingRows(ctx context.Context, of shop.ID, f contract.Filter, after contract.ID, limit int) ([]contract.Contract, error)
	// FindContracts returns at most limit contracts that a text names. Exact is whether the
	// first one is named and not only a part of it.
	FindContracts(ctx context.Context, of shop.ID, words string, limit int) (list []contract.Contract, exact bool, err error)
}

// Views keeps the searches of users.
type Views interface {
	List(ctx context.Context, of shop.ID, by savedview.User) ([]savedview.View, error)
	Create(ctx context.Context, of shop.ID, by savedview.User, d savedview.Draft) (savedview.View, error)
	Change(ctx context.Context, of shop.ID, by savedview.User, id savedview.ID, d savedview.Draft) (savedview.View, error)
	Delete(ctx context.Context, of shop.ID, by savedview.User, id savedview.ID) error
}

// Options are what the room needs.
type Options struct {
	Directory Directory
	Views     Views
	Clock     clock.Clock
	// Search reads the query string of a list as what it finds.
	Search func(query string, zone *time.Location) (contract.Filter, error)
	// PublicURL is the address at which programs reach the service; empty: not known.
	PublicURL string
}

// room answers with pages.
type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages, Styles: styles,
		Menu: []dashboard.Entry{{Section: dashboard.Subscriptions, Name: "Contracts", Path: "/contracts", Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			{Pattern: "GET /contracts", Need: staff.ReadStore, Show: m.list},
			{Pattern: "GET /contracts.csv", Need: staff.ReadStore, Show: m.export},
			{Pattern: "GET /find", Need: staff.ReadStore, Show: m.find},
			{Pattern: "GET /views/new", Need: staff.ReadStore, Show: m.askView},
			{Pattern: "POST /views", Need: staff.ReadStore, Show: m.createView},
			{Pattern: "GET /views/{view}", Need: staff.ReadStore, Show: m.askChange},
			{Pattern: "POST /views/{view}", Need: staff.ReadStore, Show: m.changeView},
			{Pattern: "GET /views/{view}/delete", Need: staff.ReadStore, Show: m.askDelete},
			{Pattern: "POST /views/{view}/delete", Need: staff.ReadStore, Show: m.deleteView},
		},
		Said: map[string]string{
			"view-saved": "The view was saved.", "view-changed": "The view was changed.", "view-deleted": "The view was deleted. The contracts are as they were.",
		},
	}
}
