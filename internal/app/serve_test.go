package app

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
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

// It is not parallel: it measures the process.
func TestServeGivesMemoryBackAndWaitsForNoUnusedConnection(t *testing.T) {
	settings := config.Server{
		Database: config.Database{Data: config.Data{Database: filepath.Join(t.TempDir(), "data.db")}, SecretKey: config.Secret("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")},
		Listen:   "127.0.0.1:0", MembershipsListen: "127.0.0.1:0", OpsListen: "127.0.0.1:0",
		Web: true, Work: true, Workers: 2, SweepEvery: time.Hour, DrainTimeout: 20 * time.Second, RatePerSecond: 10, RateBurst: 40,
	}
	addresses := make(chan string, 3)
	leaktest.StartAndStop(t, func() time.Duration {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() {
			ended <- Serve(ctx, Options{Settings: settings, Clock: clock.System{}, Log: slog.New(listeners{slog.DiscardHandler, addresses}), Kind: Production})
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
