//go:build soak

package test

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/prove/oracle"
	"github.com/perennialhq/perennial/internal/sandbox"
)

func TestYearOfDemoStoreChargesEveryCycleOnce(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Contracts: 200})
	contracts := s.look(contracts(t, s.dir))
	s.pass("P1Y")
	s.compare(contracts, s.now(), time.Minute)
}

func TestYearUnderFaultsChargesEveryCycleOnce(t *testing.T) {
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

func TestYearOnDefectivePlatformChargesEveryCycleOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		defects map[string]any
		faults  []string // that make the defect matter
		late    time.Duration
	}{
		{"the first order from the checkout has billed the first cycle", map[string]any{"originOrderBillsFirstCycle": true}, nil, time.Minute},
		{"a cycle that is billed is refused", map[string]any{"refuseBilledCycle": true}, []string{"timeout_after"}, 3 * 24 * time.Hour},
		{"keys are forgotten after a minute", map[string]any{"keyLifetime": "PT1M"}, []string{"timeout_after", "webhook_lost"}, 3 * 24 * time.Hour},
		{
			"only the next cycle can be chosen, cycles are listed for a month at most, and failing addresses keep their webhooks",
			map[string]any{"futureCycleLimit": 1, "dateRangeLimit": "P31D", "keepFailingSubscriptions": true}, nil, time.Minute,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, all := defective(t, tt.defects)
			contracts := s.look(all)
			if tt.faults == nil {
				s.pass("P1Y")
				s.compare(contracts, s.now(), tt.late)
				return
			}
			s.call("POST", "/platform/faults", map[string]any{"rate": 0.3, "kinds": tt.faults, "seed": 3}, nil)
			s.pass("P5M")
			s.call("DELETE", "/platform/faults", nil, nil)
			s.pass("P2D") // everything must be repaired when the platform is calm
			s.compare(contracts, s.now().AddDate(0, 0, -1), tt.late)
		})
	}
}

// Where the platform's own dates differ from ours, the days on which it takes a
// charge may differ by a day; how often it is charged may not.
func TestPlatformWithOtherDatesChargesOnceAnInterval(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		defects map[string]any
	}{
		{"the 31st of a short month is the 1st of the next", map[string]any{"shortMonthsOverflow": true}},
		{"several anchors make two cycles with one date", map[string]any{"zeroLengthAnchorCycle": true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, all := defective(t, tt.defects)
			contracts := s.look(all)
			s.pass("P1Y")
			made := make(map[int64][]order)
			for _, o := range s.orders() {
				made[o.Contract] = append(made[o.Contract], o)
			}
			for _, d := range contracts {
				owes := oracle.Owed(d.Billing, *d.NextBillingDate, s.now(), oracle.Calendar{Zone: d.zone, Hour: d.hour, Minute: d.minute})
				orders := made[d.ID]
				if len(orders) < len(owes)-1 || len(orders) > len(owes) {
					t.Errorf("contract %d (%+v) has %d orders, and %d are owed", d.ID, d.Billing, len(orders), len(owes))
				}
				for i := 1; i < len(orders); i++ {
					if orders[i].Cycle <= orders[i-1].Cycle {
						t.Errorf("contract %d: cycle %d was charged after cycle %d", d.ID, orders[i].Cycle, orders[i-1].Cycle)
					}
					if gap := orders[i].At.Sub(orders[i-1].At); gap < 23*time.Hour {
						t.Errorf("contract %d was charged twice within %s", d.ID, gap)
					}
				}
			}
		})
	}
}
