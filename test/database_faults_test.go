//go:build soak

package test

import (
	"context"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// The database crashes while two nodes charge, and comes back. The nodes are not
// restarted.

func TestTwoNodesWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cluster, err := pgtest.StartDurable(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	w := newWorld(t, ordeal{database: cluster.URL, seed: 7, nodes: 2, shops: 6, contracts: 72, declines: 7, calm: 60 * time.Second})
	h, way := newHold(), newWire(t, w.platform)
	h.over(way)
	for i, s := range w.slots {
		s.flags = []string{"--platform-url", "http://" + way.address, "--call-timeout", "60s"}
		w.start(ctx, i)
	}
	for range w.o.contracts / 2 {
		w.checkout()
	}
	w.connect(ctx)
	w.eventually("the nodes are in the middle of batches", func() bool { return h.everywhere(2) })
	t.Log("the database goes with", h)
	w.crash(ctx, cluster)
	h.letGo() // charges arrive that no node can record
	w.eventually("charges end that no node can record", func() bool { return w.storesCharged() >= 4 })
	for range w.o.contracts / 2 { // and no node can receive these
		w.checkout()
	}
	w.restart(ctx, cluster)
	w.reconcile(ctx)

	// Again, at once and wherever the nodes are.
	w.eventually("something is noted", func() bool { return w.count(ctx, "SELECT COUNT(*) FROM attempts WHERE status = 'SUCCESS'") > 0 })
	w.crash(ctx, cluster)
	w.restart(ctx, cluster)
	w.settle(ctx)
	w.checkEnded()
	w.drain(ctx)
	w.compare(ctx)
}

// storesCharged is how many stores have a charge that has ended at the platform.
func (w *world) storesCharged() int {
	stores := map[string]bool{}
	for _, r := range w.sim.Orders(simulator.OrderFilter{}) {
		stores[r.Shop] = true
	}
	return len(stores)
}

// crash ends the database's server, and waits until the nodes have seen it.
func (w *world) crash(ctx context.Context, c *pgtest.Cluster) {
	w.t.Helper()
	if err := c.Crash(); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, w.o.calm)
	defer cancel()
	for _, s := range w.slots {
		if err := s.node.Unready(ctx); err != nil {
			w.t.Fatal(err)
		}
	}
}

// reconcile makes the hourly reconciliation of all stores due, which finds what no
// webhook reported. The platform repeats those only after a minute.
func (w *world) reconcile(ctx context.Context) {
	w.t.Helper()
	_, err := w.db.ExecContext(ctx, "UPDATE shops SET reconcile_at = $1, version = version + 1", clock.System{}.Now().UnixMilli())
	if err != nil {
		w.t.Fatal(err)
	}
}

// restart starts the database's server, and waits until the nodes have found it.
func (w *world) restart(ctx context.Context, c *pgtest.Cluster) {
	w.t.Helper()
	if err := c.Restart(ctx); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, w.o.calm)
	defer cancel()
	for _, s := range w.slots {
		if err := s.node.Ready(ctx); err != nil {
			w.t.Fatal(err)
		}
	}
}
