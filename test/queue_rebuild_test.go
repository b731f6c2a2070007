package test

import (
	"fmt"
	"net/http"
	"testing"
)

func TestOrderEditsSurvivePause(t *testing.T) {
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

// An order that was made before its own day is not made again on it when the contract
// stood still in between. The orders are due on November 11, December 11 and so on.
func TestEarlyOrderIsNotRepeatedAfterPause(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]func(s *subscription){
		"it was brought forward": func(s *subscription) { s.reschedule(0, "2026-11-20", false) },
		"it was ordered at once": func(s *subscription) {
			s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", s.upcoming()[0].ID), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			s.until("2026-11-19")
			early(s)
			s.until("2026-12-09")
			s.standStill()
			s.until("2027-01-20")
			if got := s.orderDays(); len(got) != 3 || got[0] != "11-11" || got[2] != "01-11" {
				t.Errorf("orders on %v, want three, the last on 01-11", got)
			}
		})
	}
}

// An order that was triggered, and not charged before its contract was paused, comes on
// its day, as if it had not been triggered. The orders are due
// on November 11, December 11 and so on.
func TestTriggeredOrderReturnsToItsDateAfterPause(t *testing.T) {
	t.Parallel()
	for until, want := range map[string]string{"2026-11-11T02:00:00Z": "[11-11 12-11]", "2026-11-13T20:00:00Z": "[12-11]"} {
		t.Run(until, func(t *testing.T) {
			t.Parallel()
			s := subscribeChecked(t, nil)
			s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true}, nil)
			s.until("2026-11-10")
			s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"timeout_before"}, "seed": 1}, nil)
			s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", s.upcoming()[0].ID), nil)
			s.pass("PT1M") // the charge is tried, in vain
			s.call("DELETE", "/platform/faults", nil, nil)
			s.status(http.StatusNoContent, "PAUSED")
			s.call("POST", "/clock", map[string]any{"to": until}, nil)
			if got := s.upcoming(); len(got) != 0 {
				t.Errorf("%+v wait while the contract stands still", got)
			}
			s.status(http.StatusNoContent, "ACTIVE")
			s.until("2026-12-20")
			s.wantOrderDays(want)
		})
	}
}
