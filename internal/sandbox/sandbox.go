// Package sandbox is a working store in one process: the real service, a
// simulated platform behind real HTTP, a demo store, and a control interface
// that moves time.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// Options say what sandbox to run. The zero value is a new one with a demo store.
type Options struct {
	DataDir  string // where it lives; empty: a new folder below the user's cache
	Listen   string // HOST:PORT of the first of six ports, nine with Second; default 127.0.0.1:8080; HOST:0: free ports
	Database string // postgres:// address or SQLite file; default: a file in DataDir
	Second   bool   // a second instance of the service, as an app of its own, on a database of its own
	// SecondDatabase is the Database of the second instance. It is required when Database is at a server.
	SecondDatabase string
	Seed           uint64 // of a new demo store; default 1
	Contracts      int    // of a new demo store; default 200
	Empty          bool   // a new store without subscribers
	Kinds          bool   // a new main store has a contract of each kind in addition, unless it is Empty
	History        string // ISO 8601 duration: a new sandbox is ready when so much time has passed; empty: none
	MainOnly       bool   // a new sandbox has the main store alone; default: two others beside it
	// NotInstalled makes new stores that do not have the app. They must be empty.
	NotInstalled bool
	// MembershipsApp has memberships at an app of their own, with its own client id and secret.
	// No store has it until a merchant installs it.
	MembershipsApp bool
	// Unconfirmed has the stores wait for the merchant's confirmation before they are
	// charged.
	Unconfirmed bool
	WallClock   bool // follow the machine's clock
	// Inline has tasks carried out by the sandbox itself, one after the other, instead of by workers that
	// take them from the queue of the database: for tests of what comes of a task.
	Inline     bool
	CheckEvery time.Duration // between two comparisons with the platform; default: a day
	Out        io.Writer
	Log        *slog.Logger // default: discards
	Version    string
}

// Defaults of Options.
const (
	defaultSeed      = 1
	defaultContracts = 200
)

// Sandbox is a running sandbox.
type Sandbox struct {
	options Options
	log     *slog.Logger
	home    home
	lock    io.Closer
	secrets *secrets

	instance           // the first
	second   *instance // nil: there is none

	manifest  Manifest // complete when the sandbox is ready
	ready     atomic.Bool
	furnished furnished

	clock clock.Clock
	hand  *clock.Manual // nil: the machine's clock
	sim   *simulator.Simulator
	steps *stepper
	sinks sinks
	mails *mailbox
	texts *texts
	heard atomic.Int64 // webhooks of the platform that the service accepted

	servers []*app.Server
	serving sync.WaitGroup
	stop    context.CancelFunc
	working context.Context
}

// URLs are where a sandbox answers.
type URLs struct {
	Subscriptions string `json:"subscriptions"`
	Memberships   string `json:"memberships"`
	Loyalty       string `json:"loyalty"`
	Dashboard     string `json:"dashboard"`
	Storefront    string `json:"storefront"`
	Platform      string `json:"platform"`
	Control       string `json:"control"`
}

// URLs returns where the sandbox answers.
func (s *Sandbox) URLs() URLs { return s.urls }

// Run runs a sandbox until ctx ends.
func Run(ctx context.Context, o Options) error {
	s, err := Start(ctx, o)
	if err != nil {
		return err
	}
	if o.Out != nil {
		s.announce(o.Out)
	}
	<-ctx.Done()
	return s.Close()
}

