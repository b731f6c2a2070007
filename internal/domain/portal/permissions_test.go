package portal

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// now is noon in New York; orders are charged at eight.
var now = time.Date(2026, 3, 10, 16, 0, 0, 0, time.UTC)

func monthly() cadence.Policy { return cadence.Policy{Interval: cadence.Month, Count: 1} }

// order returns an order that is due in so many days.
func order(cycle, days int, change ...func(*billing.Attempt)) billing.Attempt {
	a := billing.Attempt{ID: billing.AttemptID(cycle), Contract: 1, Cycle: cycle, Status: billing.Queued, BillingDate: time.Date(2026, 3, 10+days, 12, 0, 0, 0, time.UTC)}
	for _, f := range change {
		f(&a)
	}
	return a
}

func status(s billing.Status) func(*billing.Attempt) {
	return func(a *billing.Attempt) { a.Status = s }
}

// state is an active contract with an order in ten days, and in forty.
func state(change ...func(*State)) State {
	is := State{
		Shop: shop.Shop{TimeZone: "America/New_York", OrderHour: 8, Currency: "USD", Settings: shop.Settings{ImmediateOrders: true}},
		Contract: contract.Contract{
			ID: 1, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: monthly(), Delivery: monthly(), PaymentMethod: "m", PaymentUsable: true, OriginOrderID: 5,
		},
		Orders: []billing.Attempt{order(2, 10), order(3, 40)}, Now: now,
	}
	for _, f := range change {
		f(&is)
	}
	return is
}

func is(s contract.Status) func(*State) { return func(is *State) { is.Contract.Status = s } }

// committed is a subscriber who owes two more of three orders.
func committed(is *State) {
	is.Shop.Settings.FreezeUntilMinCycles, is.Contract.MinCycles = true, 3
}

func orders(list ...billing.Attempt) func(*State) { return func(is *State) { is.Orders = list } }

func off(t Toggle) Settings { return Settings{Off: []Toggle{t}} }

func TestPermissionsOnContracts(t *testing.T) {
	t.Parallel()
	cutoff := Settings{CutoffDays: 3}
	soon := orders(order(2, 2), order(3, 32))
	paid := func(is *State) { // three months were paid a month ago, in three deliveries
		is.Contract.Billing.Count, is.Contract.LastOrderAt, is.Contract.CreatedAt = 3, now.AddDate(0, -1, 0), now.AddDate(0, -1, 0)
		is.Contract.Series = contract.Series{Cycle: 1, Start: now.AddDate(0, -1, 0)}
	}
	const allowed, none = "", "-"
	for _, row := range []struct {
		name   string
		by     Settings
		is     State
		action Action
		want   string // key of the refusal; "": allowed; "-": not there
	}{
		{"a pause of a contract that runs", Settings{}, state(), Pause, allowed},
		{"a pause that is switched off", off(AllowPause), state(), Pause, keyDisabled},
		{"a pause in a commitment", Settings{}, state(committed), Pause, "contractFrozen"},
		{"a pause of a paused contract", Settings{}, state(is(contract.Paused)), Pause, none},
		{"a pause while deliveries are paid for", Settings{}, state(paid), Pause, keyPrepaid},
		{"a pause of what is paid for life", Settings{}, state(func(is *State) { is.Contract.Lifelong = true }), Pause, keyLifelong},
		{"a pause after the cut-off of the next order", cutoff, state(soon), Pause, keyCutoff},
		{"a pause before it", cutoff, state(), Pause, allowed},
		{"a pause while an order is charged", Settings{}, state(orders(order(2, 0, status(billing.Progress)))), Pause, keyProcessing},
		{"a pause while the status changes", Settings{}, state(func(is *State) { is.Contract.Moving = &contract.Move{} }), Pause, keyMoved},

		{"a swap", Settings{}, state(), Swap, allowed},
		{"a swap in a commitment", Settings{}, state(committed), Swap, "contractFrozen"},
		{"a swap in a commitment where the merchant allows it", Settings{SwapWhenFrozen: true}, state(committed), Swap, allowed},
		{"a swap after the cut-off", cutoff, state(soon), Swap, keyCutoff},
		{"a swap on a paused contract after what would be the cut-off", cutoff, state(is(contract.Paused), orders()), Swap, allowed},
		{"a removal where swaps are allowed in a commitment", Settings{SwapWhenFrozen: true}, state(committed), RemoveProduct, "contractFrozen"},
		{"another frequency in a commitment", Settings{}, state(committed), ChangeFrequency, "contractFrozen"},
		{"another frequency while deliveries are paid for", Settings{}, state(paid), ChangeFrequency, keyPrepaid},
		{"a product more in a commitment", Settings{}, state(committed), AddProduct, allowed},

		{"another card in a commitment, after the cut-off, while an order is charged", cutoff, state(committed, orders(order(2, 1), order(1, -1, status(billing.Requesting)))), EditPaymentMethod, allowed},
		{"another address in a commitment", Settings{}, state(committed), EditAddress, allowed},
		{"another address after the cut-off", cutoff, state(soon), EditAddress, keyCutoff},
		{"a code that is switched off", off(AllowDiscountCode), state(), EditDiscount, keyDisabled},

		{"a cancellation in a commitment", Settings{}, state(committed), Cancel, allowed},
		{"a cancellation after the cut-off", cutoff, state(soon), Cancel, allowed},
		{"a cancellation of what has ended", Settings{}, state(is(contract.Expired)), Cancel, none},
		{"keeping what ends", Settings{}, state(func(is *State) { is.Contract.Ending = &contract.Ending{} }), Keep, allowed},
		{"keeping what does not end", Settings{}, state(), Keep, none},
		{"a resumption", Settings{}, state(is(contract.Paused)), Resume, allowed},
		{"a resumption of what runs", Settings{}, state(), Resume, none},
		{"a new start", Settings{}, state(is(contract.Cancelled)), Restart, allowed},
		{"a new start that is switched off", off(AllowRestart), state(is(contract.Cancelled)), Restart, keyDisabled},
		{"a new start of what runs", Settings{}, state(), Restart, none},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, err := row.by.ForContract(row.is)
			if err != nil {
				t.Fatal(err)
			}
			checkPermission(t, p, row.action, row.want)
			if row.want == keyDisabled && p.Offers(row.action) {
				t.Error("it is shown all the same")
			}
		})
	}
}

