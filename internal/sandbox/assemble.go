package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
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

// The limits of the platform's largest plan: stores in a sandbox are read in at
// once, and a year passes in seconds.
const (
	costMaximum = 40_000
	costRestore = 2_000
)

// How the service is set.
const (
	reconcileEvery = 24 * time.Hour
	workers        = 8
	jobPoll        = time.Second      // the database reports new jobs at once
	jobCooldown    = time.Millisecond // time stands still until a job is done, and no other node looks for jobs
	callTimeout    = 15 * time.Second
	ratePerSecond  = 10
	rateBurst      = 40
)

// Client ids of the apps at the simulated platform.
const (
	clientID            = "perennial-sandbox"
	membershipsClientID = "perennial-sandbox-memberships"
)

// setApps sets the apps at the platform, as their developer does.
func (s *Sandbox) setApps() {
	s.sim.SetApp(simulator.AppSettings{
		ClientID: clientID, Name: "Perennial", URL: s.urls.Subscriptions + install.EntryPath, Redirects: []string{connection.Redirect(s.urls.Subscriptions, connection.Primary)},
	})
	if s.options.MembershipsApp {
		s.sim.AddApp(simulator.AppSettings{
			ClientID: membershipsClientID, Secret: s.secrets.MembershipsAppSecret, Name: "Perennial Memberships",
			URL:       s.urls.Subscriptions + install.EntryPath + "/" + string(connection.Memberships),
			Redirects: []string{connection.Redirect(s.urls.Subscriptions, connection.Memberships)},
		})
	}
}

// pace is the clock of the platform's limits. It follows the machine's, since a
// standing clock would never refill them, and the sandbox's too.
type pace struct{ sandbox clock.Clock }

// Now returns an instant that only has a meaning beside others of this clock.
func (p pace) Now() time.Time {
	return clock.System{}.Now().Add(p.sandbox.Now().Sub(beginning()))
}

func (s *Sandbox) simulation(file string) simulator.Options {
	o := simulator.Options{
		Clock: s.clock, AppSecret: s.secrets.AppSecret, AllowHTTPWebhooks: true, CostMaximum: costMaximum, CostRestore: costRestore, File: file, Log: s.log,
	}
	if s.hand != nil {
		o.ThrottleClock = pace{s.hand}
	}
	return o
}

// openPlatform opens the platform and, the first time, its stores. They are made
// in memory and kept in one piece, so that there is never half a store.
func (s *Sandbox) openPlatform() (err error) {
	if s.sim, err = simulator.New(s.simulation(s.home.path(platformFile))); err != nil {
		return fmt.Errorf("open the platform: %w", err)
	}
	if _, err := s.sim.Variants(demo.Main); err == nil {
		return nil
	}
	draft, err := simulator.New(s.simulation(""))
	if err != nil {
		return err
	}
	defer draft.Close() //nolint:errcheck // it holds nothing but memory
	cast, err := demo.Build(draft, demo.Options{
		Seed: s.options.Seed, Contracts: s.options.Contracts, Empty: s.options.Empty, MainOnly: s.options.MainOnly, Now: s.clock.Now(), Token: s.secrets.token,
	})
	if err != nil {
		return fmt.Errorf("make the demo store: %w", err)
	}
	if s.options.NotInstalled {
		for _, d := range storesOn(draft) {
			if err := draft.NeverInstalled(d.Domain); err != nil {
				return err
			}
		}
	}
	s.secrets.Cast = cast
	if err := s.home.write(secretsFile, s.secrets); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := draft.Snapshot(&text); err != nil {
		return err
	}
	return s.sim.Restore(&text)
}

// storesOn returns the demo stores that a platform has, the main one first.
func storesOn(platform *simulator.Simulator) []demo.Store {
	return slices.DeleteFunc(demo.Stores(), func(d demo.Store) bool {
		_, err := platform.Variants(d.Domain)
		return err != nil
	})
}

func (s *Sandbox) database() string {
	if s.options.Database != "" {
		return s.options.Database
	}
	return s.home.path(databaseFile)
}

// openService opens the service on its database and begins to work.
func (s *Sandbox) openService(ctx context.Context) error {
	apps := config.Platform{
		PlatformURL: s.urls.Platform + "/store/{shop}", APIVersion: schema.Version, AppSecret: config.Secret(s.secrets.AppSecret), PublicURL: s.urls.Subscriptions,
		ClientID: clientID, AppBridge: s.urls.Platform + "/app-bridge.js",
		CallTimeout: callTimeout,
	}
	if s.options.MembershipsApp {
		apps.MembershipsClientID, apps.MembershipsAppSecret = membershipsClientID, config.Secret(s.secrets.MembershipsAppSecret)
	}
	a, err := app.New(ctx, app.Options{
		Settings: config.Server{
			Database: config.Database{Data: config.Data{Database: s.database()}, SecretKey: config.Secret(s.secrets.DatabaseKey)},
			Platform: apps,
			Mail:     config.Mail{MailHost: mailHost, MailPort: s.catch.port, MailFrom: mailFrom, MailTLS: "none", MailTimeout: mailWait, DKIMSelector: dkimSelector},
			SMS: config.SMS{
				SMSProvider: "twilio", SMSAccount: smsAccount, SMSToken: config.Secret(s.texts.token), SMSFrom: smsFrom, SMSTimeout: smsWait, SMSURL: "http://" + net.JoinHostPort(mailHost, strconv.Itoa(s.texts.port)),
			},
			Web: true, Work: true, Workers: workers, JobPoll: jobPoll, ReconcileEvery: reconcileEvery,
			RatePerSecond: ratePerSecond, RateBurst: rateBurst, PrivatePartners: true,
		},
		Clock: s.clock, Log: s.log, Kind: app.Sandbox, Migrate: true, Relaxed: true, Cooldown: jobCooldown,
		Dashboard: app.Dashboard{Rooms: []dashboard.Room{s.timeRoom()}, Notice: s.timeNotice}, Resolver: names{},
	})
	if err != nil {
		return fmt.Errorf("open the service: %w", err)
	}
	s.front.exchange(a)
	// A process that was killed leaves jobs that seem to run. No worker has
	// them, and the sweeps find their work again.
	if err := s.vault.forgetRunning(ctx); err != nil {
		return fmt.Errorf("clear the queue: %w", err)
	}
	return a.Start(s.working)
}

