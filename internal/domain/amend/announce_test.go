package amend_test

import (
	"fmt"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

const (
	interval = "MERCHANT_EXTERNAL_API BILLING_INTERVAL_CHANGE"
	delivery = "MERCHANT_EXTERNAL_API DELIVERY_INTERVAL_CHANGE"
	noted    = "MERCHANT_EXTERNAL_API SUBSCRIPTION_CONTRACT_UPDATED"
	updated  = "SHOPIFY_EVENT SUBSCRIPTION_CONTRACT_UPDATED"
)

// theirs is what the log says of our change when nobody is known to have made it.
var theirs = []string{"SHOPIFY_EVENT BILLING_INTERVAL_CHANGE", "SHOPIFY_EVENT DELIVERY_INTERVAL_CHANGE"}

func TestAnEventIsNotTakenForSomebodysChangeWhileOursIsAnswered(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		d, err := carryOut()
		w.elsewhere(w.other, "ring twice")
		w.tell(w.ours, w.other)
		w.wantEntries("before the answer", w.ours)
		w.wantEntries("before the answer", w.other, updated)
		return d, err
	}
	w.must(w.change(2))
	w.wantEntries("after the answer", w.ours, interval, delivery)
	if c := w.contract(w.ours); len(c.InFlightEdits) > 0 || c.Billing.Count != 2 {
		t.Errorf("the contract is billed every %d weeks and waits for %+v", c.Billing.Count, c.InFlightEdits)
	}
	w.at.Set(w.at.Now().Add(contract.PendingChangeTimeout))
	w.tell()
	w.wantEntries("when the event is worked", w.ours, interval, delivery)
	w.elsewhere(w.ours, "ring twice")
	w.tell(w.ours)
	w.wantEntries("after somebody's change", w.ours, interval, delivery, updated)
}

func TestStatusChangeThatThePlatformReportsBeforeItAnswersIsOneEntry(t *testing.T) {
	t.Parallel()
	const paused, cancelled = "MERCHANT_EXTERNAL_API CONTRACT_PAUSED", "MERCHANT_EXTERNAL_API CONTRACT_CANCELLED"
	for name, test := range map[string]struct {
		change amend.StatusChange
		edited bool // at the platform, before the answer
		want   []string
	}{
		"a pause":                    {amend.StatusChange{To: contract.Paused, Reason: "away"}, false, []string{paused}},
		"a pause and an edit":        {amend.StatusChange{To: contract.Paused, Reason: "away"}, true, []string{paused, updated}},
		"a cancellation":             {amend.StatusChange{To: contract.Cancelled, Feedback: "moved"}, false, []string{cancelled}},
		"a cancellation and an edit": {amend.StatusChange{To: contract.Cancelled, Feedback: "moved"}, true, []string{cancelled, updated}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			check := func(when string) {
				t.Helper()
				w.wantEntries(when, w.ours, test.want...)
				if c := w.contract(w.ours); c.Status != test.change.To || c.Moving != nil {
					t.Errorf("%s the contract is %s, on the move %+v", when, c.Status, c.Moving)
				}
			}
			reported := false
			w.way.status = func(to string) (platform.Detail, error) {
				d, err := w.way.client.SetStatus(t.Context(), w.of.At(), int64(w.ours), to)
				if test.edited {
					w.elsewhere(w.ours, "ring twice")
				}
				w.tell(w.ours)
				reported = true
				check("before the answer")
				return d, err
			}
			_, err := w.amend.SetStatus(t.Context(), w.of.ID, w.command(), test.change)
			w.must(err)
			if !reported {
				t.Fatal("the platform was not called")
			}
			check("after the answer")
			w.tell(w.ours)
			w.at.Set(w.at.Now().Add(contract.PendingChangeTimeout))
			w.must(w.amend.RunDue(t.Context(), w.of.ID))
			w.tell()
			check("in the end")
		})
	}
}

func TestAnEventWaitsForAChangeOfWhichTheAnswerWasLost(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		_, err := carryOut()
		w.must(err)
		w.tell(w.ours)
		return platform.Detail{}, platform.ErrUnknown
	}
	w.must(w.change(2))
	w.at.Set(w.at.Now().Add(contract.PendingChangeTimeout))
	w.tell()
	w.wantEntries("in the end", w.ours, interval, delivery)
}

