package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
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
	secondClientID      = "perennial-sandbox-second"
	membershipsClientID = "perennial-sandbox-memberships"
)

// setApps sets the apps at the platform, as their developer does.
func (s *Sandbox) setApps() {
	s.sim.SetApp(s.app("Perennial"))
	if s.second != nil {
		s.sim.AddApp(s.second.app("Perennial, second instance"))
	}
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
	if err := s.keepSecrets(); err != nil {
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

// tally counts what has happened up to now.
func (s *Sandbox) tally(ctx context.Context) (tally, error) {
	t := tally{Mails: s.mails.count(), SMS: s.texts.caught.count(), Webhooks: int(s.heard.Load()), Orders: len(s.sim.Orders(simulator.OrderFilter{}))}
	for _, i := range s.instances() {
		billed, failed, err := i.charges(ctx)
		if err != nil {
			return t, err
		}
		t.Billed, t.Failed = t.Billed+billed, t.Failed+failed
	}
	return t, nil
}

// charges counts the charges that the service knows to have succeeded and to have failed.
func (i *instance) charges(ctx context.Context) (billed, failed int, err error) {
	a := i.front.running()
	stores, err := a.Store.Shops().All(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, one := range stores {
		for as, sum := range map[activity.Status]*int{activity.Success: &billed, activity.Failure: &failed} {
			_, n, err := a.Store.Entries(ctx, one.ID, []page.Criterion{
				{Field: activity.FieldEvent, Op: page.Equals, Texts: []string{string(activity.BillingAttemptTriggered)}},
				{Field: activity.FieldStatus, Op: page.Equals, Texts: []string{string(as)}},
			}, page.Request{Size: 1})
			if err != nil {
				return 0, 0, err
			}
			*sum += n
		}
	}
	return billed, failed, nil
}
