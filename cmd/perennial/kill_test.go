package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
	"github.com/perennialhq/perennial/test/process"
)

// asProgram has the test's own program be perennial: a process that can be killed.
const asProgram = "TEST_IS_PERENNIAL"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

const (
	killedShop  = "killed.myshopify.com"
	killedToken = "shpat_fixed"
	killedApp   = "5a5f0c1f4b8e4a1d8f3e2b1c0d9e8f70"
	// patience is how long a node may take for anything: other tests run beside it.
	patience = 2 * time.Minute // longer than a lease
)

// mortal is a store on a simulated platform, a database, and one process of the service
// that is killed and started again.
type mortal struct {
	*testing.T
	sim     *simulator.Simulator
	program process.Program
	db      *store.DB
	id      shop.ID
	at      time.Time // when orders are charged today
	zone    *time.Location
	variant int64
	orders  []int64 // contracts that are due

	log  *os.File
	node *process.Node
	gate gate
}

// holder sees a request before the platform, and reports whether it has dealt with it.
// answer has the platform answer it.
type holder func(w http.ResponseWriter, r *http.Request, answer func() *httptest.ResponseRecorder) bool

// gate is the network between the process and the platform. The zero value lets
// everything pass.
type gate struct {
	mu   sync.Mutex
	hold holder
}

// set has every request pass hold from now on.
func (g *gate) set(hold holder) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = hold
}

func (g *gate) through(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the process was killed
		}
		answer := func() *httptest.ResponseRecorder {
			rec := httptest.NewRecorder()
			again := r.Clone(context.WithoutCancel(r.Context()))
			again.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(rec, again)
			return rec
		}
		g.mu.Lock()
		hold := g.hold
		g.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		if hold != nil && hold(w, r, answer) {
			return
		}
		rec := answer()
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()) // a process that was killed reads nothing
	})
}

