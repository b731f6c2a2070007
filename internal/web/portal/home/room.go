// Package home is the first screen of the portal: the order that comes next, and all subscriptions
// of the customer.
package home

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Homes reads what the screen shows.
type Homes interface {
	Home(ctx context.Context, who do.Caller) (overview.Home, error)
}

// Options are what the room needs.
type Options struct{ Homes Homes }

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{{Pattern: "GET ", Show: r.show}},
		Tabs:   []portal.Tab{{Text: "tab.subscriptions", Path: ""}},
		Pages:  pages,
	}
}

type room struct{ Options }

// screen is what the page shows.
type screen struct {
	Banners []portal.Banner
	Next    *words.Next // nil: no order is to come
	Subs    []sub
	Ended   bool // there are only subscriptions that have ended
}

// sub is a subscription in the list.
type sub struct {
	Name, Image   string
	Chip          portal.Chip
	First, Second string
	Links         []portal.Action
}

func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	h, err := m.Homes.Home(r.Context(), v.Caller(r))
	if err != nil {
		return err
	}
	if len(h.Sheets) == 0 {
		return v.Answer(w, portal.Page{Name: "empty", Title: v.T("home.empty.title"), Lead: v.T("home.empty.text")})
	}
	s := screen{Banners: banners(v, h), Ended: true}
	if of, o, comes := h.Next(); comes {
		next := words.NextOf(v, of, o)
		when, name := words.InDays(v, o.BillingDate), words.Name(v, of.Contract)
		next.Heading = v.T("home.next")
		next.About = v.T("home.next.about", "when", when, "product", name, "every", words.Every(v, of.Contract.Billing))
		if of.Contract.Prepaid() {
			next.About = v.T("home.next.prepaid", "when", when, "product", name, "n", int(of.Contract.Deliveries()))
		}
		if committed := words.Committed(v, of); committed != "" {
			next.Notes = append(next.Notes, committed)
		}
		s.Next = &next
	}
	for _, sheet := range h.Sheets {
		s.Ended = s.Ended && sheet.Contract.Terminated()
		s.Subs = append(s.Subs, subOf(v, sheet))
	}
	customer := h.Sheets[0].Contract.Customer
	title := v.T("home.title")
	if customer.FirstName != "" {
		title = v.T("home.hello", "name", customer.FirstName)
	}
	return v.Answer(w, portal.Page{Name: "home", Title: title, Email: customer.Email, Content: s})
}

// banners returns what needs attention, the most urgent first. At most one button of the page is
// filled.
func banners(v portal.Visit, h overview.Home) []portal.Banner {
	var notices []words.Notice
	for _, s := range h.Sheets {
		notices = append(notices, words.Notices(v, s)...)
	}
	slices.SortStableFunc(notices, func(a, b words.Notice) int { return cmp.Compare(a.Urgency, b.Urgency) })
	list := make([]portal.Banner, len(notices))
	for i, n := range notices {
		list[i] = n.Banner
		list[i].Actions = slices.Clone(n.Actions)
		for a := range list[i].Actions {
			list[i].Actions[a].Main = list[i].Actions[a].Main && i == 0
		}
	}
	return list
}

func subOf(v portal.Visit, s overview.Sheet) sub {
	c := s.Contract
	name := words.Name(v, c)
	one := sub{Name: name, Chip: words.Status(v, s)}
	if len(c.Lines) > 0 {
		one.Image = c.Lines[0].Image
	}
	one.First, one.Second = words.Facts(v, s)
	about := v.T("action.about", "product", name)
	one.Links = append(one.Links, portal.Action{Text: v.T("action.manage"), About: about, Path: words.Path(c.ID)})
	switch {
	case s.Can.Allows(do.Resume) && c.Status == contract.Paused:
		one.Links = append(one.Links, portal.Action{Text: v.T("action.resume"), About: about, Path: words.Path(c.ID) + "/resume", Asks: true})
	case s.Can.Allows(do.Restart) && v.View.Has("/s/{contract}/restart"):
		one.Links = append(one.Links, portal.Action{Text: v.T("action.restart"), About: about, Path: words.Path(c.ID) + "/restart"})
	}
	return one
}
