package billing

import (
	"reflect"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var now = time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)

// due returns a QUEUED attempt that fell due a minute ago.
func due(change ...func(*Attempt)) Attempt {
	a := Attempt{ID: 1, Contract: 9001, Cycle: 3, Status: Queued, BillingDate: now.Add(-time.Minute), DueAt: now.Add(-time.Minute)}
	for _, f := range change {
		f(&a)
	}
	return a
}

// sent returns an attempt whose try was sent for the first and the last time so
// long ago.
func sent(first, last time.Duration) Attempt {
	return due(func(a *Attempt) {
		a.Status, a.Try, a.Key = Requesting, 1, "key"
		a.FirstSentAt, a.SentAt = now.Add(-first), now.Add(-last)
	})
}

// monthly returns the ground of an active contract that renews every month.
func monthly(change ...func(*inputs)) inputs {
	g := inputs{
		shop: shop.Shop{ID: 1, Connected: true},
		contract: contract.Contract{
			ID: 9001, Status: contract.Active, AutoCharge: true,
			Billing: contract.Policy{Interval: cadence.Month, Count: 1},
			Series:  contract.Series{Cycle: 1, Start: time.Date(2026, 1, 10, 14, 0, 0, 0, time.UTC)},
		},
		calendar: cadence.Calendar{Zone: time.UTC, Hour: 14},
		policy:   DefaultPolicy(),
	}
	for _, f := range change {
		f(&g)
	}
	return g
}

