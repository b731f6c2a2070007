package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/schema"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/install"
)

// The names of instances.
const (
	firstName  = "first"
	secondName = "second"
)

// instance is the service as one app of the platform, with a database, secrets and ports of its own.
type instance struct {
	box    *Sandbox
	name   string
	client string // client id of its app

	database string
	vault    vault
	own      *appSecrets
	urls     URLs
	front    front
	catch    *catcher
	faults   instanceFaults
}

// first reports whether it is the first instance, which the sandbox always has.
func (i *instance) first() bool { return i.name == firstName }

// open opens what the instance needs before its ports are known.
func (i *instance) open(ctx context.Context) (err error) {
	if i.vault, err = openVault(i.database); err != nil {
		return err
	}
	if i.catch, err = openCatcher(ctx, i.box.mails, i.mailName()); err != nil {
		return fmt.Errorf("begin to catch mail: %w", err)
	}
	return nil
}

// mailName is what e-mails of the instance say of their sender; empty when there is one instance.
func (i *instance) mailName() string {
	if i.box.second == nil {
		return ""
	}
	return i.name
}

// app returns the instance's app as its developer sets it at the platform.
func (i *instance) app(name string) simulator.AppSettings {
	return simulator.AppSettings{
		ClientID: i.client, Secret: i.own.AppSecret, Name: name, URL: i.urls.Subscriptions + install.EntryPath,
		Redirects: []string{connection.Redirect(i.urls.Subscriptions, connection.Primary)}, OwnContracts: true,
	}
}

// openService opens the service on its database and begins to work.
func (i *instance) openService(ctx context.Context) error {
	s := i.box
	apps := config.Platform{
		PlatformURL: s.urls.Platform + "/store/{shop}", APIVersion: schema.Version, AppSecret: config.Secret(i.own.AppSecret), PublicURL: i.urls.Subscriptions,
		ClientID: i.client, AppBridge: s.urls.Platform + "/app-bridge.js",
		CallTimeout: callTimeout,
	}
	extra := app.Dashboard{Notice: s.timeNotice}
	if i.first() {
		extra.Rooms = []dashboard.Room{s.timeRoom()}
		if s.options.MembershipsApp {
			apps.MembershipsClientID, apps.MembershipsAppSecret = membershipsClientID, config.Secret(s.secrets.MembershipsAppSecret)
		}
	}
	a, err := app.New(ctx, app.Options{
		Settings: config.Server{
			Database: config.Database{Data: config.Data{Database: i.database}, SecretKey: config.Secret(i.own.DatabaseKey)},
			Platform: apps,
			Mail:     config.Mail{MailHost: mailHost, MailPort: i.catch.port, MailFrom: mailFrom, MailTLS: "none", MailTimeout: mailWait, DKIMSelector: dkimSelector},
			SMS: config.SMS{
				SMSProvider: "twilio", SMSAccount: smsAccount, SMSToken: config.Secret(s.texts.token), SMSFrom: smsFrom, SMSTimeout: smsWait, SMSURL: "http://" + net.JoinHostPort(mailHost, strconv.Itoa(s.texts.port)),
			},
			Web: true, Work: true, Workers: workers, JobPoll: jobPoll, ReconcileEvery: s.options.CheckEvery,
			RatePerSecond: ratePerSecond, RateBurst: rateBurst, PrivatePartners: true,
		},
		Clock: s.clock, Log: s.log, Kind: app.Sandbox, Migrate: true, Relaxed: true, Cooldown: jobCooldown, Inline: s.options.Inline, BuildLate: s.options.Inline,
		Dashboard: extra, Resolver: names{},
	})
	if err != nil {
		return fmt.Errorf("open the service: %w", err)
	}
	i.front.exchange(a)
	// A process that was killed leaves jobs that seem to run. No worker has
	// them, and the sweeps find their work again.
	if err := i.vault.forgetRunning(ctx); err != nil {
		return fmt.Errorf("clear the queue: %w", err)
	}
	return a.Start(s.working)
}

// closeService stops the service, if it runs.
func (i *instance) closeService(ctx context.Context) []error {
	a := i.front.running()
	if a == nil {
		return nil
	}
	return []error{a.Stop(ctx), a.Close()}
}

// stores returns the demo stores that the instance serves: the second one serves the main store alone.
func (i *instance) stores() []demo.Store {
	all := storesOn(i.box.sim)
	if i.first() {
		return all
	}
	return all[:1]
}

