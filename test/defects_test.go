package test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// What the platform was reported to do wrong, or differently than it is
// documented, does not reach customers: docs/platform-defects.md lists it all.

// everyKind are contracts of every rhythm, among them such that fall on days
// which some months lack.
var everyKind = []map[string]any{
	{"nextBillingDate": "2026-12-31", "billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}},
	{"nextBillingDate": "2026-11-30", "billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 3}},
	{"nextBillingDate": "2026-11-10", "billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}},
	{"nextBillingDate": "2026-11-05", "billingPolicy": map[string]any{"interval": "DAY", "intervalCount": 10}},
	{"nextBillingDate": "2026-11-20", "billingPolicy": map[string]any{"interval": "YEAR", "intervalCount": 1}},
	{
		"nextBillingDate": "2026-11-15",
		"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "anchors": []any{
			map[string]any{"type": "MONTHDAY", "day": 1}, map[string]any{"type": "MONTHDAY", "day": 15},
		}},
	},
}

// defective opens a store on a platform with defects, with contracts of every
// kind.
func defective(t *testing.T, defects map[string]any) (s *subscription, all []int64) {
	t.Helper()
	s = subscribe(t, everyKind[0])
	s.call("POST", "/platform/defects", defects, nil)
	for _, change := range everyKind {
		all = append(all, s.checkout(change))
	}
	return s, all
}

func TestRevalidatedPaymentMethodCausesNoSecondCharge(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/defects", map[string]any{"paymentUpdateOpensNewCycle": true}, nil)
	var made struct {
		ID              int64
		PaymentMethodID string `json:"paymentMethodId"`
	}
	s.call("POST", "/platform/contracts", map[string]any{
		"customer": map[string]any{"email": "lea@shopper.example"}, "nextBillingDate": s.now().AddDate(0, 0, 10),
		"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}, "lines": []any{map[string]any{"variantId": s.anyVariant()}},
		"paymentMethod": "valid",
	}, &made)
	s.id = made.ID
	for range 6 {
		s.pass("P30D")
		for _, status := range []string{"expired", "valid"} {
			s.call("POST", "/platform/payment-methods/"+made.PaymentMethodID, map[string]any{"status": status}, nil)
		}
	}
	s.pass("P15D")
	var orders []order
	for _, o := range s.orders() {
		if o.Contract == s.id {
			orders = append(orders, o)
		}
	}
	// 195 days from the first of November, the first order on the eleventh.
	if len(orders) < 6 || len(orders) > 7 {
		t.Errorf("%d orders in 195 days: %+v", len(orders), orders)
	}
	for i := 1; i < len(orders); i++ {
		if gap := orders[i].At.Sub(orders[i-1].At); gap < 14*24*time.Hour {
			t.Errorf("orders %d and %d are %s apart", i, i+1, gap)
		}
	}
}

func TestCycleChargedByAnotherApplicationIsAdopted(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/defects", map[string]any{"bulkChargeIgnoresBilled": true}, nil)
	s.pass("P10D") // a day before it falls due
	var bulk struct{ Charged int }
	s.call("POST", "/platform/bulk-charge", map[string]any{"from": s.now(), "to": s.now().AddDate(0, 0, 3)}, &bulk)
	if bulk.Charged != 1 {
		t.Fatalf("the platform's bulk charge made %d attempts, want 1", bulk.Charged)
	}
	s.pass("P20D")
	if orders := s.orders(); len(orders) != 1 {
		t.Errorf("orders %+v, want the platform's own alone", orders)
	}
	past := s.past()
	if len(past) != 1 || past[0].Status != "SUCCESS" || past[0].OrderID == nil {
		t.Errorf("past %+v, want the order that the platform made", past)
	}
}

func TestPausedContractIsNotChargedThoughPlatformAllowsIt(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/defects", map[string]any{"pausedAttemptGoesThrough": true}, nil)
	if got := s.put(fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=PAUSED", s.id), nil, nil); got != http.StatusNoContent {
		t.Fatalf("pausing answered %d", got)
	}
	s.pass("P60D")
	if orders := s.orders(); len(orders) != 0 {
		t.Errorf("orders %+v of a contract that is paused", orders)
	}
}

func TestNewIntervalRenumbersNoOwedCycle(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/defects", map[string]any{"policyChangeRenumbers": true}, nil)
	s.pass("P15D") // charged on the 11th
	path := fmt.Sprintf("/subscription-contracts-update-billing-interval?contractId=%d&interval=WEEK&intervalCount=2", s.id)
	if got := s.put(path, nil, nil); got != http.StatusOK {
		t.Fatalf("a new interval answered %d", got)
	}
	s.pass("P70D")
	orders := s.orders()
	if len(orders) < 5 || len(orders) > 6 {
		t.Errorf("%d orders in 85 days, one in the first month and every two weeks afterwards: %+v", len(orders), orders)
	}
	for i := 1; i < len(orders); i++ {
		if gap := orders[i].At.Sub(orders[i-1].At); gap < 6*24*time.Hour || gap > 31*24*time.Hour {
			t.Errorf("orders %d and %d are %s apart", i, i+1, gap)
		}
	}
}

// anyVariant returns something that the store sells.
func (s *store) anyVariant() int64 {
	s.t.Helper()
	var variants []struct{ VariantID int64 }
	s.call("GET", "/platform/variants", nil, &variants)
	return variants[0].VariantID
}
