package app

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/support"
	queue "github.com/perennialhq/perennial/internal/domain/upcoming"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/admin"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	log "github.com/perennialhq/perennial/internal/web/dashboard/activity"
	figures "github.com/perennialhq/perennial/internal/web/dashboard/analytics"
	"github.com/perennialhq/perennial/internal/web/dashboard/apilog"
	"github.com/perennialhq/perennial/internal/web/dashboard/bulk"
	"github.com/perennialhq/perennial/internal/web/dashboard/cancellations"
	"github.com/perennialhq/perennial/internal/web/dashboard/contract"
	"github.com/perennialhq/perennial/internal/web/dashboard/contracts"
	"github.com/perennialhq/perennial/internal/web/dashboard/home"
	"github.com/perennialhq/perennial/internal/web/dashboard/keys"
	"github.com/perennialhq/perennial/internal/web/dashboard/look"
	"github.com/perennialhq/perennial/internal/web/dashboard/mails"
	"github.com/perennialhq/perennial/internal/web/dashboard/moves"
	"github.com/perennialhq/perennial/internal/web/dashboard/partners"
	"github.com/perennialhq/perennial/internal/web/dashboard/payments"
	"github.com/perennialhq/perennial/internal/web/dashboard/people"
	"github.com/perennialhq/perennial/internal/web/dashboard/plans"
	"github.com/perennialhq/perennial/internal/web/dashboard/sender"
	"github.com/perennialhq/perennial/internal/web/dashboard/settings"
	"github.com/perennialhq/perennial/internal/web/dashboard/swaps"
	"github.com/perennialhq/perennial/internal/web/dashboard/texts"
	"github.com/perennialhq/perennial/internal/web/dashboard/upcoming"
	hooks "github.com/perennialhq/perennial/internal/web/dashboard/webhooks"
)

// newStaff returns the service of the users of the dashboard. In a sandbox, whose time
// moves, people live by real time, and their passwords protect nothing.
func newStaff(db *store.DB, o Options) *staff.Service {
	s := &staff.Service{Store: db.Staff(), Clock: o.Clock, RealClock: o.Clock, PublicURL: strings.TrimSuffix(o.Settings.PublicURL, "/")}
	if o.Kind == Sandbox {
		s.RealClock, s.LightHashes = clock.System{}, true
	}
	return s
}

// dashboard builds the pages of the people of a store.
func (a *App) dashboard(frame web.Frame) (http.Handler, error) {
	sampler, err := a.sampler(frame)
	if err != nil {
		return nil, err
	}
	return dashboard.New(dashboard.Options{
		Frame: frame, Staff: a.Staff, Clock: a.options.Clock, Secure: frame.Secure, Embed: a.embedding(), Rooms: append(a.rooms(sampler), a.options.Dashboard.Rooms...),
		Notice: a.options.Dashboard.Notice,
	})
}

// rooms returns the parts of the dashboard, in the order of the navigation.
func (a *App) rooms(sampler look.Samples) []dashboard.Room {
	now := a.options.Clock
	return []dashboard.Room{
		home.New(home.Options{
			Setup: setup{a.Store, a.options, a.Connections}, Syncs: a.Intake, Figures: a.Analytics, Endpoints: a.Webhooks, Partners: a.Partner, Log: a.Store, Clock: now,
		}),
		contracts.New(contracts.Options{
			Directory: a.Store, Views: &savedview.Service{Store: a.Store.SavedViews(), Clock: now}, Clock: now, Search: admin.ContractFilter,
			PublicURL: a.options.Settings.PublicURL,
		}),
		upcoming.New(upcoming.Options{Queue: &queue.Service{Store: a.Store.Upcoming()}, Orders: a.Command, Clock: now}),
		payments.New(payments.Options{Cases: a.Store, Figures: a.Analytics, Orders: a.Command, Statuses: a.Lifecycle, Links: a.Edits, Clock: now}),
		cancellations.New(cancellations.Options{Flows: a.Flows, Reports: &report.Service{Store: a.Store.CancelReports(), Clock: now}, Figures: a.Analytics, Clock: now}),
		figures.New(figures.Options{Figures: a.Analytics, Clock: now}),
		contract.New(contract.Options{
			Sheets: &support.Service{Store: a.Store.Support(), Clock: now}, Orders: a.Command, Statuses: a.Lifecycle, Terms: a.Edits, Platform: a.Edits, Links: a.Login,
			Explainer: a.Explain, Bundles: a.Store, Clock: now,
		}),
		bulk.New(bulk.Options{Jobs: a.Bulk, Clock: now, Search: admin.ContractFilter}),
		plans.New(plans.Options{Book: a.Store, Groups: a.Plans, Figures: a.Analytics, Clock: now}),
		swaps.New(swaps.Options{Rules: a.Swaps, Book: a.Store, Preview: a.Charge.Prepare}),
		settings.New(settings.Options{Changes: a, Failures: a.Store, Charging: a.Confirm, Syncs: a.Intake, Privacy: a.Privacy, Portal: a.Portal, Accounts: a.Login, Clock: now}),
		look.New(look.Options{Designs: a.Designs, Samples: sampler}),
		texts.New(texts.Options{Wordings: a.Wording, Catalogue: a.Wording.Catalogue, Clock: now}),
		mails.New(mails.Options{
			Templates: a.Templates, Letters: previews{a.Letters}, Languages: a.Wording.Catalogue.Languages(), Contracts: &support.Service{Store: a.Store.Support(), Clock: now}, Sender: a.Notify, Addresses: a.Store, Switches: a,
		}),
		sender.New(sender.Options{Account: mailAccount(a.options.Settings.Mail), Resolver: a.resolver(), Letters: a.Letters, Sender: a.Notify, Clock: now}),
		moves.New(moves.Options{Moves: a.Moves, Book: a.Store}),
		people.New(people.Options{Staff: a.Staff}),
		log.New(log.Options{Log: a.Store, Criteria: admin.EntryCriteria, Clock: now}),
		keys.New(keys.Options{Keys: a.Access, Clock: now}),
		hooks.New(hooks.Options{Endpoints: a.Webhooks, Deliveries: a.Webhooks, Clock: now}),
		partners.New(partners.Options{Partners: a.Partner, Clock: now}),
		apilog.New(apilog.Options{Requests: a.Requests, Keys: a.Access, Clock: now}),
	}
}

