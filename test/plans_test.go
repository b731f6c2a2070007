package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// group is what a story looks at in a subscription group.
type group struct {
	ID    int64
	Name  string `json:"groupName"`
	Plans []struct {
		IDNew string `json:"idNew"`
		Name  string `json:"frequencyName"`
	} `json:"subscriptionPlans"`
	ProductCount int
}

const planGroups = api + "/subscription-groups"

// monthlyGroup is the body of a group with a monthly plan.
func monthlyGroup(name string) map[string]any {
	return map[string]any{"groupName": name, "subscriptionPlans": []any{map[string]any{"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH", "discountOffer": 10}}}
}

func TestMembershipGroupsContractsStayMemberships(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	members := s.urls.Memberships
	var gold group
	if got := s.send("POST", members+planGroups, s.key, monthlyGroup("Gold"), &gold); got != http.StatusCreated || len(gold.Plans) != 1 {
		t.Fatalf("answered %d with %+v", got, gold)
	}
	var variants []struct{ VariantID int64 }
	s.call("GET", "/platform/variants", nil, &variants)
	member := s.checkout(map[string]any{
		"customer": map[string]any{"email": "gil@shopper.example", "firstName": "Gil", "lastName": "Old"},
		"lines":    []any{map[string]any{"variantId": variants[0].VariantID, "quantity": 1, "currentPrice": "9.00", "sellingPlanId": gold.Plans[0].IDNew}},
	})
	s.pass("PT1M")
	search := fmt.Sprintf("%s/subscription-contract-details?subscriptionContractId=%d", api, member)
	on := func(host string) int {
		var rows []row
		if got := s.send("GET", host+search, s.key, nil, &rows); got != http.StatusOK {
			t.Fatalf("the search answered %d", got)
		}
		return len(rows)
	}
	if on(members) != 1 || on(s.urls.Subscriptions) != 0 {
		t.Errorf("memberships have %d, subscriptions %d", on(members), on(s.urls.Subscriptions))
	}
	if got := s.send("DELETE", members+planGroups+"/"+itoa(gold.ID), s.key, nil, nil); got != http.StatusNoContent {
		t.Fatalf("answered %d", got)
	}
	s.pass("P40D")
	if on(members) != 1 || on(s.urls.Subscriptions) != 0 {
		t.Errorf("after the group: memberships have %d, subscriptions %d", on(members), on(s.urls.Subscriptions))
	}
	charged := 0
	for _, o := range s.orders() {
		if o.Contract == member && o.Cycle > 0 {
			charged++
		}
	}
	if charged != 1 {
		t.Errorf("the member was charged %d times in 40 days", charged)
	}
}

// The sandbox calls the plans 6101 and 6102 memberships before anybody has made them.
func TestSubscriptionGroupsContractsAreSubscriptions(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	numbers := make(map[string]bool)
	for range 3 {
		plan := s.planned(s.urls.Subscriptions, nil)
		numbers[plan] = true
		s.on(plan, nil)
		if s.row().SubscriptionContractID != s.id {
			t.Errorf("the contract on plan %s is no subscription", plan)
		}
	}
	if !numbers["6101"] {
		t.Errorf("the plans are %v: the story proves nothing without 6101", numbers)
	}
}

// Whatever becomes of requests and answers: once everything is quiet, service and
// platform have the same groups, and every group that was answered for is there.
func TestGroupsMatchPlatformAfterFaults(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	s.call("POST", "/settings", map[string]any{"requestsPerSecond": 1000, "requestBurst": 1000}, nil)
	s.call("POST", "/platform/faults", map[string]any{"rate": 0.4, "kinds": []string{"timeout_before", "timeout_after", "http_500", "connection_reset"}, "seed": 11}, nil)
	var promised, gone []string
	for i := range 30 {
		name := fmt.Sprintf("Group %02d", i)
		var made group
		if s.send("POST", s.urls.Subscriptions+planGroups, s.key, monthlyGroup(name), &made) != http.StatusCreated {
			continue
		}
		if i%3 == 0 {
			if s.send("DELETE", s.urls.Subscriptions+planGroups+"/"+itoa(made.ID), s.key, nil, nil) == http.StatusNoContent {
				gone = append(gone, name)
			}
			continue
		}
		if i%3 == 1 {
			renamed := map[string]any{"groupName": name + " again"}
			if s.send("PUT", s.urls.Subscriptions+planGroups+"/"+itoa(made.ID), s.key, renamed, nil) != http.StatusOK {
				continue
			}
			name += " again"
		}
		promised = append(promised, name)
	}
	s.call("DELETE", "/platform/faults", nil, nil)
	s.pass("PT1H")
	var here []group
	if got := s.send("GET", s.urls.Subscriptions+planGroups+"?size=200", s.key, nil, &here); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	names := make([]string, len(here))
	for i, g := range here {
		names[i] = g.Name
	}
	there := s.platformGroups()
	slices.Sort(names)
	slices.Sort(there)
	if !slices.Equal(names, there) {
		t.Errorf("here:\n%vthere:\n%v", lines(names), lines(there))
	}
	for _, name := range promised {
		if !slices.Contains(names, name) {
			t.Errorf("%s was made and is not there", name)
		}
	}
	for _, name := range gone {
		if slices.Contains(names, name) {
			t.Errorf("%s was removed and is there", name)
		}
	}
	if len(promised) == 0 || len(gone) == 0 || len(promised) == 30 {
		t.Errorf("%d made and %d removed of 30: the faults were too many or too few", len(promised), len(gone))
	}
}

// platformGroups returns the names of the groups that the platform has.
func (s *subscription) platformGroups() []string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var manifest struct{ PlatformToken string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		s.t.Fatal(err)
	}
	answer := s.graphQL(manifest.PlatformToken, []byte(`{"query":"{ sellingPlanGroups(first: 250) { nodes { name } } }"}`))
	var got struct {
		SellingPlanGroups struct{ Nodes []struct{ Name string } }
	}
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		s.t.Fatalf("%v: %s", err, answer.Data)
	}
	var names []string
	for _, n := range got.SellingPlanGroups.Nodes {
		names = append(names, n.Name)
	}
	return names
}
