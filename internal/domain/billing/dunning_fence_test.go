package billing

import (
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestARemedyFromBeforeTheDeclineIsNone(t *testing.T) {
	t.Parallel()
	charged := now.Add(-time.Hour)
	for _, row := range []struct {
		name    string
		changed time.Time // zero: just now
		retried bool
	}{
		{"a payment method that has just changed", time.Time{}, true},
		{"one that changed after the charge", charged.Add(time.Minute), true},
		{"one that changed before it, by a clock that may be wrong by hours", charged.Add(-11 * time.Hour), true},
		{"one of whose change two days ago we hear now", charged.Add(-47 * time.Hour), false},
	} {
		s, b := open(t, func(c *contract.Contract) {
			c.PaymentUsable, c.Dunning = true, &contract.Dunning{Attempt: 1, Cycle: 3, State: dunning.Open}
		}, inCase(func(k *dunning.Case) { k.Class, k.RetryAt = dunning.Card, time.Time{} }),
			due(func(a *Attempt) { a.ID, a.Cycle, a.Status, a.SentAt = 2, 4, Progress, charged }))
		a := b.attempts[1]
		a.SentAt, a.DueAt = charged, time.Time{}
		b.attempts[1] = a
		var at map[contract.ID]time.Time
		if !row.changed.IsZero() {
			at = map[contract.ID]time.Time{9001: row.changed}
		}
		must(t, s.Store.Update(t.Context(), 1, func(tx Tx) error {
			return RetryAfter(t.Context(), tx, b.shop, dunning.NewPayment, []contract.ID{9001}, at, now)
		}))
		if due := b.attempts[1].DueAt.Equal(now); due != row.retried || (len(b.entries) == 1) != row.retried {
			t.Errorf("%s: charged again %t, %d entries; want %t", row.name, due, len(b.entries), row.retried)
		}
		if marked := !b.attempts[2].Dunning.PaidWith.IsZero(); marked != row.retried {
			t.Errorf("%s: the charge that is under way is one with the payment method before: %t, want %t", row.name, marked, row.retried)
		}
	}
}

// Between the decision to end a contract and the call that ends it hours may pass, when
// the platform does not answer.
func TestAPaymentMethodThatChangesBeforeTheContractIsEndedSavesIt(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		state  dunning.State
		moving *contract.Move
		saved  bool
	}{
		"nothing was asked of the platform": {dunning.Ending, nil, true},
		"the platform was asked":            {dunning.Ending, &contract.Move{To: contract.Paused}, false},
		"staff holds it":                    {dunning.Held, nil, false},
	} {
		s, b := open(t, func(c *contract.Contract) {
			c.PaymentUsable, c.Moving = true, row.moving
			c.Dunning = &contract.Dunning{Attempt: 1, Cycle: 3, State: row.state, Action: dunning.Pause}
		}, inCase(func(k *dunning.Case) {
			k.State, k.Class, k.Action, k.RetryAt = row.state, dunning.Card, dunning.Pause, time.Time{}
		}))
		a := b.attempts[1]
		a.DueAt = time.Time{}
		b.attempts[1] = a
		must(t, s.Store.Update(t.Context(), 1, func(tx Tx) error {
			return RetryAfter(t.Context(), tx, b.shop, dunning.NewPayment, []contract.ID{9001}, nil, now)
		}))
		a, c := b.attempts[1], b.contracts[9001]
		if a.DueAt.Equal(now) != row.saved || (a.Dunning.State == dunning.Open) != row.saved || (len(b.entries) == 1) != row.saved {
			t.Errorf("%s: the order is due at %s with the case %+v, %d entries; want it charged: %t", name, a.DueAt, a.Dunning, len(b.entries), row.saved)
		}
		if _, ends := EndOf(c); ends == row.saved && row.state == dunning.Ending {
			t.Errorf("%s: the contract is to end: %t", name, ends)
		}
	}
}

func TestARetryAfterAChangeThatCameWhileTheChargeWasUnderWayIsToldOf(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		changed time.Time
		entries []activity.EventType
	}{
		"after it was sent":  {now.Add(-time.Minute), []activity.EventType{activity.BillingAttemptTriggered, activity.ImmediateRetryTriggered}},
		"before it was sent": {now.Add(-2 * time.Hour), []activity.EventType{activity.BillingAttemptTriggered}},
	} {
		a := sent(time.Hour, time.Hour)
		a.Status, a.PlatformID, a.Dunning.PaidWith = Progress, "gid", row.changed
		s, b := open(t, nil, a)
		declined := platform.Attempt{ID: "gid", Key: "key", State: platform.Failed, ErrorCode: "CARD_DECLINED"}
		must(t, s.settle(t.Context(), b.shop, []finding{{Attempt: a, found: &declined}}))
		var got []activity.EventType
		for _, e := range b.entries {
			got = append(got, e.Event)
		}
		if !slices.Equal(got, row.entries) || (b.attempts[1].Dunning.Cause == dunning.ByCardUpdate) != (len(got) == 2) {
			t.Errorf("the payment method changed %s: %v, case %+v; want %v", name, got, b.attempts[1].Dunning, row.entries)
		}
	}
}

// A case whose order ends in another way than by a charge does not keep the orders
// after it from being made.
func TestARetryThatIsEndedBeforeItWasSentEndsItsCase(t *testing.T) {
	t.Parallel()
	for name, hinder := range map[string]func(*books){
		"the store has left":              func(b *books) { b.shop.Connected = false },
		"the contract has had its orders": func(b *books) { b.limit(2) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := inCase(func(k *dunning.Case) { k.Cause = dunning.ByHand })
			asked.Status, asked.Try, asked.FirstSentAt = Requesting, 2, time.Time{}
			s, b := open(t, func(c *contract.Contract) {
				c.PaymentUsable, c.Dunning = true, &contract.Dunning{Attempt: 1, Cycle: 3, State: dunning.Open}
			}, asked)
			hinder(b)
			must(t, s.Work(t.Context(), 1))
			if a := b.attempts[1]; a.Dunning.State.Live() || b.contracts[9001].Dunning != nil {
				t.Errorf("the attempt is %s with the case %s, the contract's order that is not paid %+v", a.Status, a.Dunning.State, b.contracts[9001].Dunning)
			}
		})
	}
}

// limit lets the contract have so many orders at most.
func (b *books) limit(orders int) {
	c := b.contracts[9001]
	c.MaxCycles = orders
	b.contracts[9001] = c
}
