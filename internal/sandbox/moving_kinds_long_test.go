//go:build soak

package sandbox

import (
	"testing"

	"github.com/perennialhq/perennial/internal/pgtest"
)

// A store with a contract of each kind moves to another service with all it has, and back. Each customer is charged
// the same amounts on the same days as without the moves.
func TestEachKindMovesThereAndBack(t *testing.T) {
	t.Parallel()
	eachKindMoves(t, file)
}

func TestEachKindMovesThereAndBackOnPostgreSQL(t *testing.T) {
	t.Parallel()
	eachKindMoves(t, pgtest.Empty)
}

func eachKindMoves(t *testing.T, database func(testing.TB) string) {
	stays := startInline(t, Options{MainOnly: true, Contracts: 16, Kinds: true})
	b := startInline(t, Options{Second: true, MainOnly: true, Contracts: 16, Kinds: true, Database: database(t), SecondDatabase: database(t)})
	b.unlimit()
	for _, one := range []*bench{stays, b} {
		one.advance("P35D")
	}
	id := b.startMove(b.Manifest().Loyalty)
	b.advance("PT30M")
	b.makeParts(id)
	b.wave(id, 100)
	b.advance("P35D")
	b.arrivedBut(id, 2) // two have a price of a swap rule that the interface does not say
	b.endMove(id)
	back := b.moveOut()
	b.advance("PT30M")
	b.makeParts(back)
	b.wave(back, 100)
	b.advance("P65D")
	b.arrivedBut(back, 1) // free delivery cannot be given through the interface
	stays.advance("P100DT2H")
	b.sameCharges(stays)
}
