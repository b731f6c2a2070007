package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPausedContractHasNoQueueUntilResumed(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.mutate(fmt.Sprintf(`mutation { subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/%d") { userErrors { message } } }`, s.id))
	s.pass("PT1M")
	if c, queue := s.row(), s.upcoming(); c.Status != "paused" || c.NextBillingDate != nil || len(queue) != 0 {
		t.Errorf("contract %+v with the queue %+v, want none", c, queue)
	}
	s.pass("P60D")
	s.mutate(fmt.Sprintf(`mutation { subscriptionContractActivate(subscriptionContractId: "gid://shopify/SubscriptionContract/%d") { userErrors { message } } }`, s.id))
	s.pass("PT1M")
	if queue := s.upcoming(); len(queue) != 6 || queue[0].BillingDate.Before(s.now()) {
		t.Errorf("queue %+v, want six attempts to come", queue)
	}
	s.pass("P1M")
	if orders := s.orders(); len(orders) != 1 {
		t.Errorf("orders %+v, want one since the contract runs again", orders)
	}
	s.wantEntries(created, "SHOPIFY_EVENT CONTRACT_PAUSED SUCCESS", "SHOPIFY_EVENT CONTRACT_ACTIVATED SUCCESS", requeued, charged)
}

// mutate changes something at the platform, as its own staff would.
func (s *subscription) mutate(document string) {
	s.t.Helper()
	s.mutateInto(document, nil)
}

// mutateInto does the same and reads the answer into out, which may be nil.
func (s *subscription) mutateInto(document string, out any) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var manifest struct{ PlatformToken string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		s.t.Fatal(err)
	}
	body, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		s.t.Fatal(err)
	}
	answer := s.graphQL(manifest.PlatformToken, body)
	if answer.Errors != nil {
		s.t.Fatalf("%s: %s", document, answer.Errors)
	}
	if bytes.Contains(answer.Data, []byte(`"message"`)) {
		s.t.Fatalf("%s was refused: %s", document, answer.Data)
	}
	if out != nil {
		if err := json.Unmarshal(answer.Data, out); err != nil {
			s.t.Fatal(err)
		}
	}
}

func TestContractWithChangedIntervalIsCharged(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.pass("P19D") // cycle 1 was charged on November 11
	s.draft(`{ billingPolicy: { interval: WEEK, intervalCount: 2 }, deliveryPolicy: { interval: WEEK, intervalCount: 2 }, nextBillingDate: "2026-11-25T15:00:00Z" }`)
	s.pass("PT1M")
	s.pass("P6M")
	orders := s.orders()
	for i, o := range orders {
		if o.Cycle != i+1 {
			t.Errorf("order %d is of cycle %d", i, o.Cycle)
		}
		if i >= 3 && o.At.Sub(orders[i-1].At).Round(24*time.Hour) != 14*24*time.Hour {
			t.Errorf("order %d came at %s, the one before it at %s", i, o.At, orders[i-1].At)
		}
	}
	if len(orders) < 13 {
		t.Errorf("%d orders in half a year of every two weeks", len(orders))
	}
	for _, a := range s.past() {
		if a.Status != "SUCCESS" {
			t.Errorf("attempt %+v", a)
		}
	}
}

// draft changes a contract at the platform through a draft.
func (s *subscription) draft(input string) {
	s.t.Helper()
	var answer struct {
		Update struct{ Draft struct{ ID string } }
	}
	s.mutateInto(fmt.Sprintf(`mutation { update: subscriptionContractUpdate(contractId: "gid://shopify/SubscriptionContract/%d") { draft { id } userErrors { message } } }`, s.id), &answer)
	draft := answer.Update.Draft.ID
	s.mutate(fmt.Sprintf(`mutation { subscriptionDraftUpdate(draftId: %q, input: %s) { userErrors { message } } }`, draft, input))
	s.mutate(fmt.Sprintf(`mutation { subscriptionDraftCommit(draftId: %q) { contract { id } userErrors { message } } }`, draft))
}

// A plan that becomes a membership plan takes the contracts on it along to the
// other host, and back. They stay the contracts that they were.
func TestContractsFollowTheirPlansToTheOtherHost(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.id = s.checkout(map[string]any{"lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": "12.50", "sellingPlanId": 7777}}})
	on := func(host string) (rows []row) {
		t.Helper()
		if got := s.send("GET", host+api+"/subscription-contract-details?sellingPlanId=7777", s.key, nil, &rows); got != http.StatusOK {
			t.Fatalf("searching answered %d", got)
		}
		return rows
	}
	for _, plans := range [][]int64{{7777}, {}} {
		s.call("POST", "/settings", map[string]any{"membershipSellingPlans": plans}, nil)
		s.pass("PT1M")
		is, other := on(s.urls.Subscriptions), on(s.urls.Memberships)
		if len(plans) > 0 {
			is, other = other, is
		}
		if len(is) != 1 || len(other) != 0 || is[0].SubscriptionContractID != s.id || is[0].NextBillingDate == nil {
			t.Errorf("with the membership plans %v the contract is on one side as %+v and on the other as %+v", plans, is, other)
		}
	}
	s.pass("P11D")
	if orders := s.orders(); len(orders) != 2 {
		t.Errorf("orders %+v, want one of each contract", orders)
	}
	if got := s.request("POST", s.urls.Control+"/settings", map[string]any{"disabledMails": []string{"newsletter"}}); got.status != http.StatusBadRequest || got.errorKey() != "mailKind" {
		t.Errorf("switching off an unknown kind of e-mail answered %d %s", got.status, got.errorKey())
	}
}

// A variant that the store gives up stays on its line, which is ordered at its price as
// before; only the numbers say which one it was.
func TestLineSurvivesDeletedVariant(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	gone := s.variants()[0]
	s.call("DELETE", fmt.Sprintf("/platform/variants/%d", gone), nil, nil)
	s.pass("P2M")
	var rows []map[string]any
	s.get("/subscription-contract-details", &rows)
	if row := rows[0]; row["deletedVariantIds"] != fmt.Sprint(gone) || !strings.Contains(fmt.Sprint(row["contractDetailsJSON"]), `"variantId":null`) {
		t.Errorf("%v, want the deleted variant %d", row, gone)
	}
	if orders := s.orders(); len(orders) != 2 {
		t.Errorf("orders %+v, want two", orders)
	}
	s.wantRecorded(
		`CONTRACT_CREATED {"to":"ACTIVE"}`,
		fmt.Sprintf(`PRODUCT_DELETED_SYNC {"reason":"the store has no variant %d any more: House Blend Coffee"}`, gone),
		`SUBSCRIPTION_CONTRACT_UPDATED {}`,
		`BILLING_ATTEMPT_TRIGGERED {"cycle":1,"try":1,"orderId":5002,"orderName":"#1002","amount":"25.00","currency":"USD"}`,
		`BILLING_ATTEMPT_TRIGGERED {"cycle":2,"try":1,"orderId":5003,"orderName":"#1003","amount":"25.00","currency":"USD"}`,
	)
}
