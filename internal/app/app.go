// Package app assembles the service from its parts. It is the only place that
// knows all of them.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/deliver/signed"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/charge"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/job"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/sweep"
	"github.com/perennialhq/perennial/internal/web/admin"
	members "github.com/perennialhq/perennial/internal/web/loyalty"
)

// The kinds of installation: a sandbox's database is never served in earnest.
const (
	Production = store.Production
	Sandbox    = store.Sandbox
)

// Options say what to assemble.
type Options struct {
	Settings  config.Server
	Clock     clock.Clock
	Log       *slog.Logger
	Kind      store.Kind
	Migrate   bool          // create the database when it is not there, and bring it up to date
	Relaxed   bool          // commits may be lost with the machine; for the sandbox
	Cooldown  time.Duration // between looks for jobs at the least; 0: the queue's default
	Simulated *Simulated
}

// Simulated is what a simulation puts in the place of the machine, besides the
// clock and the store's seam: whatever the service does then, it does in the
// goroutine that asked for it.
type Simulated struct {
	Platform http.RoundTripper // the way to the platform
	Wait     func(ctx context.Context, least, most time.Duration) error
	Mail     notify.Transport
}

// App is the assembled service.
type App struct {
	Subscriptions http.Handler // the subscriptions line, webhooks, documents and probes
	Memberships   http.Handler // the memberships line
	Ops           http.Handler // health, readiness, metrics

	Store     *store.DB
	Charge    *charge.Service
	Command   *command.Service
	Explain   *explain.Service
	Swaps     *swap.Service
	Intake    *intake.Service
	Loyalty   *loyalty.Service
	Access    *access.Service
	Bundles   *bundle.Service
	Delivery  *delivery.Service
	Notify    *notify.Service
	Login     *login.Service
	Plans     *plan.Service
	Partner   *partner.Service
	Edits     *contractedit.Service
	Creations *create.Service
	Splits    *split.Service
	Lifecycle *lifecycle.Service
	Repair    *repair.Service
	Retention *retention.Service
	Webhooks  *webhook.Service
	Sweep     sweep.Sweep

	options  Options
	handlers job.Handlers
	jobs     *job.Runner
	callers  []interface{ CloseIdleConnections() } // what sends requests to others
}

