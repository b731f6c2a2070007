package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/test/process"
)

// step is a point of a refresh at which the process is killed.
type step struct {
	name string
	// hold calls killed when the process has come there. It returns when the process is dead.
	hold          func(m *mortal, killed func()) holder
	held, written bool // whether the process leaves a lease, or the next tokens
}

// steps are the points at which a process can die.
var steps = []step{
	{name: "before the lease", hold: func(_ *mortal, killed func()) holder {
		return func(_ http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) bool {
			return lost(r, killed)
		}
	}},
	{name: "after the lease", held: true, hold: func(_ *mortal, killed func()) holder {
		return func(_ http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) bool {
			return tokenRequest(r) && lost(r, killed) // the platform never sees the request
		}
	}},
	{name: "request sent", held: true, hold: func(_ *mortal, killed func()) holder {
		return func(_ http.ResponseWriter, r *http.Request, answer func() *httptest.ResponseRecorder) bool {
			if !tokenRequest(r) {
				return false
			}
			answer()
			return lost(r, killed)
		}
	}},
	{name: "answer received, not written", held: true, hold: received},
	{name: "written, not used", written: true, hold: func(m *mortal, killed func()) holder {
		old := string(m.connection().Access)
		return func(_ http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) bool {
			return !tokenRequest(r) && r.Header.Get("X-Shopify-Access-Token") != old && lost(r, killed)
		}
	}},
}

// received gives the process its answer while another transaction has the row, and has it
// killed when it has read the answer.
func received(m *mortal, killed func()) holder {
	return func(w http.ResponseWriter, r *http.Request, answer func() *httptest.ResponseRecorder) bool {
		if !tokenRequest(r) {
			return false
		}
		rec := answer()
		err := m.db.PlatformConnections().Update(context.WithoutCancel(m.Context()), m.id, func(tx connection.Tx) error {
			if _, err := tx.PlatformConnection(m.Context(), connection.Primary); err != nil {
				return err
			}
			raw, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return err
			}
			defer raw.Close()
			if _, err := fmt.Fprintf(raw, "HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", rec.Code, rec.Body.Len(), rec.Body); err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, raw) // it hangs up when it has read the answer
			killed()
			return nil
		})
		if err != nil {
			m.Error(err)
		}
		return true
	}
}

// refreshKilledAt kills the process at a step of a refresh, and checks that the store is
// charged, and its tokens refreshed, by the next process.
func (m *mortal) refreshKilledAt(s step, expires time.Duration, waits bool) {
	m.Helper()
	m.subscribe()
	m.connect()
	before := m.connection()
	if before.Refresh == "" || before.Access == killedToken {
		m.Fatalf("the token that never expires is not exchanged: %+v", before)
	}
	if s.held || s.written {
		m.expire(expires)
	}
	m.killedIn(func(killed func()) holder { return s.hold(m, killed) }, m.start, m.kill)

	c := m.connection()
	if (c.Holder != "") != s.held || (c.Refresh != before.Refresh) != s.written || s.written && c.Previous != before.Refresh {
		m.Errorf("the process leaves a lease: %t, want %t; another refresh token: %t, want %t", c.Holder != "", s.held, c.Refresh != before.Refresh, s.written)
	}
	if s.held && !waits { // its lease ends
		m.change(func(c *connection.Connection) { c.HeldUntil = clock.System{}.Now() })
	}
	if !s.held && !s.written {
		m.expire(expires)
	}
	m.start()
	m.charged()
	m.eventually("the token is refreshed", func() bool { return m.connection().Refresh != before.Refresh })
	c = m.connection()
	m.kill() // it would use the token that it has in memory
	m.expire(-time.Minute)
	m.start()
	m.eventually("the token is refreshed once more", func() bool { return m.connection().Refresh != c.Refresh })
	if c = m.connection(); c.Refused != "" || c.Holder != "" || c.Failures != 0 || c.Access == before.Access {
		m.Errorf("in the end: refused %q, held %t, %d failures", c.Refused, c.Holder != "", c.Failures)
	}
	m.charged()
}

// The whole table, on both databases and with the program as it is built, is in the long
// tests.
func TestStoreIsChargedAfterKillBetweenAnswerAndWrite(t *testing.T) {
	t.Parallel()
	m := newMortal(t, process.Program{Path: os.Args[0]}, filepath.Join(t.TempDir(), "perennial.db"), simulator.TokenRules{AccessEndsEarly: true})
	m.refreshKilledAt(steps[3], -time.Minute, false)
}
