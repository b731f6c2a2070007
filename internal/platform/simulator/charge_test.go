package simulator

import (
	"testing"
	"time"
)

// attemptOf returns the state and the error code of an attempt.
func (w *world) attemptOf(contract int64, n int) Attempt {
	w.t.Helper()
	c, err := w.sim.Contract(contract)
	if err != nil {
		w.t.Fatal(err)
	}
	if n >= len(c.Attempts) {
		return Attempt{}
	}
	return c.Attempts[n]
}

func TestChargeRefusals(t *testing.T) {
	t.Parallel()
	status := func(s string) func(*ContractSpec) { return func(c *ContractSpec) { c.Status = s } }
	tests := []struct {
		name     string
		spec     func(*ContractSpec)
		switches Switches
		at       string
		before   func(w *world, id int64)
		cycle    int
		want     string
	}{
		{"a due cycle is charged", nil, Switches{}, "2025-02-01T15:00:00Z", nil, 1, ""},
		{"a cycle may be charged a day early", nil, Switches{}, "2025-01-31T15:00:00Z", nil, 1, ""},
		{"a cycle may not be charged earlier than that", nil, Switches{}, "2025-01-31T14:59:59Z", nil, 1, "BILLING_CYCLE_CHARGE_BEFORE_EXPECTED_DATE"},
		{"a cycle long past may be charged", nil, Switches{}, "2025-06-01", nil, 1, ""},
		{"there is no cycle 0", nil, Switches{}, "2025-02-01T15:00:00Z", nil, 0, "CYCLE_INDEX_OUT_OF_RANGE"},
		{"a paused contract is not charged", status("PAUSED"), Switches{}, "2025-02-01T15:00:00Z", nil, 1, "CONTRACT_PAUSED"},
		{"a paused contract is charged when switched so", status("PAUSED"), Switches{PausedAttemptGoesThrough: true}, "2025-02-01T15:00:00Z", nil, 1, ""},
		{"a cancelled contract is not charged", status("CANCELLED"), Switches{}, "2025-02-01T15:00:00Z", nil, 1, "CONTRACT_TERMINATED"},
		{"an expired contract is not charged", status("EXPIRED"), Switches{}, "2025-02-01T15:00:00Z", nil, 1, "CONTRACT_TERMINATED"},
		{"a skipped cycle is not charged", nil, Switches{}, "2025-02-01T15:00:00Z", func(w *world, id int64) { w.skip(id, 1) }, 1, "BILLING_CYCLE_SKIPPED"},
		{"a cycle beyond the limit is refused", nil, Switches{FutureCycleLimit: 3}, "2025-02-01T15:00:00Z", nil, 9, "UPCOMING_CYCLE_LIMIT_EXCEEDED"},
		{"a billed cycle is charged again", nil, Switches{}, "2025-02-02", func(w *world, id int64) { w.charge(id, "other", 1); w.pass("2025-02-02T00:00:05Z") }, 1, ""},
		{"a billed cycle is refused when switched so", nil, Switches{RefuseBilledCycle: true}, "2025-02-02", func(w *world, id int64) { w.charge(id, "other", 1); w.pass("2025-02-02T00:00:05Z") }, 1, "INVALID"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Switches = tt.switches })
			var made Made
			if tt.spec == nil {
				made = w.monthly()
			} else {
				made = w.monthly(tt.spec)
			}
			w.pass(tt.at)
			if tt.before != nil {
				tt.before(w, made.Contract)
			}
			if id, code := w.charge(made.Contract, "k", tt.cycle); code != tt.want || (code == "") != (id != "") {
				t.Errorf("answered %q %q, want %q", id, code, tt.want)
			}
		})
	}
}

func (w *world) skip(contract int64, cycle int) {
	w.t.Helper()
	d := w.ask(`mutation($in: SubscriptionBillingCycleInput!) { subscriptionBillingCycleSkip(billingCycleInput: $in) { billingCycle { skipped } userErrors { code message } } }`,
		map[string]any{"in": map[string]any{"contractId": contractGID(contract), "selector": map[string]any{"index": cycle}}})
	if dig(d, "subscriptionBillingCycleSkip", "billingCycle", "skipped") != true {
		w.t.Fatal(text(d))
	}
}

