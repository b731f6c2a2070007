//go:build soak

package test

import (
	"context"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/pgtest"
)

// A node stands still for longer than its leases and goes on as if nothing had
// been: a machine that was suspended, or moved. The other node does its work
// meanwhile.

// lease is how long what a node has taken up belongs to it in these tests.
const lease = 5 * time.Minute / 100 // by waitsScale

// idle has the database give up the transactions of a frozen node sooner than it
// does in production. The frozen node may be in one.
const idle = "&idle_in_transaction_session_timeout=2s"

func TestTwoNodesWhileOneIsFrozenInABatch(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t, ordeal{database: pgtest.Empty(t) + idle, seed: 5, nodes: 2, shops: 9, contracts: 54, declines: 7, calm: 60 * time.Second})
	sleeper, other := newHold(), newHold()
	for i, h := range []*hold{sleeper, other} {
		way := newWire(t, w.platform)
		h.over(way)
		// No node gives up on its own, and the other node has one worker: it waits
		// with one store, while all the rest is the sleeper's.
		w.slots[i].flags = []string{"--platform-url", "http://" + way.address, "--call-timeout", "60s", "--workers", []string{"12", "1"}[i]}
		w.start(ctx, i)
	}
	for range w.o.contracts {
		w.checkout()
	}
	w.connect(ctx)
	w.eventually("the node is in the middle of batches", func() bool { return sleeper.everywhere(1) })
	w.freeze(0)
	frozen := clock.System{}.Now()
	waiting := sleeper.held(lookedUp)
	t.Log("frozen with", sleeper)

	other.letGo()
	w.settle(ctx)
	w.eventually("the leases have ended", func() bool { return clock.System{}.Now().Sub(frozen) > lease })
	sleeper.letGo() // what it sent arrives, and answers lie in wait for it
	w.thaw(0)
	w.quiet(ctx)
	w.checkEnded()
	w.drain(ctx)
	for _, token := range waiting {
		if sent := sleeper.charges(token); sent > 0 {
			t.Errorf("the store of %s: %d charges were sent after the lease, by the node that had slept", token, sent)
		}
	}
	w.compare(ctx)
}

// quiet waits until no task is running on any node.
func (w *world) quiet(ctx context.Context) {
	w.eventually("no task runs", func() bool { return w.count(ctx, "SELECT COUNT(*) FROM river_job WHERE state = 'running'") == 0 })
}

func TestTwoNodesWhileOneIsFrozenInATransaction(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t, ordeal{
		database: pgtest.Empty(t) + idle, seed: 6, nodes: 2, shops: 2, contracts: 24, calm: 30 * time.Second,
	})
	for range w.o.contracts {
		w.checkout()
	}
	w.connect(ctx)
	gate := w.holdTransactions(ctx)
	w.start(ctx, 0)
	w.eventually("a transaction is under way", func() bool {
		return w.count(ctx, "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 1 AND "+here) > 0
	})
	w.freeze(0)
	gate()
	w.eventually("it waits for the frozen node", func() bool {
		return w.count(ctx, "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()") > 0
	})
	w.start(ctx, 1)
	w.settle(ctx)
	w.thaw(0)
	w.quiet(ctx)
	w.checkEnded()
	w.drain(ctx)
	w.compare(ctx)
}

// here chooses the locks of this database.
const here = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"

// holdTransactions has every transaction that takes attempts up wait in its middle,
// with what it has locked, until the returned function is called.
func (w *world) holdTransactions(ctx context.Context) (letGo func()) {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	do := func(statement string) {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			w.t.Fatal(err)
		}
	}
	do(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF NEW.status = 'REQUESTING' THEN PERFORM pg_advisory_xact_lock_shared(1); END IF; RETURN NEW; END $$`)
	do("CREATE TRIGGER hold BEFORE UPDATE ON attempts FOR EACH ROW EXECUTE FUNCTION hold()")
	do("SELECT pg_advisory_lock(1)")
	return func() {
		do("SELECT pg_advisory_unlock(1)")
		_ = conn.Close()
	}
}

// count asks the database for a number, and returns -1 when it does not answer.
func (w *world) count(ctx context.Context, query string) int {
	n := -1
	if err := w.db.QueryRowContext(ctx, query).Scan(&n); err != nil {
		return -1
	}
	return n
}
