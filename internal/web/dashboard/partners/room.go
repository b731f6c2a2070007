// Package partners is the pages of the dashboard on which applications of partners are
// approved, looked through and disconnected.
package partners

import (
	"context"
	"embed"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Partners knows the applications and decides about their connections with a store.
type Partners interface {
	Apps(ctx context.Context) ([]partner.App, error)
	List(ctx context.Context, of shop.ID, state partner.State, p page.Request) ([]partner.View, int, error)
	Review(ctx context.Context, of shop.ID, id partner.ConnectionID) (partner.View, error)
	Request(ctx context.Context, of shop.ID, app access.AppID, scopes []access.Scope, by activity.Actor) (partner.View, error)
	Approve(ctx context.Context, of shop.ID, id partner.ConnectionID, by activity.Actor) (partner.View, error)
	Reject(ctx context.Context, of shop.ID, id partner.ConnectionID, by activity.Actor) (partner.View, error)
	Disconnect(ctx context.Context, of shop.ID, id partner.ConnectionID, by activity.Actor) (partner.View, error)
	Reduce(ctx context.Context, of shop.ID, id partner.ConnectionID, to []access.Scope, by activity.Actor) (partner.View, error)
}

// Options are what the pages need.
type Options struct {
	Partners Partners
	Clock    clock.Clock
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	need := staff.ManageKeys
	return dashboard.Room{
		Pages: pages,
		Menu:  []dashboard.Entry{{Section: dashboard.Developers, Name: "Partners", Path: "/partners", Need: need}},
		Said: map[string]string{
			"partner-approved": "The application was approved and is told so.", "partner-rejected": "The request was rejected and the application is told so.",
			"partner-disconnected": "The application was disconnected. Its requests are refused from now on.", "partner-reduced": "The permissions were taken away.",
			"partner-connected": "The application is connected and is told so.",
		},
		Routes: []dashboard.Route{
			{Pattern: "GET /partners", Need: need, Show: m.list},
			{Pattern: "GET /partners/{connection}", Need: need, Show: m.review},
			{Pattern: "GET /partners/{connection}/approve", Need: need, Show: m.ask(approval)},
			{Pattern: "POST /partners/{connection}/approve", Need: need, Show: m.decide(approval, m.Partners.Approve, "partner-approved")},
			{Pattern: "GET /partners/{connection}/reject", Need: need, Show: m.ask(rejection)},
			{Pattern: "POST /partners/{connection}/reject", Need: need, Show: m.decide(rejection, m.Partners.Reject, "partner-rejected")},
			{Pattern: "GET /partners/{connection}/disconnect", Need: need, Show: m.ask(disconnection)},
			{Pattern: "POST /partners/{connection}/disconnect", Need: need, Show: m.decide(disconnection, m.Partners.Disconnect, "partner-disconnected")},
			{Pattern: "POST /partners/{connection}/permissions", Need: need, Show: m.reduce},
			{Pattern: "GET /partners/apps/{app}/connect", Need: need, Show: m.askConnect},
			{Pattern: "POST /partners/apps/{app}/connect", Need: need, Show: m.connect},
		},
	}
}
