//go:build soak

package test

import (
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
)

func TestOutageOfDaysEndsWithoutABurst(t *testing.T) {
	t.Parallel()
	const contracts, window = 2000, 6 * time.Hour
	h := house(t, sandbox.Options{Contracts: contracts})
	h.pass("P1D")
	before := len(h.orders())
	h.outage(9 * 24 * time.Hour)
	back := h.now()
	if late := len(h.orders()) - before; late > 50 {
		t.Errorf("%d orders at the instant at which the service is back", late)
	}
	h.pass("PT6H")
	orders := h.orders()
	h.once(orders)
	caught := orders[before:]
	slices.SortFunc(caught, func(a, b order) int { return a.At.Compare(b.At) })
	if len(caught) < contracts/5 {
		t.Fatalf("%d orders were caught up, of %d contracts", len(caught), contracts)
	}
	const parts = 12
	var perPart [parts]int
	contract := make(map[int64]int)
	for _, o := range caught {
		part := int(o.At.Sub(back) * parts / window)
		perPart[min(part, parts-1)]++
		contract[o.Contract]++
	}
	for i, n := range perPart {
		if n > 3*len(caught)/parts || n < len(caught)/parts/3 {
			t.Errorf("%d of %d orders in part %d of the window: %v", n, len(caught), i, perPart)
		}
	}
	for id, n := range contract {
		if n > 1 {
			t.Errorf("contract %d had %d orders within the window", id, n)
		}
	}
	h.pass("P2D")
	h.once(h.orders())
}
