package platformtest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// settling is longer than a payment takes.
const settling = time.Minute

// charging are the promises of platform.Charger.
var charging = []promise{
	{"a charge becomes one order with its amount", func(t *testing.T, w World) {
		k := due(w, Contract{})
		a := charge(t, w, platform.Charge{CycleRef: first(k), Key: "one"})
		if a.Contract != k || a.Key != "one" || a.ID == "" || a.CreatedAt.IsZero() {
			t.Errorf("attempt %+v", a)
		}
		w.Pass(settling)
		a = attempt(t, w, a.ID)
		if a.State != platform.Succeeded || a.Order.ID == 0 || a.Order.Name == "" || a.Amount.Minor <= 0 || a.Contract != k || a.CompletedAt.IsZero() {
			t.Errorf("settled attempt %+v", a)
		}
		wantOrders(t, w, k, 1)
		if c := cycle(t, w, first(k)); !c.Billed {
			t.Errorf("cycle %+v, want it billed", c)
		}
	}},
	{"the same key again returns the first attempt and makes no second order", func(t *testing.T, w World) {
		k := due(w, Contract{})
		c := platform.Charge{CycleRef: first(k), Key: "same"}
		before := charge(t, w, c)
		again := charge(t, w, c)
		w.Pass(settling)
		after := charge(t, w, c)
		if again.ID != before.ID || after.ID != before.ID {
			t.Errorf("attempts %s, %s and %s, want the same one", before.ID, again.ID, after.ID)
		}
		if after.State != platform.Succeeded {
			t.Errorf("the settled attempt is %s", after.State)
		}
		wantOrders(t, w, k, 1)
	}},
	{"a lost answer is unknown, and the same key makes one order", func(t *testing.T, w World) {
		k := due(w, Contract{})
		c := platform.Charge{CycleRef: first(k), Key: "lost"}
		w.Break(AnswerLost, func() {
			if answers, err := w.Platform().Charge(t.Context(), w.Shop(), []platform.Charge{c}); !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("got %v, %v; want ErrUnknown", describe(answers), err)
			}
		})
		w.Pass(settling)
		wantOrders(t, w, k, 1)
		if s := state(t, w, first(k)); len(s.Attempts) != 1 || s.Attempts[0].Key != "lost" || !s.Cycle.Billed {
			t.Errorf("state %+v, want the attempt whose answer was lost", s)
		}
		if a := charge(t, w, c); a.State != platform.Succeeded {
			t.Errorf("the attempt is %s", a.State)
		}
		w.Pass(settling)
		wantOrders(t, w, k, 1)
	}},
	{"a lost request is unknown too, and the same key makes one order", func(t *testing.T, w World) {
		k := due(w, Contract{})
		c := platform.Charge{CycleRef: first(k), Key: "lost"}
		w.Break(RequestLost, func() {
			if answers, err := w.Platform().Charge(t.Context(), w.Shop(), []platform.Charge{c}); !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("got %v, %v; want ErrUnknown", describe(answers), err)
			}
		})
		if s := state(t, w, first(k)); len(s.Attempts) != 0 {
			t.Errorf("attempts %+v, want none", s.Attempts)
		}
		charge(t, w, c)
		w.Pass(settling)
		wantOrders(t, w, k, 1)
	}},
	{"a declined payment is an attempt that failed, and no error", func(t *testing.T, w World) {
		k := due(w, Contract{})
		w.Outcome(k, "INSUFFICIENT_FUNDS")
		a := charge(t, w, platform.Charge{CycleRef: first(k), Key: "poor"})
		w.Pass(settling)
		if a = attempt(t, w, a.ID); a.State != platform.Failed || a.ErrorCode != "INSUFFICIENT_FUNDS" {
			t.Errorf("attempt %+v", a)
		}
		wantOrders(t, w, k, 0)
	}},
	{"another key after a failure is another attempt", func(t *testing.T, w World) {
		k := due(w, Contract{})
		w.Outcome(k, "INSUFFICIENT_FUNDS")
		failed := charge(t, w, platform.Charge{CycleRef: first(k), Key: "try 1"})
		w.Pass(settling)
		if a := charge(t, w, platform.Charge{CycleRef: first(k), Key: "try 2"}); a.ID == failed.ID {
			t.Error("the failed attempt was returned for another key")
		}
		w.Pass(settling)
		wantOrders(t, w, k, 1)
		if s := state(t, w, first(k)); len(s.Attempts) != 2 || !s.Cycle.Billed {
			t.Errorf("state %+v, want two attempts of a billed cycle", s)
		}
	}},
	{"an expired payment method is an attempt that failed", func(t *testing.T, w World) {
		k := due(w, Contract{Unpayable: true})
		a := charge(t, w, platform.Charge{CycleRef: first(k), Key: "old"})
		w.Pass(settling)
		if a = attempt(t, w, a.ID); a.State != platform.Failed || a.ErrorCode == "" {
			t.Errorf("attempt %+v", a)
		}
	}},
	{"a challenged payment says where the customer must act", func(t *testing.T, w World) {
		k := due(w, Contract{})
		w.Outcome(k, "CHALLENGE")
		a := charge(t, w, platform.Charge{CycleRef: first(k), Key: "3ds"})
		w.Pass(settling)
		if a = attempt(t, w, a.ID); a.State != platform.Challenged || a.NextActionURL == "" {
			t.Errorf("attempt %+v", a)
		}
		wantOrders(t, w, k, 0)
	}},
	{"a skipped cycle is refused and not charged for", func(t *testing.T, w World) {
		k := due(w, Contract{})
		if err := w.Platform().SkipCycle(t.Context(), w.Shop(), k, 1); err != nil {
			t.Fatal(err)
		}
		answers, err := w.Platform().Charge(t.Context(), w.Shop(), []platform.Charge{{CycleRef: first(k), Key: "skipped"}})
		if got := describe(answers); err != nil || !slices.Equal(got, []string{"BILLING_CYCLE_SKIPPED"}) {
			t.Errorf("got %v, %v", got, err)
		}
		w.Pass(settling)
		wantOrders(t, w, k, 0)
	}},
	{"a cycle that is expected much later is refused", func(t *testing.T, w World) {
		k := due(w, Contract{})
		answers, err := w.Platform().Charge(t.Context(), w.Shop(), []platform.Charge{{CycleRef: platform.CycleRef{Contract: k, Index: 2}, Key: "early"}})
		if got := describe(answers); err != nil || !slices.Equal(got, []string{"BILLING_CYCLE_CHARGE_BEFORE_EXPECTED_DATE"}) {
			t.Errorf("got %v, %v", got, err)
		}
	}},
	{"answers have the order of the charges, and one refusal stops no other", func(t *testing.T, w World) {
		var charges []platform.Charge
		var want []string
		for i := range platform.MaxCharges {
			k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
			c := platform.Charge{CycleRef: first(k), Key: "batch " + string(rune('a'+i))}
			if i%5 == 3 {
				if err := w.Platform().SkipCycle(t.Context(), w.Shop(), k, 1); err != nil {
					t.Fatal(err)
				}
				want = append(want, "BILLING_CYCLE_SKIPPED")
			} else {
				want = append(want, c.Key)
			}
			charges = append(charges, c)
		}
		const unknown = 1 << 40 // no contract has this id
		charges[7].Contract, want[7] = unknown, "unknown contract"
		w.Pass(time.Hour)
		answers, err := w.Platform().Charge(t.Context(), w.Shop(), charges)
		if err != nil || len(answers) != len(charges) {
			t.Fatalf("got %v, %v", describe(answers), err)
		}
		for i, a := range answers {
			switch {
			case i == 7:
				if a.Refused == nil || a.Attempt != nil {
					t.Errorf("a charge of an unknown contract: %s", describe(answers)[i])
				}
			case a.Attempt != nil && a.Refused == nil:
				if a.Attempt.Key != want[i] || a.Attempt.Contract != charges[i].Contract {
					t.Errorf("answer %d is about key %s of contract %d, want %s of %d", i, a.Attempt.Key, a.Attempt.Contract, want[i], charges[i].Contract)
				}
			case a.Refused == nil || a.Refused.Code != want[i]:
				t.Errorf("answer %d is %s, want %s", i, describe(answers)[i], want[i])
			}
		}
	}},
	{"states have the order of the questions and say what is missing", func(t *testing.T, w World) {
		a, b := due(w, Contract{}), due(w, Contract{})
		charge(t, w, platform.Charge{CycleRef: first(b), Key: "b"})
		w.Pass(settling)
		const unknown = 1 << 40
		of := []platform.CycleRef{first(b), first(unknown), {Contract: a, Index: 2}, first(a), {Contract: a, Index: 0}}
		states, err := w.Platform().CycleStates(t.Context(), w.Shop(), of)
		if err != nil || len(states) != len(of) {
			t.Fatalf("got %+v, %v", states, err)
		}
		for i, s := range states {
			if s.CycleRef != of[i] {
				t.Errorf("state %d is of %+v, want %+v", i, s.CycleRef, of[i])
			}
			if missing := i == 1 || i == 4; s.Missing != missing {
				t.Errorf("state %d: missing is %t, want %t", i, s.Missing, missing)
			}
			if !s.Missing && s.Cycle.Index != of[i].Index {
				t.Errorf("state %d has cycle %d", i, s.Cycle.Index)
			}
		}
		if !states[0].Cycle.Billed || len(states[0].Attempts) != 1 || states[3].Cycle.Billed || len(states[3].Attempts) != 0 {
			t.Errorf("states %+v", states)
		}
	}},
	{"a charge of another app is seen, once", func(t *testing.T, w World) {
		k := due(w, Contract{})
		w.ChargeUnasked()
		w.Pass(settling)
		s := state(t, w, first(k))
		if len(s.Attempts) != 1 || s.Attempts[0].State != platform.Succeeded || s.Attempts[0].Order.ID == 0 || !s.Cycle.Billed {
			t.Errorf("state %+v, want the successful attempt of a billed cycle", s)
		}
	}},
	{"the attempts of another cycle of the contract are seen too", func(t *testing.T, w World) {
		k := due(w, Contract{})
		a := charge(t, w, platform.Charge{CycleRef: first(k), Key: "one"})
		w.Pass(settling)
		s := state(t, w, platform.CycleRef{Contract: k, Index: 2})
		if len(s.Attempts) != 0 || len(s.Recent) != 1 || s.Recent[0].ID != a.ID || s.Cycle.Billed {
			t.Errorf("state %+v, want the contract's latest attempt apart from the cycle's own", s)
		}
	}},
	{"a cycle with many attempts is read in full", func(t *testing.T, w World) {
		k := due(w, Contract{})
		const tries = 7
		for i := range tries {
			w.Outcome(k, "INSUFFICIENT_FUNDS")
			charge(t, w, platform.Charge{CycleRef: first(k), Key: "try " + string(rune('1'+i))})
			w.Pass(settling)
		}
		if s := state(t, w, first(k)); len(s.Attempts) != tries {
			t.Errorf("%d attempts, want %d", len(s.Attempts), tries)
		}
	}},
	{"attempts that the platform does not know are left out", func(t *testing.T, w World) {
		k := due(w, Contract{})
		a := charge(t, w, platform.Charge{CycleRef: first(k), Key: "one"})
		got, err := w.Platform().Attempts(t.Context(), w.Shop(), []string{"gid://shopify/SubscriptionBillingAttempt/1", a.ID, "gid://shopify/Order/1", "?"})
		if err != nil || len(got) != 1 || got[0].ID != a.ID {
			t.Errorf("got %+v, %v; want attempt %s alone", got, err, a.ID)
		}
	}},
	{"a busy platform is waited for", func(t *testing.T, w World) {
		k := due(w, Contract{})
		w.Break(Busy, func() {
			for i := range 5 {
				charge(t, w, platform.Charge{CycleRef: first(k), Key: "same"})
				if _, err := w.Platform().Attempts(t.Context(), w.Shop(), []string{"gid://shopify/SubscriptionBillingAttempt/" + string(rune('1'+i))}); err != nil {
					t.Errorf("read while the platform is busy: %v", err)
				}
			}
		})
		w.Pass(settling)
		wantOrders(t, w, k, 1)
	}},
}