// connectStores makes the service know the stores, their webhooks reach it, and
// their keys open it.
func (s *Sandbox) connectStores(ctx context.Context) error {
	a := s.front.running()
	known, err := a.Store.Shops().All(ctx)
	if err != nil {
		return err
	}
	for _, d := range storesOn(s.sim) {
		if s.options.NotInstalled {
			if _, err := a.Store.Shops().IDOf(ctx, d.Domain); fault.Is(err, fault.NotFound) {
				continue // a merchant installs the app
			}
		}
		if err := s.connect(ctx, d.Domain, d.Hour, d.Minute); err != nil {
			return fmt.Errorf("connect %s: %w", d.Domain, err)
		}
	}
	if s.secrets.Callback == s.urls.Subscriptions {
		return nil
	}
	if err := s.moveCallbacks(ctx, known); err != nil {
		return err
	}
	s.secrets.Callback = s.urls.Subscriptions
	return s.home.write(secretsFile, s.secrets)
}

// connect makes a store known that is not, and gives it a key that is shown.
func (s *Sandbox) connect(ctx context.Context, domain string, hour, minute int) error {
	a := s.front.running()
	found, err := a.Store.Shops().ShopByDomain(ctx, domain)
	if fault.Is(err, fault.NotFound) {
		found, err = a.Intake.Connect(ctx, platform.Shop{Domain: domain, Token: s.secrets.token(domain)}, hour, minute, shop.Settings{
			ImmediateOrders: true, Memberships: demo.MembershipPlans(),
		})
		delete(s.secrets.Keys, domain) // it opened another database
	} else if err == nil && found.ReconciledAt.IsZero() { // the platform failed when the store was connected
		err = a.Intake.Reconcile(ctx, found.ID)
	}
	if err == nil && !s.options.Unconfirmed && found.Guard.ConfirmedAt.IsZero() {
		_, err = a.Confirm.ConfirmUnseen(ctx, found.ID, activity.System)
	}
	if err == nil {
		err = s.openLoyalty(ctx, found.ID)
	}
	if err == nil {
		err = s.addOwner(ctx, found.ID)
	}
	if err != nil || s.secrets.Keys[domain] != "" {
		return err
	}
	value, _, err := a.Access.Create(ctx, found.ID, access.NewKey{Name: "sandbox", Actor: activity.System})
	if err != nil {
		return err
	}
	s.secrets.Keys[domain] = value
	return s.home.write(secretsFile, s.secrets)
}

// addOwner makes the demo user an owner of a store that has no users.
func (s *Sandbox) addOwner(ctx context.Context, of shop.ID) error {
	a := s.front.running()
	people, err := a.Staff.People(ctx, of)
	if err != nil || len(people) > 0 {
		return err
	}
	err = a.Staff.Add(ctx, of, dashboardUser, "Ana Duarte", staff.Owner, s.secrets.Password)
	if fault.Is(err, fault.Conflict) { // the other store's owner has the password already
		err = a.Staff.Add(ctx, of, dashboardUser, "Ana Duarte", staff.Owner, "")
	}
	return err
}

// moveCallbacks tells the platform where the service listens now.
func (s *Sandbox) moveCallbacks(ctx context.Context, stores []shop.Shop) error {
	for _, one := range stores {
		if err := s.front.running().Intake.Reconcile(ctx, one.ID); err != nil {
			return fmt.Errorf("move the webhooks of %s: %w", one.Domain, err)
		}
	}
	return nil
}

// tally counts what has happened up to now.
func (s *Sandbox) tally(ctx context.Context) (tally, error) {
	t := tally{Mails: s.mails.count(), SMS: s.texts.caught.count(), Webhooks: int(s.heard.Load()), Orders: len(s.sim.Orders(simulator.OrderFilter{}))}
	a := s.front.running()
	stores, err := a.Store.Shops().All(ctx)
	if err != nil {
		return t, err
	}
	ended := func(of shop.ID, as activity.Status) (int, error) {
		_, n, err := a.Store.Entries(ctx, of, []page.Criterion{
			{Field: activity.FieldEvent, Op: page.Equals, Texts: []string{string(activity.BillingAttemptTriggered)}},
			{Field: activity.FieldStatus, Op: page.Equals, Texts: []string{string(as)}},
		}, page.Request{Size: 1})
		return n, err
	}
	for _, one := range stores {
		billed, err := ended(one.ID, activity.Success)
		if err != nil {
			return t, err
		}
		failed, err := ended(one.ID, activity.Failure)
		if err != nil {
			return t, err
		}
		t.Billed, t.Failed = t.Billed+billed, t.Failed+failed
	}
	return t, nil
}
