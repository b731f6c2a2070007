//go:build soak

package test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/pgtest"
)

// The way to the platform and the way back fail below HTTP while the service
// charges. In the end every contract was charged once.

func TestTwoNodesOnWiresThatBreak(t *testing.T) {
	t.Parallel()
	o := ordeal{database: pgtest.Empty(t), seed: 3, nodes: 2, shops: 6, contracts: 72, declines: 7, hurry: "200", calm: 60 * time.Second}
	o.bearBrokenWires(t)
}

func TestOneNodeOnSQLiteOnWiresThatBreak(t *testing.T) {
	t.Parallel()
	o := ordeal{
		database: filepath.Join(t.TempDir(), "perennial.db"), seed: 4, nodes: 1, shops: 6, contracts: 72, declines: 7, hurry: "200", calm: 60 * time.Second,
	}
	o.bearBrokenWires(t)
}

// Calls that charge. Each store's first ones of each kind are broken, so many.
var brokenCalls = map[string]int{"CycleState": 1, "Charge": 2, "Attempts": 1}

// What is done to calls of the platform, and to every other webhook.
var (
	brokenWays     = []breakage{lost, cut, reset, halved, stalled, late}
	brokenWebhooks = []breakage{lost, cut, reset, halved}
)

func (o ordeal) bearBrokenWires(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, o)
	there, back := newWire(t, w.platform), newWire(t, w.front)
	plan := newPlan()
	there.arrives, back.arrives = plan.call, plan.webhook
	w.program.Env = append(w.program.Env, "PERENNIAL_PUBLIC_URL=http://"+back.address)
	for range o.contracts {
		w.checkout()
	}
	for i, s := range w.slots {
		s.flags = []string{"--platform-url", "http://" + there.address, "--call-timeout", "1s"}
		w.start(ctx, i)
	}
	w.connect(ctx) // with all nodes there: one that starts has every store confirmed again
	w.settle(ctx)
	w.checkEnded()

	// The worst moment for what was given up long ago: all is charged and noted.
	calls := there.deliverLate(t)
	w.checkEnded()
	w.settle(ctx)
	w.drain(ctx)

	t.Logf("%d contracts, broken: %v, %d calls came late", o.contracts, plan.counts, calls)
	for _, kind := range []string{"CycleState", "Charge"} {
		for _, way := range brokenWays {
			if plan.counts[kind+" "+string(way)] == 0 {
				t.Errorf("no %s was %s: %v", kind, way, plan.counts)
			}
		}
	}
	w.compare(ctx)
}

// plan says what breaks. It counts calls and not time, so that every kind of call
// breaks in every way, however slow the machine is.
type plan struct {
	mu       sync.Mutex
	stores   map[string]int  // in the order in which they were first charged
	seen     map[message]int // calls
	webhooks int
	counts   map[string]int // what was broken, by call and way
}

func newPlan() *plan {
	return &plan{stores: map[string]int{}, seen: map[message]int{}, counts: map[string]int{}}
}

// call breaks a store's first calls: with every store in another way, and each
// time in the next.
func (p *plan) call(m message) breakage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if brokenCalls[m.kind] == 0 {
		return whole
	}
	store, known := p.stores[m.store]
	if !known {
		store = len(p.stores)
		p.stores[m.store] = store
	}
	n := p.seen[m]
	p.seen[m]++
	if n >= brokenCalls[m.kind] {
		return whole
	}
	way := brokenWays[(store+n)%len(brokenWays)]
	p.counts[m.kind+" "+string(way)]++
	return way
}

// webhook breaks every other one of those that tell how charges ended.
func (p *plan) webhook(m message) breakage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !strings.HasPrefix(m.kind, "subscription_billing_attempts/") {
		return whole
	}
	p.webhooks++
	if p.webhooks%2 == 0 {
		return whole
	}
	way := brokenWebhooks[p.webhooks/2%len(brokenWebhooks)]
	p.counts["webhook "+string(way)]++
	return way
}

// checkEnded waits until no charge is open at the platform: the books can be
// compared then.
func (w *world) checkEnded() {
	w.eventually("no charge is open at the platform", func() bool {
		for _, id := range w.contracts {
			for _, a := range w.charges(id) {
				if a.State == "PENDING" {
					return false
				}
			}
		}
		return true
	})
}

// eventually waits until something holds.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	limit := time.After(w.o.calm)
	for !holds() {
		select {
		case <-ticks.C:
		case <-limit:
			w.t.Fatalf("not after %s: %s", w.o.calm, what)
		}
	}
}
