package connection_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/oauth"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

const (
	domain    = "some-shop.myshopify.com"
	client    = "5a5f0c1f4b8e4a1d8f3e2b1c0d9e8f70"
	secret    = "hush"
	publicURL = "https://app.example"
)

// world is a platform, a database and a time.
type world struct {
	*testing.T
	sim   *simulator.Simulator
	clock *clock.Manual
	open  func() *store.DB
	asked atomic.Int64 // requests to the token endpoint
}

// databases are what every test runs on: each call opens another node's.
func databases(t *testing.T) map[string]func(*testing.T) func() *store.DB {
	t.Helper()
	return map[string]func(*testing.T) func() *store.DB{
		"SQLite": func(t *testing.T) func() *store.DB {
			o := storetest.SQLiteOptions(t)
			storetest.SQLiteFile(t, o.URL)
			return func() *store.DB { return storetest.Open(t, o) }
		},
		"PostgreSQL": func(t *testing.T) func() *store.DB {
			o := storetest.PostgresOptions(t)
			return func() *store.DB { return storetest.Open(t, o) }
		},
	}
}

// onEach runs a test on each kind of database.
func onEach(t *testing.T, rules simulator.TokenRules, test func(*world)) {
	t.Helper()
	for name, open := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newWorld(t, open(t), rules))
		})
	}
}

func newWorld(t *testing.T, open func() *store.DB, rules simulator.TokenRules) *world {
	t.Helper()
	w := &world{T: t, clock: clock.NewManual(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)), open: open}
	sim, err := simulator.New(simulator.Options{Clock: w.clock, AppSecret: secret, Tokens: rules})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	sim.SetApp(simulator.AppSettings{ClientID: client, URL: publicURL + "/auth/entry", Redirects: []string{publicURL + "/auth/callback"}})
	if err := sim.AddShop(simulator.ShopSpec{Domain: domain, Token: "shpat_fixed"}); err != nil {
		t.Fatal(err)
	}
	w.sim = sim
	return w
}

// node is a process of the service. Everything it does to the outside passes a step, at
// which it may be killed.
type node struct {
	*connection.Service
	world *world
	db    *store.DB
	mu    sync.Mutex
	steps int
	limit int // the step at which it is killed; negative: never
	http  func(*http.Request) (*http.Response, error)
}

// errKilled is what a process that is no more sees. It can have no effect.
var errKilled = errors.New("killed")

func (n *node) step() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.limit >= 0 && n.steps >= n.limit {
		return errKilled
	}
	n.steps++
	return nil
}

func (n *node) killed() bool { return n.step() != nil }

func (w *world) node(limit int) *node {
	db := w.open()
	n := &node{world: w, db: db, limit: limit}
	n.http = w.answer
	n.Service = &connection.Service{
		Store: mortalStore{db.PlatformConnections(), n}, Clock: w.clock, Log: slog.New(slog.DiscardHandler), PublicURL: publicURL, Registrar: registrar{n},
		Apps: map[connection.AppName]platform.Authorizer{
			connection.Primary: oauth.New(oauth.Options{ClientID: client, Secret: secret, BaseURL: "http://platform/store/{shop}", HTTP: &http.Client{Transport: n}, Clock: w.clock}),
		},
		StateKeys: map[connection.AppName][]byte{connection.Primary: []byte("k1"), connection.Memberships: []byte("k2")},
		Wait:      func(context.Context, time.Duration) error { return nil },
	}
	return n
}

// RoundTrip is the network between a node and the platform.
func (n *node) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := n.step(); err != nil {
		return nil, err
	}
	n.world.asked.Add(1)
	res, err := n.http(r)
	if killed := n.step(); killed != nil {
		return nil, killed // the answer came too late for this process
	}
	return res, err
}

func (w *world) answer(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	w.sim.Handler().ServeHTTP(rec, r)
	return rec.Result(), nil
}

type mortalStore struct {
	connection.Store
	node *node
}

