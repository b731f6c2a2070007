package partners

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// question asks before something is done to a connection.
type question func(v dashboard.Visit, c partner.View) dashboard.Question

func named(c partner.View) string { return cmp.Or(c.App.Name, string(c.Connection.App)) }

func approval(v dashboard.Visit, c partner.View) dashboard.Question {
	q := dashboard.Question{
		Title: "Approve “" + named(c) + "”", Back: path(c, ""), Path: path(c, "approve"), Button: "Approve", Keep: "Decide later",
		Says: []string{"The application may: " + words.Scopes(asked(c)) + "."},
	}
	if c.State == partner.Connected && len(c.Wanted) > 0 {
		q.Says = append(q.Says, "It has already: "+words.Scopes(c.Connection.Scopes)+".")
	}
	q.Says = append(q.Says, "It is told at once and gets a token of its own, which is none of the store's ten keys. You can take permissions away or disconnect it at any time.")
	if !c.ExpiresAt.IsZero() {
		q.Says = append(q.Says, "Asked on "+v.Instant(c.RequestedAt)+"; you can decide until "+v.Instant(c.ExpiresAt)+".")
	}
	return q
}

func rejection(_ dashboard.Visit, c partner.View) dashboard.Question {
	says := "The application is told that you do not agree. It can ask again."
	if c.State == partner.Connected {
		says = "The application does not get what it asked for in addition, and keeps what it has."
	}
	return dashboard.Question{
		Title: "Reject “" + named(c) + "”", Back: path(c, ""), Path: path(c, "reject"), Button: "Reject request", Keep: "Decide later", Grave: true,
		Says: []string{"It asks for: " + words.Scopes(asked(c)) + ".", says},
	}
}

func disconnection(v dashboard.Visit, c partner.View) dashboard.Question {
	return dashboard.Question{
		Title: "Disconnect “" + named(c) + "”", Back: path(c, ""), Path: path(c, "disconnect"), Button: "Disconnect", Keep: "Keep it connected", Grave: true,
		Says: []string{"Its token opens nothing from now on. To be connected again it has to ask, and you to approve.", "Last used: " + lastUse(v, c) + "."},
	}
}

func (m *room) ask(q question) dashboard.Show {
	return func(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
		c, err := m.connection(r, v)
		if err != nil {
			return err
		}
		if !c.Open() {
			return v.Go(w, path(c, ""), "")
		}
		return v.Ask(w, r, q(v, c), nil)
	}
}

// decide does what a question has asked, and leads to the connection.
func (m *room) decide(q question, do func(context.Context, shop.ID, partner.ConnectionID, activity.Actor) (partner.View, error), said string) dashboard.Show {
	return func(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
		c, err := m.connection(r, v)
		if err != nil {
			return err
		}
		if _, err := do(r.Context(), v.Shop.ID, c.ID, v.Actor(r)); err != nil {
			return v.Ask(w, r, q(v, c), err)
		}
		return v.Go(w, path(c, ""), said)
	}
}

// app returns the application that the path names, if it can be connected.
func (m *room) app(r *http.Request) (partner.App, error) {
	apps, err := m.Partners.Apps(r.Context())
	if err != nil {
		return partner.App{}, err
	}
	i := slices.IndexFunc(apps, func(a partner.App) bool {
		return a.ID == access.AppID(r.PathValue("app")) && a.Status == partner.Live
	})
	if i < 0 {
		return partner.App{}, fault.New(fault.NotFound, "no such application").Code("partnerNotFound")
	}
	return apps[i], nil
}

func connecting(a partner.App) dashboard.Question {
	return dashboard.Question{
		Title: "Connect “" + a.Name + "”", Back: "/partners", Path: "/partners/apps/" + string(a.ID) + "/connect", Button: "Connect", Keep: "Back to partners",
		Says: []string{"The application may: " + words.Scopes(a.Scopes) + ".", "It is told at once and gets a token of its own. You can take permissions away or disconnect it at any time."},
	}
}

func (m *room) askConnect(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	a, err := m.app(r)
	if err != nil {
		return err
	}
	return v.Ask(w, r, connecting(a), nil)
}

// connect gives an application what the question has shown.
func (m *room) connect(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	a, err := m.app(r)
	if err != nil {
		return err
	}
	c, err := m.Partners.Request(r.Context(), v.Shop.ID, a.ID, a.Scopes, v.Actor(r))
	if err != nil {
		return v.Ask(w, r, connecting(a), err)
	}
	return v.Go(w, path(c, ""), "partner-connected")
}
