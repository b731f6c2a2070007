package connection_test

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

func TestTwoNodesRefreshOnce(t *testing.T) {
	t.Parallel()
	for _, rules := range rules {
		onEach(t, rules, func(w *world) {
			if err := w.sim.SetScopes(domain, platform.ScopeNames(platform.Scopes())); err != nil {
				w.Fatal(err)
			}
			w.install()
			for round := range 3 {
				w.clock.Set(w.clock.Now().Add(2 * time.Hour))
				w.asked.Store(0)
				nodes := []*node{w.node(-1), w.node(-1)}
				for _, n := range nodes { // they wait for each other as the machine's time passes
					n.Wait = nil
					n.Policy = connection.DefaultPolicy()
					n.Policy.Poll = 2 * time.Millisecond
				}
				var together sync.WaitGroup
				for i := range 16 {
					together.Go(func() {
						token, err := w.call(nodes[i%2])
						if err != nil || !w.accepted(token) {
							w.Errorf("round %d: %q, %v", round, string(token), err)
						}
					})
				}
				together.Wait()
				if asked := w.asked.Load(); asked != 1 {
					w.Errorf("round %d: the platform was asked %d times", round, asked)
				}
			}
		})
	}
}

// failing answers some requests to the platform with a status.
func (n *node) failing(status func() int) {
	n.http = func(r *http.Request) (*http.Response, error) {
		if code := status(); code != 0 {
			return &http.Response{StatusCode: code, Body: http.NoBody, Header: http.Header{}}, nil
		}
		return n.world.answer(r)
	}
}

func TestPlatformThatFailsDuringARefresh(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		if err := w.sim.SetScopes(domain, platform.ScopeNames(platform.Scopes())); err != nil {
			w.Fatal(err)
		}
		w.install()
		first, err := w.call(w.node(-1))
		if err != nil {
			w.Fatal(err)
		}
		n := w.node(-1)
		broken := true
		n.failing(func() int {
			if broken {
				return http.StatusServiceUnavailable
			}
			return 0
		})
		w.clock.Set(w.clock.Now().Add(57 * time.Minute))
		w.asked.Store(0)
		for range 5 {
			if token, err := w.call(n); err != nil || token != first {
				w.Errorf("while the old token is accepted: %q, %v", string(token), err)
			}
		}
		if asked := w.asked.Load(); asked != 1 {
			w.Errorf("asked %d times before the pause ended", asked)
		}
		w.clock.Set(w.clock.Now().Add(time.Hour))
		_, err = w.call(n)
		if !errors.Is(err, platform.ErrThrottled) || errors.Is(err, platform.ErrUnknown) || errors.Is(err, platform.ErrDisconnected) {
			w.Errorf("when it is not: %v", err)
		}
		broken = false
		w.clock.Set(w.clock.Now().Add(time.Minute))
		if token, err := w.call(n); err != nil || token == first || !w.accepted(token) {
			w.Errorf("afterwards: %q, %v", string(token), err)
		}
	})
}

func TestClientSecretThatIsWrongGivesUpNoStore(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		w.install()
		w.clock.Set(w.clock.Now().Add(2 * time.Hour))
		n := w.node(-1)
		w.sim.SetApp(simulator.AppSettings{ClientID: "another"})
		if _, err := w.call(n); !errors.Is(err, platform.ErrThrottled) {
			w.Errorf("got %v", err)
		}
		w.sim.SetApp(simulator.AppSettings{ClientID: client})
		w.clock.Set(w.clock.Now().Add(time.Minute))
		w.works("the right secret")
	})
}

func TestRefusedStoreIsDisconnectedUntilAMerchantComes(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		w.install()
		n := w.node(-1)
		if err := w.sim.Uninstall(domain); err != nil {
			w.Fatal(err)
		}
		w.asked.Store(0)
		for range 3 {
			if _, err := w.call(n); !errors.Is(err, platform.ErrDisconnected) {
				w.Errorf("uninstalled: %v", err)
			}
		}
		if asked := w.asked.Load(); asked != 1 {
			w.Errorf("asked %d times for what is refused", asked)
		}
		list, err := n.Connections(w.Context(), w.id(n))
		if err != nil || len(list) != 1 || list[0].Refused == "" {
			w.Errorf("connections %+v, %v", list, err)
		}
		if err := w.sim.Install(domain, "shpat_again"); err != nil {
			w.Fatal(err)
		}
		w.install()
		if token, err := w.call(n); err != nil || !w.accepted(token) {
			w.Errorf("installed again, on a node that had the old token: %v", err)
		}
		w.works("installed again")
	})
}

// A process that stands still while it asks the platform must not overwrite what another
// one has done meanwhile, whether its request came before the other's or after it.
func TestAnswerThatComesTooLateIsDiscarded(t *testing.T) {
	t.Parallel()
	for _, rule := range rules {
		for _, before := range []bool{true, false} {
			onEach(t, rule, func(w *world) {
				w.install()
				w.clock.Set(w.clock.Now().Add(2 * time.Hour))
				late, other := w.node(-1), w.node(-1)
				var between platform.Token
				meanwhile := func() {
					w.clock.Set(w.clock.Now().Add(2 * time.Minute)) // the lease has ended
					var err error
					if between, err = w.call(other); err != nil {
						w.Error(err)
					}
				}
				late.http = func(r *http.Request) (res *http.Response, err error) {
					if before {
						res, err = w.answer(r)
					}
					if between == "" {
						meanwhile()
					}
					if !before {
						res, err = w.answer(r)
					}
					return res, err
				}
				token, err := late.Token(w.Context(), platform.Shop{Domain: domain})
				if err != nil || token != between {
					w.Errorf("%+v, before %t: got %q, the other %q, %v", rule, before, string(token), string(between), err)
				}
				for _, n := range []*node{late, other} {
					if token, err := w.call(n); err != nil || !w.accepted(token) {
						w.Errorf("%+v, before %t: %q, %v", rule, before, string(token), err)
					}
				}
				w.works("afterwards")
			})
		}
	}
}

func TestStoreWithoutAConnectionHasItsOwnToken(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		n := w.node(-1)
		at := platform.Shop{Domain: domain, Token: "shpat_fixed"}
		for _, known := range []bool{false, true} {
			if known {
				if _, err := (registrar{n}).Register(w.Context(), at); err != nil {
					w.Fatal(err)
				}
			}
			if token, err := n.Token(w.Context(), at); err != nil || token != at.Token {
				w.Errorf("known %t: %q, %v", known, string(token), err)
			}
			if _, err := n.Replace(w.Context(), at, at.Token); !errors.Is(err, platform.ErrDisconnected) {
				w.Errorf("known %t, refused: %v", known, err)
			}
		}
		if asked := w.asked.Load(); asked != 0 {
			w.Errorf("the platform was asked %d times", asked)
		}
	})
}

func TestTokenOfACustomAppIsKept(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		n := w.node(-1)
		made, err := (registrar{n}).Register(w.Context(), platform.Shop{Domain: domain, Token: "shpat_of_another_app"})
		if err != nil {
			w.Fatal(err)
		}
		if err := n.Migrate(w.Context(), made); err == nil {
			w.Error("a token of another app was exchanged")
		}
		if token, err := n.Token(w.Context(), made.At()); err != nil || token != made.Token {
			w.Errorf("got %q, %v", string(token), err)
		}
	})
}
