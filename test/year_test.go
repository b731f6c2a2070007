//go:build soak

package test

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
)

func TestAYearOfTheDemoStoreIsChargedOnceForEveryCycle(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Contracts: 200})
	contracts := s.look(contracts(t, s.dir))
	s.pass("P1Y")
	s.compare(contracts, s.now(), time.Minute)
}

func TestAYearUnderFaultsIsChargedOnceForEveryCycle(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Contracts: 60, Seed: 2})
	contracts := s.look(contracts(t, s.dir))
	kinds := []string{
		"timeout_before", "timeout_after", "http_500", "throttled", "webhook_lost", "webhook_duplicated", "webhook_late",
		"webhook_reordered", "connection_reset",
	}
	s.call("POST", "/platform/faults", map[string]any{"rate": 0.2, "kinds": kinds, "seed": 7}, nil)
	s.pass("P1Y")
	var faults struct{ Counts map[string]int }
	s.call("GET", "/platform/faults", nil, &faults)
	s.call("DELETE", "/platform/faults", nil, nil)
	for _, kind := range kinds {
		if faults.Counts[kind] == 0 {
			t.Errorf("the fault %s never happened: the run proves nothing about it", kind)
		}
	}
	s.pass("P2D") // everything must be repaired when the platform is calm
	s.compare(contracts, s.now().Add(-24*time.Hour), 7*24*time.Hour)
}
