package test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// points is what a story looks at in a loyalty customer.
type points struct {
	CustomerID      int64   `json:"customerId"`
	AvailablePoints float64 `json:"availablePoints"`
	CreditedPoints  float64 `json:"creditedPoints"`
	SpentAmount     float64 `json:"spentAmount"`
	CustomerStatus  string  `json:"customerStatus"`
	Rewarded        bool    `json:"rewardedForNewsLetter"`
	Rewards         []struct {
		ID             int64
		Status         string
		DiscountCode   *string
		DiscountCodeID *string
		ExpireDate     *time.Time
	}
}

// loyalty calls the loyalty interface and returns the status.
func (s *subscription) loyalty(method, path string, in, out any) int {
	s.t.Helper()
	return s.send(method, s.urls.Subscriptions+"/api/external"+path, s.key, in, out)
}

// ana returns the only customer of the story, as the loyalty interface shows her.
func (s *subscription) ana() points {
	s.t.Helper()
	var p points
	if got := s.loyalty("GET", "/customer-loyalty?customerEmail=ana@shopper.example", nil, &p); got != http.StatusOK {
		s.t.Fatalf("reading the customer answered %d", got)
	}
	return p
}

func TestOrdersAndRenewalsEarnPointsAndPointsBecomeACode(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ana := s.ana()
	if ana.AvailablePoints != 25 || ana.SpentAmount != 25 || ana.CustomerStatus != "ACTIVE" {
		t.Errorf("after the first order of 25.00: %+v", ana)
	}
	s.pass("P11D")
	if ana = s.ana(); ana.AvailablePoints != 50 || ana.SpentAmount != 50 {
		t.Errorf("after a renewal: %+v", ana)
	}
	who := map[string]any{"customerId": ana.CustomerID}
	with := func(more map[string]any) map[string]any {
		for k, v := range who {
			more[k] = v
		}
		return more
	}
	if got := s.loyalty("POST", "/redeem-points", with(map[string]any{"pointRedeemRuleId": 1}), nil); got != http.StatusBadRequest {
		t.Errorf("redeeming more points than there are answered %d", got)
	}
	if got := s.loyalty("POST", "/add-points", with(map[string]any{"points": 500, "note": "welcome"}), &ana); got != http.StatusOK || ana.AvailablePoints != 550 {
		t.Fatalf("adding answered %d %+v", got, ana)
	}
	if got := s.loyalty("POST", "/redeem-points", with(map[string]any{"pointRedeemRuleId": 1}), &ana); got != http.StatusOK || ana.AvailablePoints != 50 || len(ana.Rewards) != 1 {
		t.Fatalf("redeeming answered %d %+v", got, ana)
	}
	reward := ana.Rewards[0]
	if reward.Status != "UNUSED" || reward.DiscountCode == nil || reward.DiscountCodeID == nil || !strings.HasPrefix(*reward.DiscountCodeID, "gid://shopify/DiscountCodeNode/") {
		t.Errorf("reward %+v", reward)
	}
	var top []struct {
		CustomerID   int64   `json:"customerId"`
		PointsEarned float64 `json:"pointsEarned"`
	}
	if got := s.loyalty("GET", "/top-customers", nil, &top); got != http.StatusOK || len(top) != 1 || top[0].PointsEarned != 50 || top[0].CustomerID != ana.CustomerID {
		t.Errorf("top customers answered %d %+v", got, top)
	}
	back := map[string]any{"id": reward.ID, "status": "REFUNDED"}
	if got := s.loyalty("PUT", "/update-discount-code-status", back, &ana); got != http.StatusOK || ana.AvailablePoints != 550 || ana.Rewards[0].Status != "REFUNDED" {
		t.Errorf("giving back answered %d %+v", got, ana)
	}
	const byHand = "MERCHANT_EXTERNAL_API INFORMATIONAL_EVENT SUCCESS"
	s.wantEntries(created, charged, byHand, byHand)
}

func TestACodeThatIsNotUsedEndsByItself(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ana := s.ana()
	in := map[string]any{"customerId": ana.CustomerID, "points": 600}
	s.loyalty("POST", "/add-points", in, nil)
	delete(in, "points")
	in["pointRedeemRuleId"] = 1
	if got := s.loyalty("POST", "/redeem-points", in, &ana); got != http.StatusOK {
		t.Fatalf("redeeming answered %d", got)
	}
	s.pass("P89D")
	if got := s.ana().Rewards[0].Status; got != "UNUSED" {
		t.Errorf("after 89 days the reward is %s", got)
	}
	s.pass("P2D")
	if got := s.ana().Rewards[0].Status; got != "EXPIRED" {
		t.Errorf("after 91 days the reward is %s", got)
	}
}

func TestAnActivityIsRewardedOnceHoweverOftenItIsReported(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	var rules []struct {
		ID       int64
		RuleType string
	}
	s.loyalty("GET", "/point-earn-rules", nil, &rules)
	ana := s.ana()
	for _, r := range rules {
		if r.RuleType != "NEWSLETTER" {
			continue
		}
		in := map[string]any{"customerId": ana.CustomerID, "earnRuleId": r.ID}
		if first, second := s.loyalty("POST", "/add-points", in, nil), s.loyalty("POST", "/add-points", in, nil); first != http.StatusOK || second != http.StatusBadRequest {
			t.Errorf("reporting it answered %d, then %d", first, second)
		}
	}
	if after := s.ana(); !after.Rewarded || after.AvailablePoints != ana.AvailablePoints+25 {
		t.Errorf("before %+v, after %+v", ana, after)
	}
	var history []struct{ Activity string }
	path := fmt.Sprintf("/point-transaction-history/%d", ana.CustomerID)
	if got := s.loyalty("GET", path, nil, &history); got != http.StatusOK || len(history) != 2 {
		t.Errorf("the history answered %d %+v", got, history)
	}
}
