package app

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/admin"
	"github.com/perennialhq/perennial/internal/web/inbound"
	"github.com/perennialhq/perennial/internal/web/loyalty"
	"github.com/perennialhq/perennial/internal/web/partner"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// route builds the handlers of every audience. A simulation has webhooks and, with keys, the
// interface for subscriptions.
func (a *App) route() error {
	if s := a.options.Simulated; s != nil {
		frame := web.Frame{Log: a.options.Log}
		a.Subscriptions = inbound.New(a.Intake, frame)
		if s.Keys != nil {
			a.Subscriptions = a.simulated(frame, a.Subscriptions)
		}
		return nil
	}
	a.Ops = web.Ops(promhttp.HandlerFor(a.Metrics.Registry, promhttp.HandlerOpts{}), web.Check{Name: "database", Do: a.Store.Ping}, web.Check{Name: "writing", Do: a.writable()}, web.Check{Name: "mail", Do: mailSet(a.options.Settings.Mail)}, web.Check{Name: "frozen", Do: a.noneFrozen})
	secure := strings.HasPrefix(a.options.Settings.PublicURL, "https://")
	frame := web.Frame{Log: a.options.Log, TrustedProxies: a.options.Settings.TrustedProxies, Secure: secure, Unavailable: a.Store.Unavailable, Tracer: a.options.Tracer, Observe: a.Metrics.Request, Answered: a.logRequest}
	gate := web.Gate{
		Keys: a.Access, Partners: a.Partner,
		Limits:  web.Limits(a.Store.SharedBuckets(), web.Rate{PerSecond: a.options.Settings.RatePerSecond, Burst: a.options.Settings.RateBurst}),
		Answers: a.Store.Answers(), Clock: a.options.Clock,
	}
	points := a.built(func() http.Handler { return loyalty.New(loyalty.Options{Frame: frame, Gate: gate, Points: a.Loyalty}) })
	line := func(l shop.Line) http.Handler {
		return withLoyalty(points, a.built(func() http.Handler { return a.line(l, frame, gate) }))
	}
	pages, err := a.pages(frame)
	if err != nil {
		return err
	}
	shoppers := withPages(pages.Proxied, a.shoppers(frame))
	a.Memberships = web.AtRoot(frame.Around(front(shop.Memberships, false, false)), withShoppers(shoppers, line(shop.Memberships)))
	opsHere := a.options.Settings.OpsListen == ""
	subscriptions := web.AtRoot(frame.Around(front(shop.Subscriptions, true, opsHere)), withShoppers(shoppers, line(shop.Subscriptions)))
	if host := a.options.Settings.MembershipsHost; host != "" {
		subscriptions = byHost(host, a.Memberships, subscriptions)
	}
	ops := a.Ops
	if !opsHere {
		ops = subscriptions
		a.Ops = web.AtRoot(frame.Around(opsFront()), a.Ops)
	}
	boards, err := a.checked(frame, func() (http.Handler, error) { return a.dashboard(frame) })
	if err != nil {
		return err
	}
	apps := a.built(func() http.Handler {
		return partner.New(partner.Options{Frame: frame, Gate: gate, Service: a.Partner, PublicURL: a.options.Settings.PublicURL})
	})
	a.Subscriptions = byPath(inbound.New(a.Intake, frame), a.returns(frame), a.texts(frame), apps, ops, a.ownShoppers(frame, secure, pages.Own), withDashboard(boards, subscriptions))
	if a.Connections != nil {
		if a.Subscriptions, err = a.withInstallation(frame, a.Subscriptions); err != nil {
			return err
		}
	}
	return nil
}

// built returns the handler that build makes: now or, where the options say so, for its first request.
func (a *App) built(build func() http.Handler) http.Handler {
	if !a.options.BuildLate {
		return build()
	}
	made := sync.OnceValue(build)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { made().ServeHTTP(w, r) })
}

// checked does the same with a handler that may not be made. One that is made late and fails answers so.
func (a *App) checked(frame web.Frame, build func() (http.Handler, error)) (http.Handler, error) {
	if !a.options.BuildLate {
		return build()
	}
	return a.built(func() http.Handler {
		made, err := build()
		if err != nil {
			return frame.Around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { web.WriteError(w, r, err) }))
		}
		return made
	}), nil
}

