package decide

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	newer := func(g *Inputs) {
		g.Others = []billing.Attempt{{ID: 2, Cycle: 4, Status: billing.Queued, BillingDate: billingtest.Now}}
	}
	manual := func(a billing.Attempt) billing.Attempt { a.Manual = true; return a }
	early := func(a billing.Attempt) billing.Attempt {
		a.Status, a.Try, a.Manual, a.BillingDate = billing.Requesting, 1, true, billingtest.Now.AddDate(0, 0, 7)
		return a
	}
	again := func(a billing.Attempt) billing.Attempt { a.Try = 2; return a }
	moved := func(a billing.Attempt) billing.Attempt { a.Moved = true; return a }
	accepted := func(a billing.Attempt) billing.Attempt {
		a.Status, a.PlatformID = billing.PlatformException, "gid"
		return a
	}
	for _, row := range []struct {
		name string
		a    billing.Attempt
		g    Inputs
		want Decision
	}{
		{"a due attempt of an active contract is charged", billingtest.Due(), monthly(), Decision{Action: Charge}},
		{"a paused contract is not charged", billingtest.Due(), monthly(func(g *Inputs) { g.Contract.Status = contract.Paused }),
			Decision{Action: End, Status: billing.ContractPaused}},
		{"nor is an order of it that was wanted before its day, which waits for that", early(billingtest.Due()), monthly(func(g *Inputs) { g.Contract.Status = contract.Paused }),
			Decision{Action: Requeue}},
		{"a later try of one ends", again(early(billingtest.Due())), monthly(func(g *Inputs) { g.Contract.Status = contract.Paused }),
			Decision{Action: End, Status: billing.ContractPaused}},
		{"and so does an order whose contract is cancelled", early(billingtest.Due()), monthly(func(g *Inputs) { g.Contract.Status = contract.Cancelled }),
			Decision{Action: End, Status: billing.ContractCancelled}},
		{"a cancelled contract is not charged", billingtest.Due(), monthly(func(g *Inputs) { g.Contract.Status = contract.Cancelled }),
			Decision{Action: End, Status: billing.ContractCancelled}},
		{"an expired contract is not charged", billingtest.Due(), monthly(func(g *Inputs) { g.Contract.Status = contract.Expired }),
			Decision{Action: End, Status: billing.ContractEnded}},
		{"a cycle beyond the last one is not charged", billingtest.Due(), monthly(func(g *Inputs) { g.Contract.MaxCycles = 2 }),
			Decision{Action: End, Status: billing.ContractEnded}},
		{"a cycle after the last one before a cancellation is not charged", billingtest.Due(), monthly(func(g *Inputs) { g.Contract.Ending = &contract.Ending{Cycle: 2} }),
			Decision{Action: End, Status: billing.ContractEnded}},
		{"a contract that is on its way to another status is not charged meanwhile", billingtest.Due(), monthly(func(g *Inputs) { g.Contract.Moving = &contract.Move{To: contract.Cancelled} }),
			Decision{Action: Wait, Until: billingtest.Now.Add(contract.PendingChangeTimeout)}},
		{"a try that may have been made is asked for, whatever the contract is on its way to", billingtest.Sent(19*time.Hour, time.Minute), monthly(func(g *Inputs) { g.Contract.Moving = &contract.Move{To: contract.Cancelled} }),
			Decision{Action: Charge}},
		{"the last cycle is charged", billingtest.Due(), monthly(func(g *Inputs) { g.Contract.MaxCycles = 3 }), Decision{Action: Charge}},
		{"a store without connection is not charged", billingtest.Due(), monthly(func(g *Inputs) { g.Shop.Connected = false }),
			Decision{Action: End, Status: billing.ConnectionGone}},
		{"without automatic charges nothing is charged", billingtest.Due(), monthly(func(g *Inputs) { g.Contract.AutoCharge = false }),
			Decision{Action: End, Status: billing.AutoChargeDisabled}},
		{"without automatic charges a person may still charge", billingtest.Due(func(a *billing.Attempt) { a.Status, a.Manual = billing.Requesting, true }),
			monthly(func(g *Inputs) { g.Contract.AutoCharge = false }), Decision{Action: Charge}},
		{"a cycle waits while another one of the contract is in flight", billingtest.Due(),
			monthly(func(g *Inputs) { g.Others = []billing.Attempt{{ID: 2, Cycle: 2, Status: billing.Progress}} }),
			Decision{Action: Wait, Until: billingtest.Now.Add(10 * time.Minute)}},
		{"a cycle waits while the outcome of another one is unknown", billingtest.Due(),
			monthly(func(g *Inputs) { g.Others = []billing.Attempt{{ID: 2, Cycle: 2, Status: billing.PlatformException}} }),
			Decision{Action: Wait, Until: billingtest.Now.Add(10 * time.Minute)}},
		{"of two missed cycles the older is given up", billingtest.Due(),
			monthly(func(g *Inputs) {
				g.Others = []billing.Attempt{{ID: 1, Cycle: 3, Status: billing.Queued}, {ID: 2, Cycle: 4, Status: billing.Queued, BillingDate: billingtest.Now}}
			}), Decision{Action: End, Status: billing.Skipped}},
		{"a later cycle that is still to come changes nothing", billingtest.Due(),
			monthly(func(g *Inputs) {
				g.Others = []billing.Attempt{{ID: 2, Cycle: 4, Status: billing.Queued, BillingDate: billingtest.Now.Add(time.Hour)}}
			}), Decision{Action: Charge}},
		{"an order less than a day old makes the next one wait", billingtest.Due(),
			monthly(func(g *Inputs) { g.Contract.LastOrderAt = billingtest.Now.Add(-time.Hour) }), Decision{Action: Wait, Until: billingtest.Now.Add(23 * time.Hour)}},
		{"of daily orders half a day is enough", billingtest.Due(),
			monthly(func(g *Inputs) {
				g.Contract.Billing = contract.Policy{Interval: cadence.Day, Count: 1}
				g.Contract.LastOrderAt = billingtest.Now.Add(-time.Hour)
			}), Decision{Action: Wait, Until: billingtest.Now.Add(11 * time.Hour)}},
		{"an order that a person brought forward makes the next one no later", billingtest.Due(),
			monthly(func(g *Inputs) { g.Contract.LastOrderAt = billingtest.Now.Add(-8 * 24 * time.Hour) }), Decision{Action: Charge}},
		{"a date that a person chose may lie closer to the order before it", billingtest.Due(func(a *billing.Attempt) { a.Moved = true }),
			monthly(func(g *Inputs) { g.Contract.LastOrderAt = billingtest.Now.Add(-time.Hour) }), Decision{Action: Charge}},
		{"a failed attempt that was given a date is charged on it", billingtest.Due(func(a *billing.Attempt) {
			a.Status, a.FirstSentAt, a.SentAt = billing.Failure, billingtest.Now.Add(-30*time.Hour), billingtest.Now
		}),
			monthly(), Decision{Action: Charge}},
		{"a failed attempt of a paused contract is left alone", billingtest.Due(func(a *billing.Attempt) {
			a.Status, a.FirstSentAt = billing.Failure, billingtest.Now.Add(-30*time.Hour)
		}),
			monthly(func(g *Inputs) { g.Contract.Status = contract.Paused }), Decision{Action: Leave, Status: billing.ContractPaused}},
		{"a charge that the platform has but does not end holds no other cycle back", billingtest.Due(),
			monthly(func(g *Inputs) {
				g.Others = []billing.Attempt{{ID: 2, Cycle: 2, Status: billing.PlatformException, PlatformID: "gid"}}
			}), Decision{Action: Charge}},
		{"a charge that the platform has but does not end is asked for", billingtest.Due(func(a *billing.Attempt) { a.Status, a.PlatformID = billing.PlatformException, "gid" }),
			monthly(), Decision{Action: Poll}},
		{"a try without an answer is sent again within the window", billingtest.Sent(19*time.Hour, time.Minute), monthly(), Decision{Action: Charge}},
		{"after the window it is only asked for while the last send may be on its way", billingtest.Sent(21*time.Hour, 59*time.Minute), monthly(), Decision{Action: Ask}},
		{"after the window it is sent again when the platform has had time to say it never saw it", billingtest.Sent(21*time.Hour, time.Hour), monthly(), Decision{Action: Charge}},
		{"a try that was sent before the contract was cancelled is asked for", billingtest.Sent(time.Minute, time.Minute),
			monthly(func(g *Inputs) { g.Contract.Status = contract.Cancelled }), Decision{Action: Ask, Status: billing.ContractCancelled}},
		{"a try without an answer is not sent again once a newer order is due", billingtest.Sent(19*time.Hour, 2*time.Hour), monthly(newer), Decision{Action: Ask, Status: billing.Skipped}},
		{"nor when the platform has had time to say it never saw it", billingtest.Sent(8*24*time.Hour, 2*time.Hour), monthly(newer), Decision{Action: Ask, Status: billing.Skipped}},
		{"a charge that a person asked for is sent again all the same", manual(billingtest.Sent(19*time.Hour, 2*time.Hour)), monthly(newer), Decision{Action: Charge}},
		{"so is a retry of an order that was declined", again(billingtest.Sent(19*time.Hour, 2*time.Hour)), monthly(newer), Decision{Action: Charge}},
		{"and an order that a person moved", moved(billingtest.Sent(19*time.Hour, 2*time.Hour)), monthly(newer), Decision{Action: Charge}},
		{"an accepted try is asked for, whatever is due since", accepted(billingtest.Sent(19*time.Hour, 2*time.Hour)), monthly(newer), Decision{Action: Poll}},
		{"an accepted try is asked for", billingtest.Due(func(a *billing.Attempt) { a.Status = billing.Progress }), monthly(), Decision{Action: Poll}},
		{"a challenged try is asked for", billingtest.Due(func(a *billing.Attempt) { a.Status = billing.Challenge }), monthly(), Decision{Action: Poll}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := Due(row.a, row.g, billingtest.Now)
			got.Reason = ""
			if got != row.want {
				t.Errorf("decided %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestOrderWaitsForPendingChange(t *testing.T) {
	t.Parallel()
	wanted := func(ago time.Duration, change ...func(*billing.Attempt)) billing.Attempt { // by a person, before its date
		return billingtest.Due(append([]func(*billing.Attempt){func(a *billing.Attempt) {
			a.Status, a.Try, a.Manual, a.AttemptedAt, a.BillingDate = billing.Requesting, 1, true, billingtest.Now.Add(-ago), billingtest.Now.AddDate(0, 0, 7)
		}}, change...)...)
	}
	for _, row := range []struct {
		name string
		a    billing.Attempt
		want Action
	}{
		{"one that has fallen due", billingtest.Due(), Wait},
		{"one that a person wants now", wanted(time.Minute), Wait},
		{"it does not wait for ever", wanted(contract.PendingLead), Charge},
		{"nor does one that has been due for long", billingtest.Due(func(a *billing.Attempt) { a.BillingDate = billingtest.Now.Add(-contract.PendingLead) }), Charge},
		{"a charge that was sent is as it was sent", wanted(time.Minute, func(a *billing.Attempt) { a.FirstSentAt, a.SentAt = billingtest.Now, billingtest.Now }), Charge},
		{"an order that was declined came before the change", wanted(time.Minute, func(a *billing.Attempt) { a.Try = 2 }), Charge},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			v := Due(row.a, monthly(func(g *Inputs) { g.Contract.Pending = &contract.PendingChange{At: billingtest.Now} }), billingtest.Now)
			if v.Action != row.want || v.CheckContract != (row.want == Wait) {
				t.Errorf("decided %+v, want %d", v, row.want)
			}
		})
	}
}

// monthly returns the inputs of an active contract that renews every month.
func monthly(change ...func(*Inputs)) Inputs {
	g := Inputs{
		Shop: shop.Shop{ID: 1, Connected: true}, Contract: billingtest.Monthly(), Calendar: billingtest.Calendar, Policy: billing.DefaultPolicy(),
	}
	for _, f := range change {
		f(&g)
	}
	return g
}
