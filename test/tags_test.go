package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// A customer has a group's tag while one of their contracts on its plans is ACTIVE,
// however often the platform does not answer.
func TestCustomerHasTagsOfActiveContracts(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	var made group
	body := monthlyGroup("Tea")
	body["customerTag"] = "subscriber, tea"
	if got := s.post("/subscription-groups", body, &made); got != http.StatusCreated {
		t.Fatalf("making a group answered %d", got)
	}
	var first, second struct{ ID, CustomerID int64 }
	for _, c := range []any{&first, &second} {
		s.call("POST", "/platform/contracts", map[string]any{
			"customer": map[string]any{"email": "eva@shopper.example", "firstName": "Eva", "lastName": "Sol"}, "paymentMethod": "valid",
			"currencyCode": "USD", "nextBillingDate": s.now().AddDate(0, 0, 10), "billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
			"lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": "9.00", "sellingPlanId": made.Plans[0].IDNew}},
		}, c)
	}
	has := func(when string, want ...string) {
		t.Helper()
		s.call("POST", "/platform/faults", map[string]any{"rate": 0.4, "kinds": []string{"timeout_after", "timeout_before"}, "seed": 5}, nil)
		s.pass("PT1M")
		s.call("DELETE", "/platform/faults", nil, nil)
		s.pass("PT2H")
		var customer struct{ Tags []string }
		s.call("GET", fmt.Sprintf("/platform/customers/%d", first.CustomerID), nil, &customer)
		slices.Sort(customer.Tags)
		if !slices.Equal(customer.Tags, want) {
			t.Errorf("%s the customer has %v, want %v", when, customer.Tags, want)
		}
	}
	has("with two contracts", "subscriber", "tea")
	s.id = first.ID
	s.status(http.StatusNoContent, "PAUSED")
	has("when one is paused", "subscriber", "tea")
	s.id = second.ID
	s.cancel(http.StatusNoContent, "")
	has("when the other one is cancelled")
	s.id = first.ID
	s.status(http.StatusNoContent, "ACTIVE")
	has("when the first one goes on", "subscriber", "tea")
}

func TestDemoStoreCustomersHaveTheirContractsTags(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Seed: 1, Contracts: 30})
	want, active := map[int64][]string{}, 0
	for _, host := range []string{m.urls.Subscriptions, m.urls.Memberships} {
		var rows []struct {
			CustomerID  int64   `json:"customerId"`
			CustomerTag *string `json:"customerTag"`
		}
		if got := m.send("GET", host+api+"/subscription-contract-details?size=100", m.key, nil, &rows); got != http.StatusOK {
			t.Fatalf("searching answered %d", got)
		}
		for _, r := range rows {
			var tags []string
			if r.CustomerTag != nil {
				active++
				tags = strings.Split(*r.CustomerTag, ",")
			}
			want[r.CustomerID] = append(want[r.CustomerID], tags...) // of customers without tags too
		}
	}
	if active < 20 {
		t.Fatalf("%d contracts show a tag", active)
	}
	for id, tags := range want {
		var customer struct{ Tags []string }
		m.call("GET", fmt.Sprintf("/platform/customers/%d", id), nil, &customer)
		slices.Sort(tags)
		slices.Sort(customer.Tags)
		if tags = slices.Compact(tags); !slices.Equal(customer.Tags, tags) {
			t.Errorf("customer %d has %v, and contracts that show %v", id, customer.Tags, tags)
		}
	}
}