func TestPermissionsOnOrders(t *testing.T) {
	t.Parallel()
	cutoff := Settings{CutoffDays: 3}
	declined := order(2, -1, status(billing.Failure), func(a *billing.Attempt) { a.Dunning.State = dunning.Open })
	const allowed, none = "", "-"
	for _, row := range []struct {
		name   string
		by     Settings
		is     State
		of     billing.Attempt
		action Action
		want   string
	}{
		{"a skip", Settings{}, state(), order(2, 10), Skip, allowed},
		{"a skip in a commitment", Settings{}, state(committed), order(2, 10), Skip, "contractFrozen"},
		{"a skip in the last hour before the cut-off", cutoff, state(), order(2, 3, func(a *billing.Attempt) { a.BillingDate = now.AddDate(0, 0, 3).Add(time.Hour) }), Skip, allowed},
		{"a skip at the cut-off", cutoff, state(), order(2, 3, func(a *billing.Attempt) { a.BillingDate = now.AddDate(0, 0, 3) }), Skip, keyCutoff},
		{"a skip of the order after one whose cut-off has passed", cutoff, state(orders(order(2, 1), order(3, 31))), order(3, 31), Skip, allowed},
		{"a skip of what is charged", Settings{}, state(), order(2, 0, status(billing.Requesting)), Skip, keyProcessing},
		{"a skip more than a year ahead", Settings{}, state(), order(14, 400), Skip, keyTooFar},
		{"a third skip in a row of two", Settings{SkipMax: 2}, state(orders(order(2, 10, status(billing.Skipped)), order(3, 40, status(billing.Skipped)), order(4, 70))), order(4, 70), Skip, keySkips},
		{"a skip between two that are skipped", Settings{SkipMax: 2}, state(orders(order(2, 10, status(billing.Skipped)), order(3, 40), order(4, 70, status(billing.Skipped)))), order(3, 40), Skip, keySkips},
		{"a skip after one that is not", Settings{SkipMax: 2}, state(orders(order(2, 10, status(billing.Skipped)), order(3, 40), order(4, 70))), order(4, 70), Skip, allowed},
		{"a skip of an order that was made", Settings{}, state(), order(1, -20, status(billing.Success)), Skip, none},
		{"a skip on a paused contract", Settings{}, state(is(contract.Paused)), order(2, 10), Skip, "contractNotActive"},
		{"an undone skip in a commitment", Settings{}, state(committed), order(2, 10, status(billing.Skipped)), Unskip, allowed},
		{"an undone skip of a day that has passed", Settings{}, state(), order(2, -1, status(billing.Skipped)), Unskip, "billingDatePast"},
		{"an undone skip after the cut-off", cutoff, state(), order(2, 2, status(billing.Skipped)), Unskip, keyCutoff},
		{"an order now", Settings{}, state(), order(2, 10), OrderNow, allowed},
		{"an order now after the cut-off", cutoff, state(), order(2, 1), OrderNow, allowed},
		{"an order now in a commitment", Settings{}, state(committed), order(2, 10), OrderNow, "contractFrozen"},
		{"an order now where the store does not permit it", Settings{}, state(func(is *State) { is.Shop.Settings.ImmediateOrders = false }), order(2, 10), OrderNow, keyImmediate},
		{"an order now without a card", Settings{}, state(func(is *State) { is.Contract.PaymentUsable = false }), order(2, 10), OrderNow, "paymentMethodMissing"},
		{"another try in a commitment where the store permits no immediate orders", Settings{}, state(committed, func(is *State) { is.Shop.Settings.ImmediateOrders = false }), declined, RetryPayment, allowed},
		{"another try of what is given up", Settings{}, state(), order(2, -1, status(billing.Failure)), RetryPayment, "billingAttemptStatus"},
		{"another try of what waits", Settings{}, state(), order(2, 10), RetryPayment, none},
		{"a note in a commitment", Settings{}, state(committed), order(2, 10), EditNote, allowed},
		{"a note after the cut-off", cutoff, state(), order(2, 2), EditNote, keyCutoff},
		{"a one-time product in a commitment", Settings{}, state(committed), order(2, 10), AddOneTime, "contractFrozen"},
		{"one-time products that are switched off", off(EnableOneTimeProducts), state(), order(2, 10), AddOneTime, keyDisabled},
		{"taking one out when they are switched off", off(EnableOneTimeProducts), state(), order(2, 10), EditOneTime, allowed},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, err := row.by.ForOrder(row.is, row.of)
			if err != nil {
				t.Fatal(err)
			}
			checkPermission(t, p, row.action, row.want)
		})
	}
}

