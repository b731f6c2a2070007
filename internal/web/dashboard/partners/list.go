package partners

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// How many rows the parts of the page have.
const (
	mostOpen   = 20
	historyRow = 20
)

// row is a connection in a list.
type row struct {
	ID      partner.ConnectionID
	Name    string
	App     access.AppID
	Asks    string // permissions that wait for a decision; empty: none do
	Has     string // permissions that it has
	Expires string
	Used    string
	Since   string
	By      string
	Badge   dashboard.Badge
}

// offer is an application that is not connected.
type offer struct {
	ID    access.AppID
	Name  string
	About string
	May   string
}

// listPage is what the page shows.
type listPage struct {
	Requests  []row
	Connected []row
	Available []offer
	History   []row
	Pager     dashboard.Pager
	Empty     dashboard.Empty
}

// badges are the states as pages name them.
var badges = map[partner.State]dashboard.Badge{
	partner.Pending: {Tone: dashboard.Warning, Text: "Waits for you"}, partner.Connected: {Tone: dashboard.Good, Text: "Connected"},
	partner.Rejected: {Tone: dashboard.Neutral, Text: "Rejected", Hollow: true}, partner.Expired: {Tone: dashboard.Neutral, Text: "Expired", Hollow: true},
	partner.Disconnected: {Tone: dashboard.Neutral, Text: "Disconnected", Hollow: true}, partner.Uninstalled: {Tone: dashboard.Neutral, Text: "Ended", Hollow: true},
}

func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p := listPage{Empty: dashboard.Empty{Icon: "portal", Title: "No application asks for access", Text: "When an application of a partner asks to be connected with this store, it is shown here until you decide."}}
	now := m.Clock.Now()
	open, err := m.open(r.Context(), v)
	if err != nil {
		return err
	}
	for _, c := range open {
		one := rowOf(v, c, now)
		if one.Asks != "" {
			p.Requests = append(p.Requests, one)
		}
		if c.State == partner.Connected {
			used, err := m.Partners.Review(r.Context(), v.Shop.ID, c.ID)
			if err != nil {
				return err
			}
			one.Used = lastUse(v, used)
			p.Connected = append(p.Connected, one)
		}
	}
	if p.Available, err = m.available(r.Context(), open); err != nil {
		return err
	}
	at, _ := strconv.Atoi(r.URL.Query().Get("page")) // what is no number is the first page
	at = max(0, min(at, 1000))
	all, total, err := m.Partners.List(r.Context(), v.Shop.ID, "", page.Request{Page: at, Size: historyRow})
	if err != nil {
		return err
	}
	for _, c := range all {
		p.History = append(p.History, rowOf(v, c, now))
	}
	p.Pager = dashboard.PagerOf("connections", at, historyRow, len(all), total, func(number int) string { return v.At(fmt.Sprintf("/partners?page=%d", number)) })
	return v.Answer(w, dashboard.Page{Name: "partners", Title: "Partners", Lead: "Applications of others that act for this store, with the permissions that you give them.", Content: p})
}

// open returns the connections that have not ended, those that wait first.
func (m *room) open(ctx context.Context, v dashboard.Visit) ([]partner.View, error) {
	var list []partner.View
	for _, state := range []partner.State{partner.Pending, partner.Connected} {
		some, _, err := m.Partners.List(ctx, v.Shop.ID, state, page.Request{Size: mostOpen})
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// available returns the applications that could be connected.
func (m *room) available(ctx context.Context, open []partner.View) ([]offer, error) {
	apps, err := m.Partners.Apps(ctx)
	if err != nil {
		return nil, err
	}
	var list []offer
	for _, a := range apps {
		taken := slices.ContainsFunc(open, func(c partner.View) bool { return c.Connection.App == a.ID })
		if !taken && a.Status == partner.Live && len(list) < mostOpen {
			list = append(list, offer{a.ID, a.Name, a.About, words.Scopes(a.Scopes)})
		}
	}
	return list, nil
}

func rowOf(v dashboard.Visit, c partner.View, now time.Time) row {
	one := row{
		ID: c.ID, Name: cmp.Or(c.App.Name, string(c.Connection.App)), App: c.Connection.App, Expires: v.Instant(c.ExpiresAt), Since: v.Day(c.RequestedAt), By: cmp.Or(c.RequestedBy, "–"), Badge: badges[c.State],
	}
	switch {
	case c.State == partner.Pending && !c.Awaits(now): // its end is written down in a moment
		one.Badge = badges[partner.Expired]
	case c.State == partner.Pending:
		one.Asks = words.Scopes(c.Scopes)
	case c.Awaits(now):
		one.Asks, one.Has = words.Scopes(c.Wanted), words.Scopes(c.Scopes)
	default:
		one.Has = words.Scopes(c.Scopes)
	}
	if c.App.Status == partner.Suspended && c.State == partner.Connected {
		one.Badge = dashboard.Badge{Tone: dashboard.Bad, Text: "Suspended"}
	}
	return one
}

// lastUse says when an application last called with its token.
func lastUse(v dashboard.Visit, c partner.View) string {
	if len(c.Calls) > 0 {
		return v.Instant(c.Calls[0].LastAt)
	}
	return "Not in the last 30 days"
}
