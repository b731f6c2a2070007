package store_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// network forwards to a database and can drop everything sent over it, both ways, without
// an error on either side.
type network struct {
	swallows atomic.Bool
	mu       sync.Mutex
	ends     []net.Conn
}

// cut ends all connections.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.ends {
		_ = c.Close()
	}
}

// through returns the address of a database by way of the network.
func (n *network) through(t *testing.T, database string) string {
	t.Helper()
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	to := at.Host
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			far, err := (&net.Dialer{}).DialContext(context.WithoutCancel(t.Context()), "tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			n.mu.Lock()
			n.ends = append(n.ends, near, far)
			n.mu.Unlock()
			go n.pass(near, far)
			go n.pass(far, near)
		}
	}()
	at.Host = l.Addr().String()
	return at.String()
}

// pass passes on what comes in. What was swallowed once does not come later, and
// neither does what follows it.
func (n *network) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	lost, buffer := false, make([]byte, 64<<10)
	for {
		read, err := from.Read(buffer)
		if err != nil {
			return
		}
		if lost = lost || n.swallows.Load(); lost {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if _, err := to.Write(buffer[:read]); err != nil {
			return
		}
	}
}

func TestSilentNetworkTimesOut(t *testing.T) {
	t.Parallel()
	var way network
	o := storetest.PostgresOptions(t)
	o.URL = way.through(t, o.URL) + "&connect_timeout=1"
	db, err := store.OpenPostgresWithin(t.Context(), o, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer way.cut()                                              // or the driver says goodbye for a quarter of a minute
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // far longer than all of it takes
	defer cancel()
	if err := db.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	if err := db.Shops().AddShop(ctx, &shop.Shop{Domain: "demo.myshopify.com", TimeZone: "UTC"}); err != nil {
		t.Fatal(err)
	}
	id, err := db.Shops().IDOf(ctx, "demo.myshopify.com")
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(ctx, id, func(tx *store.Tx) error {
		if _, err := tx.Shop(ctx); err != nil {
			return err
		}
		way.swallows.Store(true)
		_, err := tx.Shop(ctx)
		return err
	})
	if err == nil || ctx.Err() != nil {
		t.Errorf("in the middle of a transaction: %v, after %v", err, ctx.Err())
	}
	if err := db.Ping(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("a statement: %v, after %v", err, ctx.Err())
	}
	way.swallows.Store(false)
	if err := db.Ping(ctx); err != nil {
		t.Errorf("over a network that is mended: %v", err)
	}
}

func TestMigrationHasNoStatementTimeout(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, err := store.OpenPostgresWithin(ctx, storetest.PostgresOptions(t), time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(ctx); err == nil {
		t.Error("a statement was answered that had no time")
	}
	if err := db.Migrate(ctx); err != nil {
		t.Error(err)
	}
}
