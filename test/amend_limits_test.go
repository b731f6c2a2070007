package test

import (
	"fmt"
	"net/http"
	"testing"
)

// interval gives the contract another rhythm of billing.
func (s *subscription) interval(unit string, count int) {
	s.t.Helper()
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-billing-interval?contractId=%d&interval=%s&intervalCount=%d", s.id, unit, count), nil)
}

// reschedule moves the order that waits at a place of the queue.
func (s *subscription) reschedule(n int, day string, future bool) {
	s.t.Helper()
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s&rescheduleFutureOrder=%t", s.upcoming()[n].ID, day, future), nil)
}

// standStill pauses the contract and lets it run again at once.
func (s *subscription) standStill() {
	s.t.Helper()
	s.status(http.StatusNoContent, "PAUSED")
	s.status(http.StatusNoContent, "ACTIVE")
}

// Dates, skips and notes of upcoming orders survive a rebuild of the queue.
func TestOrderEditsSurviveQueueRebuild(t *testing.T) {
	t.Parallel()
	note := func(s *subscription, n int) {
		s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts-update-order-note/%d?orderNote=birthday", s.upcoming()[n].ID), nil)
	}
	prepaid := map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 3}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}}
	for _, row := range []struct {
		name   string
		change map[string]any
		do     func(s *subscription)
		n      int
		day    string
		note   string
	}{
		{"a date that was chosen, over a pause", nil, func(s *subscription) {
			s.reschedule(0, "2026-12-01", false)
			s.standStill()
		}, 0, "12-01", ""},
		{"a date that was chosen, over a cancellation that is taken back", prepaid, func(s *subscription) {
			s.reschedule(0, "2026-12-01", false)
			s.cancel(http.StatusNoContent, "")
			s.status(http.StatusNoContent, "ACTIVE")
		}, 0, "12-01", ""},
		{"a note, when the interval jumps over its cycle", map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}}, func(s *subscription) {
			note(s, 0)
			s.interval("MONTH", 1)
		}, 0, "11-11", "birthday"},
		{"a note, over a cancellation that is taken back, though a later order is skipped", prepaid, func(s *subscription) {
			s.skipNumber(2)
			note(s, 1)
			s.cancel(http.StatusNoContent, "")
			s.status(http.StatusNoContent, "ACTIVE")
		}, 1, "02-11", "birthday"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, row.change)
			row.do(s)
			got := s.upcoming()[row.n]
			written := ""
			if got.OrderNote != nil {
				written = *got.OrderNote
			}
			if day := got.BillingDate.Format("01-02"); day != row.day || written != row.note {
				t.Errorf("the order is on %s with the note %q, want %s with %q", day, written, row.day, row.note)
			}
		})
	}
}

func TestPlanChangeKeepsContractLimits(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "minCycles": 2, "maxCycles": 4}})
	plan := s.planned(s.urls.Subscriptions, map[string]any{
		"frequencyName": "Fortnightly", "frequencyCount": 2, "frequencyInterval": "WEEK", "billingFrequencyCount": 2, "billingFrequencyInterval": "WEEK", "planType": "PAY_AS_YOU_GO",
	})
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-contracts-update-frequency-by-selling-plan?contractId=%d&sellingPlanId=%s", s.id, plan), nil)
	var rows []struct {
		MinCycles, MaxCycles  *int
		BillingPolicyInterval string
	}
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
	if c := rows[0]; c.MinCycles == nil || *c.MinCycles != 2 || c.MaxCycles == nil || *c.MaxCycles != 4 || c.BillingPolicyInterval != "week" {
		t.Errorf("on another plan the contract has %+v, want from 2 to 4 orders", c)
	}
}

// A contract whose last order was given up, because the contract was paused for it, has
// had its orders: after a restart it ends when that order is still not charged after
// two weeks.
func TestContractWithoutOrdersLeftExpires(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "maxCycles": 2}})
	s.settings(map[string]any{"mode": "SIMPLE", "retries": 1, "everyDays": 3, "finalAction": "PAUSE"})
	s.pass("P15D") // the first order is paid
	s.declines("INSUFFICIENT_FUNDS", 2)
	s.pass("P35D") // the last one is declined twice
	s.status(http.StatusNoContent, "ACTIVE")
	for _, want := range []string{"ACTIVE", "EXPIRED"} {
		s.pass("P13DT12H")
		if got := s.contract(s.id).Status; got != want {
			t.Errorf("the contract is %s, with %d orders to come, want %s", got, len(s.upcoming()), want)
		}
	}
}
