package test

import (
	"fmt"
	"net/http"
	"testing"
)

// The number of the next cycle follows orders, skips, declines and the end.
func TestTheCycleThatComesNextIsNumbered(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	wantCycle := func(when string, want int) {
		t.Helper()
		var cycle int
		if s.get(fmt.Sprintf("/subscription-contract-details/current-cycle/%d", s.id), &cycle); cycle != want {
			t.Errorf("%s cycle %d comes next, want %d", when, cycle, want)
		}
	}
	wantCycle("at first", 1)
	s.until("2026-11-12")
	wantCycle("after an order", 2)
	s.skipNumber(0)
	wantCycle("after a skip", 3)
	s.until("2027-01-10")
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.until("2027-01-11")
	wantCycle("while an order is unpaid", 3)
	s.cancel(http.StatusNoContent, "")
	wantCycle("after the end", 4)
	s.refused(http.StatusNotFound, "GET", "/subscription-contract-details/current-cycle/1", nil)
}