// connectStores makes the service know the stores, their webhooks reach it, and
// their keys open it.
func (i *instance) connectStores(ctx context.Context) error {
	a := i.front.running()
	known, err := a.Store.Shops().All(ctx)
	if err != nil {
		return err
	}
	for _, d := range i.stores() {
		if i.box.options.NotInstalled {
			if _, err := a.Store.Shops().IDOf(ctx, d.Domain); fault.Is(err, fault.NotFound) {
				continue // a merchant installs the app
			}
		}
		if err := i.connect(ctx, d.Domain, d.Hour, d.Minute); err != nil {
			return fmt.Errorf("connect %s: %w", d.Domain, err)
		}
	}
	return i.follow(ctx, known)
}

// connect makes a store known that is not, and gives it a key that is shown.
func (i *instance) connect(ctx context.Context, domain string, hour, minute int) error {
	a, s := i.front.running(), i.box
	found, err := a.Store.Shops().ShopByDomain(ctx, domain)
	if fault.Is(err, fault.NotFound) {
		if err := i.installIn(domain); err != nil {
			return err
		}
		found, err = a.Intake.Connect(ctx, platform.Shop{Domain: domain, Token: i.own.token(domain)}, hour, minute, shop.Settings{
			ImmediateOrders: true, Memberships: demo.MembershipPlans(),
		})
		delete(i.own.Keys, domain) // it opened another database
	} else if err == nil && found.ReconciledAt.IsZero() { // the platform failed when the store was connected
		err = a.Intake.Reconcile(ctx, found.ID)
	}
	if err == nil && !s.options.Unconfirmed && found.Guard.ConfirmedAt.IsZero() {
		_, err = a.Confirm.ConfirmUnseen(ctx, found.ID, activity.System)
	}
	if err == nil {
		err = i.openLoyalty(ctx, found.ID)
	}
	if err == nil {
		err = i.addOwner(ctx, found.ID)
	}
	if err != nil || i.own.Keys[domain] != "" {
		return err
	}
	value, _, err := a.Access.Create(ctx, found.ID, access.NewKey{Name: "sandbox", Actor: activity.System})
	if err != nil {
		return err
	}
	i.own.Keys[domain] = value
	return s.keepSecrets()
}

// installIn installs the app in a store that does not have it. The first app comes with its stores.
func (i *instance) installIn(domain string) error {
	if i.first() || i.box.sim.HasApp(domain, i.client) {
		return nil
	}
	token := i.own.token(domain)
	if err := i.box.keepSecrets(); err != nil {
		return err
	}
	return i.box.sim.InstallApp(domain, i.client, string(token))
}

// addOwner makes the demo user an owner of a store that has no users.
func (i *instance) addOwner(ctx context.Context, of shop.ID) error {
	a := i.front.running()
	people, err := a.Staff.People(ctx, of)
	if err != nil || len(people) > 0 {
		return err
	}
	err = a.Staff.Add(ctx, of, dashboardUser, "Ana Duarte", staff.Owner, i.own.Password)
	if fault.Is(err, fault.Conflict) { // the other store's owner has the password already
		err = a.Staff.Add(ctx, of, dashboardUser, "Ana Duarte", staff.Owner, "")
	}
	return err
}

// follow tells the platform where the service listens now, if that has changed.
func (i *instance) follow(ctx context.Context, stores []shop.Shop) error {
	if i.own.Callback == i.urls.Subscriptions {
		return nil
	}
	for _, one := range stores {
		if err := i.front.running().Intake.Reconcile(ctx, one.ID); err != nil {
			return fmt.Errorf("move the webhooks of %s: %w", one.Domain, err)
		}
	}
	i.own.Callback = i.urls.Subscriptions
	return i.box.keepSecrets()
}

// reconnect repairs what a snapshot of an earlier process remembers wrongly: the
// address at which the service listens.
func (i *instance) reconnect(ctx context.Context) error {
	stores, err := i.front.running().Store.Shops().All(ctx)
	if err != nil {
		return err
	}
	return i.follow(ctx, stores)
}

// handlers answer on the instance's ports, in their order.
func (i *instance) handlers() []http.Handler {
	subscriptions := i.front.handler(func(a *app.App) http.Handler { return a.Subscriptions })
	return []http.Handler{
		subscriptionsPort: i.faulty(i.box.counted(subscriptions)),
		membershipsPort:   i.faulty(i.front.handler(func(a *app.App) http.Handler { return a.Memberships })),
		dashboardPort:     i.dashboard(subscriptions),
	}
}

// dashboard serves the merchant's dashboard. At the root of the first instance a page says what else
// the sandbox has.
func (i *instance) dashboard(service http.Handler) http.Handler {
	root := http.RedirectHandler(staff.Path, http.StatusFound)
	if i.first() {
		root = i.box.dashboardFront()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == staff.Path || strings.HasPrefix(r.URL.Path, staff.Path+"/") {
			service.ServeHTTP(w, r)
			return
		}
		root.ServeHTTP(w, r)
	})
}
