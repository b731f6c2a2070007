// Package app assembles the service from its parts. It is the only place that
// knows all of them.
package app

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/app/telemetry"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/maildns"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing/charge"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/job"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/sweep"
	"github.com/perennialhq/perennial/internal/tracing"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/portal/letters"
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
	Tracer    tracing.Tracer   // marks requests and tasks
	Version   string           // of the program
	Dashboard Dashboard        // what only some installations show
	Resolver  maildns.Resolver // asks DNS about the sender of e-mails; nil: the machine's
	OwnTokens bool             // call stores with the tokens that an operator gives, whatever merchants have granted
	Inline    bool             // tasks are carried out by the caller of Work, and no worker runs; for one process alone
	BuildLate bool             // handlers are built for their first request, for a process that lives for a few of them
}

// Dashboard is what the dashboard shows beside the pages that all installations have.
type Dashboard struct {
	Rooms  []dashboard.Room
	Notice func(zone *time.Location) string // on every page of a store; nil: nothing
}

// Simulated is what a simulation puts in the place of the machine, in addition to the
// clock and the store's seam: whatever the service does then, it does in the
// goroutine that asked for it.
type Simulated struct {
	Platform http.RoundTripper // the way to the platform
	Peers    http.RoundTripper // the way to other services, to move contracts
	Wait     func(ctx context.Context, least, most time.Duration) error
	Mail     notify.Transport
	Keys     web.Keys // who may use the interface; nil: it is not served
}

// App is the assembled service.
type App struct {
	Subscriptions http.Handler // the subscriptions line, webhooks, documents and probes
	Memberships   http.Handler // the memberships line
	Ops           http.Handler // health, readiness, metrics
	Metrics       *telemetry.Metrics

	Store      *store.DB
	Charge     *charge.Service
	Command    *command.Service
	Confirm    *confirm.Service
	Explain    *explain.Service
	Swaps      *swap.Service
	Intake     *intake.Service
	Loyalty    *loyalty.Service
	Access     *access.Service
	Analytics  *analytics.Service
	Bulk       *bulk.Service
	Moves      *mover.Service
	Bundles    *bundle.Service
	Delivery   *delivery.Service
	Designs    *design.Service
	Notify     *notify.Service
	Templates  *mailtemplate.Service
	Letters    *letters.Writer
	Login      *login.Service
	Overview   *overview.Service
	Plans      *plan.Service
	Portal     *portal.Service
	Privacy    *privacy.Service
	Partner    *partner.Service
	Edits      *contractedit.Service
	Creations  *create.Service
	Splits     *split.Service
	Lifecycle  *lifecycle.Service
	Repair     *repair.Service
	Requests   *requestlog.Service
	Retention  *retention.Service
	Flows      *flow.Service
	Cancelling *session.Service
	Staff      *staff.Service
	Webhooks   *webhook.Service
	Wording    *wording.Service
	Consents   *optin.Service
	Sweep      sweep.Sweep
	// Connections gets the app into stores; nil: it has no client id.
	Connections *connection.Service

	options  Options
	inline   *inline         // nil: tasks are in the queue of the database
	sms      *deliver.Twilio // nil: no SMS are sent
	handlers job.Handlers
	jobs     *job.Runner
	callers  []interface{ CloseIdleConnections() } // what sends requests to others
}

// Do carries out a task here and now, as a worker would.
func (a *App) Do(ctx context.Context, t task.Task) error { return a.handlers.Do(ctx, t) }

// Close closes the database and the connections to others. The app must be stopped.
func (a *App) Close() error {
	a.Access.Wait()
	a.Partner.Wait()
	a.Requests.Wait()
	for _, c := range a.callers {
		c.CloseIdleConnections()
	}
	return a.Store.Close()
}

// Idle reports whether no task is running or could be run now.
func (a *App) Idle(ctx context.Context) (bool, error) {
	if a.inline != nil {
		return a.inline.idle(), nil
	}
	return a.Store.Idle(ctx)
}

// WaitIdle returns when no task is running or could be run now, or after some time at the latest.
func (a *App) WaitIdle(ctx context.Context, most time.Duration) error {
	if a.inline != nil {
		return nil
	}
	return a.Store.WaitIdle(ctx, most)
}

// NextDue returns the earliest instant at which the service has scheduled
// work.
func (a *App) NextDue(ctx context.Context) (time.Time, bool, error) {
	return a.Store.Shops().NextDue(ctx, a.options.Clock.Now())
}
