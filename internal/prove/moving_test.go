package prove

import "testing"

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
	r := movedTo(t, p)
	for n, lie := range []string{
		"UPDATE attempts SET status = 'DECLINED' WHERE id = (SELECT max(id) FROM attempts WHERE status = 'SUCCESS')",
		"UPDATE attempts SET status = 'SUCCESS', order_id = 77 WHERE status = 'DECLINED'",
	} {
		before := len(r.violations)
		if _, err := r.sides[0].books.ExecContext(t.Context(), lie); err != nil {
			t.Fatal(err)
		}
		if r.booksAgree(clients[0], r.sides[0]); len(r.violations) != before+n+1 { // that of the first lie again
			t.Errorf("violations after %q: %v", lie, r.violations[before:])
		}
	}
}