// checkPermission compares a permission with the key that it should be refused with.
func checkPermission(t *testing.T, p Permissions, a Action, want string) {
	t.Helper()
	refusal, there := p[a]
	got := "-"
	switch {
	case there && refusal == nil:
		got = ""
	case there:
		got = refusal.ErrorKey
	}
	if got != want || p.Allows(a) != (want == "") || (p.Refusal(a) == "") != (want == "" || want == "-") {
		t.Errorf("%s: %q (%s), want %q", a, got, p.Refusal(a), want)
	}
}

// Every action is in the table once, and every toggle switches something off.
func TestEveryActionHasOneRule(t *testing.T) {
	t.Parallel()
	seen, switches := map[Action]int{}, map[Toggle]bool{"": true}
	for _, r := range rules {
		seen[r.action]++
		switches[r.toggle] = true
	}
	for a, n := range seen {
		if n != 1 {
			t.Errorf("%s has %d rules", a, n)
		}
	}
	for _, toggle := range Toggles {
		if !switches[toggle] {
			t.Errorf("%s switches nothing off", toggle)
		}
	}
	if len(seen) != 22 || len(switches) != len(Toggles)+1 {
		t.Errorf("%d actions, %d toggles", len(seen), len(switches)-1)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for field, s := range map[string]Settings{
		"allowCancellation": off("allowCancellation"), "skipMax": {SkipMax: 53}, "pauseMaxDays": {PauseMaxDays: -1}, "rescheduleMinDays": {RescheduleMin: MaxDays + 1},
		"rescheduleMaxDays": {RescheduleMin: 8, RescheduleMax: 7}, "upcomingCount": {Upcoming: 25}, "cutoffDays": {CutoffDays: 31},
		"supportEmail": {Support: Support{Email: "help"}}, "supportPhone": {Support: Support{Phone: "1\n2"}}, "supportUrl": {Support: Support{URL: "javascript:alert(1)"}},
	} {
		err := s.Check()
		if f, ok := err.(*fault.Error); !ok || f.Kind != fault.Invalid || f.Param != field { //nolint:errorlint // it is not wrapped
			t.Errorf("%s: %v", field, err)
		}
	}
	good := Settings{Off: Toggles, SkipMax: 52, PauseMaxDays: 90, RescheduleMin: 1, RescheduleMax: 60, Upcoming: 24, CutoffDays: 30, Support: Support{Email: "a@b.example", Phone: "+1", URL: "https://a.example/x"}}
	if err := good.Check(); err != nil || (Settings{}).Check() != nil {
		t.Error(err)
	}
}

// The cut-off is so many days before the order on the store's clock, over a change of clocks too.
func TestCutoffIsAtTheOrdersHour(t *testing.T) {
	t.Parallel()
	cal, err := state().Shop.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	date := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) // eight, two days after the clocks changed
	if got, want := (Settings{CutoffDays: 3}).ClosesAt(date, cal), time.Date(2026, 3, 7, 13, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("closes at %s, want %s", got, want)
	}
	first, last := (Settings{RescheduleMin: 1}).Dates(now, cal)
	if !first.Equal(time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)) || !last.Equal(time.Date(2027, 3, 10, 13, 0, 0, 0, time.UTC)) { // in winter time
		t.Errorf("from %s to %s", first, last)
	}
}
