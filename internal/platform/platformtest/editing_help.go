package platformtest

import (
	"strconv"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// detail reads a contract.
func detail(t *testing.T, w World, contract int64) platform.Detail {
	t.Helper()
	d, err := w.Platform().Detail(t.Context(), w.Shop(), contract)
	if err != nil {
		t.Fatalf("read contract %d: %v", contract, err)
	}
	if len(d.Lines) == 0 || len(d.LineDetails) != len(d.Lines) {
		t.Fatalf("contract %d has %d lines with %d details", contract, len(d.Lines), len(d.LineDetails))
	}
	return d
}

// edit edits a contract.
func edit(t *testing.T, w World, contract int64, e platform.Edit) platform.Detail {
	t.Helper()
	d, err := w.Platform().EditContract(t.Context(), w.Shop(), contract, e)
	if err != nil {
		t.Fatalf("edit contract %d: %v", contract, err)
	}
	return d
}

// editCycle edits a cycle.
func editCycle(t *testing.T, w World, of platform.CycleRef, e platform.Edit) platform.CycleOrder {
	t.Helper()
	o, err := w.Platform().EditCycle(t.Context(), w.Shop(), of, e)
	if err != nil {
		t.Fatalf("edit cycle %+v: %v", of, err)
	}
	return o
}

// cycleOrder reads what a cycle will order.
func cycleOrder(t *testing.T, w World, of platform.CycleRef) platform.CycleOrder {
	t.Helper()
	o, err := w.Platform().CycleOrder(t.Context(), w.Shop(), of)
	if err != nil {
		t.Fatalf("read the order of cycle %+v: %v", of, err)
	}
	return o
}

func setStatus(t *testing.T, w World, contract int64, status string) platform.Detail {
	t.Helper()
	d, err := w.Platform().SetStatus(t.Context(), w.Shop(), contract, status)
	if err != nil {
		t.Fatalf("make contract %d %s: %v", contract, status, err)
	}
	return d
}

// newContract is a contract to be made, without a payment method.
func newContract(w World, customer int64) platform.NewContract {
	month := platform.Policy{Interval: "MONTH", Count: 1}
	return platform.NewContract{
		Customer: customer, Currency: "USD", NextBillingDate: w.Now().Add(24 * time.Hour), Status: "PAUSED",
		Edit: platform.Edit{
			Billing: &month, Delivery: &month, Note: new("made by hand"),
			Method: &platform.DeliveryMethod{Kind: platform.MethodShipping, Address: platform.Address{Address1: "3 Hill", City: "Rye", CountryCode: "US"}},
			Lines: []platform.LineEdit{
				{Variant: new(w.Variants()[0]), Quantity: new(2), Price: usd(1000)},
				{Variant: new(w.Variants()[1]), Quantity: new(1), Price: usd(400)},
			},
		},
	}
}

// wantNextOrder charges for a cycle that is due and fails the test unless the
// order has that amount, in cents, and note.
func wantNextOrder(t *testing.T, w World, of platform.CycleRef, cents int64, note string) {
	t.Helper()
	a := charge(t, w, platform.Charge{CycleRef: of, Key: "order " + strconv.Itoa(of.Index)})
	w.Pass(settling)
	if a = attempt(t, w, a.ID); a.State != platform.Succeeded {
		t.Fatalf("attempt %+v", a)
	}
	o := w.LastOrder(of.Contract)
	if a.Amount != *usd(cents) || o.Amount != a.Amount || o.ID != a.Order.ID || o.Note != note {
		t.Errorf("order %+v of attempt %+v, want %d cents and the note %q", o, a, cents, note)
	}
}

// untilCycle lets time pass until a cycle is due.
func untilCycle(t *testing.T, w World, of platform.CycleRef) {
	t.Helper()
	w.Pass(cycle(t, w, of).Expected.Sub(w.Now()))
}
