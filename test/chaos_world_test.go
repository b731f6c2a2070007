//go:build soak

package test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers with which the test looks into the database
	_ "modernc.org/sqlite"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/test/process"
)

// world is a platform in this process, nodes of the service in theirs, and the
// way between them.
type world struct {
	t       *testing.T
	o       ordeal
	random  *rand.Rand
	zone    *time.Location // of all stores
	sim     *simulator.Simulator
	program process.Program
	db      *sql.DB

	platform, front string // where the platform answers and takes webhooks for the service, as host:port

	stores []chaosStore
	slots  []*slot

	made      int
	contracts []int64
	declined  map[int64]bool // contracts whose charge is declined
}

// chaosStore is a store and the instant of today at which it charges.
type chaosStore struct {
	domain, token string
	variant       int64
	at            time.Time
}

// slot is a place for a node, which keeps its address when it is started again.
type slot struct {
	address string
	flags   []string // flags of this node, in addition to those of all nodes
	log     *os.File
	mu      sync.Mutex
	node    *process.Node // nil: killed
	frozen  bool
}

const appSecret = "chaos-secret"

func newWorld(t *testing.T, o ordeal) *world {
	t.Helper()
	w := &world{t: t, o: o, random: seeded(o.seed), declined: map[int64]bool{}}
	var err error
	if w.zone, err = process.NoonZone(clock.System{}.Now()); err != nil {
		t.Fatal(err)
	}
	w.sim, err = simulator.New(simulator.Options{
		AppSecret: appSecret, CompletionDelay: completionDelay, AllowHTTPWebhooks: true, CostMaximum: 1e6, CostRestore: 1e6,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range o.shops {
		w.addStore(i)
	}
	platform := httptest.NewServer(w.sim.Handler())
	t.Cleanup(platform.Close)
	front := httptest.NewServer(w)
	t.Cleanup(front.Close)
	running, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := w.sim.Run(running); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); done.Wait() })
	w.platform, w.front = platform.Listener.Addr().String(), front.Listener.Addr().String()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	w.program = program.With(process.Settings{Database: o.database, PlatformURL: platform.URL, PublicURL: front.URL, AppSecret: appSecret})
	if err := w.program.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for i := range o.nodes {
		address, err := process.FreeAddress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.Create(filepath.Join(folder, fmt.Sprintf("node%d.log", i))) //nolint:gosec // a test's own folder
		if err != nil {
			t.Fatal(err)
		}
		s := &slot{address: address, log: log}
		w.slots = append(w.slots, s)
		t.Cleanup(func() { s.end(t) })
	}
	w.open()
	return w
}

// built is the program, which is built once for all tests. TestMain removes it.
var built = sync.OnceValues(func() (process.Program, error) {
	folder, err := os.MkdirTemp("", "perennial-program-")
	if err != nil {
		return process.Program{}, err
	}
	programFolder = folder
	return process.Build(context.Background(), folder, process.Settings{})
})

// addStore adds a store that charges already or, where stores are staggered and
// it is every other, within a minute.
func (w *world) addStore(i int) {
	now := clock.System{}.Now()
	s := chaosStore{
		domain: fmt.Sprintf("chaos-%d.myshopify.com", i), token: fmt.Sprintf("chaos-token-%d", i),
		at: now.Truncate(time.Minute),
	}
	if w.o.staggered {
		s.at = s.at.Add(time.Duration(i%2) * time.Minute)
	}
	err := w.sim.AddShop(simulator.ShopSpec{Domain: s.domain, Token: s.token, TimeZone: w.zone.String()})
	if err != nil {
		w.t.Fatal(err)
	}
	variants, err := w.sim.AddProduct(simulator.ProductSpec{Shop: s.domain, Title: "Coffee", Variants: []simulator.VariantSpec{{Title: "250 g", Price: "9.90"}}})
	if err != nil {
		w.t.Fatal(err)
	}
	s.variant = variants[0].ID
	w.stores = append(w.stores, s)
}

