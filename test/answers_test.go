package test

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"testing"
)

// attemptRead returns an attempt of the contract as the lists show it, every field.
func (s *subscription) attemptRead(id int64) map[string]any {
	s.t.Helper()
	for _, list := range []string{"top-orders", "past-orders"} {
		var attempts []map[string]any
		s.get(fmt.Sprintf("/subscription-billing-attempts/%s?contractId=%d", list, s.id), &attempts)
		for _, a := range attempts {
			if a["id"] == float64(id) {
				return a
			}
		}
	}
	s.t.Fatalf("attempt %d is in no list", id)
	return nil
}

// wantAsRead asserts that an operation answers the record that is read after it.
func (s *subscription) wantAsRead(name, path string, body any) map[string]any {
	s.t.Helper()
	var answer map[string]any
	if got := s.put(path, body, &answer); got != http.StatusOK {
		s.t.Fatalf("%s answered %d %v", name, got, answer)
	}
	if read := s.attemptRead(int64(answer["id"].(float64))); !reflect.DeepEqual(answer, read) {
		for field := range read {
			if !reflect.DeepEqual(answer[field], read[field]) {
				s.t.Errorf("%s answers %s %v, and a GET after it %v", name, field, answer[field], read[field])
			}
		}
	}
	return answer
}

func TestOperationsAnswerTheAttemptAsRead(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.pass("P11D")
	failed, queue := s.past()[0], s.upcoming()
	if record := s.attemptRead(failed.ID); record["transactionFailedEmailSentStatus"] != "SENT" {
		t.Errorf("the e-mail about the decline is %v, want SENT", record["transactionFailedEmailSentStatus"])
	}
	const path = "/subscription-billing-attempts"
	noted := s.wantAsRead("a change", path, map[string]any{"id": failed.ID, "orderNote": "ring twice"})
	s.wantAsRead("its own answer sent back", path, noted)
	later := failed.BillingDate.AddDate(0, 0, 13).Format("2006-01-02")
	s.wantAsRead("another date", fmt.Sprintf("%s/reschedule-order/%d?billingDate=%s", path, failed.ID, later), nil)
	for _, o := range []string{"skip-order", "unskip-order"} {
		s.wantAsRead(o, fmt.Sprintf("%s/%s/%d", path, o, queue[1].ID), nil)
	}
	s.wantAsRead("skip-upcoming-order", fmt.Sprintf("%s/skip-upcoming-order?contractId=%d", path, s.id), nil)
}

func TestAttemptShowsWhetherItIsRetriedAutomatically(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	const path = "/subscription-billing-attempts"
	want := func(when string, id int64, retrying bool) {
		t.Helper()
		if got := s.attemptRead(id)["retryingNeeded"]; got != retrying {
			t.Errorf("%s: retryingNeeded is %v, want %t", when, got, retrying)
		}
	}
	first := s.upcoming()[0].ID
	want("before its date", first, false)
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.pass("P11D")
	want("after a decline that is tried again", first, true)
	if got := s.demand("PUT", path, s.key, map[string]any{"id": first, "retryingNeeded": false}); got.status != http.StatusBadRequest || got.errorKey() != "fieldReadOnly" {
		t.Errorf("setting it against the case answered %d %s, want 400 fieldReadOnly", got.status, got.errorKey())
	}
	s.wantAsRead("the same again", path, map[string]any{"id": first, "retryingNeeded": true})
	s.pass("P5D")
	want("once the order is paid", first, false)

	second := s.upcoming()[0].ID
	s.declines("EXPIRED_PAYMENT_METHOD", 1)
	s.pass("P1M")
	want("after a decline that no retry helps", second, false)
}

// A record that is sent back as it was read changes nothing, and is in the way of no
// charge that is under way.
func TestRecordOfPendingChargeCanBeSentBack(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	for _, row := range []struct{ code, pass, status string }{
		{"CHALLENGE", "P11D", "SECURITY_CHALLENGE"},
		{"NEVER", "P10DT3H", "PROGRESS"},
		{"NEVER", "P15D", "SHOPIFY_EXCEPTION"},
	} {
		s.id = s.checkout(nil)
		s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": row.code}, nil)
		s.pass(row.pass)
		var list []map[string]any
		s.get(fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d", s.id), &list)
		if len(list) != 1 || list[0]["status"] != row.status {
			t.Fatalf("after %s: %v, want it %s", row.pass, list, row.status)
		}
		if got := s.put("/subscription-billing-attempts", list[0], nil); got != http.StatusOK {
			t.Errorf("%s: the record answered %d", row.status, got)
		}
		list[0]["orderNote"] = "Ring twice"
		s.refused(http.StatusConflict, "PUT", "/subscription-billing-attempts", list[0])
	}
}

func TestEqualSortValuesKeepSortDirection(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	queue := s.upcoming() // the clock stands still while it is skipped
	for _, a := range queue[:3] {
		if got := s.put(fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", a.ID), nil, nil); got != http.StatusOK {
			t.Fatalf("skipping answered %d", got)
		}
	}
	s.checkout(nil)
	ids := func(path string) (list []int64) {
		t.Helper()
		var items []struct{ ID int64 }
		s.get(path, &items)
		for _, i := range items {
			list = append(list, i.ID)
		}
		return list
	}
	past := fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d", s.id)
	for _, row := range []struct{ one, same string }{
		{"/activity-logs?size=100", "/activity-logs?size=100&sort=createAt,desc"},
		{past + "&sort=id,desc", past + "&sort=status,desc"},
		{"/subscription-contract-details?sort=id,desc", "/subscription-contract-details?sort=created_at,desc"},
		{"/subscription-contract-details?sort=id", "/subscription-contract-details?sort=created_at"},
	} {
		one, same := ids(row.one), ids(row.same)
		if len(one) < 2 || !slices.Equal(one, same) {
			t.Errorf("%s lists %v, and %s %v", row.one, one, row.same, same)
		}
	}
}

func TestCustomersContractsEqualSingleReads(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ids := []int64{s.id}
	for range 6 {
		ids = append(ids, s.checkout(nil))
	}
	s.pass("P11D")
	var first struct{ Customer struct{ ID string } }
	s.get(fmt.Sprintf("/subscription-contracts/%d", s.id), &first)
	var customer struct {
		SubscriptionContracts struct {
			Nodes []map[string]any
			Edges []struct{ Node map[string]any }
		}
	}
	s.get("/subscription-customers/"+url.PathEscape(first.Customer.ID), &customer)
	shown := customer.SubscriptionContracts
	if len(shown.Nodes) != len(ids) || len(shown.Edges) != len(ids) {
		t.Fatalf("%d contracts and %d edges are shown, want %d", len(shown.Nodes), len(shown.Edges), len(ids))
	}
	for i, id := range ids {
		var alone map[string]any
		s.get(fmt.Sprintf("/subscription-contracts/%d", id), &alone)
		if !reflect.DeepEqual(shown.Nodes[i], alone) || !reflect.DeepEqual(shown.Edges[i].Node, alone) {
			for field, value := range alone {
				if !reflect.DeepEqual(shown.Nodes[i][field], value) {
					t.Errorf("contract %d: with the customer %s is %v, and alone %v", id, field, shown.Nodes[i][field], value)
				}
			}
		}
		attempts, _ := alone["billingAttempts"].(map[string]any)
		if charges, _ := attempts["nodes"].([]any); alone["deliveryMethod"] == nil || len(charges) != 1 {
			t.Errorf("contract %d has the delivery %v and %d charges", id, alone["deliveryMethod"], len(charges))
		}
	}
}
