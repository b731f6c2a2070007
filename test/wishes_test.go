package test

import (
	"fmt"
	"net/http"
	"testing"
)

func TestWhatPeopleWishOfAnOrderOutlivesAPause(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	queue := s.upcoming()
	for i, body := range []map[string]any{
		{"orderNote": "the first"}, {"orderNote": "ring twice", "retryingNeeded": true}, {"upgradeDowngradeBilling": true},
	} {
		body["id"] = queue[i].ID
		if got := s.put("/subscription-billing-attempts", body, nil); got != http.StatusOK {
			t.Fatalf("editing answered %d", got)
		}
	}
	status := func(to string) {
		t.Helper()
		if got := s.put(fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=%s", s.id, to), nil, nil); got != http.StatusNoContent {
			t.Fatalf("becoming %s answered %d", to, got)
		}
		s.pass("PT1M")
	}
	status("PAUSED")
	if n := len(s.upcoming()); n != 0 {
		t.Errorf("a paused contract has %d upcoming orders", n)
	}
	s.pass("P15D") // the first order's date goes by
	status("ACTIVE")
	status("PAUSED")
	status("ACTIVE")
	var list []struct {
		OrderNote                               *string
		RetryingNeeded, UpgradeDowngradeBilling bool
	}
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &list)
	if len(list) != 6 || list[0].OrderNote == nil || *list[0].OrderNote != "ring twice" || !list[0].RetryingNeeded ||
		list[1].OrderNote != nil || !list[1].UpgradeDowngradeBilling || list[2].UpgradeDowngradeBilling {
		t.Errorf("queue %+v, want the note and the marks of cycles 2 and 3", list)
	}
	s.pass("P30D")
	if _, orders := s.ledger(); len(orders) != 1 || orders[0].Cycle != 2 || orders[0].Note != "ring twice" {
		t.Errorf("orders %+v, want that of cycle 2 with its note", orders)
	}
}
