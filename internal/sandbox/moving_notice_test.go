package sandbox

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// The other service has announced the higher price of a swap rule for an order that comes after the move. The order has
// that price, and those before it the old one.
func TestAnnouncedPriceMoves(t *testing.T) {
	t.Parallel()
	stays := startInline(t, Options{MainOnly: true, Contracts: 60})
	b := startInline(t, Options{Second: true, MainOnly: true, Contracts: 60, SecondDatabase: file(t)})
	b.unlimit()
	var dearer int64
	for _, one := range []*bench{stays, b} {
		one.withoutSwaps()
		variants, err := one.variantsBySKU(demo.CoffeeGround, demo.CoffeeGuji)
		if err != nil {
			t.Fatal(err)
		}
		dearer = variants[1].ID
		if err := one.lastingSwap(t.Context(), one.store(), "Ground coffee is sold", variants[0], variants[1]); err != nil {
			t.Fatal(err)
		}
		one.advance("P8D")
	}
	id := b.startMove("")
	b.advance("PT30M")
	b.makeParts(id)
	b.wave(id, 100)
	b.advance("P50D")
	b.arrivedBut(id, 1) // its product was replaced, and the higher price not yet charged
	stays.advance("P50DT1H")
	b.sameCharges(stays)
	replaced := 0
	for _, o := range b.orders("") {
		for _, l := range o.Lines {
			if l.Variant == dearer {
				replaced++
			}
		}
	}
	if replaced == 0 {
		t.Error("no order has the product of the rule")
	}
}

// arrivedBut checks that all contracts that go were moved, but a number of those whose price the other service
// could not charge, and those with an unpaid order.
func (b *bench) arrivedBut(id moving.ID, differ int) {
	b.t.Helper()
	a, of := b.mover()
	items, err := a.Moves.Items(b.t.Context(), of, id, moving.Match{}, 0, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	found := 0
	for _, i := range items {
		switch {
		case i.Code == "madeDiffers":
			found++
		case i.Stage != moving.Moved && i.Stage != moving.Staying && i.Stage != moving.Chosen:
			b.t.Errorf("contract %d is %s: %s %s", i.There, i.Stage, i.Code, i.Reason)
		}
	}
	if found != differ {
		b.describeMove(id)
		b.t.Errorf("%d contracts stay because of their price, want %d", found, differ)
	}
}
