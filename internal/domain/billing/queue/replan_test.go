package queue

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestDueOrderOutsideQueueIsKept(t *testing.T) {
	t.Parallel()
	// Cycle 3 is due and waits for the end of an earlier charge, cycle 4 is to come.
	queue := func() []billing.Attempt {
		return []billing.Attempt{
			billingtest.Due(func(a *billing.Attempt) { a.ID, a.Cycle, a.Status = 2, 2, billing.Progress }),
			billingtest.Due(func(a *billing.Attempt) { a.DueAt = billingtest.Now.Add(10 * time.Minute) }),
			{ID: 4, Contract: 9001, Cycle: 4, Status: billing.Queued, BillingDate: billingtest.Now.AddDate(0, 1, 0), DueAt: billingtest.Now.AddDate(0, 1, 0), Note: "ring twice"},
		}
	}
	is := func(s contract.Status) func(*contract.Contract) {
		return func(c *contract.Contract) { c.Status = s }
	}
	for _, row := range []struct {
		name   string
		change func(*contract.Contract)
		status billing.Status
		reason string
		limits bool // the last cycle has changed, and not the series
		wish   int  // the cycle to which the note of the order to come goes
	}{
		{"of a paused contract", is(contract.Paused), billing.ContractPaused, "the contract is paused", false, 4},
		{"of a cancelled contract", is(contract.Cancelled), billing.ContractCancelled, "the contract is cancelled", false, 4},
		{"of a contract that failed", is(contract.Failed), billing.ContractEnded, "the contract has ended", false, 4},
		{"beyond the last cycle", func(c *contract.Contract) { c.MaxCycles = 2 }, billing.ContractEnded, "the contract ends after 2 cycles", true, 4},
		{"before the first date of another rhythm", func(c *contract.Contract) {
			c.Series = contract.Series{Cycle: 5, Start: billingtest.Now.AddDate(0, 0, 7)}
		}, billing.Skipped, "its date had passed when the contract's dates were planned again", false, 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, b := billingtest.Open(row.change, queue()...)
			c := b.Known[9001]
			billingtest.Must(t, b.Update(t.Context(), 1, func(tx billing.Tx) error {
				if row.limits {
					return Limit(t.Context(), tx, b.Store, []*contract.Contract{&c}, billingtest.Now)
				}
				return Replan(t.Context(), tx, b.Store, []*contract.Contract{&c}, billingtest.Now)
			}))
			a := b.Rows[1]
			if a.Status != row.status || !a.DueAt.IsZero() || a.ErrorMessage != row.reason {
				t.Errorf("%s, due %s, %q; want %s, never, %q", a.Status, a.DueAt, a.ErrorMessage, row.status, row.reason)
			}
			if len(b.Entries) != 1 || b.Entries[0].EntityID != 1 || b.Entries[0].Event != activity.BillingAttemptSkipped ||
				b.Entries[0].Status != activity.Skipped || !strings.Contains(b.Entries[0].Info, row.reason) {
				t.Errorf("the log says %+v", b.Entries)
			}
			if b.Rows[2].Status != billing.Progress {
				t.Errorf("the charge that is under way became %s", b.Rows[2].Status)
			}
			if _, there := b.Rows[4]; there || len(c.Overrides) != 1 || c.Overrides[0].Cycle != row.wish {
				t.Errorf("the order to come is there: %t; wishes %v", there, c.Overrides)
			}
		})
	}
}

func TestFinishedCycleIsNotPlannedAgain(t *testing.T) {
	t.Parallel()
	// The series was chosen before another worker ended cycle 3.
	_, b := billingtest.Open(func(c *contract.Contract) { c.Series.Cycle = 3 },
		billingtest.Due(func(a *billing.Attempt) { a.Status = billing.ContractPaused }),
		billingtest.Due(func(a *billing.Attempt) {
			a.ID, a.Cycle, a.Status, a.BillingDate = 5, 5, billing.Skipped, billingtest.Now.AddDate(0, 2, 0)
		}))
	c := b.Known[9001]
	billingtest.Must(t, b.Update(t.Context(), 1, func(tx billing.Tx) error {
		return Replan(t.Context(), tx, b.Store, []*contract.Contract{&c}, billingtest.Now)
	}))
	var cycles []int
	for _, a := range b.Rows {
		cycles = append(cycles, a.Cycle)
	}
	if slices.Sort(cycles); !slices.Equal(cycles, []int{3, 4, 5}) {
		t.Errorf("attempts for the cycles %v, want one for each of 3, 4, 5", cycles)
	}
	if a := b.Rows[1]; a.Status != billing.ContractPaused {
		t.Errorf("what had ended is %s", a.Status)
	}
}

func TestEndingContractPlansNothingBeforeSkippedOrder(t *testing.T) {
	t.Parallel()
	g := billingtest.Monthly()
	g.Ending = &contract.Ending{Why: contract.EndOfTerm}
	skipped := billingtest.Due(func(a *billing.Attempt) {
		a.Cycle, a.Status, a.BillingDate = 7, billing.Skipped, billingtest.Now.AddDate(0, 4, 0)
	})
	g.Series.Cycle = 6
	if _, kept := replan(g, []billing.Attempt{skipped}, billingtest.Calendar, billingtest.Now); len(kept) != 1 || kept[0].Cycle != 7 {
		t.Errorf("%+v, want the skipped order alone", kept)
	}
}
