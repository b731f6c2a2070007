package peer_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/peer"
)

// at returns the service that a handler is, which is given so long for each request.
func at(t *testing.T, timeout time.Duration, answer http.HandlerFunc) *peer.End {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	services := peer.New(peer.Options{Transport: http.DefaultTransport, Timeout: timeout, Clock: clock.System{}})
	return services.End(moving.Peer{Address: server.URL, Key: "a secret key", Rate: 1000})
}

func listed(ctx context.Context, e *peer.End) error {
	_, err := e.List(ctx, shop.Shop{TimeZone: "UTC"}, moving.Query{Line: shop.Subscriptions})
	return err
}

func waits(t *testing.T, err error, says string) {
	t.Helper()
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want an Unavailable that says %q", err, says)
	}
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("the key is in %v", err)
	}
}

func TestKeyDoesNotFollowRedirect(t *testing.T) {
	t.Parallel()
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		e := at(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-API-Key") == "" {
				t.Error("the service itself is called without the key")
			}
			http.Redirect(w, r, elsewhere.URL, status)
		})
		waits(t, listed(t.Context(), e), "redirects to another address")
	}
	if asked {
		t.Error("another host was asked")
	}
}

// An answer without an end is read up to a limit, and no further.
func TestAnswerOfGigabyteIsGivenUp(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64 // the handler may still write
	e := at(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[{"note":"`)
		for line := strings.Repeat("x", 1<<20); sent.Load() < 1<<10; sent.Add(1) {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	})
	waits(t, listed(t.Context(), e), "larger than 32 MiB")
	if n := sent.Load(); n > 64 {
		t.Errorf("%d MiB were read", n)
	}
}

func TestServiceThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"before it answers":     func(http.ResponseWriter) {},
		"in the middle of what": func(w http.ResponseWriter) { _, _ = io.WriteString(w, `[{`); w.(http.Flusher).Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := at(t, 50*time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
				answer(w)
				<-r.Context().Done()
			})
			waits(t, listed(t.Context(), e), "other service")
		})
	}
}

// One that closes in the middle of what it said it would send.
func TestAnswerThatBreaksOffIsNone(t *testing.T) {
	t.Parallel()
	e := at(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `[]`)
	})
	waits(t, listed(t.Context(), e), "broke off")
}
