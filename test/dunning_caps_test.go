package test

import (
	"fmt"
	"net/http"
	"testing"
)

func TestOpenCaseSkipsOrdersThatFallDue(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	s.begin()
	s.declines("CARD_DECLINED", 5)
	s.pass("P32D")
	s.wantStory(
		"Nov 11 "+decline, "Nov 11 "+mailed, "Nov 12 "+decline, "Nov 14 "+decline, "Nov 16 "+decline, "Nov 16 "+mailed, "Nov 18 "+left, "Nov 19 "+decline,
		"Nov 23 "+paid, "Nov 25 "+paid, "Dec 2 "+paid,
	)
	s.wantOrders(1, 3, 4)
	if past := s.past(); past[2].Status != "SKIPPED_DUNNING_MGMT" || past[3].Status != "SUCCESS" {
		t.Errorf("past %+v", past)
	}
}

func TestPaidLaterOrderEndsOpenCase(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	s.begin()
	s.declines("CARD_DECLINED", 4)
	s.pass("P17D")
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "SUCCESS"}, nil)
	next := s.upcoming()[0]
	if got := s.trigger(next.ID); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	s.pass("P3D")
	s.wantStory(
		"Nov 11 "+decline, "Nov 11 "+mailed, "Nov 12 "+decline, "Nov 14 "+decline, "Nov 16 "+decline, "Nov 16 "+mailed,
		"Nov 18 "+byHand, "Nov 18 "+paid, "Nov 18 DUNNING_SKIPPED SUCCESS",
	)
	s.wantOrders(2)
	s.pass("P7D")
	s.wantOrders(2, 3)
}

func TestRequestedRetryReplacesThatDaysRetry(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("CARD_DECLINED", 2)
	s.pass("P11DT1H") // the plan's first retry is on the 12th, at 9 h
	failed := s.past()[0].ID
	if got := s.trigger(failed); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	s.pass("P2DT2H")
	s.wantTries("Nov 11 09h 1", "Nov 12 08h 1", "Nov 14 09h 1") // no second one on the 12th
	s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 12 "+byHand, "Nov 12 "+decline, "Nov 14 "+paid)
	s.wantOrders(1)
}

func TestPaymentMethodIsTriedAtMostFifteenTimesInThirtyDays(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("INSUFFICIENT_FUNDS", 30)
	s.pass("P11DT3H")
	failed := s.past()[0].ID
	for range 3 { // five in an hour are allowed
		for range 5 {
			if got := s.trigger(failed); got != http.StatusOK && len(s.contract(s.id).Attempts) < 15 {
				t.Fatalf("try %d answered %d", len(s.contract(s.id).Attempts)+1, got)
			}
			s.pass("PT1M")
		}
		s.pass("PT1H")
	}
	if n := len(s.contract(s.id).Attempts); n != 15 {
		t.Errorf("the card was tried %d times, want 15", n)
	}
	if got := s.trigger(failed); got != http.StatusBadRequest {
		t.Errorf("the sixteenth try answered %d", got)
	}
	s.begin()
	s.pass("P27D")
	s.wantStory(
		"Nov 13 "+left, "Nov 15 "+left, "Nov 18 "+mailed, "Nov 20 "+left, "Nov 21 "+left, "Nov 25 "+mailed, "Nov 27 "+left, "Nov 29 "+warned, "Dec 1 "+left,
		"Dec 1 DUNNING_PAUSED SUCCESS", "Dec 1 CONTRACT_PAUSED SUCCESS", "Dec 1 "+mailedEnd,
	)
	s.status(http.StatusNoContent, "ACTIVE")
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=2026-12-10T15:00:00Z&rescheduleFutureOrder=false", failed), nil)
	s.begin()
	s.until("2026-12-10")
	s.wantStory("Dec 10 BILLING_ATTEMPT_SKIPPED SKIPPED")
	if n := len(s.contract(s.id).Attempts); n != 15 {
		t.Errorf("the card was tried %d times, want 15", n)
	}
}

func TestCardIsRetriedOnceADayAcrossContracts(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.id
	second := s.checkout(nil)
	var one, two struct{ PaymentMethodID string }
	s.call("GET", fmt.Sprintf("/platform/contracts/%d", first), nil, &one)
	s.call("GET", fmt.Sprintf("/platform/contracts/%d", second), nil, &two)
	if one.PaymentMethodID != two.PaymentMethodID {
		if got := s.put(fmt.Sprintf("/subscription-contracts-update-existing-payment-method?contractId=%d&paymentMethodId=%s", second, one.PaymentMethodID), nil, nil); got != http.StatusOK {
			t.Fatalf("answered %d", got)
		}
	}
	for _, id := range []int64{first, second} {
		s.id = id
		s.declines("CARD_DECLINED", 2)
	}
	s.pass("P16D")
	on := make(map[string]int)
	zone := newYork(t)
	for _, id := range []int64{first, second} {
		for _, a := range s.contract(id).Attempts {
			on[a.CreatedAt.In(zone).Format("Jan 2")]++
		}
	}
	if on["Nov 11"] != 2 || on["Nov 12"] != 1 || on["Nov 13"] != 1 || on["Nov 14"] != 1 || on["Nov 15"] != 1 {
		t.Errorf("tries of one card by day: %v", on)
	}
}

func TestSecondPaymentMethodOfContractIsRetriedAtOnce(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"paymentMethod": "expired"})
	s.pass("P13D")
	var rows []struct{ CustomerID int64 }
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
	var method struct{ ID string }
	s.call("POST", fmt.Sprintf("/platform/customers/%d/payment-methods", rows[0].CustomerID), map[string]any{"kind": "card"}, &method)
	s.begin()
	if got := s.put(fmt.Sprintf("/subscription-contracts-update-existing-payment-method?contractId=%d&paymentMethodId=%s", s.id, method.ID), nil, nil); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	s.pass("PT5M")
	s.wantOrders(1)
	s.wantTries("Nov 11 09h 1", "Nov 14 07h 1")
	s.pass("P30D")
	s.wantOrders(1, 2)
}

// An order that a person had charged early, in vain, while another one was unpaid
// comes on its own date, unless the other one is unpaid still.
func TestEarlyDeclinedOrderIsChargedOnItsDate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		declines int // of the first order
		orders   []int
		second   string
	}{{2, []int{1, 2, 3}, "SUCCESS"}, {5, []int{1, 3}, "SKIPPED_DUNNING_MGMT"}} {
		t.Run(fmt.Sprintf("the first is declined %d times", row.declines), func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
			decline := func(cycle int) {
				s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "cycles": []int{cycle}, "code": "CARD_DECLINED"}, nil)
			}
			for range row.declines {
				decline(1)
			}
			decline(2)
			s.until("2026-11-13")
			next := s.upcoming()[0]
			if got := s.trigger(next.ID); got != http.StatusOK {
				t.Fatalf("answered %d", got)
			}
			s.until("2026-11-26")
			s.wantOrders(row.orders...)
			for _, a := range s.past() {
				if a.ID == next.ID && a.Status != row.second {
					t.Errorf("the second order is %s, want %s", a.Status, row.second)
				}
			}
		})
	}
}
