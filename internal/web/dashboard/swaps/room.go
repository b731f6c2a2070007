// Package swaps is the pages of product swap rules: in which order they are evaluated, what each
// replaces, and what it would do to contracts.
package swaps

import (
	"context"
	"embed"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Rules makes, changes, orders and removes rules.
type Rules interface {
	Create(ctx context.Context, of shop.Shop, r swap.Rule, by activity.Actor) (swap.Rule, error)
	Update(ctx context.Context, of shop.Shop, r swap.Rule, by activity.Actor) (swap.Rule, error)
	Switch(ctx context.Context, of shop.ID, line shop.Line, id swap.ID, version int64, on bool, by activity.Actor) (swap.Rule, error)
	Move(ctx context.Context, of shop.ID, line shop.Line, id swap.ID, down bool, by activity.Actor) error
	Delete(ctx context.Context, of shop.ID, line shop.Line, id swap.ID, by activity.Actor) error
}

// Book knows the rules, and the contracts that hold what they replace.
type Book interface {
	SwapRuleOf(ctx context.Context, of shop.ID, line shop.Line, id swap.ID) (swap.Rule, error)
	SwapRulesOf(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]swap.Rule, int, error)
	// CountHolders returns how many contracts have a variant, and whether that is all.
	CountHolders(ctx context.Context, of shop.ID, line shop.Line, variant int64) (n int, all bool, err error)
	// Holders returns at most limit ACTIVE contracts that have a variant, by id, after one.
	Holders(ctx context.Context, of shop.ID, line shop.Line, variant int64, after contract.ID, limit int) ([]contract.Contract, error)
}

// Preview says what rules make of the next orders of a contract.
type Preview interface {
	// PreviewWith answers as if a rule were stored as it is given and switched on.
	PreviewWith(ctx context.Context, of shop.Shop, line shop.Line, id contract.ID, rule swap.Rule) ([]prepare.Preview, error)
}

// Options are what the pages need.
type Options struct {
	Rules   Rules
	Book    Book
	Preview Preview
}

type room struct{ Options }

// path is that of the list of rules.
const path = "/swaps"

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	change := func(pattern string, show dashboard.Show) dashboard.Route {
		return dashboard.Route{Pattern: pattern, Need: staff.ManageStore, Show: show}
	}
	return dashboard.Room{
		Pages: pages,
		Menu:  []dashboard.Entry{{Section: dashboard.Plans, Name: "Swap rules", Path: path, Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			{Pattern: "GET " + path, Need: staff.ReadStore, Show: m.list},
			change("GET "+path+"/new", m.begin),
			change("POST "+path+"/new", m.create),
			{Pattern: "GET " + path + "/{rule}", Need: staff.ReadStore, Show: m.edit},
			change("POST "+path+"/{rule}", m.save),
			change("POST "+path+"/{rule}/move", m.move),
			change("GET "+path+"/{rule}/switch", m.askSwitch),
			change("POST "+path+"/{rule}/switch", m.turn),
			change("GET "+path+"/{rule}/delete", m.askDelete),
			change("POST "+path+"/{rule}/delete", m.remove),
		},
		Said: map[string]string{
			"swap-created": "The rule was made.", "swap-saved": "The rule was saved.", "swap-moved": "The order of the rules was changed.",
			"swap-on": "The rule changes orders from now on.", "swap-off": "The rule changes no more orders. What it has changed stays.",
			"swap-deleted": "The rule was deleted. What it has changed stays.",
		},
	}
}
