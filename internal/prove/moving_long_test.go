//go:build soak

package prove

import (
	"testing"
	"time"
)

// The other service is away for hours again and again, so that orders fall due while their contracts are
// between the services.
func TestMovesWhileOtherServiceIsAway(t *testing.T) {
	t.Parallel()
	p := drawMoves(40, 1, tinyMoves)
	p.Rates = map[Kind]float64{PeerOutage: 0.1}
	if r := movedTo(t, p); r.late == 0 && r.latest < time.Hour {
		t.Error("no order fell due between the services")
	}
}

func TestMovesUnderFaults(t *testing.T) {
	t.Parallel()
	movedTo(t, drawMoves(22, 1, tinyMoves))
}