// checkout makes a contract whose first renewal is due at its store's order time
// today.
func (w *world) checkout() {
	s := w.stores[w.made%len(w.stores)]
	made, err := w.sim.Checkout(simulator.ContractSpec{
		Shop: s.domain, Customer: simulator.CustomerSpec{Email: fmt.Sprintf("customer%d@example.com", w.made)},
		CreatedAt: s.at.AddDate(0, -1, 0), NextBillingDate: s.at, Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1},
		Lines: []simulator.LineSpec{{VariantID: s.variant}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.made++
	w.contracts = append(w.contracts, made.Contract)
	if w.o.declines == 0 || w.made%w.o.declines != 0 {
		return
	}
	if err := w.sim.Outcome(simulator.Outcome{Contract: made.Contract, Code: declineCode}); err != nil {
		w.t.Fatal(err)
	}
	w.declined[made.Contract] = true
}

func (w *world) connect(ctx context.Context) {
	for _, s := range w.stores {
		local := s.at.In(w.zone)
		if err := w.program.Connect(ctx, s.domain, s.token, local.Hour(), local.Minute()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// open opens the service's database beside the service.
func (w *world) open() {
	driver, name := "sqlite", "file:"+w.o.database+"?_pragma=busy_timeout(10000)"
	if strings.HasPrefix(w.o.database, "postgres") {
		driver, name = "pgx", w.o.database+"&perennial.scope=all" // it looks at every store
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		w.t.Fatal(err)
	}
	w.db = db
	w.t.Cleanup(func() { _ = db.Close() })
}

// start makes sure that a node runs and answers.
func (w *world) start(ctx context.Context, i int) {
	s := w.slots[i]
	if w.alive(i) {
		return
	}
	flags := []string{
		"--waits-scale", cmp.Or(w.o.hurry, waitsScale), "--sweep-every", "500ms", "--reconcile-every", "10s", "--job-poll", "250ms", "--drain-timeout", "20s", "--log-level", "WARN",
	}
	node, err := w.program.Serve(s.address, s.log, append(flags, s.flags...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	s.mu.Lock()
	s.node = node
	s.mu.Unlock()
	ready, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := node.Ready(ready); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) alive(i int) bool {
	s := w.slots[i]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.node != nil
}

func (w *world) kill(i int) {
	s := w.slots[i]
	s.mu.Lock()
	node := s.node
	s.node = nil
	s.mu.Unlock()
	node.Kill()
}

// freeze stops a node as it stands, and thaw lets it go on.
func (w *world) freeze(i int) { w.still(i, true, (*process.Node).Freeze) }
func (w *world) thaw(i int)   { w.still(i, false, (*process.Node).Thaw) }

func (w *world) still(i int, still bool, do func(*process.Node) error) {
	w.t.Helper()
	s := w.slots[i]
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := do(s.node); err != nil {
		w.t.Fatal(err)
	}
	s.frozen = still
}

// drain asks the nodes to end and looks at how they do.
func (w *world) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for i, s := range w.slots {
		if code, err := s.node.Stop(ctx); err != nil || code != 0 {
			w.t.Errorf("node %d ended with exit code %d (%v) when it was stopped", i, code, err)
		}
	}
}

// end kills what is left of a node and shows what it logged when the test
// failed.
func (s *slot) end(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.node != nil {
		s.node.Kill()
	}
	_ = s.log.Close()
	if text, err := os.ReadFile(s.log.Name()); err == nil && t.Failed() {
		const shown = 4000
		t.Logf("%s ends:\n%s", s.log.Name(), text[max(len(text)-shown, 0):])
	}
}

// ServeHTTP passes a webhook to a node that lives; 503 when none does, so that
// the platform sends it again.
func (w *world) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	for i := range w.slots {
		s := w.slots[(i+len(body))%len(w.slots)] // a different one first for different webhooks
		s.mu.Lock()
		frozen := s.frozen
		s.mu.Unlock()
		if frozen { // would take the request and never answer
			continue
		}
		req, err := http.NewRequestWithContext(in.Context(), in.Method, "http://"+s.address+in.URL.Path, bytes.NewReader(body))
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
			return
		}
		req.Header = in.Header.Clone()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode < http.StatusInternalServerError {
			out.WriteHeader(res.StatusCode)
			return
		}
	}
	out.WriteHeader(http.StatusServiceUnavailable)
}