// embedding returns what the dashboard needs in the platform's admin, or nil when the
// settings have no app that could be opened there.
func (a *App) embedding() *dashboard.Embedding {
	if a.Connections == nil {
		return nil
	}
	p := a.options.Settings.Platform
	return &dashboard.Embedding{
		ClientID: p.ClientID, Bridge: p.AppBridge, Ancestors: ancestors(p.PlatformURL),
		Verify: func(token string) (domain, user string, err error) {
			session, err := a.Connections.Authenticate(connection.Primary, token)
			return session.Shop, session.User, err
		},
	}
}

// setup says which steps of a store's setup are done.
type setup struct {
	db          *store.DB
	options     Options
	connections *connection.Service // nil: stores are connected with tokens of custom apps
}

// proxyStep is the mark of the first shopper that the platform has forwarded.
const proxyStep = "proxy"

// State returns what is known of the setup.
func (s setup) State(ctx context.Context, of shop.Shop) (home.State, error) {
	state := home.State{
		Connected: of.Connected, WebhookURL: s.options.Settings.PublicURL != "", Subscribed: !of.ReconciledAt.IsZero() || !of.Reading.Started.IsZero(),
		WebhookError: of.SubscribeError, Mail: s.options.Settings.MailHost != "",
	}
	if s.connections != nil {
		list, err := s.connections.Connections(ctx, of.ID)
		if err != nil {
			return state, err
		}
		state.ScopesKnown = len(list) > 0
		for _, c := range list {
			for _, scope := range c.Missing() {
				state.Missing = append(state.Missing, scope.Why)
			}
		}
	}
	var err error
	if state.Plans, err = s.db.Shops().HasPlans(ctx, of.ID); err != nil {
		return state, err
	}
	if state.Contracts, err = s.db.Shops().HasContracts(ctx, of.ID); err != nil {
		return state, err
	}
	state.ProxySeen, err = s.db.Shops().SetupMark(ctx, of.ID, proxyStep)
	return state, err
}

// seenProxy notes the first shopper of each store that the platform has forwarded.
type seenProxy struct {
	login.ProxyAuthenticator
	db   *store.DB
	seen *sync.Map // shop.ID: noted by this process
}

// Enter lets a shopper in.
func (p seenProxy) Enter(r *http.Request, query url.Values, named bool) (login.Visitor, error) {
	ctx := r.Context()
	v, err := p.ProxyAuthenticator.Enter(ctx, query, named)
	if err != nil {
		return v, err
	}
	if _, noted := p.seen.Load(v.Shop); !noted {
		if err := p.db.Shops().MarkSetup(ctx, v.Shop, proxyStep, p.Clock.Now()); err != nil {
			return v, err
		}
		p.seen.Store(v.Shop, true)
	}
	return v, nil
}

// withDashboard serves the pages of the dashboard beside another handler.
func withDashboard(pages, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == dashboard.Path || strings.HasPrefix(r.URL.Path, dashboard.Path+"/") {
			pages.ServeHTTP(w, r)
			return
		}
		otherwise.ServeHTTP(w, r)
	})
}