func TestOneKeyIsOneCharge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	w.pass("2025-02-01T15:00:00Z")
	first, _ := w.charge(made.Contract, "k", 1)
	second, _ := w.charge(made.Contract, "k", 1)
	w.pass("2026-02-01")
	third, _ := w.charge(made.Contract, "k", 1)
	if first == "" || first != second || first != third {
		t.Errorf("the key gave %s, %s and %s", first, second, third)
	}
	if n := len(w.sim.Orders(OrderFilter{})); n != 1 {
		t.Errorf("%d orders", n)
	}
}

func TestExpiredIdempotencyKeyChargesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Switches.KeyLifetime = 24 * time.Hour })
	made := w.monthly()
	w.pass("2025-02-01T15:00:00Z")
	first, _ := w.charge(made.Contract, "k", 1)
	w.pass("2025-02-02T14:59:59Z")
	if again, _ := w.charge(made.Contract, "k", 1); again != first {
		t.Errorf("within its life the key gave %s and %s", first, again)
	}
	w.pass("2025-02-02T15:00:00Z")
	if again, _ := w.charge(made.Contract, "k", 1); again == first {
		t.Error("after its life the key still gave the first attempt")
	}
	w.pass("2025-02-03")
	if n := len(w.sim.Orders(OrderFilter{})); n != 2 {
		t.Errorf("%d orders", n)
	}
}

func TestHowChargesEnd(t *testing.T) {
	t.Parallel()
	pays := func(m MethodStatus) func(*ContractSpec) { return func(c *ContractSpec) { c.PaymentMethod = m } }
	tests := []struct {
		name   string
		spec   func(*ContractSpec)
		script []Outcome
		stock  int // of the variant; -1: not tracked
		want   []string
	}{
		{"a valid card is charged", pays(MethodValid), nil, -1, []string{"SUCCEEDED", "SUCCEEDED", "SUCCEEDED"}},
		{"an expired card fails", pays(MethodExpired), nil, -1, []string{codeExpired, codeExpired, codeExpired}},
		{"a revoked card fails", pays(MethodRevoked), nil, -1, []string{codeRevoked, codeRevoked, codeRevoked}},
		{"no card fails", pays(MethodNone), nil, -1, []string{codeNone, codeNone, codeNone}},
		{"a scripted code is used once", pays(MethodValid), []Outcome{{Code: "INSUFFICIENT_FUNDS"}}, -1, []string{"INSUFFICIENT_FUNDS", "SUCCEEDED", "SUCCEEDED"}},
		{"scripted codes come in order", pays(MethodValid), []Outcome{{Code: "INSUFFICIENT_FUNDS"}, {Code: "DO_NOT_HONOR"}}, -1, []string{"INSUFFICIENT_FUNDS", "DO_NOT_HONOR", "SUCCEEDED"}},
		{"a script for cycles waits for them", pays(MethodValid), []Outcome{{Code: "INSUFFICIENT_FUNDS", Cycles: []int{3, 2}}}, -1, []string{"SUCCEEDED", "INSUFFICIENT_FUNDS", "INSUFFICIENT_FUNDS"}},
		{"a scripted success beats an expired card", pays(MethodExpired), []Outcome{{Code: Succeed}}, -1, []string{"SUCCEEDED", codeExpired, codeExpired}},
		{"a charge may never end", pays(MethodValid), []Outcome{{Code: Never}}, -1, []string{"PENDING", "SUCCEEDED", "SUCCEEDED"}},
		{"a charge may want the buyer", pays(MethodValid), []Outcome{{Code: Challenge}}, -1, []string{"CHALLENGED", "SUCCEEDED", "SUCCEEDED"}},
		{"stock runs out", pays(MethodValid), nil, 5, []string{"SUCCEEDED", "SUCCEEDED", codeStock}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.monthly(tt.spec)
			for _, o := range tt.script {
				o.Contract = made.Contract
				if err := w.sim.Outcome(o); err != nil {
					t.Fatal(err)
				}
			}
			if tt.stock >= 0 {
				if err := w.sim.SetStock("", w.variants[0].ID, tt.stock); err != nil {
					t.Fatal(err)
				}
			}
			w.pass("2025-06-01")
			for i, want := range tt.want {
				if _, code := w.charge(made.Contract, string(rune('a'+i)), i+1); code != "" {
					t.Fatal(code)
				}
				w.stepTo(w.clock.Now().Add(time.Minute))
				a := w.attemptOf(made.Contract, i)
				if got := or(a.ErrorCode, a.State); got != want {
					t.Errorf("charge %d ended with %s, want %s", i+1, got, want)
				}
				if (a.Order != 0) != (a.State == "SUCCEEDED") {
					t.Errorf("charge %d: %s with order %d", i+1, a.State, a.Order)
				}
			}
		})
	}
}

func TestChallengedChargeEndsWithBuyerAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	if err := w.sim.Outcome(Outcome{Contract: made.Contract, Code: Challenge}); err != nil {
		t.Fatal(err)
	}
	w.pass("2025-02-01T15:00:00Z")
	id, _ := w.charge(made.Contract, "k", 1)
	w.pass("2025-02-01T16:00:00Z")
	d := w.ask(`query($id: ID!) { subscriptionBillingAttempt(id: $id) { ready nextActionUrl state { ... on SubscriptionBillingAttemptActionRequiredState { action { ... on SubscriptionBillingAttemptPaymentChallenge { status nextActionUrl } } } } } }`, map[string]any{"id": id})
	if dig(d, "subscriptionBillingAttempt", "ready") != false || dig(d, "subscriptionBillingAttempt", "state", "action", "nextActionUrl") == nil {
		t.Fatal(text(d))
	}
	a := w.attemptOf(made.Contract, 0)
	if err := w.sim.FinishAttempt(a.ID, Succeed); err != nil {
		t.Fatal(err)
	}
	if a := w.attemptOf(made.Contract, 0); a.State != "SUCCEEDED" || a.Order == 0 {
		t.Errorf("%+v", a)
	}
	if err := w.sim.FinishAttempt(a.ID, Succeed); err == nil {
		t.Error("it ended twice")
	}
}

func TestFailuresAreReportedByKind(t *testing.T) {
	t.Parallel()
	tests := []struct{ code, kind, word string }{
		{"INSUFFICIENT_FUNDS", "SubscriptionBillingAttemptPaymentError", "PAYMENT_ERROR"},
		{"INSUFFICIENT_INVENTORY", "SubscriptionBillingAttemptInventoryError", "INVENTORY_ERROR"},
		{"CUSTOMER_NOT_FOUND", "SubscriptionBillingAttemptGeneralError", "CUSTOMER_ERROR"},
		{"UNEXPECTED_ERROR", "SubscriptionBillingAttemptUnexpectedError", "OTHER"},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.monthly()
			if err := w.sim.Outcome(Outcome{Contract: made.Contract, Code: tt.code}); err != nil {
				t.Fatal(err)
			}
			w.pass("2025-02-01T15:00:00Z")
			id, _ := w.charge(made.Contract, "k", 1)
			w.pass("2025-02-01T16:00:00Z")
			d := w.ask(`query($id: ID!, $c: ID!) { subscriptionBillingAttempt(id: $id) { errorCode state { ... on SubscriptionBillingAttemptFailedState { error { __typename } } } } subscriptionContract(id: $c) { lastBillingAttemptErrorType } }`,
				map[string]any{"id": id, "c": contractGID(made.Contract)})
			if dig(d, "subscriptionBillingAttempt", "state", "error", "__typename") != tt.kind || dig(d, "subscriptionContract", "lastBillingAttemptErrorType") != tt.word || dig(d, "subscriptionBillingAttempt", "errorCode") != tt.code {
				t.Error(text(d))
			}
		})
	}
}

func TestBulkChargeByAnotherApp(t *testing.T) {
	t.Parallel()
	for name, ignores := range map[string]bool{"leaves billed cycles alone": false, "charges billed cycles when switched so": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Switches.BulkChargeIgnoresBilled = ignores })
			made := w.monthly()
			w.pass("2025-02-01T15:00:00Z")
			w.charge(made.Contract, "k", 1)
			w.pass("2025-02-01T16:00:00Z")
			n, err := w.sim.BulkCharge("", day("2025-01-31"), day("2025-02-02"))
			if err != nil || (n == 1) != ignores {
				t.Errorf("it charged %d (%v)", n, err)
			}
		})
	}
}