// Start starts a sandbox and returns when it is ready.
func Start(ctx context.Context, o Options) (_ *Sandbox, err error) {
	if o.Seed == 0 {
		o.Seed = defaultSeed
	}
	if o.Contracts == 0 {
		o.Contracts = defaultContracts
	}
	if o.Contracts < 0 {
		return nil, fmt.Errorf("--contracts %d: a store cannot have fewer than none; use --empty", o.Contracts)
	}
	if o.NotInstalled && !o.Empty {
		return nil, errors.New("--not-installed: a store without the app has no subscribers; add --empty")
	}
	if err := o.checkHistory(); err != nil {
		return nil, err
	}
	if err := o.checkDatabases(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.CheckEvery = cmp.Or(o.CheckEvery, reconcileEvery)
	s := &Sandbox{options: o, log: o.Log, sinks: sinks{byID: map[string]*sink{}}}
	s.working, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// open takes possession of the folder and opens everything in it.
func (s *Sandbox) open(ctx context.Context) (err error) {
	if s.home, err = openHome(s.options.DataDir); err != nil {
		return fmt.Errorf("open the sandbox's folder: %w", err)
	}
	if s.lock, err = s.home.lock(); err != nil {
		return err
	}
	if s.secrets, err = s.home.openSecrets(s.options.Second); err != nil {
		return err
	}
	if s.options.MembershipsApp && s.secrets.MembershipsAppSecret == "" {
		s.secrets.MembershipsAppSecret = random("shpss_")
		if err := s.keepSecrets(); err != nil {
			return err
		}
	}
	s.instance = instance{box: s, name: firstName, client: clientID, own: &s.secrets.appSecrets, database: cmp.Or(s.options.Database, s.home.path(databaseFile))}
	if s.options.Second {
		s.second = &instance{box: s, name: secondName, client: secondClientID, own: s.secrets.Second, database: cmp.Or(s.options.SecondDatabase, s.home.path(secondFile))}
	}
	s.clock = clock.System{}
	var move func(time.Time) error
	if !s.options.WallClock {
		if s.hand, err = s.home.openClock(); err != nil {
			return err
		}
		s.clock, move = s.hand, s.setClock
	}
	if s.mails, err = openMailbox(s.home.path(mailsFile), s.clock); err != nil {
		return fmt.Errorf("open the mails: %w", err)
	}
	for _, i := range s.instances() {
		if err := i.open(ctx); err != nil {
			return err
		}
	}
	if s.texts, err = openTexts(ctx, s.home.path(smsFile), s.clock, s.log); err != nil {
		return fmt.Errorf("begin to catch SMS: %w", err)
	}
	if err := s.openPlatform(); err != nil {
		return err
	}
	if err := s.resumeRestore(ctx); err != nil {
		return fmt.Errorf("finish the restore that was under way: %w", err)
	}
	count := portCount
	if s.second != nil {
		count += instancePorts
	}
	listeners, err := listen(ctx, s.options.Listen, s.secrets.Ports, count)
	if err != nil {
		return err
	}
	s.secrets.Ports = nil
	for _, l := range listeners {
		s.secrets.Ports = append(s.secrets.Ports, portOf(l))
	}
	s.urls = URLs{
		Subscriptions: urlOf(listeners[subscriptionsPort]), Memberships: urlOf(listeners[membershipsPort]), Loyalty: urlOf(listeners[subscriptionsPort]),
		Dashboard: urlOf(listeners[dashboardPort]), Storefront: urlOf(listeners[storefrontPort]), Platform: urlOf(listeners[platformPort]),
		Control: urlOf(listeners[controlPort]),
	}
	if s.second != nil {
		own := listeners[portCount:]
		s.second.urls = s.urls
		s.second.urls.Subscriptions, s.second.urls.Memberships, s.second.urls.Loyalty = urlOf(own[subscriptionsPort]), urlOf(own[membershipsPort]), urlOf(own[subscriptionsPort])
		s.second.urls.Dashboard = urlOf(own[dashboardPort])
	}
	s.setApps()
	var services sides
	for _, i := range s.instances() {
		services = append(services, &serviceSide{running: i.front.running, clock: s.clock})
	}
	s.steps = newStepper(stepper{
		clock: s.clock, move: move, platform: textSide{platformSide{s.sim}, s.texts}, service: services, pulse: s.sim.Pulse, log: s.log,
	})
	for _, i := range s.instances() {
		if err := i.openService(ctx); err != nil {
			closeAll(listeners)
			return err
		}
	}
	s.serve(listeners)
	return nil
}

// serve answers on every port.
func (s *Sandbox) serve(listeners []net.Listener) {
	handlers := append(s.handlers(), s.storefront(), s.platform(), s.control())
	if s.second != nil {
		handlers = append(handlers, s.second.handlers()...)
	}
	for i, h := range handlers {
		server := app.NewServer(h)
		if i == controlPort {
			server.ReadTimeout, server.WriteTimeout = 0, 0 // a year takes as long as it takes
			server.BaseContext = func(net.Listener) context.Context { return s.working }
		}
		s.servers = append(s.servers, server)
		s.serving.Go(func() {
			if err := server.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				s.log.Error("a port is no longer served", "address", listeners[i].Addr().String(), "error", err)
			}
		})
	}
}

// begin brings the stores in, makes what is due happen, and says that the
// sandbox is ready.
func (s *Sandbox) begin(ctx context.Context) error {
	for _, i := range s.instances() {
		if err := i.connectStores(ctx); err != nil {
			return err
		}
	}
	if err := s.steps.Settle(ctx); err != nil {
		return err
	}
	if err := s.welcomeMembers(ctx); err != nil {
		return err
	}
	if err := s.furnish(ctx); err != nil {
		return err
	}
	if err := s.makeHistory(ctx); err != nil {
		return fmt.Errorf("make the history: %w", err)
	}
	if err := s.keepBeginning(ctx); err != nil {
		return fmt.Errorf("keep what the sandbox began with: %w", err)
	}
	s.manifest = s.describe()
	s.ready.Store(true)
	if err := s.home.write(manifestFile, s.manifest); err != nil {
		return err
	}
	s.serving.Go(func() { s.steps.Watch(s.working) })
	return nil
}

func (s *Sandbox) setClock(t time.Time) error {
	if err := s.home.keepClock(t); err != nil {
		return err
	}
	s.hand.Set(t)
	return nil
}

// closing is how long requests and jobs may take to end.
const closing = 5 * time.Second

// Close stops the sandbox. What it was doing is continued when it is started
// again.
func (s *Sandbox) Close() error {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	var errs []error
	for i := len(s.servers) - 1; i >= 0; i-- { // the service last: the platform still delivers to it
		if err := s.servers[i].Shutdown(ctx); err != nil {
			errs = append(errs, s.servers[i].Close())
		}
	}
	s.serving.Wait()
	for _, i := range s.instances() {
		errs = append(errs, i.closeService(ctx)...)
	}
	if s.sim != nil {
		errs = append(errs, s.sim.Close())
	}
	for _, i := range s.instances() {
		if i.catch != nil {
			errs = append(errs, i.catch.close())
		}
	}
	if s.texts != nil {
		errs = append(errs, s.texts.close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}
