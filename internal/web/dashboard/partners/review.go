package partners

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// reviewPage is what the page of a connection shows.
type reviewPage struct {
	row

	About    string
	Contact  string
	Decided  string
	Token    string
	Calls    int
	Errors   int
	Scopes   []words.Permission
	Open     bool   // it can be disconnected
	Fewer    bool   // permissions can be taken away
	Return   string // where the application wants the merchant to be sent; empty: nowhere
	Problem  string // why a notification did not reach the application; empty: it did
	EndsWith string // why it ended
}

// connection returns the connection that the path names.
func (m *room) connection(r *http.Request, v dashboard.Visit) (partner.View, error) {
	id, err := strconv.ParseInt(r.PathValue("connection"), 10, 64)
	if err != nil || id < 1 {
		return partner.View{}, fault.New(fault.NotFound, "the store does not have this connection").Code("partnerConnectionNotFound")
	}
	return m.Partners.Review(r.Context(), v.Shop.ID, partner.ConnectionID(id))
}

func (m *room) review(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.showReview(w, r, v, nil)
}

func (m *room) showReview(w http.ResponseWriter, r *http.Request, v dashboard.Visit, wrong error) error {
	c, err := m.connection(r, v)
	if err != nil {
		return err
	}
	p := reviewPage{
		row: rowOf(v, c, m.Clock.Now()), About: c.App.About, Contact: c.App.Contact, Token: v.Instant(c.TokenAt), Open: c.State == partner.Connected,
		Fewer: c.State == partner.Connected && len(c.Connection.Scopes) > 1, EndsWith: c.EndReason,
	}
	p.Used = lastUse(v, c)
	for _, s := range c.Connection.Scopes {
		p.Scopes = append(p.Scopes, words.Scope(s))
	}
	for _, day := range c.Calls {
		p.Calls, p.Errors = p.Calls+day.Count, p.Errors+day.Errors
	}
	if !c.DecidedAt.IsZero() {
		p.Decided = v.Instant(c.DecidedAt) + ", by " + cmp.Or(c.DecidedBy, "the service")
	}
	if c.State == partner.Connected && len(c.Wanted) == 0 {
		p.Return = c.ReturnURL
	}
	if !c.CallAt.IsZero() {
		p.Problem = c.Failure
	}
	page := dashboard.Page{Name: "partner", Title: p.Name, Crumb: &dashboard.Crumb{Name: "Partners", Path: "/partners"}, Content: p}
	if wrong != nil {
		return v.Refuse(w, r, page, wrong)
	}
	return v.Answer(w, page)
}

// reduce leaves a connection the permissions that are ticked.
func (m *room) reduce(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	c, err := m.connection(r, v)
	if err != nil {
		return err
	}
	scopes, err := access.ParseScopes(r.PostForm["scope"])
	if err == nil {
		_, err = m.Partners.Reduce(r.Context(), v.Shop.ID, c.ID, scopes, v.Actor(r))
	}
	if err != nil {
		return m.showReview(w, r, v, err)
	}
	return v.Go(w, path(c, ""), "partner-reduced")
}

// path returns that of a connection's page or of an action on it.
func path(c partner.View, action string) string {
	p := "/partners/" + strconv.FormatInt(int64(c.ID), 10)
	if action != "" {
		p += "/" + action
	}
	return p
}

// asked returns the permissions that wait for a decision, or those that were given when none
// do: approving once more tells the application again.
func asked(c partner.View) []access.Scope {
	if len(c.Wanted) > 0 {
		return c.Wanted
	}
	return c.Connection.Scopes
}
