package prove

import (
	"testing"
	"time"
)

// tinyMoves is a world of moves that takes seconds.
var tinyMoves = size{shops: 1, contracts: 16, lasts: 100 * day, calm: 10 * day, slack: smallMoves.slack}

func movedTo(t *testing.T, p plan) *pair {
	t.Helper()
	r, err := newPair(p, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	err = r.live(t.Context())
	t.Logf("%d renewals, %d steps, %d moves of %d contracts, %d requests, %d late, at most by %s, faults %v, checks %v", r.due, r.steps, r.moves, r.moved, r.requests, r.late, r.latest, r.counts, r.checks)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestQuietMoves(t *testing.T) {
	t.Parallel()
	p := drawMoves(21, 1, tinyMoves)
	p.Rates = nil
	movedTo(t, p)
}

// The other service is away for hours again and again, so that orders fall due while their contracts are
// between the services.
func TestMovesWhileOtherServiceIsAway(t *testing.T) {
	t.Parallel()
	p := drawMoves(31, 1, tinyMoves)
	p.Rates = map[Kind]float64{PeerOutage: 0.1}
	if r := movedTo(t, p); r.late == 0 && r.latest < time.Hour {
		t.Error("no order fell due between the services")
	}
}

func TestMovesUnderFaults(t *testing.T) {
	t.Parallel()
	movedTo(t, drawMoves(22, 1, tinyMoves))
}
