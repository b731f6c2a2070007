package test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestUnreadableContractBlocksNoOther(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	s.pass("PT1M")
	ours := s.id
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"webhook_lost"}, "seed": 3, "for": "PT1H"}, nil)
	strange := s.checkout(map[string]any{"billingPolicy": map[string]any{"interval": "DAY", "intervalCount": 400}, "deliveryPolicy": map[string]any{"interval": "DAY", "intervalCount": 400}})
	s.id = s.checkout(nil)
	s.pass("P2D")
	s.call("DELETE", "/platform/faults", nil, nil)
	if queue := s.upcoming(); len(queue) != 6 {
		t.Errorf("the contract that came after one that cannot be read has the queue %+v", queue)
	}
	s.wantFindings(fmt.Sprintf("UNREADABLE %d", strange))
	s.pass("P1D") // events about it change nothing
	s.id = ours
	s.mutate(fmt.Sprintf(`mutation { subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/%d") { userErrors { message } } }`, strange))
	s.pass("P12D")
	s.wantOrders(1, 1) // one of each that can be read
	s.wantFindings(fmt.Sprintf("UNREADABLE %d", strange))
	s.bill(strange, "{interval: DAY, intervalCount: 30}")
	s.pass("P2D")
	s.wantFindings()
	if status := s.contract(strange).Status; status != "PAUSED" {
		t.Errorf("the contract that can be read now is %q", status)
	}
}

// wantFindings compares the findings with what is wanted: kind and contract.
func (s *subscription) wantFindings(want ...string) {
	s.t.Helper()
	var got []string
	for _, f := range s.stuck().Findings {
		got = append(got, fmt.Sprintf("%s %d", f.Kind, f.Contract))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		s.t.Errorf("findings %q, want %q", got, want)
	}
}

// bill gives a contract other intervals at the platform.
func (s *subscription) bill(id int64, policy string) {
	s.t.Helper()
	var made struct {
		SubscriptionContractUpdate struct{ Draft struct{ ID string } }
	}
	s.mutateInto(fmt.Sprintf(`mutation { subscriptionContractUpdate(contractId: "gid://shopify/SubscriptionContract/%d") { draft { id } userErrors { message } } }`, id), &made)
	draft := made.SubscriptionContractUpdate.Draft.ID
	s.mutate(fmt.Sprintf(`mutation { subscriptionDraftUpdate(draftId: %q, input: {billingPolicy: %s, deliveryPolicy: %s}) { userErrors { message } } }`, draft, policy, policy))
	s.mutate(fmt.Sprintf(`mutation { subscriptionDraftCommit(draftId: %q) { userErrors { message } } }`, draft))
}

func TestDateMovedAtPlatformIsChargedThoughWebhookWasLost(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil) // due on Nov 11 and Dec 11
	s.pass("P11D")
	s.begin()
	move := func(days int) {
		s.mutate(fmt.Sprintf(`mutation { subscriptionBillingCycleScheduleEdit(billingCycleInput: {contractId: "gid://shopify/SubscriptionContract/%d", selector: {index: 2}},
			input: {billingDate: %q, reason: MERCHANT_INITIATED}) { userErrors { message } } }`, s.id, s.now().AddDate(0, 0, days).Format(time.RFC3339)))
	}
	move(8)
	s.pass("PT1H")
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"webhook_lost"}, "seed": 3, "for": "PT1H"}, nil)
	move(23)
	s.pass("PT2H")
	s.call("DELETE", "/platform/faults", nil, nil)
	s.pass("P13D")
	moved := []string{"Nov 12 NEXT_BILLING_DATE_CHANGE SUCCESS", "Nov 20 NEXT_BILLING_DATE_CHANGE SUCCESS"}
	s.wantStory(moved...)
	s.wantOrders(1)
	s.pass("P10D")
	s.wantStory(append(moved, "Dec 5 "+paid)...)
	s.wantOrders(1, 2)
}
