package prove

import (
	"testing"
	"time"
)

// tinyMoves is a world of moves that takes seconds.
var tinyMoves = size{shops: 1, contracts: 16, lasts: 100 * day, calm: 10 * day, slack: smallMoves.slack}

// movedTo runs a world of moves to its end.
func movedTo(t *testing.T, p plan, change ...func(*pair)) *pair {
	t.Helper()
	r, err := newPair(p, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	for _, c := range change {
		c(r)
	}
	err = r.live(t.Context())
	t.Logf("%d renewals, %d steps, %d moves of %d contracts, %d requests, %d late, at most by %s, faults %v, checks %v", r.due, r.steps, r.moves, r.moved, r.requests, r.late, r.latest, r.counts, r.checks)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stay keeps the contracts of all stores where they are.
func stay(r *pair) {
	for _, l := range r.legs {
		l.next = r.plan.Start.Add(2 * r.plan.Lasts)
	}
}

// sameBooks compares the orders of two worlds, subscription by subscription.
func sameBooks(t *testing.T, moved, stayed *pair) {
	t.Helper()
	if stayed.moves != 0 || stayed.due == 0 {
		t.Fatalf("%d moves and %d orders in the world without moves", stayed.moves, stayed.due)
	}
	for email, s := range stayed.subscribers {
		got := moved.subscribers[email].orders
		if len(got) != len(s.orders) {
			t.Errorf("%s has %d orders, and %d without moves", email, len(got), len(s.orders))
			continue
		}
		for n, o := range s.orders {
			if got[n].Amount != o.Amount || got[n].At.Sub(o.At).Abs() > 10*time.Minute {
				t.Errorf("order %d of %s is over %s at %s, and without moves over %s at %s", n+1, email, got[n].Amount, got[n].At, o.Amount, o.At)
			}
		}
	}
}

// In quiet everything goes, each time, and the books are those of the same world without a move, to the cent.
func TestQuietMoves(t *testing.T) {
	t.Parallel()
	p := drawMoves(21, 1, tinyMoves)
	p.Rates = nil
	r := movedTo(t, p)
	if all := r.moves * len(p.Deals); r.moves < 2 || r.moved != all {
		t.Errorf("%d moves took %d contracts along, want there and back, and %d", r.moves, r.moved, all)
	}
	sameBooks(t, r, movedTo(t, p, stay))
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
