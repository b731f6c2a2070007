package test

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// stuck is what a person has to look at.
type stuck struct {
	Attempts []struct {
		ID     int64
		Status string
		Reason string
	}
	Findings []struct {
		Kind     string
		Contract int64 `json:"contractId"`
		Cycle    int
	}
}

func (s *store) stuck() stuck {
	s.t.Helper()
	var list stuck
	s.call("GET", "/stuck", nil, &list)
	return list
}

func (s stuck) kinds() (kinds []string) {
	for _, f := range s.Findings {
		kinds = append(kinds, fmt.Sprintf("%s %d", f.Kind, f.Cycle))
	}
	return kinds
}

// alter changes the service's database behind its back.
func (h *housed) alter(statement string, args ...any) {
	h.t.Helper()
	h.stop()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(h.dir, "perennial.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := db.ExecContext(h.t.Context(), statement, args...); err != nil {
		h.t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.start()
}

// chargeAs charges a cycle as another application.
func (s *subscription) chargeAs(key string, cycle int) {
	s.t.Helper()
	s.mutate(fmt.Sprintf(`mutation { subscriptionBillingAttemptCreate(subscriptionContractId: "gid://shopify/SubscriptionContract/%d",
		subscriptionBillingAttemptInput: { idempotencyKey: %q, billingCycleSelector: { index: %d } }) { subscriptionBillingAttempt { id } userErrors { message } } }`, s.id, key, cycle))
}

const (
	differs  = "SYSTEM_EVENT INFORMATIONAL_EVENT FAILURE"
	resolved = "SYSTEM_EVENT INFORMATIONAL_EVENT SUCCESS"
)

func TestOrderOfAnotherApplicationIsAdopted(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil) // due on November 11 at 14:00
	h.pass("P9DT5H")
	h.chargeAs("another app", 1)
	h.pass("PT20H")
	if past := h.past(); len(past) != 1 || past[0].Status != "SUCCESS" || past[0].OrderID == nil {
		t.Errorf("at %s past orders %+v, want the one that another application made", h.now(), past)
	}
	h.pass("P2D")
	if n := len(h.orders()); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
	if kinds := h.stuck().kinds(); len(kinds) != 0 {
		t.Errorf("findings %v, want none", kinds)
	}
	h.wantEntries(created, charged)
}

func TestSecondOrderOfCycleIsOnlyReported(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil)
	h.pass("P11D")
	h.chargeAs("another app", 1)
	h.pass("P3D")
	if kinds := fmt.Sprint(h.stuck().kinds()); kinds != "[SECOND_ORDER 1]" {
		t.Errorf("findings %s, want the second order", kinds)
	}
	h.wantEntries(created, charged, differs)
}

func TestBooksAreComparedWithPlatform(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil)
	h.pass("P10DT3H")
	h.alter("UPDATE attempts SET amount = amount + 1 WHERE status = 'SUCCESS'")
	h.pass("P1D")
	if kinds := fmt.Sprint(h.stuck().kinds()); kinds != "[AMOUNT_DIFFERS 1]" {
		t.Errorf("findings %s, want the amount", kinds)
	}
	h.alter("UPDATE attempts SET amount = amount - 1 WHERE status = 'SUCCESS'")
	h.pass("P1D")
	if kinds := h.stuck().kinds(); len(kinds) != 0 {
		t.Errorf("findings %v once the amount is right", kinds)
	}
	h.alter("UPDATE attempts SET platform_id = 'gid://shopify/SubscriptionBillingAttempt/4711', updated_at = ? WHERE status = 'SUCCESS'", h.now().UnixMilli())
	h.pass("P1D")
	if kinds := fmt.Sprint(h.stuck().kinds()); kinds != "[MISSING_ORDER 1]" {
		t.Errorf("findings %s, want the missing order", kinds)
	}
	if n := len(h.orders()); n != 1 {
		t.Errorf("%d orders: a difference was charged", n)
	}
	h.wantEntries(created, charged, differs, resolved, differs)
}

func TestLostQueueIsRestored(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil)
	h.pass("P1D")
	h.alter("DELETE FROM attempts")
	h.alter("UPDATE contracts SET next_billing_date = 0")
	h.pass("P1D")
	if queue := h.upcoming(); len(queue) != 6 {
		t.Errorf("%d upcoming attempts, want 6", len(queue))
	}
	h.pass("P10D")
	if n := len(h.orders()); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
	h.wantEntries(created, charged)
}

func TestPendingChargeIsListedAndCanBeRetried(t *testing.T) {
	t.Parallel()
	h := house(t, sandbox.Options{Empty: true, MainOnly: true})
	h.id = h.checkout(nil)
	h.call("POST", "/platform/outcomes", map[string]any{"contractId": h.id, "code": "NEVER"}, nil)
	h.pass("P14D")
	list := h.stuck()
	if len(list.Attempts) != 1 || list.Attempts[0].Status != "SHOPIFY_EXCEPTION" || list.Attempts[0].Reason == "" || fmt.Sprint(list.kinds()) != "[OPEN_CHARGE 1]" {
		t.Fatalf("stuck %+v, want the charge without an end", list)
	}
	id := list.Attempts[0].ID
	h.call("POST", "/retry", map[string]any{"attemptId": id}, nil)
	h.pass("PT1M")
	if got := h.send("POST", h.urls.Control+"/retry", "", map[string]any{"attemptId": id + 1}, nil); got != http.StatusBadRequest {
		t.Errorf("looking into an attempt that waits answered %d", got)
	}
	if got := h.send("POST", h.urls.Control+"/retry", "", map[string]any{"attemptId": 4711}, nil); got != http.StatusNotFound {
		t.Errorf("looking into an unknown attempt answered %d", got)
	}
	if n := h.tries([]int64{h.id}); n != 1 {
		t.Errorf("%d charges were sent, want 1", n)
	}
	h.wantEntries(created, "SYSTEM_EVENT BILLING_ATTEMPT_NOTIFICATION FAILURE", differs, "MERCHANT_PORTAL IMMEDIATE_RETRY_TRIGGERED INFO")
}
