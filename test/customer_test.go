package test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

func TestCustomersPaymentMethodsAreListed(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	type method struct {
		ID            string
		Instrument    *struct{ Brand *string }
		RevokedAt     *time.Time
		RevokedReason *string
	}
	list := func(customer int64) []method {
		t.Helper()
		var is struct {
			Nodes []method
			Edges []struct{ Node method }
		}
		if s.get(fmt.Sprintf("/subscription-contract-details/shopify/customer/%d/payment-methods", customer), &is); len(is.Edges) != len(is.Nodes) {
			t.Errorf("%d nodes and %d edges", len(is.Nodes), len(is.Edges))
		}
		return is.Nodes
	}
	customer := s.payer(s.id)
	used := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).CustomerPaymentMethod.ID
	s.call("POST", "/platform/payment-methods/"+url.PathEscape(used), map[string]any{"status": "revoked"}, nil)
	s.call("POST", fmt.Sprintf("/platform/customers/%d/payment-methods", customer), map[string]any{"kind": "card"}, nil)
	is := list(customer)
	if len(is) != 2 || is[0].ID != used || is[0].RevokedAt == nil || is[0].RevokedReason == nil || is[1].ID == used || is[1].RevokedAt != nil || is[1].Instrument == nil {
		t.Errorf("the customer has %+v", is)
	}
	if is := list(1); len(is) != 0 {
		t.Errorf("a customer without contracts has %+v", is)
	}
	s.refused(http.StatusBadRequest, "GET", "/subscription-contract-details/shopify/customer/gid:%2F%2Fshopify%2FOrder%2F1/payment-methods", nil)
}

// A change that no webhook reported is known as soon as the customer's contracts are read.
func TestCustomersContractsAreReadNow(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	customer := s.payer(s.id)
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"webhook_lost"}, "seed": 1}, nil)
	s.mutate(fmt.Sprintf(`mutation { subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/%d") { userErrors { message } } }`, s.id))
	if c := s.phase(); c.Status != "active" {
		t.Fatalf("the contract is %s before it is read", c.Status)
	}
	s.refused(http.StatusNoContent, "GET", fmt.Sprintf("/subscription-customers/sync-info/%d", customer), nil)
	if c := s.phase(); c.Status != "paused" {
		t.Errorf("the contract is %s", c.Status)
	}
	s.refused(http.StatusNotFound, "GET", "/subscription-customers/sync-info/1", nil)
	s.wantEntries(created, "SHOPIFY_EVENT CONTRACT_PAUSED SUCCESS")
}