func TestTwoChangesAtATimeAreBothMadeAndToldOf(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"the other one is quicker": false, "the other one comes before the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			w.way.edit = func(carryOut func() (platform.Detail, error)) (d platform.Detail, err error) {
				if after {
					d, err = carryOut()
				}
				_, failed := w.amend.SetNote(t.Context(), w.of.ID, w.command(), "ring twice")
				w.must(failed)
				if !after {
					d, err = carryOut()
				}
				w.tell(w.ours)
				return d, err
			}
			w.must(w.change(2))
			w.at.Set(w.at.Now().Add(contract.PendingChangeTimeout))
			w.tell()
			w.wantEntries("in the end", w.ours, interval, delivery, noted)
			if c := w.contract(w.ours); len(c.InFlightEdits) > 0 || c.Billing.Count != 2 || c.Note != "ring twice" {
				t.Errorf("the contract is billed every %d weeks with the note %q and waits for %+v", c.Billing.Count, c.Note, c.InFlightEdits)
			}
		})
	}
}

func TestARefusedChangeLetsEventsBeWorkedAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.edit = func(func() (platform.Detail, error)) (platform.Detail, error) {
		return platform.Detail{}, &platform.Refusal{Code: "INVALID", Message: "not so"}
	}
	if err := w.change(2); err == nil {
		t.Fatal("the change was not refused")
	}
	if c := w.contract(w.ours); len(c.InFlightEdits) > 0 {
		t.Errorf("the contract waits for %+v", c.InFlightEdits)
	}
	w.elsewhere(w.ours, "ring twice")
	w.tell(w.ours)
	w.wantEntries("after somebody's change", w.ours, updated)
}

// died is a change whose process did not live to see the answer.
func (w *world) died() {
	w.t.Helper()
	was := w.contract(w.ours)
	w.must(w.db.Update(w.t.Context(), w.of.ID, func(tx *store.Tx) error {
		was.InFlightEdits = []contract.InFlightEdit{{From: was.Revision, Until: w.at.Now().Add(contract.PendingChangeTimeout)}}
		return tx.PutContracts(w.t.Context(), []contract.Contract{was})
	}))
	weekly := platform.Policy{Interval: "WEEK", Count: 2}
	_, err := w.way.client.EditContract(w.t.Context(), w.of.At(), int64(w.ours), platform.Edit{Billing: &weekly, Delivery: &weekly})
	w.must(err)
}

func TestAChangeWhoseProcessDiedIsTakenOverAfterAWhile(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.died()
	w.tell(w.ours)
	w.wantEntries("at first", w.ours)
	for range 5 { // each time the event waits for a little longer
		w.at.Set(w.at.Now().Add(contract.PendingChangeTimeout / 4))
		w.tell()
	}
	w.wantEntries("in the end", w.ours, theirs...)
}

func TestAReconciliationWaitsForNobody(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.died()
	w.must(w.intake.Reconcile(t.Context(), w.of.ID))
	w.wantEntries("after a reconciliation", w.ours, theirs...)
}

// Every reconciliation reads what has changed within a day, though most of it has not
// changed since the last one.
func TestAReconciliationWritesNoContractThatHasNotChanged(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.elsewhere(w.other, "ring twice")
	ours, other := w.contract(w.ours).Version, w.contract(w.other).Version
	w.must(w.intake.Reconcile(t.Context(), w.of.ID))
	if c := w.contract(w.ours); c.Version != ours {
		t.Error("a contract was written that has not changed")
	}
	if c := w.contract(w.other); c.Version == other || c.Note != "ring twice" {
		t.Errorf("the contract that has changed has the note %q", c.Note)
	}
}

func TestAReadingOfBeforeAChangeDoesNotWaitForIt(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.elsewhere(w.ours, "ring twice")
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		w.tell(w.ours)
		w.wantEntries("before the change", w.ours, updated)
		return carryOut()
	}
	w.must(w.change(2))
	w.wantEntries("after the change", w.ours, updated, interval, delivery)
}

func TestAnEventOfAPaymentMethodWaitsForAChangeOfItsContract(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		d, err := carryOut()
		w.events++
		w.must(w.db.Inbox().Add(t.Context(), w.of.ID, platform.Event{ID: fmt.Sprint(w.events), Topic: platform.PaymentUpdated, Shop: w.of.Domain, PaymentMethod: w.contract(w.ours).PaymentMethod}, w.at.Now()))
		w.tell()
		return d, err
	}
	w.must(w.change(2))
	w.wantEntries("after the answer", w.ours, interval, delivery)
	w.at.Set(w.at.Now().Add(contract.PendingChangeTimeout))
	w.tell()
	w.wantEntries("when the event is worked", w.ours, interval, delivery)
}
