package billing

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestAnOrderThatFellDueIsNotForgottenWithItsPlace(t *testing.T) {
	t.Parallel()
	// Cycle 3 is due and waits for the end of an earlier charge, cycle 4 is to come.
	queue := func() []Attempt {
		return []Attempt{
			due(func(a *Attempt) { a.ID, a.Cycle, a.Status = 2, 2, Progress }),
			due(func(a *Attempt) { a.DueAt = now.Add(10 * time.Minute) }),
			{ID: 4, Contract: 9001, Cycle: 4, Status: Queued, BillingDate: now.AddDate(0, 1, 0), DueAt: now.AddDate(0, 1, 0), Note: "ring twice"},
		}
	}
	is := func(s contract.Status) func(*contract.Contract) {
		return func(c *contract.Contract) { c.Status = s }
	}
	for _, row := range []struct {
		name   string
		change func(*contract.Contract)
		status Status
		reason string
		limits bool // the last cycle has changed, and not the series
		wish   int  // the cycle to which the note of the order to come goes
	}{
		{"of a paused contract", is(contract.Paused), ContractPaused, "the contract is paused", false, 4},
		{"of a cancelled contract", is(contract.Cancelled), ContractCancelled, "the contract is cancelled", false, 4},
		{"of a contract that failed", is(contract.Failed), ContractEnded, "the contract has ended", false, 4},
		{"beyond the last cycle", func(c *contract.Contract) { c.MaxCycles = 2 }, ContractEnded, "the contract ends after 2 cycles", true, 4},
		{"before the first date of another rhythm", func(c *contract.Contract) {
			c.Series = contract.Series{Cycle: 5, Start: now.AddDate(0, 0, 7)}
		}, Skipped, "its date had passed when the contract's dates were planned anew", false, 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, b := open(t, row.change, queue()...)
			c := b.contracts[9001]
			must(t, s.Store.Update(t.Context(), 1, func(tx Tx) error {
				if row.limits {
					return Limit(t.Context(), tx, b.shop, []*contract.Contract{&c}, now)
				}
				return Replan(t.Context(), tx, b.shop, []*contract.Contract{&c}, now)
			}))
			a := b.attempts[1]
			if a.Status != row.status || !a.DueAt.IsZero() || a.ErrorMessage != row.reason {
				t.Errorf("%s, due %s, %q; want %s, never, %q", a.Status, a.DueAt, a.ErrorMessage, row.status, row.reason)
			}
			if len(b.entries) != 1 || b.entries[0].EntityID != 1 || b.entries[0].Event != activity.BillingAttemptSkipped ||
				b.entries[0].Status != activity.Skipped || !strings.Contains(b.entries[0].Info, row.reason) {
				t.Errorf("the log says %+v", b.entries)
			}
			if b.attempts[2].Status != Progress {
				t.Errorf("the charge that is under way became %s", b.attempts[2].Status)
			}
			if _, there := b.attempts[4]; there || len(c.Overrides) != 1 || c.Overrides[0].Cycle != row.wish {
				t.Errorf("the order to come is there: %t; wishes %v", there, c.Overrides)
			}
		})
	}
}

func TestACycleThatEndedIsNotPlannedAgain(t *testing.T) {
	t.Parallel()
	// The series was chosen before somebody else ended cycle 3.
	s, b := open(t, func(c *contract.Contract) { c.Series.Cycle = 3 },
		due(func(a *Attempt) { a.Status = ContractPaused }),
		due(func(a *Attempt) { a.ID, a.Cycle, a.Status, a.BillingDate = 5, 5, Skipped, now.AddDate(0, 2, 0) }))
	c := b.contracts[9001]
	must(t, s.Store.Update(t.Context(), 1, func(tx Tx) error { return Replan(t.Context(), tx, b.shop, []*contract.Contract{&c}, now) }))
	var cycles []int
	for _, a := range b.attempts {
		cycles = append(cycles, a.Cycle)
	}
	if slices.Sort(cycles); !slices.Equal(cycles, []int{3, 4, 5}) {
		t.Errorf("attempts for the cycles %v, want one for each of 3, 4, 5", cycles)
	}
	if a := b.attempts[1]; a.Status != ContractPaused {
		t.Errorf("what had ended is %s", a.Status)
	}
}

func TestNothingIsPlannedBeforeASkippedOrderOfAContractThatEnds(t *testing.T) {
	t.Parallel()
	g := monthly(func(g *inputs) { g.contract.Ending = &contract.Ending{Why: contract.EndOfTerm} })
	skipped := due(func(a *Attempt) { a.Cycle, a.Status, a.BillingDate = 7, Skipped, now.AddDate(0, 4, 0) })
	g.contract.Series.Cycle = 6
	if _, kept := replan(g.contract, []Attempt{skipped}, g.calendar, now); len(kept) != 1 || kept[0].Cycle != 7 {
		t.Errorf("%+v, want the skipped order alone", kept)
	}
}