// New opens the database, which must be up to date unless the options have it migrated,
// and assembles the service. Nothing runs yet.
func New(ctx context.Context, o Options) (*App, error) {
	db, err := open(ctx, o.Settings.Database, opening{create: o.Migrate, relaxed: o.Relaxed})
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, db, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a, err := On(db, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

// On assembles the service on a database that is open and migrated. Nothing runs
// yet.
func On(db *store.DB, o Options) (*App, error) {
	a := &App{Store: db, options: o}
	way := shopify.Options{
		BaseURL: o.Settings.PlatformURL, APIVersion: o.Settings.APIVersion, Timeout: o.Settings.CallTimeout, Log: o.Log,
	}
	if o.Simulated != nil {
		way.HTTP, way.Clock, way.Wait = &http.Client{Transport: o.Simulated.Platform}, o.Clock, o.Simulated.Wait
	}
	client := shopify.New(way)
	hurry := cmp.Or(o.Settings.WaitsScale, 1)
	env := &billing.Env{
		Store: db.Billing(), Platform: client, Plans: db, Clock: o.Clock, Log: o.Log, Policy: billing.DefaultPolicy().Divided(hurry), OneCaller: o.Simulated != nil,
	}
	a.Charge, a.Command, a.Explain = charge.New(env), &command.Service{Env: env}, explain.New(env, db)
	a.Swaps = &swap.Service{Store: db.Swaps(), Platform: client, Clock: o.Clock}
	a.Loyalty = &loyalty.Service{Store: db.Loyalty(), Reader: db, Platform: client, Clock: o.Clock, Log: o.Log}
	a.Intake = &intake.Service{
		Store: db.Intake(), Inbox: db.Inbox(), Webhooks: shopify.Webhooks{Secret: string(o.Settings.AppSecret)}, Platform: client,
		Billing: a.Charge, Prices: a.Charge.Prepare, Points: a.Loyalty, Clock: o.Clock, Log: o.Log, Policy: intake.DefaultPolicy().Divided(hurry), Callback: o.Settings.Callback(), ReconcileEvery: o.Settings.ReconcileEvery,
	}
	a.Access = &access.Service{Store: db.Access(), Clock: o.Clock, Log: o.Log}
	sender := signed.New(o.Settings.PrivatePartners)
	a.callers = append(a.callers, client, sender)
	a.Partner = &partner.Service{
		Store: db.Partners(), Caller: sender, Clock: o.Clock, Log: o.Log, PlainHTTP: o.Settings.PrivatePartners,
	}
	a.Notify = &notify.Service{Store: db.Notify(), Clock: o.Clock, Log: o.Log, Policy: notify.DefaultPolicy().Divided(hurry)}
	server, err := mailServer(o.Settings.Mail)
	if err != nil {
		return nil, err
	}
	if server != nil {
		a.Notify.Transport = server
	}
	if o.Simulated != nil {
		a.Notify.Transport = o.Simulated.Mail
	}
	a.Login = &login.Service{Store: db.Login(), Clock: o.Clock, PublicURL: o.Settings.PublicURL}
	a.Retention = &retention.Service{Store: db.Retention(), Clock: o.Clock}
	a.Bundles = &bundle.Service{Store: db.BundleKeeping(), Clock: o.Clock}
	a.Plans = &plan.Service{Store: db.Plans(), Platform: client, Clock: o.Clock, Log: o.Log}
	a.Delivery = &delivery.Service{Store: db.Delivery(), Platform: client, Clock: o.Clock, Log: o.Log}
	a.changeContracts(client)
	a.Repair = &repair.Service{
		Store: db.Repair(), Platform: client, Billing: a.Charge, Clock: o.Clock, Log: o.Log,
		Policy: repair.Policy{Retry: time.Duration(float64(time.Minute) / hurry), Every: o.Settings.ReconcileEvery, Grace: 2 * o.Settings.ReconcileEvery, Horizon: env.Policy.Horizon},
	}
	bodies := admin.Bodies{Contracts: a.Edits, Book: db, Members: members.Bodies{Points: a.Loyalty, Book: db, Stores: db.Shops()}, Stores: db.Shops()}
	a.Webhooks = &webhook.Service{
		Store: db.Webhooks(), Renderer: bodies, Sender: sender,
		Clock: o.Clock, Log: o.Log, PlainHTTP: o.Settings.PrivatePartners, MaxTasks: max(1, cmp.Or(o.Settings.Workers, job.DefaultMaxWorkers)/2),
	}
	a.Sweep = sweep.Sweep{Source: db.Shops(), Queue: db, Clock: o.Clock, Log: o.Log}
	job.Handle(&a.handlers, func(ctx context.Context, t billing.Task) error { return a.Charge.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t intake.ProcessEvents) error { return a.Intake.ProcessEvents(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t loyalty.Work) error { return a.Loyalty.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t intake.Reconcile) error { return a.Intake.Reconcile(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t repair.Check) error { return a.Repair.Check(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t partner.Work) error { return a.Partner.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t webhook.Work) error { return a.Webhooks.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t notify.Work) error { return a.Notify.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t plan.Repair) error { return a.Plans.Repair(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t delivery.Work) error { return a.Delivery.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t lifecycle.RunDue) error { return a.Lifecycle.RunDue(ctx, t.Shop) })
	if err := a.route(); err != nil {
		return nil, err
	}
	return a, nil
}

// Do carries out a task here and now, as a worker would.
func (a *App) Do(ctx context.Context, t task.Task) error { return a.handlers.Do(ctx, t) }

// opening says how a database is opened.
type opening struct {
	create  bool // when it is not there
	relaxed bool
}

func open(ctx context.Context, d config.Database, how opening) (*store.DB, error) {
	key, err := d.Key()
	if err != nil {
		return nil, err
	}
	others, err := d.Others()
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, store.Options{URL: d.Database, SecretKey: key[:], OtherKeys: others, Create: how.create, Relaxed: how.relaxed, Subscribers: Subscribers()})
}

func prepare(ctx context.Context, db *store.DB, o Options) error {
	ready := upToDate
	if o.Migrate {
		ready = func(ctx context.Context, db *store.DB) error { return db.Migrate(ctx) }
	}
	if err := ready(ctx, db); err != nil {
		return err
	}
	if err := db.CheckRowSecurity(ctx); err != nil {
		o.Log.Warn("the database does not keep stores apart", "error", err)
	}
	return db.Claim(ctx, o.Kind)
}

// Start begins to work tasks. Nothing is charged before the platform has confirmed
// that this installation charges its stores.
func (a *App) Start(ctx context.Context) error {
	place, err := a.place(ctx)
	if err != nil {
		return err
	}
	if err := a.Repair.SetPlace(ctx, place); err != nil {
		return fmt.Errorf("say where the installation lives: %w", err)
	}
	a.jobs, err = a.Store.Run(ctx, &a.handlers, job.Options{
		MaxWorkers: a.options.Settings.Workers, PollOnly: a.options.Settings.PollOnly, PollInterval: a.options.Settings.JobPoll, Cooldown: a.options.Cooldown, Log: a.options.Log,
	})
	if err != nil {
		return fmt.Errorf("start the workers: %w", err)
	}
	return nil
}

// Stop takes up no more tasks and waits for those that run, until ctx ends.
func (a *App) Stop(ctx context.Context) error {
	if a.jobs == nil {
		return nil
	}
	err := a.jobs.Stop(ctx)
	a.jobs = nil
	return err
}

// Close closes the database and the connections to others. The app must be stopped.
func (a *App) Close() error {
	a.Access.Wait()
	a.Partner.Wait()
	for _, c := range a.callers {
		c.CloseIdleConnections()
	}
	return a.Store.Close()
}

// Idle reports whether no task is running or could be run now.
func (a *App) Idle(ctx context.Context) (bool, error) { return a.Store.Idle(ctx) }

// NextDue returns the earliest instant at which the service has something to do
// by itself.
func (a *App) NextDue(ctx context.Context) (time.Time, bool, error) {
	return a.Store.Shops().NextDue(ctx, a.options.Clock.Now())
}
