package amend_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

var errDied = errors.New("the process dies here")

// forgetful are creations of a process that dies when it notes one the nth time.
type forgetful struct {
	create.Creations
	dies int
}

func (f *forgetful) BeginCreation(ctx context.Context, of shop.ID, c create.Creation, was time.Time) error {
	if f.dies--; f.dies == 0 {
		return errDied
	}
	return f.Creations.BeginCreation(ctx, of, c, was)
}

func (f *forgetful) PutCreation(ctx context.Context, of shop.ID, c create.Creation) error {
	if f.dies--; f.dies == 0 {
		return errDied
	}
	return f.Creations.PutCreation(ctx, of, c)
}

// contracts returns the contracts that the platform has.
func (w *world) contracts() map[int64]platform.Detail {
	w.t.Helper()
	found := map[int64]platform.Detail{}
	for cursor := ""; ; {
		ids, next, err := w.way.client.ContractsUpdatedSince(w.t.Context(), w.of.At(), time.Time{}, cursor)
		w.must(err)
		for _, id := range ids {
			found[id], err = w.way.client.Detail(w.t.Context(), w.of.At(), id)
			w.must(err)
		}
		if cursor = next; cursor == "" {
			return found
		}
	}
}

// make asks for a contract by a request that has a name.
func (w *world) make() (contract.Detail, error) {
	w.t.Helper()
	known := w.contracts()[int64(w.ours)]
	return w.creations.Create(w.t.Context(), w.of.ID, shop.Subscriptions, w.command().Actor, create.Params{
		Customer: known.Customer.ID, NextBillingDate: w.at.Now().AddDate(0, 0, 10), Status: contract.Active, RequestKey: "erp 1",
		Billing: terms.Frequency{Interval: cadence.Month, Count: 1}, Delivery: terms.Frequency{Interval: cadence.Month, Count: 1},
		Method:     known.Method,
		Attributes: []contract.Attribute{{Key: "ref", Value: "77"}}, NoPaymentMethod: true,
		Lines: []terms.NewLine{{Variant: w.sold[1], Quantity: 1, Price: &money.Amount{Minor: 700, Currency: "USD"}}},
	})
}

// A contract is made once by a request that comes again, wherever the process died
// that executed it first, and although no webhook reports the contract.
func TestRepeatedRequestCreatesOneContractWhereverProcessDies(t *testing.T) {
	t.Parallel()
	for name, dies := range map[string]func(w *world, f *forgetful){
		"before the platform is asked":         func(_ *world, f *forgetful) { f.dies = 1 },
		"before the platform has answered":     func(w *world, _ *forgetful) { w.way.create = answering(errDied) },
		"before it notes which contract it is": func(_ *world, f *forgetful) { f.dies = 2 },
		"before the mark is taken off": func(w *world, _ *forgetful) {
			w.way.edit = func(func() (platform.Detail, error)) (platform.Detail, error) { return platform.Detail{}, errDied }
		},
		"before it notes which contract it is, its clock being ahead of the platform's": func(w *world, f *forgetful) {
			f.dies = 2
			w.at.Set(w.at.Now().Add(6 * time.Hour))
			w.way.create = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
				w.at.Set(w.at.Now().Add(-6 * time.Hour))
				return carryOut()
			}
		},
		"before it answers": func(*world, *forgetful) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			before := len(w.contracts())
			f := &forgetful{Creations: w.db}
			w.creations.Creations = f
			dies(w, f)
			_, _ = w.make() // the answer is lost
			for _, later := range []time.Duration{time.Minute, time.Hour} {
				w.at.Set(w.at.Now().Add(later))
				made, err := w.make()
				w.must(err)
				if len(made.Attributes) != 1 || made.Attributes[0].Key != "ref" {
					t.Errorf("%s later: the contract has the attributes %v", later, made.Attributes)
				}
			}
			if made := len(w.contracts()) - before; made != 1 {
				t.Errorf("%d contracts were made", made)
			}
			w.at.Set(w.at.Now().AddDate(0, 0, 2))
			_, err := w.make()
			w.must(err)
			if made := len(w.contracts()) - before; made != 2 {
				t.Errorf("two days later the name is free again; %d contracts were made", made)
			}
		})
	}
}

