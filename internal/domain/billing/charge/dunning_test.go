package charge

import (
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/billing/cases"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestPaymentMethodUpdatedBeforeDeclineCausesNoRetry(t *testing.T) {
	t.Parallel()
	charged := billingtest.Now.Add(-time.Hour)
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
		s, b := open(func(c *contract.Contract) {
			c.PaymentUsable, c.Dunning = true, &contract.Dunning{Attempt: 1, Cycle: 3, State: dunning.Open}
		}, billingtest.InCase(func(k *dunning.Case) { k.Class, k.RetryAt = dunning.Card, time.Time{} }),
			billingtest.Due(func(a *billing.Attempt) { a.ID, a.Cycle, a.Status, a.SentAt = 2, 4, billing.Progress, charged }))
		a := b.Rows[1]
		a.SentAt, a.DueAt = charged, time.Time{}
		b.Rows[1] = a
		var at map[contract.ID]time.Time
		if !row.changed.IsZero() {
			at = map[contract.ID]time.Time{9001: row.changed}
		}
		billingtest.Must(t, s.Store.Update(t.Context(), 1, func(tx billing.Tx) error {
			return cases.RetryAfter(t.Context(), tx, b.Store, dunning.NewPayment, []contract.ID{9001}, at, billingtest.Now)
		}))
		if due := b.Rows[1].DueAt.Equal(billingtest.Now); due != row.retried || (len(b.Entries) == 1) != row.retried {
			t.Errorf("%s: charged again %t, %d entries; want %t", row.name, due, len(b.Entries), row.retried)
		}
		if marked := !b.Rows[2].Dunning.PaidWith.IsZero(); marked != row.retried {
			t.Errorf("%s: the charge that is under way is one with the payment method before: %t, want %t", row.name, marked, row.retried)
		}
	}
}

// Between the decision to end a contract and the call that ends it hours may pass, when
// the platform does not answer.
func TestNewPaymentMethodBeforeCancellationKeepsContract(t *testing.T) {
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
		s, b := open(func(c *contract.Contract) {
			c.PaymentUsable, c.Moving = true, row.moving
			c.Dunning = &contract.Dunning{Attempt: 1, Cycle: 3, State: row.state, Action: dunning.Pause}
		}, billingtest.InCase(func(k *dunning.Case) {
			k.State, k.Class, k.Action, k.RetryAt = row.state, dunning.Card, dunning.Pause, time.Time{}
		}))
		a := b.Rows[1]
		a.DueAt = time.Time{}
		b.Rows[1] = a
		billingtest.Must(t, s.Store.Update(t.Context(), 1, func(tx billing.Tx) error {
			return cases.RetryAfter(t.Context(), tx, b.Store, dunning.NewPayment, []contract.ID{9001}, nil, billingtest.Now)
		}))
		a, c := b.Rows[1], b.Known[9001]
		if a.DueAt.Equal(billingtest.Now) != row.saved || (a.Dunning.State == dunning.Open) != row.saved || (len(b.Entries) == 1) != row.saved {
			t.Errorf("%s: the order is due at %s with the case %+v, %d entries; want it charged: %t", name, a.DueAt, a.Dunning, len(b.Entries), row.saved)
		}
		if _, ends := cases.EndOf(c); ends == row.saved && row.state == dunning.Ending {
			t.Errorf("%s: the contract is to end: %t", name, ends)
		}
	}
}

func TestRetryAfterChangeDuringChargeIsPublished(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		changed time.Time
		entries []activity.EventType
	}{
		"after it was sent":  {billingtest.Now.Add(-time.Minute), []activity.EventType{activity.BillingAttemptTriggered, activity.ImmediateRetryTriggered}},
		"before it was sent": {billingtest.Now.Add(-2 * time.Hour), []activity.EventType{activity.BillingAttemptTriggered}},
	} {
		a := billingtest.Sent(time.Hour, time.Hour)
		a.Status, a.PlatformID, a.Dunning.PaidWith = billing.Progress, "gid", row.changed
		s, b := open(nil, a)
		declined := platform.Attempt{ID: "gid", Key: "key", State: platform.Failed, ErrorCode: "CARD_DECLINED"}
		billingtest.Must(t, s.settle(t.Context(), b.Store, []finding{{Attempt: a, found: &declined}}))
		var got []activity.EventType
		for _, e := range b.Entries {
			got = append(got, e.Event)
		}
		if !slices.Equal(got, row.entries) || (b.Rows[1].Dunning.Cause == dunning.ByCardUpdate) != (len(got) == 2) {
			t.Errorf("the payment method changed %s: %v, case %+v; want %v", name, got, b.Rows[1].Dunning, row.entries)
		}
	}
}

// A case whose order ends in another way than by a charge does not keep the orders
// after it from being made.
func TestCancelledRetryClosesItsCase(t *testing.T) {
	t.Parallel()
	for name, hinder := range map[string]func(*billingtest.Books){
		"the store has left":              func(b *billingtest.Books) { b.Store.Connected = false },
		"the contract has had its orders": func(b *billingtest.Books) { c := b.Known[9001]; c.MaxCycles = 2; b.Known[9001] = c },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := billingtest.InCase(func(k *dunning.Case) { k.Cause = dunning.ByHand })
			asked.Status, asked.Try, asked.FirstSentAt = billing.Requesting, 2, time.Time{}
			s, b := open(func(c *contract.Contract) {
				c.PaymentUsable, c.Dunning = true, &contract.Dunning{Attempt: 1, Cycle: 3, State: dunning.Open}
			}, asked)
			hinder(b)
			billingtest.Must(t, s.Work(t.Context(), 1))
			if a := b.Rows[1]; a.Dunning.State.Live() || b.Known[9001].Dunning != nil {
				t.Errorf("the attempt is %s with the case %s, the contract's order that is not paid %+v", a.Status, a.Dunning.State, b.Known[9001].Dunning)
			}
		})
	}
}

func TestFirstChargeGoesBeforeRetryOfSameCard(t *testing.T) {
	t.Parallel()
	for name, ago := range map[string]time.Duration{"that falls due with it": -1, "of eight minutes before": 8 * time.Minute} {
		first := billingtest.Due(func(a *billing.Attempt) { a.ID, a.Contract, a.DueAt = 2, 9002, billingtest.Now })
		s, b := open(func(c *contract.Contract) { c.PaymentMethod = "card" }, billingtest.InCase(), first)
		other := b.Known[9001]
		other.ID = 9002
		b.Known[9002] = other
		if ago >= 0 {
			first.Status, first.SentAt, first.DueAt = billing.Success, billingtest.Now.Add(-ago), time.Time{}
			b.Rows[2] = first
		}
		taken, err := s.claim(t.Context(), 1)
		billingtest.Must(t, err)
		if len(taken.dunned) != 1 || taken.dunned[0].decision.CaseStep != decide.PostponeRetry || (len(taken.charges) == 1) != (ago < 0) {
			t.Errorf("%s: took up %+v and pursues %+v; want the retry put off alone", name, taken.charges, taken.dunned)
		}
	}
}
