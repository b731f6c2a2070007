package home

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// step is a step of the setup guide.
type step struct {
	Title  string
	Done   bool
	Detail string // what is so
	Todo   string // what to do; empty when it is done
	Path   string // of the page on which to do it, below the store's; empty: there is none
}

// guide returns the steps of the setup, in the order in which they are done.
func guide(v dashboard.Visit, s State) []step {
	of, date := v.Shop, v.Day
	done := func(title, detail string) step { return step{Title: title, Done: true, Detail: detail} }
	todo := func(title, detail, what string) step { return step{Title: title, Detail: detail, Todo: what} }
	var steps []step
	add := func(is bool, yes, no step) {
		if is {
			no = yes
		}
		steps = append(steps, no)
	}
	add(s.Connected, done("Connect the store", of.Domain+", connected on "+date(of.CreatedAt)),
		todo("Connect the store", "The platform no longer accepts the app's access, so nothing is charged.", "Install the app again in the store's admin."))
	if s.ScopesKnown {
		add(len(s.Missing) == 0, done("Grant what the app needs", "The store has granted everything."),
			todo("Grant what the app needs", "Missing: "+strings.Join(s.Missing, "; ")+".", "Open the app in the store's admin and agree to the new permissions."))
	}
	switch {
	case s.WebhookError != "":
		steps = append(steps, todo("Receive webhooks", "The platform refuses: "+s.WebhookError, "Ask the operator of the service to look at its public URL."))
	case !s.WebhookURL:
		steps = append(steps, todo("Receive webhooks", "The service has no public URL, so the platform cannot report changes.", "Ask the operator to set PERENNIAL_PUBLIC_URL."))
	default:
		add(s.Subscribed, done("Receive webhooks", "The platform reports changes as they happen."),
			todo("Receive webhooks", "The platform has not been asked yet.", "Wait a minute: the service does this itself after the store is connected."))
	}
	switch {
	case !of.Guard.AwaitsSince.IsZero():
		confirm := todo("Confirm charging", "Nothing is charged before you have seen what will be.", "Look at the orders of the next 7 days and confirm them.")
		confirm.Path = "/charging"
		steps = append(steps, confirm)
	case !of.Guard.ConfirmedAt.IsZero():
		by := ""
		if of.Guard.ConfirmedBy != "" {
			by = " by " + of.Guard.ConfirmedBy
		}
		steps = append(steps, done("Confirm charging", "Orders are charged, confirmed"+by+" on "+date(of.Guard.ConfirmedAt)+"."))
	}
	plans := todo("Create a plan", "Customers subscribe by choosing a plan at a product.", "Create a plan group, and add products to it.")
	plans.Path = "/plans"
	add(s.Plans, done("Create a plan", "The store has a plan that customers can choose."), plans)
	add(s.Mail, done("Set up e-mail", "Customers get e-mails about their orders."),
		todo("Set up e-mail", "No mail server is set, so e-mails wait.", "Ask the operator to set PERENNIAL_MAIL_HOST and PERENNIAL_MAIL_FROM."))
	add(!s.ProxySeen.IsZero(), done("Open the customer portal", "The store's app proxy forwards customers, first on "+date(s.ProxySeen)+"."),
		todo("Open the customer portal", "No customer has come through the store's app proxy yet.", "Set the app proxy in the app's settings at the platform, then open the portal once in the store."))
	add(s.Contracts, done("Place a test order", "The first contract has arrived."),
		todo("Place a test order", "No contract has arrived yet.", "Subscribe to a product in the store with a test payment."))
	return steps
}

// homePage is what the first page shows.
type homePage struct {
	Steps []step
	Done  int
	Next  int    // index of the first step that is not done; len(Steps): all are
	Base  string // of the addresses of steps, with Query behind them
	Query string
	Gone  *dashboard.Departure // nil: the store has the app

	Folded  bool // the guide is: what is left of it does not keep orders from being charged
	Lazy    bool // the script asks for the figures
	Figures *figures
	Items   []item
	Events  []event
}

// Left returns the steps that are not done, in words.
func (p homePage) Left() string {
	if n := len(p.Steps) - p.Done; n != 1 {
		return fmt.Sprintf("%d steps are left.", n)
	}
	return "One step is left."
}

func (m *room) home(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	state, err := m.Setup.State(r.Context(), v.Shop)
	if err != nil {
		return err
	}
	p := homePage{Steps: guide(v, state), Base: v.View.Base, Query: v.View.Query}
	p.Next = len(p.Steps)
	for i, s := range p.Steps {
		if s.Done {
			p.Done++
		} else {
			p.Next = min(p.Next, i)
		}
	}
	departed, err := m.Syncs.Departure(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p.Folded = p.Done == len(p.Steps) || state.Contracts && state.Connected && v.Shop.Guard.AwaitsSince.IsZero()
	if state.Contracts {
		if err := m.fill(r, v, &p); err != nil {
			return err
		}
	}
	now := m.Clock.Now().In(v.Zone)
	p.Gone = v.Departure(departed, now)
	return v.Answer(w, dashboard.Page{
		Name: "home", Title: "Home", Lead: now.Format("Monday, 2 January 2006") + ", store time " + now.Format("15:04 MST") + ".", Content: p,
	})
}

// fill adds what a store with contracts has. Figures that are not at hand are left to the
// script, or to a reader who asks for them.
func (m *room) fill(r *http.Request, v dashboard.Visit, p *homePage) (err error) {
	if p.Items, err = m.attention(r, v); err != nil {
		return err
	}
	if p.Events, err = m.events(r, v); err != nil {
		return err
	}
	_, known := m.cache.get(v.Shop.ID, m.Clock.Now())
	if p.Lazy = !known && r.URL.Query().Get("figures") == ""; p.Lazy {
		return nil
	}
	o, err := m.overview(r.Context(), v.Shop)
	if err != nil {
		return err
	}
	p.Figures = tiles(v, o)
	return nil
}
