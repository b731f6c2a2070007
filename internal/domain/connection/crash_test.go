package connection_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// rules are the ways in which the platform may treat tokens: the first and the last have the least and
// the most that may go wrong.
var rules = []simulator.TokenRules{
	{}, {AccessEndsEarly: true}, {RetryIssuesAnother: true}, {AccessEndsEarly: true, RetryIssuesAnother: true},
}

// A process that is killed at any step of anything that changes tokens must leave a store
// that the next process can open, without a merchant where none was there.
func TestKillAtEveryStepLocksNoStoreOut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		begin    func(*world)              // what was there before
		act      func(*world, *node) error // what is interrupted
		merchant bool                      // who opens the app again when it failed
		least    int                       // steps
	}{
		{
			name: "a token that expires soon is refreshed", least: 6,
			begin: func(w *world) { w.install(); w.clock.Set(w.clock.Now().Add(57 * time.Minute)) },
			act:   func(w *world, n *node) error { _, err := w.call(n); return err },
		},
		{
			name: "a token that has expired is refreshed", least: 6,
			begin: func(w *world) { w.install(); w.clock.Set(w.clock.Now().Add(2 * time.Hour)) },
			act:   func(w *world, n *node) error { _, err := w.call(n); return err },
		},
		{
			name: "the second refresh", least: 6,
			begin: func(w *world) {
				w.install()
				w.clock.Set(w.clock.Now().Add(2 * time.Hour))
				if _, err := w.call(w.node(-1)); err != nil {
					w.Fatal(err)
				}
				w.clock.Set(w.clock.Now().Add(2 * time.Hour))
			},
			act: func(w *world, n *node) error { _, err := w.call(n); return err },
		},
		{
			name: "a token that never expires is exchanged", least: 8,
			begin: func(w *world) {
				if _, err := (registrar{w.node(-1)}).Register(w.Context(), platform.Shop{Domain: domain, Token: "shpat_fixed"}); err != nil {
					w.Fatal(err)
				}
			},
			act: func(w *world, n *node) error {
				of, err := n.db.Shops().ShopByDomain(w.Context(), domain)
				if err != nil {
					return err
				}
				return n.Migrate(w.Context(), of)
			},
		},
		{
			name: "a store is installed by a session token", merchant: true, least: 6,
			begin: func(*world) {},
			act: func(w *world, n *node) error {
				_, err := n.Enter(w.Context(), connection.Primary, w.session())
				return err
			},
		},
		{
			name: "a store is installed again after it had removed the app", merchant: true, least: 8,
			begin: func(w *world) {
				w.install()
				if err := errors.Join(w.sim.Uninstall(domain), w.sim.Install(domain, "shpat_again")); err != nil {
					w.Fatal(err)
				}
				if token, err := w.call(w.node(-1)); !errors.Is(err, platform.ErrDisconnected) {
					w.Fatalf("%q, %v", string(token), err)
				}
			},
			act: func(w *world, n *node) error {
				_, err := n.Enter(w.Context(), connection.Primary, w.session())
				return err
			},
		},
		{
			name: "a store is installed on the consent page", merchant: true, least: 8,
			begin: func(*world) {},
			act: func(w *world, n *node) error {
				page, cookie, err := n.Begin(connection.Primary, domain)
				if err != nil {
					return err
				}
				_, err = n.Finish(w.Context(), connection.Primary, w.consent(page), cookie)
				return err
			},
		},
	}
	for n, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, open := range databases(t) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					if name != "SQLite" && n >= casesOnPostgres {
						return
					}
					for i, rule := range someRules() {
						if name != "SQLite" && i > 0 {
							continue // the databases do not differ in the platform's rules
						}
						for limit := 0; ; limit++ {
							w := newWorld(t, open(t), rule)
							if err := w.sim.SetScopes(domain, platform.ScopeNames(platform.Scopes())); err != nil {
								t.Fatal(err)
							}
							tt.begin(w)
							n := w.node(limit)
							err := tt.act(w, n)
							done := !n.killed()
							if done && err != nil {
								t.Fatalf("with no kill: %v", err)
							}
							w.clock.Set(w.clock.Now().Add(6 * time.Minute)) // leases and pauses end
							if tt.merchant && err != nil {
								w.install()
							}
							w.works(fmt.Sprintf("%+v, killed at step %d", rule, limit))
							if done {
								if limit < tt.least {
									t.Fatalf("only %d steps", limit)
								}
								break
							}
						}
					}
				})
			}
		})
	}
}