// tokenRequest reports whether a request asks for tokens.
func tokenRequest(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/access_token") }

// newMortal returns a store that the platform knows and the service does not.
func newMortal(t *testing.T, program process.Program, database string, rules simulator.TokenRules) *mortal {
	t.Helper()
	m := &mortal{T: t, at: clock.System{}.Now().Truncate(time.Minute)}
	var err error
	m.zone, err = process.NoonZone(m.at)
	m.must(err)
	m.sim, err = simulator.New(simulator.Options{AppSecret: "hush", Tokens: rules, CostMaximum: 1e6, CostRestore: 1e6, AllowHTTPWebhooks: true})
	m.must(err)
	m.must(m.sim.AddShop(simulator.ShopSpec{Domain: killedShop, Token: killedToken, TimeZone: m.zone.String()}))
	m.must(m.sim.SetScopes(killedShop, platform.ScopeNames(platform.Scopes())))
	sold, err := m.sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Green", Price: "5.00"}}})
	m.must(err)
	m.variant = sold[0].ID
	server := httptest.NewServer(m.gate.through(m.sim.Handler()))
	t.Cleanup(server.Close)
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var done sync.WaitGroup
	done.Go(func() { _ = m.sim.Run(running) })
	t.Cleanup(func() { stop(); done.Wait() })
	m.sim.SetApp(simulator.AppSettings{ClientID: killedApp, URL: server.URL})

	m.program = program.With(process.Settings{Database: database, PlatformURL: server.URL, PublicURL: server.URL, AppSecret: "hush"})
	m.program.Env = append(m.program.Env, "PERENNIAL_CLIENT_ID="+killedApp, asProgram+"=1")
	m.must(m.program.Migrate(t.Context()))
	m.db = storetest.Open(t, store.Options{URL: database, SecretKey: process.SecretKey()})
	m.log, err = os.Create(filepath.Join(t.TempDir(), "node.log"))
	m.must(err)
	t.Cleanup(m.end)
	return m
}

// end kills what is left of the process and shows what it logged when the test failed.
func (m *mortal) end() {
	m.kill()
	_ = m.log.Close()
	if text, err := os.ReadFile(m.log.Name()); err == nil && m.Failed() {
		m.Logf("the log ends:\n%s", text[max(len(text)-6000, 0):])
	}
}

func (m *mortal) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// subscribe makes a contract whose first renewal is due.
func (m *mortal) subscribe() {
	m.Helper()
	m.orders = append(m.orders, m.checkout(m.at))
}

// checkout makes a contract with the given date of its first renewal.
func (m *mortal) checkout(next time.Time) int64 {
	m.Helper()
	made, err := m.sim.Checkout(simulator.ContractSpec{
		Customer: simulator.CustomerSpec{Email: "ana@shopper.example"}, CreatedAt: m.at.AddDate(0, -1, 0), NextBillingDate: next,
		Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: []simulator.LineSpec{{VariantID: m.variant}},
	})
	m.must(err)
	return made.Contract
}

// connect connects the store and exchanges its token for one that expires.
func (m *mortal) connect() {
	m.Helper()
	local := m.at.In(m.zone)
	m.must(m.program.Connect(m.Context(), killedShop, killedToken, local.Hour(), local.Minute()))
	m.command("shops", "migrate-token", "--shop", killedShop)
	var err error
	m.id, err = m.db.Shops().IDOf(m.Context(), killedShop)
	m.must(err)
}

// start starts the process and waits until it answers.
func (m *mortal) start() {
	m.Helper()
	address, err := process.FreeAddress(m.Context())
	m.must(err)
	m.node, err = m.program.Serve(address, m.log, "--waits-scale", "100", "--sweep-every", "200ms", "--reconcile-every", "1s", "--job-poll", "100ms", "--log-level", "WARN")
	m.must(err)
}

// kill ends the process as kill -9 does.
func (m *mortal) kill() {
	if m.node != nil {
		m.node.Kill()
		m.node = nil
	}
}

// command runs a command of the program.
func (m *mortal) command(words ...string) {
	m.Helper()
	cmd := exec.CommandContext(m.Context(), m.program.Path, words...) //nolint:gosec // the test's own program
	cmd.Env = append(os.Environ(), m.program.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		m.Fatalf("%v: %v\n%s", words, err, out)
	}
}

// connection returns what the database has of the permission.
func (m *mortal) connection() connection.Connection {
	m.Helper()
	list, err := m.db.PlatformConnections().Connections(m.Context(), m.id)
	m.must(err)
	if len(list) != 1 {
		m.Fatalf("%d connections", len(list))
	}
	return list[0]
}

// change changes what the database has of the permission.
func (m *mortal) change(change func(*connection.Connection)) {
	m.Helper()
	m.must(m.db.PlatformConnections().Update(m.Context(), m.id, func(tx connection.Tx) error {
		c, err := tx.PlatformConnection(m.Context(), connection.Primary)
		if err != nil {
			return err
		}
		change(&c)
		return tx.PutPlatformConnection(m.Context(), c)
	}))
}

// expire has the access token expire soon, or long ago.
func (m *mortal) expire(in time.Duration) {
	m.Helper()
	m.change(func(c *connection.Connection) { c.ExpiresAt = clock.System{}.Now().Add(in) })
}

// eventually waits for something that another process does.
func (m *mortal) eventually(what string, holds func() bool) {
	m.Helper()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	limit := time.After(patience)
	for !holds() {
		select {
		case <-ticks.C:
		case <-limit:
			m.Fatalf("not after %s: %s", patience, what)
		}
	}
}

// charged waits until every contract has its order, and checks that none has two.
func (m *mortal) charged() {
	m.Helper()
	m.eventually("every contract has an order", func() bool {
		return len(m.sim.Orders(simulator.OrderFilter{})) >= len(m.orders)
	})
	orders := map[int64]int{}
	for _, o := range m.sim.Orders(simulator.OrderFilter{}) {
		orders[o.Contract]++
	}
	for _, id := range m.orders {
		c, err := m.sim.Contract(id)
		m.must(err)
		if orders[id] != 1 || len(c.Attempts) != 1 {
			m.Errorf("contract %d has %d orders of %d charges", id, orders[id], len(c.Attempts))
		}
	}
}

// killedIn starts a process, lets it come to a step, kills it there, and has everything
// pass again.
func (m *mortal) killedIn(hold func(killed func()) holder, start func(), kill func()) {
	m.Helper()
	reached, dead := make(chan struct{}), make(chan struct{})
	var once sync.Once
	m.gate.set(hold(func() {
		once.Do(func() { close(reached) })
		<-dead
	}))
	start()
	select {
	case <-reached:
	case <-time.After(patience):
		m.Fatal("the step is not reached")
	}
	kill()
	close(dead)
	m.gate.set(nil)
}

// lost has a request never answered.
func lost(r *http.Request, killed func()) bool {
	killed()
	<-r.Context().Done() // the process is dead
	return true
}
