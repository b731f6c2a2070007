package test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// What a process has committed that died before it kept its answer is found when the
// request comes again.
func TestWhatMovesPointsMovesThemOnceThoughItsAnswerWasLost(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true})
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
