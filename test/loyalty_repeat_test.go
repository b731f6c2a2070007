package test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// What a process has committed that died before it kept its answer is found when the
// request comes again.
func TestPointRequestsWithLostAnswersRunOnce(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil)
	customer := h.ana().CustomerID
	type credited struct {
		AvailablePoints, StoreCreditBalance float64
		Rewards                             []struct{ Status string }
	}
	send := func() (last credited) {
		t.Helper()
		for i, r := range []struct {
			path string
			more map[string]any
		}{
			{"/add-points", map[string]any{"points": 1500}}, {"/remove-points", map[string]any{"points": 100}},
			{"/add-credits", map[string]any{"amount": 7}}, {"/redeem-points", map[string]any{"pointRedeemRuleId": 1}},
		} {
			r.more["customerId"] = customer
			key := map[string]string{"Idempotency-Key": fmt.Sprint("request-", i)}
			if got := h.sendWith("POST", h.urls.Subscriptions+"/api/external"+r.path, h.key, key, r.more, &last); got != http.StatusOK {
				t.Fatalf("%s answered %d", r.path, got)
			}
		}
		return last
	}
	first := send()
	if first.AvailablePoints != 925 || first.StoreCreditBalance != 7 || len(first.Rewards) != 1 {
		t.Fatalf("the first time: %+v", first)
	}
	h.alter("DELETE FROM idempotency_keys")
	if again := send(); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("sent again: %+v, want %+v", again, first)
	}
	const byHand = "MERCHANT_EXTERNAL_API INFORMATIONAL_EVENT SUCCESS"
	h.wantEntries(created, byHand, byHand, byHand)
}

// Who approves under a key what is pending approves that, and nothing that has come
// since.
func TestApprovalWithIdempotencyKeyRunsOnce(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.call("POST", "/loyalty", map[string]any{"pendingDays": 300}, nil)
	h.id = h.checkout(nil)
	customer := h.ana().CustomerID
	approve := func() (p points) {
		t.Helper()
		got := h.sendWith("PUT", h.urls.Subscriptions+"/api/external/approve-pending-transactions", h.key, map[string]string{"Idempotency-Key": "once"}, map[string]any{"customerId": customer}, &p)
		if got != http.StatusOK {
			t.Fatalf("approving answered %d", got)
		}
		return p
	}
	h.pass(fmt.Sprintf("PT%dS", int(time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC).Sub(h.now()).Seconds())))
	first := approve()
	if first.AvailablePoints == 0 {
		t.Fatal("nothing was pending")
	}
	for _, wait := range []string{"PT0S", "PT4H"} { // at once, and when an order has earned more
		h.pass(wait)
		h.alter("DELETE FROM idempotency_keys")
		if again := approve(); again.AvailablePoints != first.AvailablePoints {
			t.Errorf("approved again after %s: %v points, want %v", wait, again.AvailablePoints, first.AvailablePoints)
		}
	}
	if n := len(h.orders()); n != 1 {
		t.Errorf("%d orders have earned points meanwhile, want 1", n)
	}
}