func TestDecide(t *testing.T) {
	t.Parallel()
	newer := func(g *inputs) {
		g.others = []Attempt{{ID: 2, Cycle: 4, Status: Queued, BillingDate: now}}
	}
	manual := func(a Attempt) Attempt { a.Manual = true; return a }
	early := func(a Attempt) Attempt {
		a.Status, a.Try, a.Manual, a.BillingDate = Requesting, 1, true, now.AddDate(0, 0, 7)
		return a
	}
	again := func(a Attempt) Attempt { a.Try = 2; return a }
	moved := func(a Attempt) Attempt { a.Moved = true; return a }
	accepted := func(a Attempt) Attempt { a.Status, a.PlatformID = PlatformException, "gid"; return a }
	for _, row := range []struct {
		name string
		a    Attempt
		g    inputs
		want decision
	}{
		{"a due attempt of an active contract is charged", due(), monthly(), decision{action: charge}},
		{"a paused contract is not charged", due(), monthly(func(g *inputs) { g.contract.Status = contract.Paused }),
			decision{action: end, status: ContractPaused}},
		{"nor is an order of it that was wanted before its day, which waits for that", early(due()), monthly(func(g *inputs) { g.contract.Status = contract.Paused }),
			decision{action: requeue}},
		{"a later try of one ends", again(early(due())), monthly(func(g *inputs) { g.contract.Status = contract.Paused }),
			decision{action: end, status: ContractPaused}},
		{"and so does an order whose contract is cancelled", early(due()), monthly(func(g *inputs) { g.contract.Status = contract.Cancelled }),
			decision{action: end, status: ContractCancelled}},
		{"a cancelled contract is not charged", due(), monthly(func(g *inputs) { g.contract.Status = contract.Cancelled }),
			decision{action: end, status: ContractCancelled}},
		{"an expired contract is not charged", due(), monthly(func(g *inputs) { g.contract.Status = contract.Expired }),
			decision{action: end, status: ContractEnded}},
		{"a cycle beyond the last one is not charged", due(), monthly(func(g *inputs) { g.contract.MaxCycles = 2 }),
			decision{action: end, status: ContractEnded}},
		{"a cycle after the last one before a cancellation is not charged", due(), monthly(func(g *inputs) { g.contract.Ending = &contract.Ending{Cycle: 2} }),
			decision{action: end, status: ContractEnded}},
		{"a contract that is on its way to another status is not charged meanwhile", due(), monthly(func(g *inputs) { g.contract.Moving = &contract.Move{To: contract.Cancelled} }),
			decision{action: wait, until: now.Add(contract.PendingChangeTimeout)}},
		{"a try that may have been made is asked for, whatever the contract is on its way to", sent(19*time.Hour, time.Minute), monthly(func(g *inputs) { g.contract.Moving = &contract.Move{To: contract.Cancelled} }),
			decision{action: charge}},
		{"the last cycle is charged", due(), monthly(func(g *inputs) { g.contract.MaxCycles = 3 }), decision{action: charge}},
		{"a store without connection is not charged", due(), monthly(func(g *inputs) { g.shop.Connected = false }),
			decision{action: end, status: ConnectionGone}},
		{"without automatic charges nothing is charged", due(), monthly(func(g *inputs) { g.contract.AutoCharge = false }),
			decision{action: end, status: AutoChargeDisabled}},
		{"without automatic charges a person may still charge", due(func(a *Attempt) { a.Status, a.Manual = Requesting, true }),
			monthly(func(g *inputs) { g.contract.AutoCharge = false }), decision{action: charge}},
		{"a cycle waits while another one of the contract is in flight", due(),
			monthly(func(g *inputs) { g.others = []Attempt{{ID: 2, Cycle: 2, Status: Progress}} }),
			decision{action: wait, until: now.Add(10 * time.Minute)}},
		{"a cycle waits while the outcome of another one is unknown", due(),
			monthly(func(g *inputs) { g.others = []Attempt{{ID: 2, Cycle: 2, Status: PlatformException}} }),
			decision{action: wait, until: now.Add(10 * time.Minute)}},
		{"of two missed cycles the older is given up", due(),
			monthly(func(g *inputs) {
				g.others = []Attempt{{ID: 1, Cycle: 3, Status: Queued}, {ID: 2, Cycle: 4, Status: Queued, BillingDate: now}}
			}), decision{action: end, status: Skipped}},
		{"a later cycle that is still to come changes nothing", due(),
			monthly(func(g *inputs) {
				g.others = []Attempt{{ID: 2, Cycle: 4, Status: Queued, BillingDate: now.Add(time.Hour)}}
			}), decision{action: charge}},
		{"an order less than a day old makes the next one wait", due(),
			monthly(func(g *inputs) { g.contract.LastOrderAt = now.Add(-time.Hour) }), decision{action: wait, until: now.Add(23 * time.Hour)}},
		{"of daily orders half a day is enough", due(),
			monthly(func(g *inputs) {
				g.contract.Billing = contract.Policy{Interval: cadence.Day, Count: 1}
				g.contract.LastOrderAt = now.Add(-time.Hour)
			}), decision{action: wait, until: now.Add(11 * time.Hour)}},
		{"an order that a person brought forward makes the next one no later", due(),
			monthly(func(g *inputs) { g.contract.LastOrderAt = now.Add(-8 * 24 * time.Hour) }), decision{action: charge}},
		{"a date that a person chose may lie closer to the order before it", due(func(a *Attempt) { a.Moved = true }),
			monthly(func(g *inputs) { g.contract.LastOrderAt = now.Add(-time.Hour) }), decision{action: charge}},
		{"a failed attempt that was given a date is charged on it", due(func(a *Attempt) { a.Status, a.FirstSentAt, a.SentAt = Failure, now.Add(-30*time.Hour), now }),
			monthly(), decision{action: charge}},
		{"a failed attempt of a paused contract is left alone", due(func(a *Attempt) { a.Status, a.FirstSentAt = Failure, now.Add(-30*time.Hour) }),
			monthly(func(g *inputs) { g.contract.Status = contract.Paused }), decision{action: leave, status: ContractPaused}},
		{"a charge that the platform has but does not end holds no other cycle back", due(),
			monthly(func(g *inputs) { g.others = []Attempt{{ID: 2, Cycle: 2, Status: PlatformException, PlatformID: "gid"}} }), decision{action: charge}},
		{"a charge that the platform has but does not end is asked for", due(func(a *Attempt) { a.Status, a.PlatformID = PlatformException, "gid" }),
			monthly(), decision{action: poll}},
		{"a try without an answer is sent again within the window", sent(19*time.Hour, time.Minute), monthly(), decision{action: charge}},
		{"after the window it is only asked for while the last send may be on its way", sent(21*time.Hour, 59*time.Minute), monthly(), decision{action: ask}},
		{"after the window it is sent again when the platform has had time to say it never saw it", sent(21*time.Hour, time.Hour), monthly(), decision{action: charge}},
		{"a try that was sent before the contract was cancelled is asked for", sent(time.Minute, time.Minute),
			monthly(func(g *inputs) { g.contract.Status = contract.Cancelled }), decision{action: ask, status: ContractCancelled}},
		{"a try without an answer is not sent again once a newer order is due", sent(19*time.Hour, 2*time.Hour), monthly(newer), decision{action: ask, status: Skipped}},
		{"nor when the platform has had time to say it never saw it", sent(8*24*time.Hour, 2*time.Hour), monthly(newer), decision{action: ask, status: Skipped}},
		{"a charge that a person asked for is sent again all the same", manual(sent(19*time.Hour, 2*time.Hour)), monthly(newer), decision{action: charge}},
		{"so is a retry of an order that was declined", again(sent(19*time.Hour, 2*time.Hour)), monthly(newer), decision{action: charge}},
		{"and an order of which a person chose the date", moved(sent(19*time.Hour, 2*time.Hour)), monthly(newer), decision{action: charge}},
		{"an accepted try is asked for, whatever is due since", accepted(sent(19*time.Hour, 2*time.Hour)), monthly(newer), decision{action: poll}},
		{"an accepted try is asked for", due(func(a *Attempt) { a.Status = Progress }), monthly(), decision{action: poll}},
		{"a challenged try is asked for", due(func(a *Attempt) { a.Status = Challenge }), monthly(), decision{action: poll}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := decide(row.a, row.g, now)
			got.reason = ""
			if got != row.want {
				t.Errorf("decided %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestAnOrderWaitsForTheChangeThatIsMadeBeforeIt(t *testing.T) {
	t.Parallel()
	wanted := func(ago time.Duration, change ...func(*Attempt)) Attempt { // by a person, before its date
		return due(append([]func(*Attempt){func(a *Attempt) {
			a.Status, a.Try, a.Manual, a.AttemptedAt, a.BillingDate = Requesting, 1, true, now.Add(-ago), now.AddDate(0, 0, 7)
		}}, change...)...)
	}
	for _, row := range []struct {
		name string
		a    Attempt
		want action
	}{
		{"one that has fallen due", due(), wait},
		{"one that a person wants now", wanted(time.Minute), wait},
		{"it does not wait for ever", wanted(contract.PendingLead), charge},
		{"nor does one that has been due for long", due(func(a *Attempt) { a.BillingDate = now.Add(-contract.PendingLead) }), charge},
		{"a charge that was sent is as it was sent", wanted(time.Minute, func(a *Attempt) { a.FirstSentAt, a.SentAt = now, now }), charge},
		{"an order that was declined came before the change", wanted(time.Minute, func(a *Attempt) { a.Try = 2 }), charge},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			v := decide(row.a, monthly(func(g *inputs) { g.contract.Pending = &contract.PendingChange{At: now} }), now)
			if v.action != row.want || v.look != (row.want == wait) {
				t.Errorf("decided %+v, want %d", v, row.want)
			}
		})
	}
}

func TestSuccessNeverChanges(t *testing.T) {
	t.Parallel()
	for _, to := range Statuses {
		a := Attempt{Status: Success}
		if err := a.move(to); err == nil {
			t.Errorf("a successful attempt became %s", to)
		}
	}
}

func TestEveryStatusCanBecomeAnOrder(t *testing.T) {
	t.Parallel()
	for _, from := range Statuses {
		a := Attempt{Status: from}
		if err := a.move(Success); err != nil && from != Success {
			t.Errorf("an order found for an attempt that is %s cannot be adopted: %v", from, err)
		}
	}
}

func TestKeysAreFrozen(t *testing.T) {
	t.Parallel()
	// These values are stored at the platform: changing them charges customers twice.
	if got := KeyOf("demo.myshopify.com", 9001, 3, 1); got != "prn1-siic52cy5vpf5lowtgkh6v2ib3n2ywru" {
		t.Errorf("the key of a charge changed to %s", got)
	}
	seen := make(map[string]bool)
	for _, domain := range []string{"a.myshopify.com", "b.myshopify.com"} {
		for _, c := range []contract.ID{1, 11} {
			for _, cycle := range []int{1, 2, 11} {
				for try := 1; try < 4; try++ {
					key := KeyOf(domain, c, cycle, try)
					if seen[key] {
						t.Errorf("two charges share the key %s", key)
					}
					seen[key] = true
				}
			}
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	g := monthly()
	on := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 14, 0, 0, 0, time.UTC) }
	for _, row := range []struct {
		name   string
		q      Queue
		max    int
		cycles []int
	}{
		{"an empty queue begins with the series", Queue{}, 0, []int{1, 2, 3, 4, 5, 6}},
		{"a queue is filled behind its last cycle", Queue{Waiting: 4, LastCycle: 9}, 0, []int{10, 11}},
		{"a full queue is left alone", Queue{Waiting: 6, LastCycle: 9}, 0, nil},
		{"orders that are put off are behind those that are planned", Queue{Waiting: 6, LastCycle: 9, Dates: []time.Time{on(6, 10), on(7, 10), on(12, 11), on(9, 10), on(12, 12), on(8, 10)}}, 0, []int{10, 11}},
		{"a queue ends with the last cycle", Queue{Waiting: 1, LastCycle: 7}, 8, []int{8}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := g.contract
			c.MaxCycles = row.max
			got := fill(c, row.q, g.calendar, now)
			if len(got) != len(row.cycles) {
				t.Fatalf("%d attempts, want %d", len(got), len(row.cycles))
			}
			for i, a := range got {
				want := on(time.Month(row.cycles[i]), 10)
				if a.Cycle != row.cycles[i] || !a.BillingDate.Equal(want) || !a.DueAt.Equal(want) || a.Status != Queued {
					t.Errorf("attempt %d: %+v, want cycle %d on %s", i, a, row.cycles[i], want)
				}
			}
		})
	}
	paused := g.contract
	paused.Status = contract.Paused
	if got := fill(paused, Queue{}, g.calendar, now); got != nil {
		t.Errorf("a paused contract got a queue: %v", got)
	}
}

func TestErrandsThatFailedShareEverSmallerCalls(t *testing.T) {
	t.Parallel()
	var errands []errand
	for _, failures := range []int{4, 0, 1, 4, 1, 9, 0} {
		for range 20 {
			errands = append(errands, errand{Attempt: Attempt{Failures: failures}})
		}
	}
	sizes := make(map[int]map[int]int) // of the calls, by failures
	covered := 0
	for _, p := range pieces(errands) {
		if p.from != covered {
			t.Fatalf("a call begins with errand %d, want %d", p.from, covered)
		}
		covered = p.to
		failures := errands[p.from].Failures
		if sizes[failures] == nil {
			sizes[failures] = make(map[int]int)
		}
		sizes[failures][p.to-p.from]++
		for _, e := range errands[p.from:p.to] {
			if e.Failures != failures {
				t.Errorf("a call mixes errands that failed %d and %d times", failures, e.Failures)
			}
		}
	}
	want := map[int]map[int]int{0: {25: 1, 15: 1}, 1: {12: 3, 4: 1}, 4: {1: 40}, 9: {1: 20}}
	if covered != len(errands) || !reflect.DeepEqual(sizes, want) {
		t.Errorf("calls of these sizes: %v, want %v", sizes, want)
	}
}
