package test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// A box that allows one exchange in a cycle takes one of several concurrent
// exchanges.
func TestConcurrentBoxChangesKeepRules(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/settings", map[string]any{"requestsPerSecond": 1000, "requestBurst": 1000}, nil)
	sold := s.variants()
	var group struct {
		Plans []struct{ IDNew string } `json:"subscriptionPlans"`
	}
	if got := s.post("/subscription-groups", map[string]any{"groupName": "Boxes", "subscriptionPlans": []any{map[string]any{
		"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH", "billingFrequencyCount": 1, "billingFrequencyInterval": "MONTH",
	}}}, &group); got != http.StatusCreated {
		t.Fatalf("the group answered %d", got)
	}
	plan := group.Plans[0].IDNew[strings.LastIndex(group.Plans[0].IDNew, "/")+1:]
	if got := s.post("/subscription-bundle-settings", map[string]any{
		"title": "Box", "enabled": true, "allowModifications": true, "maxSwapsPerCycle": 1, "sellingPlanIds": []any{plan},
	}, nil); got != http.StatusOK {
		t.Fatalf("the bundle answered %d", got)
	}
	const lines = 4
	for round := range 5 {
		var inside []any
		for i := range lines {
			inside = append(inside, map[string]any{"variantId": sold[i], "quantity": 1, "sellingPlanId": plan})
		}
		id := s.checkout(map[string]any{"lines": inside})
		o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", id), nil)
		var together sync.WaitGroup
		answers := make([]int, lines)
		for i := range lines {
			together.Go(func() {
				answers[i] = s.demand("PUT", fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldLineId=%s&newVariantId=%d&prorateDowngrade=true",
					id, url.QueryEscape(o.Lines.Nodes[i].ID), sold[lines+i]), s.key, nil).status
			})
		}
		together.Wait()
		exchanged := 0
		for i, n := range s.change("GET", fmt.Sprintf("/subscription-contracts/%d", id), nil).Lines.Nodes {
			if n.VariantID != o.Lines.Nodes[i].VariantID {
				exchanged++
			}
		}
		took := 0
		for _, got := range answers {
			switch got {
			case http.StatusOK:
				took++
			case http.StatusConflict, http.StatusBadRequest:
			default:
				t.Errorf("round %d: an exchange answered %d", round, got)
			}
		}
		if exchanged != 1 || took != 1 {
			t.Errorf("round %d: %d products were exchanged, the answers are %v; want one", round, exchanged, answers)
		}
	}
}

// Of two concurrent changes that wait for the next order one is kept, and the other is refused.
func TestOneOfTwoConcurrentPendingChangesIsKept(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/settings", map[string]any{"requestsPerSecond": 1000, "requestBurst": 1000}, nil)
	sold := s.variants()
	var group struct {
		Plans []struct{ IDNew string } `json:"subscriptionPlans"`
	}
	if got := s.post("/subscription-groups", map[string]any{"groupName": "Tea", "subscriptionPlans": []any{map[string]any{
		"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH", "billingFrequencyCount": 1, "billingFrequencyInterval": "MONTH",
		"allowedForUpgradeDowngrade": true,
	}}}, &group); got != http.StatusCreated {
		t.Fatalf("the group answered %d", got)
	}
	plan := group.Plans[0].IDNew[strings.LastIndex(group.Plans[0].IDNew, "/")+1:]
	for round := range 5 {
		var inside []any
		for i := range 3 {
			inside = append(inside, map[string]any{"variantId": sold[i], "quantity": 1, "currentPrice": "999.00", "sellingPlanId": plan})
		}
		id := s.checkout(map[string]any{"lines": inside})
		o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", id), nil)
		var together sync.WaitGroup
		answers := make([]int, len(inside))
		for i := range inside {
			together.Go(func() {
				answers[i] = s.demand("PUT", fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldLineId=%s&newVariantId=%d&prorateDowngrade=false",
					id, url.QueryEscape(o.Lines.Nodes[i].ID), sold[5+i]), s.key, nil).status
			})
		}
		together.Wait()
		var waits struct{ LineID string }
		s.get(fmt.Sprintf("/subscription-contract-details/%d/pending-downgrade", id), &waits)
		took := 0
		for i, got := range answers {
			if got == http.StatusOK {
				took++
				if waits.LineID != o.Lines.Nodes[i].ID {
					t.Errorf("round %d: line %s waits, and the change of %s was answered with 200", round, waits.LineID, o.Lines.Nodes[i].ID)
				}
			} else if got != http.StatusConflict {
				t.Errorf("round %d: a change answered %d", round, got)
			}
		}
		if took != 1 {
			t.Errorf("round %d: the answers are %v, want one that takes the change", round, answers)
		}
	}
}
