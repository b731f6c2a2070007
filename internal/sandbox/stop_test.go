package sandbox

import (
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/leaktest"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// It is not parallel: it measures the process.
func TestStopFreesMemoryAndClosesIdleConnections(t *testing.T) {
	leaktest.StartAndStop(t, func() time.Duration {
		dir := t.TempDir()
		storetest.SQLiteFile(t, filepath.Join(dir, databaseFile))
		s, err := Start(t.Context(), Options{DataDir: dir, Listen: "127.0.0.1:0", Empty: true, MainOnly: true, Out: io.Discard, Log: slog.New(slog.DiscardHandler)})
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