// Update is a transaction of a process that may be killed before and after the commit.
func (s mortalStore) Update(ctx context.Context, of shop.ID, fn func(connection.Tx) error) error {
	if err := s.node.step(); err != nil {
		return err
	}
	if err := s.Store.Update(ctx, of, fn); err != nil {
		return err
	}
	return s.node.step()
}

func (s mortalStore) UseState(ctx context.Context, state connection.StateHash, now, expires time.Time) (bool, error) {
	if err := s.node.step(); err != nil {
		return false, err
	}
	first, err := s.Store.UseState(ctx, state, now, expires)
	return first, errors.Join(err, s.node.step())
}

type registrar struct{ *node }

// Register adds a store or connects it again.
func (r registrar) Register(ctx context.Context, at platform.Shop) (shop.Shop, error) {
	if err := r.step(); err != nil {
		return shop.Shop{}, err
	}
	known, err := r.db.Shops().ShopByDomain(ctx, at.Domain)
	if fault.Is(err, fault.NotFound) {
		known = shop.Shop{Domain: at.Domain, Token: at.Token, TimeZone: "UTC", Currency: "EUR", Connected: true}
		err = r.db.Shops().AddShop(ctx, &known)
	} else if err == nil {
		err = r.db.Update(ctx, known.ID, func(tx *store.Tx) error {
			if known, err = tx.Shop(ctx); err != nil {
				return err
			}
			known.Token, known.Connected = at.Token, true
			return tx.PutShop(ctx, known)
		})
	}
	return known, errors.Join(err, r.step())
}

// accepted reports whether the platform accepts an access token now.
func (w *world) accepted(token platform.Token) bool {
	r := httptest.NewRequestWithContext(w.Context(), http.MethodPost, "/admin/api/2026-10/graphql.json", strings.NewReader(`{"query":"{ shop { name } }"}`))
	r.Header.Set("X-Shopify-Access-Token", string(token))
	rec := httptest.NewRecorder()
	w.sim.Handler().ServeHTTP(rec, r)
	return rec.Code == http.StatusOK
}

// session returns a session token of the store's admin.
func (w *world) session() string {
	text, err := w.sim.SessionToken(domain, 42)
	if err != nil {
		w.Fatal(err)
	}
	return text
}

// call does what a call of the platform does: it asks for the token, and for another one
// when it is not accepted.
func (w *world) call(n *node) (platform.Token, error) {
	at := platform.Shop{Domain: domain, Token: w.given(n)}
	token, err := n.Token(w.Context(), at)
	if err == nil && !n.killed() && !w.accepted(token) {
		token, err = n.Replace(w.Context(), at, token)
	}
	return token, err
}

// given returns the token in the store's own row, or "".
func (w *world) given(n *node) platform.Token {
	of, err := n.db.Shops().ShopByDomain(w.Context(), domain)
	if err != nil {
		return ""
	}
	return of.Token
}

// works checks that the store is open to a new process, now and for days.
func (w *world) works(why any) {
	w.Helper()
	for day := range 3 {
		n := w.node(-1)
		token, err := w.call(n)
		if err != nil || !w.accepted(token) {
			w.Fatalf("%v, day %d: the token is accepted: %t, %v", why, day, token != "" && w.accepted(token), err)
		}
		w.clock.Set(w.clock.Now().Add(24 * time.Hour))
	}
}

// install has the app installed by a session token.
func (w *world) install() {
	w.Helper()
	if _, err := w.node(-1).Enter(w.Context(), connection.Primary, w.session()); err != nil {
		w.Fatal(err)
	}
}

// consent agrees on the consent page that Begin returns, and returns the query with which
// the platform sends the browser back.
func (w *world) consent(page string) url.Values {
	w.Helper()
	u, err := url.Parse(page)
	if err != nil {
		w.Fatal(err)
	}
	back, err := w.sim.Consent(domain, u.Query())
	if err != nil {
		w.Fatal(err)
	}
	u, err = url.Parse(back)
	if err != nil {
		w.Fatal(err)
	}
	return u.Query()
}

func names(list []platform.Scope) []string {
	return slices.Sorted(slices.Values(platform.ScopeNames(list)))
}
