package simulator

import (
	"fmt"
	"maps"
	"testing"
)

func TestEveryKindOfRequestFaultFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind     FaultKind
		answered bool   // there is an HTTP answer
		executed string // "no", "yes" or "both"
	}{
		{TimeoutBefore, false, "no"}, {TimeoutAfter, false, "yes"}, {HTTP500, true, "both"}, {Throttled, true, "no"}, {ConnectionReset, false, "both"},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.monthly()
			w.pass("2025-02-01T15:00:00Z")
			if err := w.sim.SetFaults(Faults{Rate: 1, Kinds: []FaultKind{tt.kind}, Seed: 3}); err != nil {
				t.Fatal(err)
			}
			const tries = 40
			for i := range tries {
				r, err := w.tryPost(createDoc, map[string]any{"contract": contractGID(made.Contract), "key": fmt.Sprint(i), "cycle": 1})
				if (err == nil) != tt.answered {
					t.Fatalf("answered %d %s %v", r.status, r.raw, err)
				}
				if tt.kind == HTTP500 && r.status != 500 {
					t.Errorf("status %d", r.status)
				}
				if tt.kind == Throttled && r.Errors[0].Extensions.Code != codeThrottled {
					t.Error(r.raw)
				}
			}
			c, err := w.sim.Contract(made.Contract)
			if err != nil {
				t.Fatal(err)
			}
			n := len(c.Attempts)
			if (tt.executed == "no" && n != 0) || (tt.executed == "yes" && n != tries) || (tt.executed == "both" && (n == 0 || n == tries)) {
				t.Errorf("%d of %d were executed", n, tries)
			}
			if got := w.sim.FaultCounts(); got[tt.kind] != tries {
				t.Errorf("counted %v", got)
			}
			if err := w.sim.ClearFaults(); err != nil {
				t.Fatal(err)
			}
			w.ask(`{ shop { id } }`, nil)
		})
	}
}

func TestFaultsDependOnSeedAndRequestsAlone(t *testing.T) {
	t.Parallel()
	counts := func(seed uint64, order []int) map[FaultKind]int {
		w := newWorld(t)
		for range 60 {
			w.monthly()
		}
		if err := w.sim.SetFaults(Faults{Rate: 0.5, Seed: seed}); err != nil {
			t.Fatal(err)
		}
		for _, i := range order {
			w.tryPost(`query($id: ID!) { subscriptionContract(id: $id) { id } }`, map[string]any{"id": contractGID(int64(9001 + i%60))})
		}
		return w.sim.FaultCounts()
	}
	var up, down []int
	for i := range 120 {
		up, down = append(up, i), append(down, 119-i)
	}
	a, b, c := counts(1, up), counts(1, down), counts(2, up)
	if !maps.Equal(a, b) {
		t.Errorf("the order of requests changed the faults: %v and %v", a, b)
	}
	if maps.Equal(a, c) {
		t.Errorf("another seed gave the same faults: %v", a)
	}
	total := 0
	for _, kind := range FaultKinds[:requestKinds] {
		if a[kind] == 0 {
			t.Errorf("%s never fired: %v", kind, a)
		}
		total += a[kind]
	}
	if total < 40 || total > 80 {
		t.Errorf("%d of 120 requests failed at a rate of a half", total)
	}
}

func TestFaultsExpire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.sim.SetFaults(Faults{Rate: 1, Kinds: []FaultKind{HTTP500}, Until: day("2025-01-02")}); err != nil {
		t.Fatal(err)
	}
	if r := w.post(`{shop{id}}`, nil); r.status != 500 {
		t.Errorf("while they last: %d", r.status)
	}
	w.clock.Set(day("2025-01-02"))
	w.ask(`{shop{id}}`, nil)
}

func TestWebhookFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind                      FaultKind
		now, halfMinute, sixHours int // webhooks that have arrived by then
	}{
		{WebhookLost, 0, 0, 0}, {WebhookDuplicated, 1, 2, 2}, {WebhookLate, 0, 0, 1}, {WebhookReordered, 0, 1, 1},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			t.Parallel()
			w, s := newWorld(t), newSink(t)
			w.subscribe(s, "SUBSCRIPTION_CONTRACTS_CREATE")
			if err := w.sim.SetFaults(Faults{Rate: 1, Kinds: []FaultKind{tt.kind}}); err != nil {
				t.Fatal(err)
			}
			w.monthly()
			start := w.clock.Now()
			var got [3]int
			w.stepTo(start)
			got[0] = len(s.hooks)
			w.stepTo(start.Add(reorderedBy))
			got[1] = len(s.hooks)
			w.stepTo(start.Add(latestMax))
			got[2] = len(s.hooks)
			if want := [3]int{tt.now, tt.halfMinute, tt.sixHours}; got != want {
				t.Errorf("arrived %v, want %v", got, want)
			}
			if tt.kind == WebhookDuplicated && s.hooks[0].header.Get("X-Shopify-Webhook-Id") != s.hooks[1].header.Get("X-Shopify-Webhook-Id") {
				t.Error("the duplicate has another id")
			}
		})
	}
}
