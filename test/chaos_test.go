//go:build soak

package test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// The service is killed while it charges a platform that fails, again and again,
// and in the end every contract has one order for the cycle that was due.

// ordeal is how much a service must bear.
type ordeal struct {
	database  string // file or address
	seed      uint64
	nodes     int
	shops     int
	contracts int           // half are there before the nodes, half arrive meanwhile
	staggered bool          // every other store begins to charge within a minute
	hurry     string        // divides the service's waits; empty: waitsScale
	declines  int           // of so many contracts the charge of one is declined; 0: of none
	lasts     time.Duration // how long faults and kills go on
	kills     int           // at least
	calm      time.Duration // how long the rest may take
}

// What is asked of the platform and of the way to it.
const (
	faultRate       = 0.2
	completionDelay = 500 * time.Millisecond
	// waitsScale turns the minutes and hours of the service's waits into
	// seconds.
	waitsScale = "100"
	// restartAfter is the longest time that a killed node stays away.
	restartAfter = 1500 * time.Millisecond
)

func TestTwoNodesUnderKill(t *testing.T) {
	t.Parallel()
	o := ordeal{
		database: pgtest.Empty(t), seed: 1, nodes: 2, shops: 10, contracts: 1500, staggered: true,
		lasts: 60 * time.Second, kills: 20, calm: 75 * time.Second,
	}
	o.bear(t)
}

func TestOneNodeOnSQLiteUnderKill(t *testing.T) {
	t.Parallel()
	o := ordeal{
		database: filepath.Join(t.TempDir(), "perennial.db"), seed: 2, nodes: 1, shops: 4, contracts: 300, staggered: true,
		lasts: 30 * time.Second, kills: 5, calm: 75 * time.Second,
	}
	o.bear(t)
}

func (o ordeal) bear(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, o)
	for range o.contracts / 2 {
		w.checkout()
	}
	w.connect(ctx)
	for i := range w.slots {
		w.start(ctx, i)
	}
	if err := w.sim.SetFaults(simulator.Faults{Rate: faultRate, Seed: o.seed}); err != nil {
		t.Fatal(err)
	}
	kills := w.storm(ctx)
	if err := w.sim.ClearFaults(); err != nil {
		t.Fatal(err)
	}
	for i := range w.slots {
		w.start(ctx, i)
	}
	w.settle(ctx)
	w.drain(ctx)

	t.Logf("%d contracts, %d kills, faults %v", o.contracts, kills, w.sim.FaultCounts())
	if kills < o.kills {
		t.Errorf("%d kills, at least %d are wanted", kills, o.kills)
	}
	for _, kind := range simulator.FaultKinds {
		if w.sim.FaultCounts()[kind] == 0 {
			t.Errorf("no fault of the kind %s happened", kind)
		}
	}
	w.compare(ctx)
}

// storm kills nodes at random moments, starts them again, and lets the other
// half of the contracts arrive. It returns how often a node was killed.
func (w *world) storm(ctx context.Context) int {
	const tick = 50 * time.Millisecond
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	begun := clock.System{}.Now()
	kills, late := 0, w.o.contracts-w.o.contracts/2
	pace := w.o.lasts / time.Duration(w.o.kills+w.o.kills/2)
	due := make([]time.Duration, len(w.slots)) // of each node's next kill or start
	for i := range due {
		due[i] = w.chance(2 * pace * time.Duration(len(due)))
	}
	for {
		select {
		case <-ctx.Done():
			w.t.Fatal(ctx.Err())
		case <-ticks.C:
		}
		passed := clock.System{}.Now().Sub(begun)
		if passed >= w.o.lasts && kills >= w.o.kills || passed >= w.o.lasts*3/2 {
			return kills
		}
		for made := w.made - w.o.contracts/2; made < late*int(passed*10/9)/int(w.o.lasts) && made < late; made++ {
			w.checkout()
		}
		for i := range w.slots {
			switch {
			case passed < due[i]:
			case w.alive(i):
				w.kill(i)
				kills++
				due[i] = passed + w.chance(restartAfter)
			default:
				w.start(ctx, i)
				due[i] = passed + w.chance(2*pace*time.Duration(len(due)))
			}
		}
	}
}

// chance returns a duration below the given one.
func (w *world) chance(below time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(below)))
}

// settle waits until the service knows how the charge of every contract ended.
func (w *world) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.o.calm)
	defer cancel()
	ticks := time.NewTicker(250 * time.Millisecond)
	defer ticks.Stop()
	for n := 0; ; {
		err := w.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM attempts WHERE status IN ('SUCCESS', 'FAILURE')").Scan(&n)
		if err == nil && n >= w.o.contracts {
			return
		}
		select {
		case <-ctx.Done():
			w.t.Errorf("after the calm the charges of %d of %d contracts have ended (%v); all: %v", n, w.o.contracts, err, w.states())
			return
		case <-ticks.C:
		}
	}
}

// seeded returns a source of chance that is the same in every run.
func seeded(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // chance, not secrecy
}
