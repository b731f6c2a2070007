package app

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/leaktest"
	"github.com/perennialhq/perennial/internal/config"
)

// listeners is a log that reports the addresses on which a service listens.
type listeners struct {
	slog.Handler
	addresses chan<- string
}

func (l listeners) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "listening" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "address" {
				l.addresses <- a.Value.String()
			}
			return true
		})
	}
	return nil
}

func (l listeners) Enabled(context.Context, slog.Level) bool { return true }

// serverSettings are those of a service on a migrated SQLite file.
func serverSettings(t *testing.T) config.Server {
	t.Helper()
	s := config.Server{
		Database: config.Database{Data: config.Data{Database: filepath.Join(t.TempDir(), "data.db")}, SecretKey: config.Secret("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")},
		Listen:   "127.0.0.1:0", MembershipsListen: "127.0.0.1:0", OpsListen: "127.0.0.1:0",
		Web: true, Work: true, Workers: 2, SweepEvery: time.Hour, DrainTimeout: 20 * time.Second, RatePerSecond: 10, RateBurst: 40,
	}
	if _, err := Migrate(t.Context(), s.Database); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSecondNodeOnSQLiteFileIsRefused(t *testing.T) {
	t.Parallel()
	set := serverSettings(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	addresses, ended := make(chan string, 3), make(chan error, 1)
	serve := func() error {
		return Serve(ctx, Options{Settings: set, Clock: clock.System{}, Log: slog.New(listeners{slog.DiscardHandler, addresses}), Kind: Production})
	}
	go func() { ended <- serve() }()
	<-addresses
	if err := serve(); err == nil || !strings.Contains(err.Error(), "another perennial serve runs on "+set.Database.Data.Database) {
		t.Errorf("the second node ended with %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the first node ended with %v", err)
	}
}

func TestServeEndsWhenListenerFails(t *testing.T) {
	t.Parallel()
	set := serverSettings(t)
	all, err := bind(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	defer all.close()
	a, err := New(t.Context(), Options{Settings: set, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Kind: Production})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	failed := all.serve(a, Options{Log: slog.New(slog.DiscardHandler)})
	all[1].listener.Close()
	if err := <-failed; err == nil || !strings.Contains(err.Error(), all[1].listener.Addr().String()) {
		t.Errorf("it failed with %v", err)
	}
}

// It is not parallel: it measures the process.
func TestServeFreesMemoryAndClosesIdleConnections(t *testing.T) {
	set := serverSettings(t)
	addresses := make(chan string, 3)
	leaktest.StartAndStop(t, func() time.Duration {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() {
			ended <- Serve(ctx, Options{Settings: set, Clock: clock.System{}, Log: slog.New(listeners{slog.DiscardHandler, addresses}), Kind: Production})
		}()
		for range 3 {
			select {
			case at := <-addresses:
				unused, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at)
				if err != nil {
					t.Fatal(err)
				}
				defer unused.Close()
			case err := <-ended:
				t.Fatalf("serve ended before it listened: %v", err)
			}
		}
		began := time.Now()
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	})
}
