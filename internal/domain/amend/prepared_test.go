package amend_test

import (
	"errors"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

const replaced = "SYSTEM_EVENT PRODUCT_REPLACE"
const triggered = "SYSTEM_EVENT SWAP_AUTOMATION_TRIGGERED"

// dueWithARule lets the orders of both contracts fall due, of which a rule changes
// the contracts first.
func dueWithARule(t *testing.T) *world {
	t.Helper()
	w := begin(t)
	w.must(w.db.Update(t.Context(), w.of.ID, func(tx *store.Tx) error {
		of, err := tx.Shop(t.Context())
		if err != nil {
			return err
		}
		of.Settings.SwapRules = true
		rule := swap.Rule{
			Line: shop.Subscriptions, Name: "black for green", FirstOrder: true,
			Sources: []swap.Product{{VariantID: w.sold[0], Quantity: 1}}, Destinations: []swap.Product{{VariantID: w.sold[1], Quantity: 1}},
		}
		return errors.Join(tx.PutShop(t.Context(), of), tx.PutSwapRule(t.Context(), &rule))
	}))
	w.at.Set(w.contract(w.ours).NextBillingDate)
	return w
}

// wantSwapped compares our contract with what the rule makes of it.
func (w *world) wantSwapped() {
	w.t.Helper()
	if c := w.contract(w.ours); len(c.InFlightEdits) > 0 || len(c.Lines) != 1 || c.Lines[0].VariantID != w.sold[1] {
		w.t.Errorf("the contract has %+v and waits for %+v", c.Lines, c.InFlightEdits)
	}
}

func TestAnEventIsNotTakenForSomebodysChangeWhileAnOrderIsPrepared(t *testing.T) {
	t.Parallel()
	w := dueWithARule(t)
	w.bills.OneCaller = true
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		d, err := carryOut()
		w.tell(w.ours, w.other)
		w.wantEntries("before the answer", w.ours)
		return d, err
	}
	w.must(w.bills.Work(t.Context(), w.of.ID))
	w.wantSwapped()
	w.at.Set(w.at.Now().Add(contract.PendingChangeTimeout))
	w.tell(w.ours, w.other)
	w.wantEntries("when the event is worked", w.ours, replaced, triggered)
	w.wantEntries("when the event is worked", w.other, replaced, triggered)
}

func TestAnEventWaitsForAPreparationOfWhichTheAnswerWasLost(t *testing.T) {
	t.Parallel()
	w := dueWithARule(t)
	w.bills.OneCaller = true
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		_, err := carryOut()
		w.must(err)
		return platform.Detail{}, platform.ErrUnknown
	}
	w.must(w.bills.Work(t.Context(), w.of.ID))
	w.tell(w.ours, w.other)
	w.wantEntries("before the change is found", w.ours)
	w.at.Set(w.at.Now().Add(w.bills.Policy.Retries[0]))
	w.must(w.bills.Work(t.Context(), w.of.ID))
	w.at.Set(w.at.Now().Add(w.bills.Policy.Lease))
	w.tell(w.ours)
	w.wantEntries("in the end", w.ours, replaced, triggered)
	if c := w.contract(w.ours); c.Lines[0].VariantID != w.sold[1] {
		t.Errorf("the contract has %+v", c.Lines)
	}
}

func TestSomebodysChangeIsToldOfAlthoughAnOrderIsPreparedMeanwhile(t *testing.T) {
	t.Parallel()
	w := dueWithARule(t)
	w.elsewhere(w.ours, "ring twice")
	w.must(w.bills.Work(t.Context(), w.of.ID))
	w.tell(w.ours)
	w.wantEntries("in the end", w.ours, replaced, triggered, updated)
	w.wantSwapped()
}
