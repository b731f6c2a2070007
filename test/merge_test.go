package test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// bob subscribes to the same as Ana. The service may miss the webhook.
func (s *subscription) bob() (customer, contract int64) {
	s.t.Helper()
	contract = s.checkout(map[string]any{"customer": map[string]any{"email": "bob@shopper.example", "firstName": "Bob", "lastName": "Moor"}})
	var made struct{ Customer struct{ ID int64 } }
	s.call("GET", fmt.Sprintf("/platform/contracts/%d", contract), nil, &made)
	return made.Customer.ID, contract
}

// sendMerge sends the webhook of a merge, as the platform does.
func (s *subscription) sendMerge(gone, kept int64, status string) {
	s.t.Helper()
	s.says("customers/merge", fmt.Sprintf(
		`{"admin_graphql_api_customer_kept_id":"gid://shopify/Customer/%d","admin_graphql_api_customer_deleted_id":"gid://shopify/Customer/%d","admin_graphql_api_job_id":null,"status":%q,"errors":[]}`, kept, gone, status))
}

// merge merges a customer with another one at the platform.
func (s *subscription) merge(gone, kept int64) {
	s.t.Helper()
	s.call("POST", fmt.Sprintf("/platform/customers/%d/merge", gone), map[string]any{"into": kept}, nil)
}

func (s *subscription) member(customer int64) (status int, is points) {
	s.t.Helper()
	status = s.loyalty("GET", fmt.Sprintf("/customer-loyalty?customerId=%d", customer), nil, &is)
	return status, is
}

// Customers that a store merges are merged here too: contracts, points with their expiry.
// Portal sessions of the merged customer end. However often the webhook comes, points move
// once.
func TestMergedCustomersBecomeOne(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/loyalty", map[string]any{"active": true, "expireMonths": 3}, nil)
	ana := s.payer(s.id)
	bob, contract := s.bob()
	s.loyalty("POST", "/add-points", map[string]any{"customerId": bob, "points": 500}, nil)
	s.pass("P35D") // a renewal of each, whose points expire later
	s.magicLink("bob@shopper.example")
	mails := s.letters("kind=management_link")
	guest := &browser{T: t}
	guest.open("POST", mails[len(mails)-1].Links[0])
	type expiry struct {
		ExpiringPointsAmount float64
		PointsExpireAt       string
	}
	var before, after expiry
	s.loyalty("GET", fmt.Sprintf("/customer-loyalty?customerId=%d", bob), nil, &before)
	s.begin()
	s.merge(bob, ana)
	for range 2 {
		s.sendMerge(bob, ana, "completed")
	}
	if status, is := s.member(ana); status != http.StatusOK || is.AvailablePoints != 600 || is.SpentAmount != 100 {
		t.Errorf("reading who is kept answered %d %+v, want 600 points and 100.00 spent", status, is)
	}
	if status, is := s.member(bob); status != http.StatusOK || is.AvailablePoints != 0 || is.CustomerStatus != "INACTIVE" {
		t.Errorf("reading who is gone answered %d %+v, want nothing left", status, is)
	}
	s.loyalty("GET", fmt.Sprintf("/customer-loyalty?customerId=%d", ana), nil, &after)
	if before.PointsExpireAt == "" || after != before { // Ana's first ones do not
		t.Errorf("points expire by %+v, and did by %+v", after, before)
	}
	var rows []struct {
		SubscriptionContractID int64 `json:"subscriptionContractId"`
	}
	s.get(fmt.Sprintf("/subscription-contract-details?customerId=%d&sort=id,asc", ana), &rows)
	if len(rows) != 2 || rows[1].SubscriptionContractID != contract {
		t.Errorf("the contracts of who is kept are %+v", rows)
	}
	if status, _, _ := guest.open("GET", s.urls.Subscriptions+"/p/demo"); status != http.StatusSeeOther {
		t.Errorf("who was in the portal of who is gone is answered %d there", status)
	}
	s.id = contract
	if entries := s.recorded(); !slices.Equal(entries, []string{
		"SUBSCRIPTION_CONTRACT_UPDATED {}",
		fmt.Sprintf(`INFORMATIONAL_EVENT {"what":"points of a merged customer","customerId":%d,"points":550,"availablePoints":600,"note":"customer %d was merged with this one"}`, ana, bob),
	}) {
		t.Errorf("entries:\n%s", lines(entries))
	}
	s.until("2027-01-12")
	if _, is := s.member(ana); is.AvailablePoints != 700 {
		t.Errorf("after two renewals of both there are %v points", is.AvailablePoints)
	}
}

// An unused reward moves to the customer that its member is merged into, and its points
// come back to that customer.
func TestRewardSurvivesMerge(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/loyalty", map[string]any{"active": true}, nil)
	ana := s.payer(s.id)
	bob, _ := s.bob()
	s.loyalty("POST", "/add-points", map[string]any{"customerId": bob, "points": 500}, nil)
	var had points
	s.loyalty("POST", "/redeem-points", map[string]any{"customerId": bob, "pointRedeemRuleId": 1}, &had)
	if len(had.Rewards) != 1 {
		t.Fatalf("Bob has the rewards %+v", had.Rewards)
	}
	s.merge(bob, ana)
	s.sendMerge(bob, ana, "completed")
	_, is := s.member(ana)
	if len(is.Rewards) != 1 || is.Rewards[0].ID != had.Rewards[0].ID || is.Rewards[0].Status != "UNUSED" || is.AvailablePoints != 50 {
		t.Errorf("who is kept has %+v, want 50 points and the reward %+v", is, had.Rewards[0])
	}
	if _, gone := s.member(bob); len(gone.Rewards) != 0 {
		t.Errorf("who is gone has the rewards %+v", gone.Rewards)
	}
	back := map[string]any{"id": had.Rewards[0].ID, "status": "REFUNDED"}
	if got := s.loyalty("PUT", "/update-discount-code-status", back, &is); got != http.StatusOK || is.CustomerID != ana || is.AvailablePoints != 550 || is.Rewards[0].Status != "REFUNDED" {
		t.Errorf("giving back answered %d %+v", got, is)
	}
}

// A member who is merged into a customer who is none keeps the membership.
func TestMembershipSurvivesMerge(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	s.call("POST", "/loyalty", map[string]any{"active": true}, nil)
	ana := s.payer(s.id)
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"webhook_lost"}}, nil)
	bob, _ := s.bob()
	if status, is := s.member(bob); status != http.StatusNotFound {
		t.Fatalf("before, Bob is a member: %+v", is)
	}
	s.merge(ana, bob)
	s.call("DELETE", "/platform/faults", nil, nil)
	s.sendMerge(ana, bob, "completed")
	if status, is := s.member(bob); status != http.StatusOK || is.AvailablePoints != 25 || is.SpentAmount != 25 || is.CustomerStatus != "ACTIVE" {
		t.Errorf("reading who is kept answered %d %+v, want 25 points", status, is)
	}
	if status, is := s.member(ana); status != http.StatusNotFound {
		t.Errorf("reading who is gone answered %d %+v", status, is)
	}
}

// The platform reports a failed merge too. Nothing moves.
func TestFailedMergeMovesNothing(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/loyalty", map[string]any{"active": true}, nil)
	ana := s.payer(s.id)
	bob, _ := s.bob()
	s.sendMerge(bob, ana, "failed")
	s.pass("PT2H")
	for _, customer := range []int64{ana, bob} {
		if status, is := s.member(customer); status != http.StatusOK || is.AvailablePoints != 25 {
			t.Errorf("customer %d answers %d %+v", customer, status, is)
		}
	}
}
