package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/app/telemetry"
	"github.com/perennialhq/perennial/internal/deliver/signed"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/charge"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/job"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/shopify/accounts"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/sweep"
	"github.com/perennialhq/perennial/internal/web/admin"
	members "github.com/perennialhq/perennial/internal/web/loyalty"
	pages "github.com/perennialhq/perennial/internal/web/portal"
)

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
	var queue *inline
	if o.Inline {
		queue = &inline{}
		db = db.Fork(queue)
	}
	a, err := On(db, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a.inline = queue
	return a, nil
}

// accountTimeout is how long a request for a sign-in with a customer account may take at most: the
// customer waits for it.
const accountTimeout = 10 * time.Second

// On assembles the service on a database that is open and migrated. Nothing runs
// yet.
func On(db *store.DB, o Options) (*App, error) {
	a := &App{Store: db, options: o}
	var err error
	if a.Metrics, err = telemetry.NewMetrics(o.Version, newGauges(a)); err != nil {
		return nil, fmt.Errorf("set up the metrics: %w", err)
	}
	clientOptions := shopify.Options{
		BaseURL: o.Settings.PlatformURL, APIVersion: o.Settings.APIVersion, Timeout: o.Settings.CallTimeout, Log: o.Log, Observe: a.Metrics.Call,
	}
	if o.Simulated != nil {
		clientOptions.HTTP, clientOptions.Clock, clientOptions.Wait = &http.Client{Transport: o.Simulated.Platform}, o.Clock, o.Simulated.Wait
	}
	a.Connections = connections(a, db)
	if a.Connections != nil && !o.OwnTokens {
		clientOptions.Tokens = a.Connections
	}
	client := shopify.New(clientOptions)
	speedup := cmp.Or(o.Settings.WaitsScale, 1)
	env := &billing.Env{
		Store: db.Billing(), Platform: client, Plans: db, Clock: o.Clock, Log: o.Log, Policy: billing.DefaultPolicy().Divided(speedup), OneCaller: o.Simulated != nil,
	}
	a.Charge, a.Command, a.Explain = charge.New(env), &command.Service{Env: env}, explain.New(env, db)
	a.Confirm = &confirm.Service{Store: db.Confirm(), Clock: o.Clock}
	a.Swaps = &swap.Service{Store: db.Swaps(), Platform: client, Clock: o.Clock}
	a.Loyalty = &loyalty.Service{Store: db.Loyalty(), Reader: db, Platform: client, Clock: o.Clock, Log: o.Log}
	a.Intake = &intake.Service{
		Store: db.Intake(), Inbox: db.Inbox(), Webhooks: shopify.Webhooks{Secret: string(o.Settings.AppSecret), Other: string(o.Settings.MembershipsAppSecret)}, Platform: client,
		Billing: a.Charge, Prices: a.Charge.Prepare, Points: a.Loyalty, Clock: o.Clock, Log: o.Log, Policy: intake.DefaultPolicy().Divided(speedup), Callback: o.Settings.Callback(), ReconcileEvery: o.Settings.ReconcileEvery, Node: o.node(),
	}
	a.Access = &access.Service{Store: db.Access(), Clock: o.Clock, Log: o.Log}
	a.Requests = &requestlog.Service{Store: db, Clock: o.Clock, Log: o.Log, Dropped: a.Metrics.Dropped}
	sender := signed.New(o.Settings.PrivatePartners)
	a.callers = append(a.callers, client, sender)
	a.Partner = &partner.Service{
		Store: db.Partners(), Caller: sender, Clock: o.Clock, Log: o.Log, PlainHTTP: o.Settings.PrivatePartners,
	}
	a.Notify = &notify.Service{Store: db.Notify(), Clock: o.Clock, Log: o.Log, Policy: notify.DefaultPolicy().Divided(speedup)}
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
	a.Consents = &optin.Service{Store: db.SMSConsents(), Phones: db.Shops(), Clock: o.Clock}
	if o.Simulated == nil {
		a.sendSMS()
	}
	atAccounts := accounts.New(accounts.Options{BaseURL: o.Settings.PlatformURL, HTTP: clientOptions.HTTP, Timeout: min(o.Settings.CallTimeout, accountTimeout), Clock: o.Clock})
	a.callers = append(a.callers, atAccounts)
	a.Login = &login.Service{Store: db.Login(), Clock: o.Clock, PublicURL: o.Settings.PublicURL, Accounts: atAccounts}
	a.Retention = &retention.Service{Store: db.Retention(), Clock: o.Clock}
	a.Flows = &flow.Service{Store: db.CancelFlows(), Clock: o.Clock}
	texts, err := pages.Texts()
	if err != nil {
		return nil, err
	}
	a.Wording = &wording.Service{Store: db.Wording(), Catalogue: texts, Clock: o.Clock}
	a.Designs = &design.Service{Store: db.PortalDesigns(), Clock: o.Clock}
	a.Staff = newStaff(db, o)
	a.Privacy = &privacy.Service{Store: db.Privacy(), Clock: o.Clock, Log: o.Log, Remind: remindOfPrivacy(o.Clock)}
	a.Bundles = &bundle.Service{Store: db.BundleKeeping(), Clock: o.Clock}
	a.Plans = &plan.Service{Store: db.Plans(), Platform: client, Clock: o.Clock, Log: o.Log}
	a.Delivery = &delivery.Service{Store: db.Delivery(), Platform: client, Clock: o.Clock, Log: o.Log}
	a.changeContracts(client)
	a.Repair = &repair.Service{
		Store: db.Repair(), Platform: client, Billing: a.Charge, Clock: o.Clock, Log: o.Log,
		Policy: repair.Policy{Retry: time.Duration(float64(time.Minute) / speedup), Every: o.Settings.ReconcileEvery, Grace: 2 * o.Settings.ReconcileEvery, Horizon: env.Policy.Horizon},
	}
	a.Analytics = &analytics.Service{Store: db.Figures(), Clock: o.Clock}
	a.Webhooks = &webhook.Service{
		Store: db.Webhooks(), Sender: sender, Clock: o.Clock, Log: o.Log, PlainHTTP: o.Settings.PrivatePartners, MaxTasks: max(1, cmp.Or(o.Settings.Workers, job.DefaultMaxWorkers)/2),
	}
	sending := webhooks{a.Webhooks, admin.Bodies{
		Contracts: a.Edits, Book: db, Members: members.Bodies{Points: a.Loyalty, Book: db, Stores: db.Shops()}, Stores: db.Shops(),
	}}
	if err := a.writeLetters(); err != nil {
		return nil, err
	}
	a.Sweep = sweep.Sweep{Source: db.Shops(), Queue: db, Clock: o.Clock, Log: o.Log}
	a.handle(sending)
	if err := a.route(); err != nil {
		return nil, err
	}
	return a, nil
}
