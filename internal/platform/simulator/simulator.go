// Package simulator plays the commerce platform in memory: it answers the Admin
// GraphQL API over HTTP, charges, sends webhooks and fails on demand. It is the
// other side of the platform port and shares no code with the client.
package simulator

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform/schema"
)

// Options are what a simulated platform is made with. The zero value is a
// platform in memory on the machine's clock.
type Options struct {
	Clock         clock.Clock // the platform's time; default: the machine's
	ThrottleClock clock.Clock // refills the cost buckets; default: the machine's, so that limits hold while Clock stands still

	AppSecret         string // the app's client secret, which signs webhooks
	Tokens            TokenRules
	CompletionDelay   time.Duration // from a charge's request to its end; default 2 s, negative: none
	AllowHTTPWebhooks bool          // accept webhook addresses without TLS
	CostMaximum       float64       // size of a store's cost bucket; default 2000
	CostRestore       float64       // points restored per second; default 100
	Switches          Switches

	// Deliver carries webhooks in place of the network, one after the other and
	// in the goroutine of RunDue; nil: the network does.
	Deliver http.RoundTripper
	// Watch is called for every charge when it begins and when it ends. It must not
	// call the platform.
	Watch func(Charge)

	File string       // SQLite file in which every change is kept; empty: memory only
	Log  *slog.Logger // default: discards
}

// Defaults of Options, and what the platform itself fixes.
const (
	defaultCompletionDelay = 2 * time.Second
	defaultCostMaximum     = 2000
	defaultCostRestore     = 100
	maxQueryCost           = 1000 // of one document
	earliestCharge         = 24 * time.Hour
	orphanCancelDelay      = 48 * time.Hour // from uninstalling to the end of the contracts
)

// Simulator is a commerce platform. It is safe for concurrent use.
type Simulator struct {
	opts   Options
	schema *ast.Schema
	tables registry
	client *http.Client
	docs   documents
	wake   chan struct{} // tells Run that the agenda has changed

	pulse   atomic.Int64
	running sync.Mutex // held while due work is carried out

	mu      sync.Mutex // guards everything below
	state   state
	app     AppSettings   // the first
	others  []AppSettings // apps beside it
	agenda  agenda
	faults  faultState
	signIns accountState
	file    *rowFile // nil: memory only
	dirty   map[rowKey]record
	failure error // the file can no longer be written; nothing is answered any more
}

// Pulse is a number that grows with every request that is answered and with
// everything that is carried out. A caller that waits sees by it that the platform and
// its clients are at work.
func (s *Simulator) Pulse() int64 { return s.pulse.Load() }

// New returns a platform. When Options.File names a file with an earlier
// platform's rows, it continues from them.
func New(o Options) (*Simulator, error) {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.ThrottleClock == nil {
		o.ThrottleClock = clock.System{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.CompletionDelay = max(cmp.Or(o.CompletionDelay, defaultCompletionDelay), 0)
	o.CostMaximum = cmp.Or(o.CostMaximum, defaultCostMaximum)
	o.CostRestore = cmp.Or(o.CostRestore, defaultCostRestore)
	types, err := schema.Load()
	if err != nil {
		return nil, err
	}
	s := &Simulator{
		opts: o, schema: types, client: deliveryClient(o.Deliver),
		wake: make(chan struct{}, 1), dirty: map[rowKey]record{},
	}
	s.tables = newRegistry()
	s.clear()
	if o.File != "" {
		if err := s.openFile(o.File); err != nil {
			return nil, fmt.Errorf("continue from %s: %w", o.File, err)
		}
	}
	return s, nil
}

// Close releases the file, if there is one. Nothing may be asked afterwards.
func (s *Simulator) Close() error {
	s.client.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.close()
	s.file = nil
	return err
}

// update runs fn alone and makes what it changed durable before returning, even
// when fn fails: what it did before failing stands.
func (s *Simulator) update(fn func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return s.failure
	}
	err := fn()
	if ferr := s.flush(); ferr != nil {
		s.failure = ferr
		return ferr
	}
	return err
}

// updateStore is update with a store; the first one when no domain is given. One that is not there is NotFound.
func (s *Simulator) updateStore(domain string, fn func(sh *store) error) error {
	return s.update(func() error {
		sh, err := s.store(domain)
		if err != nil {
			return err
		}
		return fn(sh)
	})
}

// now is the platform's time in whole seconds, as its objects show it.
func (s *Simulator) now() time.Time { return s.opts.Clock.Now().UTC().Truncate(time.Second) }

func (s *Simulator) clear() {
	s.state = newState()
	s.agenda = agenda{}
	s.faults = faultState{counts: map[FaultKind]int{}, seen: map[uint64]int{}}
	clear(s.dirty)
}
