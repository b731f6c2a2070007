package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/test/process"
)

// A page of the platform's list has 250 contracts.
const syncedContracts = 620

// call is a request for an operation of the API.
type call struct {
	Query     string `json:"query"`
	Variables struct {
		After string `json:"after"`
	} `json:"variables"`
}

// watched is what a process asks about contracts.
type watched struct {
	mu      sync.Mutex
	cursors []string // of the pages that it lists
}

// listed returns the cursors of the pages that the last process has listed.
func (w *watched) listed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.cursors)
}

// killAt kills a process at a request for an operation that is due to be its last.
func (w *watched) killAt(operation string, last func(listed int) bool) func(killed func()) holder {
	return func(killed func()) holder {
		w.cursors = nil
		return func(_ http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) bool {
			var c call
			if tokenRequest(r) || json.NewDecoder(r.Body).Decode(&c) != nil {
				return false
			}
			w.mu.Lock()
			if c.of("ContractsUpdated") {
				w.cursors = append(w.cursors, c.Variables.After)
			}
			listed := len(w.cursors)
			w.mu.Unlock()
			return c.of(operation) && last(listed) && lost(r, killed)
		}
	}
}

// of reports whether a call is for an operation.
func (c call) of(operation string) bool {
	return strings.HasPrefix(strings.TrimSpace(c.Query), "query "+operation+"(") || strings.HasPrefix(strings.TrimSpace(c.Query), "query "+operation+" (")
}

// connectOnly connects the store, confirms nothing, and does not wait.
func (m *mortal) connectOnly() *exec.Cmd {
	m.Helper()
	local := m.at.In(m.zone)
	cmd := exec.CommandContext(m.Context(), m.program.Path, "shops", "connect", "--shop", killedShop, "--token-file", "-", //nolint:gosec // the test's own program
		"--order-time", fmt.Sprintf("%02d:%02d", local.Hour(), local.Minute()))
	cmd.Env, cmd.Stdin, cmd.Stderr = append(os.Environ(), m.program.Env...), strings.NewReader(killedToken+"\n"), m.log
	m.must(cmd.Start())
	return cmd
}

// progress returns how far the first sync has come.
func (m *mortal) progress() (y intake.Sync) {
	m.Helper()
	m.must(m.db.Update(m.Context(), m.id, func(tx *store.Tx) (err error) {
		y, _, err = tx.LatestSync(m.Context())
		return err
	}))
	return y
}

// endLease has the lease of a dead process end, and another one look at once.
func (m *mortal) endLease() {
	m.Helper()
	m.must(m.db.Update(m.Context(), m.id, func(tx *store.Tx) error {
		y, _, err := tx.LatestSync(m.Context())
		if err != nil {
			return err
		}
		y.LeaseUntil = clock.System{}.Now()
		if err := tx.PutSync(m.Context(), y); err != nil {
			return err
		}
		of, err := tx.Shop(m.Context())
		if err != nil {
			return err
		}
		of.ReconcileAt = clock.System{}.Now()
		return tx.PutShop(m.Context(), of)
	}))
}

// untouched checks that nothing was charged.
func (m *mortal) untouched(when string) {
	m.Helper()
	if orders := m.sim.Orders(simulator.OrderFilter{}); len(orders) != 0 {
		m.Fatalf("%s: %d orders", when, len(orders))
	}
	for _, id := range m.orders {
		c, err := m.sim.Contract(id)
		m.must(err)
		if len(c.Attempts) != 0 {
			m.Fatalf("%s: contract %d was charged %d times", when, id, len(c.Attempts))
		}
	}
}

// syncKilled kills the command that connects a store, and then the service, at every page
// of the first sync, and checks that each goes on where the one before it was.
func (m *mortal) syncKilled() {
	m.Helper()
	var all []contract.ID
	for i := range syncedContracts {
		if i%200 == 0 { // some of every page are due
			m.subscribe()
			all = append(all, contract.ID(m.orders[len(m.orders)-1]))
			continue
		}
		all = append(all, contract.ID(m.checkout(m.at.AddDate(0, 0, 20))))
	}
	var seen watched
	var connecting *exec.Cmd
	reading := seen.killAt("Contracts", func(int) bool { return true }) // it knows the contracts, and has stored none
	m.killedIn(reading, func() { connecting = m.connectOnly() }, func() {
		m.must(connecting.Process.Kill())
		_ = connecting.Wait() // it was killed
	})
	var err error
	m.id, err = m.db.Shops().IDOf(m.Context(), killedShop)
	m.must(err)
	if y := m.progress(); y.Stage != intake.Reading || y.Total != syncedContracts || y.Done != 0 {
		m.Errorf("after the first kill: %+v", y)
	}
	before := 0
	for kill := 1; kill < 3; kill++ {
		m.endLease()
		// A page is asked for while the one before it is being stored.
		second := func(listed int) bool {
			if listed == 2 {
				m.eventually("the first page is stored", func() bool { return m.progress().Done > before })
			}
			return listed == 2
		}
		m.killedIn(seen.killAt("ContractsUpdated", second), m.start, m.kill)
		y := m.progress()
		if y.Done <= before || y.Done >= syncedContracts || y.Stage != intake.Reading {
			m.Errorf("after kill %d: %+v", kill+1, y)
		}
		if listed := seen.listed(); kill > 1 && slices.Contains(listed, "") {
			m.Errorf("the process after kill %d begins again: it lists %q", kill, listed)
		}
		before = y.Done
		m.untouched(fmt.Sprintf("after kill %d", kill+1))
	}
	m.endLease()
	m.start()
	m.eventually("the first sync is done", func() bool { return m.progress().Stage == intake.Done })
	y := m.progress()
	if y.Done != syncedContracts || y.Total != syncedContracts {
		m.Errorf("in the end: %+v", y)
	}
	of, err := m.db.Shops().Shop(m.Context(), m.id)
	m.must(err)
	m.eventually("the store is reconciled again", func() bool {
		now, err := m.db.Shops().Shop(m.Context(), m.id)
		m.must(err)
		return now.ReconciledAt.After(of.ReconciledAt)
	})
	m.must(m.db.Update(m.Context(), m.id, func(tx *store.Tx) error {
		rows, err := tx.Contracts(m.Context(), all)
		if err == nil && len(rows) != syncedContracts {
			m.Errorf("%d contracts are stored, want %d", len(rows), syncedContracts)
		}
		running, err2 := tx.RunningContracts(m.Context())
		if running != syncedContracts {
			m.Errorf("%d contracts run, want %d", running, syncedContracts)
		}
		if err == nil {
			err = err2
		}
		return err
	}))
	m.untouched("before the merchant confirms it")
	m.command("shops", "confirm", killedShop, "--yes")
	m.charged()
}

func TestFirstSyncContinuesAfterKill(t *testing.T) {
	t.Parallel()
	newMortal(t, process.Program{Path: os.Args[0]}, filepath.Join(t.TempDir(), "perennial.db"), simulator.TokenRules{}).syncKilled()
}
