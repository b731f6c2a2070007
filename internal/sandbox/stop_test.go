package sandbox

import (
	"io"
	"log/slog"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/leaktest"
)

// It is not parallel: it measures the process.
func TestStopFreesMemoryAndClosesIdleConnections(t *testing.T) {
	leaktest.StartAndStop(t, func() time.Duration {
		s, err := Start(t.Context(), Options{DataDir: t.TempDir(), Listen: "127.0.0.1:0", Empty: true, Out: io.Discard, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(s.URLs().Subscriptions)
		if err != nil {
			t.Fatal(err)
		}
		unused, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer unused.Close()
		began := time.Now()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	})
}