// answering has the platform carry a creation out and loses the answer.
func answering(as error) func(func() (platform.Detail, error)) (platform.Detail, error) {
	return func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		if _, err := carryOut(); err != nil {
			return platform.Detail{}, err
		}
		return platform.Detail{}, as
	}
}

// What the platform creates long after it was asked, beside the contract that the request has by then, is cancelled.
func TestContractThatIsCreatedLateIsCancelled(t *testing.T) {
	t.Parallel()
	for name, like := range map[string]struct {
		giveUp bool
		known  time.Duration // after the platform has created it
	}{
		"the request was repeated":                                        {},
		"the request was given up":                                        {giveUp: true},
		"the request was repeated, and the contract is known a day later": {known: 28 * time.Hour},
		"the request was given up, and the contract is known a day later": {giveUp: true, known: 28 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			known := w.contracts()
			var land func() (platform.Detail, error)
			w.way.create = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
				land, w.way.create = carryOut, nil
				return platform.Detail{}, platform.ErrUnknown
			}
			if _, err := w.make(); !fault.Is(err, fault.Unavailable) {
				t.Fatalf("the request ended with %v", err)
			}
			w.at.Set(w.at.Now().Add(5 * time.Minute))
			var made contract.Detail
			var err error
			if like.giveUp {
				_, err = w.creations.GiveUp(t.Context(), w.of.ID, "erp 1")
			} else {
				made, err = w.make()
			}
			w.must(err)
			late, err := land()
			w.must(err)
			w.at.Set(w.at.Now().Add(like.known))
			w.must(w.intake.Reconcile(t.Context(), w.of.ID))
			w.at.Set(w.at.Now().Add(11 * time.Minute))
			w.must(w.lifecycle.RunDue(t.Context(), w.of.ID))
			for id, is := range w.contracts() {
				_, before := known[id]
				if want := before || id == int64(made.ID); (is.Status == "ACTIVE") != want {
					t.Errorf("contract %d is %s; %d was created late, and %d is the request's", id, is.Status, late.ID, made.ID)
				}
			}
		})
	}
}

// The attribute of a request goes without undoing what was changed since the contract was read.
func TestRequestAttributeGoesWithoutUndoingOtherChanges(t *testing.T) {
	t.Parallel()
	w := begin(t)
	known := w.contracts()
	changed := []platform.Attribute{{Key: "ref", Value: "88"}}
	w.way.edit = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		w.way.edit = nil
		for id, is := range w.contracts() {
			if _, before := known[id]; !before {
				_, err := w.way.client.EditContract(t.Context(), w.of.At(), id, platform.Edit{Attributes: &changed, Revision: is.Revision})
				w.must(err)
			}
		}
		return carryOut()
	}
	made, err := w.make()
	w.must(err)
	if is := w.contracts()[int64(made.ID)].Attributes; !slices.Equal(is, changed) {
		t.Errorf("the contract has the attributes %v, and they were changed to %v", is, changed)
	}
}

// A requested contract that is not there yet may still appear: it is not requested again at once.
func TestRepeatedRequestWaitsForUnconfirmedContract(t *testing.T) {
	t.Parallel()
	w := begin(t)
	before := len(w.contracts())
	var land func() (platform.Detail, error)
	w.way.create = func(carryOut func() (platform.Detail, error)) (platform.Detail, error) {
		land = carryOut
		return platform.Detail{}, platform.ErrUnknown
	}
	for range 2 {
		if _, err := w.make(); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("the request ended with %v", err)
		}
		w.at.Set(w.at.Now().Add(time.Minute - time.Second))
	}
	_, err := land()
	w.must(err)
	w.at.Set(w.at.Now().Add(time.Hour))
	_, err = w.make()
	w.must(err)
	if made := len(w.contracts()) - before; made != 1 {
		t.Errorf("%d contracts were made", made)
	}
}

// A contract that the platform refuses is not looked for when the request comes again.
func TestRepeatedRequestAfterRefusalCreatesContract(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.way.create = func(func() (platform.Detail, error)) (platform.Detail, error) {
		return platform.Detail{}, &platform.Refusal{}
	}
	if _, err := w.make(); !fault.Is(err, fault.FailedPrecondition) && !fault.Is(err, fault.Invalid) {
		t.Fatalf("the request ended with %v", err)
	}
	_, err := w.make()
	w.must(err)
}