// pages returns the pages of customers, each of its two handlers as checked has them.
func (a *App) pages(frame web.Frame) (portal.Portal, error) {
	both := sync.OnceValues(func() (portal.Portal, error) { return a.portal(frame) })
	one := func(pick func(portal.Portal) http.Handler) (http.Handler, error) {
		return a.checked(frame, func() (http.Handler, error) {
			made, err := both()
			return pick(made), err
		})
	}
	own, err := one(func(p portal.Portal) http.Handler { return p.Own })
	if err != nil {
		return portal.Portal{}, err
	}
	proxied, err := one(func(p portal.Portal) http.Handler { return p.Proxied })
	return portal.Portal{Own: own, Proxied: proxied}, err
}

// line builds the interface of a line.
func (a *App) line(l shop.Line, frame web.Frame, gate web.Gate) http.Handler {
	return admin.New(admin.Options{
		Line: l, Frame: frame, Gate: gate, Trail: a.Store, Search: a.Store, Book: a.Store, Billing: a.Command, Explainer: a.Explain, Keys: a.Access, Connections: a.Partner, Webhooks: a.Webhooks, Events: a.Webhooks, Delivery: a.Delivery, Bundles: a.Bundles, Shelf: a.Store,
		Edits: a.Edits, Creations: a.Creations, Splits: a.Splits, Lifecycle: a.Lifecycle, Shown: a.Edits,
		Swaps: a.Swaps, SwapBook: a.Store, Preview: a.Charge.Prepare, OneOffs: a.Command, OneOffBook: a.Store, Mails: a.Store,
		Upcoming: a.Command, Reports: a.Store, Customers: a.Store, Syncer: a.Intake, Links: a.Login, Plans: a.Plans, PlanBook: a.Store, Sold: a.Store,
		Notifications: a.Store, Resender: a.Notify, Preferences: a.Portal, Consents: a.Consents,
	})
}

// simulated adds the interface for subscriptions to the webhooks of a simulation. It is built once it
// is used: most processes of a simulation die before.
func (a *App) simulated(frame web.Frame, webhooks http.Handler) http.Handler {
	subscriptions := sync.OnceValue(func() http.Handler {
		s := a.options.Simulated
		return a.line(shop.Subscriptions, frame, web.Gate{Keys: s.Keys, Limits: unlimited{}, Answers: a.Store.Answers(), Clock: a.options.Clock})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/webhooks/") {
			webhooks.ServeHTTP(w, r)
			return
		}
		subscriptions().ServeHTTP(w, r)
	})
}

// unlimited lets every request through.
type unlimited struct{}

// Take grants it.
func (unlimited) Take(context.Context, access.Bucket) (web.Allowance, error) {
	return unlimited{}.Full(), nil
}

// Full is of no end.
func (unlimited) Full() web.Allowance { return web.Allowance{Granted: true} }

// logRequest writes a request of a key to the API log.
func (a *App) logRequest(r web.Answered) {
	a.Requests.Add(r.Shop, requestlog.Entry{
		Key: r.Key, KeyName: r.KeyName, App: r.App, Method: r.Method, Path: r.Path, Parameters: r.Parameters, Status: r.Status, Took: r.Took, RequestID: r.RequestID,
	})
}

// returns takes what the provider of e-mail reports; nil when none is set.
func (a *App) returns(frame web.Frame) http.Handler {
	key := string(a.options.Settings.MailgunKey)
	if key == "" {
		return nil
	}
	return inbound.Returns{Provider: "mailgun", Read: deliver.Mailgun{Key: key, Clock: a.options.Clock}.Read, Take: a.Notify.Returned}.Handler(frame)
}

// byPath routes webhooks, what providers report, probes and portal pages to their handlers and all else to
// the interface, which answers 404 for an unknown path.
func byPath(webhooks, returns, texts, apps, ops, pages, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/webhooks" || strings.HasPrefix(path, "/webhooks/"):
			webhooks.ServeHTTP(w, r)
		case returns != nil && strings.HasPrefix(path, inbound.ReturnsPath):
			returns.ServeHTTP(w, r)
		case texts != nil && (path == inbound.SMSPath || strings.HasPrefix(path, inbound.SMSPath+"/")):
			texts.ServeHTTP(w, r)
		case path == "/healthz" || path == "/readyz" || path == "/metrics":
			ops.ServeHTTP(w, r)
		case strings.HasPrefix(path, portal.Path):
			pages.ServeHTTP(w, r)
		case strings.HasPrefix(path, partner.Path):
			apps.ServeHTTP(w, r)
		default:
			otherwise.ServeHTTP(w, r)
		}
	})
}

// byHost answers requests for one host name with one handler and all others with
// another.
func byHost(name string, there, elsewhere http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		if strings.EqualFold(host, name) {
			there.ServeHTTP(w, r)
			return
		}
		elsewhere.ServeHTTP(w, r)
	})
}
