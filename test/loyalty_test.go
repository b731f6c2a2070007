package test

import (
	"fmt"
	"net/http"
	"slices"
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
		Description    string
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

func TestOrdersAndRenewalsEarnPointsForACode(t *testing.T) {
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
	if got := s.loyalty("POST", "/redeem-points", with(map[string]any{"redeemRuleId": 1}), &ana); got != http.StatusOK || ana.AvailablePoints != 50 || len(ana.Rewards) != 1 {
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

func TestPointsNameTheirReward(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ana := s.ana()
	in := map[string]any{"customerId": ana.CustomerID, "points": 1000 - ana.AvailablePoints}
	if got := s.loyalty("POST", "/add-points", in, nil); got != http.StatusOK {
		t.Fatalf("adding answered %d", got)
	}
	for _, row := range []struct {
		points, rest float64
		says         string
	}{{500, 500, "5 off an order"}, {120, 380, "As much as you like off an order"}} {
		in["points"] = row.points
		if got := s.loyalty("POST", "/redeem-points", in, nil); got != http.StatusOK {
			t.Fatalf("redeeming %g answered %d", row.points, got)
		}
		ana = s.ana()
		var got []string
		for _, r := range ana.Rewards {
			got = append(got, r.Description)
		}
		if !slices.Contains(got, row.says) || ana.AvailablePoints != row.rest {
			t.Errorf("redeeming %g: %v and %g points are left", row.points, got, ana.AvailablePoints)
		}
	}
	in["points"] = 99 // no rule is for so few
	if got := s.loyalty("POST", "/redeem-points", in, nil); got != http.StatusBadRequest {
		t.Errorf("redeeming 99 answered %d", got)
	}
}

func TestUnusedCodeExpires(t *testing.T) {
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

func TestRepeatedActivityIsRewardedOnce(t *testing.T) {
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

// A reward is used by the order that its code was entered for, at a checkout or on
// a contract, without anybody saying so.
func TestOrderWithCodeMarksRewardUsed(t *testing.T) {
	t.Parallel()
	type used struct {
		ID           int64
		Status       string
		DiscountCode string
		UsedAt       *time.Time
		OrderID      *int64
		OrderName    *string
		UsageCount   int
	}
	s := subscribe(t, nil)
	ana := s.ana()
	in := map[string]any{"customerId": ana.CustomerID, "points": 2000}
	s.loyalty("POST", "/add-points", in, nil)
	take := func() (code string) {
		t.Helper()
		var after struct{ Rewards []used }
		if got := s.loyalty("POST", "/redeem-points", map[string]any{"customerId": ana.CustomerID, "pointRedeemRuleId": 1}, &after); got != http.StatusOK {
			t.Fatalf("redeeming answered %d", got)
		}
		newest := after.Rewards[0]
		for _, r := range after.Rewards {
			if r.ID > newest.ID {
				newest = r
			}
		}
		return newest.DiscountCode
	}
	rewards := func() map[string]used {
		t.Helper()
		var now struct{ Rewards []used }
		if got := s.loyalty("GET", fmt.Sprintf("/customer-loyalty?customerId=%d", ana.CustomerID), nil, &now); got != http.StatusOK {
			t.Fatalf("reading the member answered %d", got)
		}
		list := map[string]used{}
		for _, r := range now.Rewards {
			list[r.DiscountCode] = r
		}
		return list
	}
	want := func(r used, id int64, name string, from time.Time) {
		t.Helper()
		if r.Status != "USED" || r.UsedAt == nil || r.UsedAt.Before(from.Truncate(time.Second)) || r.OrderID == nil || *r.OrderID != id || r.OrderName == nil || *r.OrderName != name || r.UsageCount != 1 {
			t.Errorf("reward %+v, want it used by order %d %s", r, id, name)
		}
	}

	entered, applied, kept := take(), take(), take()
	before := s.now()
	var made struct {
		OrderID   int64
		OrderName string
	}
	checkout := map[string]any{
		"customer": map[string]any{"id": ana.CustomerID}, "nextBillingDate": s.now().AddDate(0, 3, 0), "billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 3},
		"lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": "20.00"}}, "discountCodes": []string{entered},
	}
	s.call("POST", "/platform/contracts", checkout, &made)
	s.pass("PT1M")
	after := rewards()
	want(after[entered], made.OrderID, made.OrderName, before)
	if after[applied].Status != "UNUSED" || after[kept].Status != "UNUSED" {
		t.Errorf("unused rewards are %+v", after)
	}
	if got := s.request("POST", s.urls.Control+"/platform/contracts", checkout); got.status != http.StatusBadRequest {
		t.Errorf("a code that was used is taken again: %d", got.status)
	}

	s.change("PUT", fmt.Sprintf("/subscription-contracts-apply-discount?contractId=%d&discountCode=%s", s.id, applied), nil)
	if got := rewards()[applied].Status; got != "UNUSED" {
		t.Errorf("a code that waits for its order is %s", got)
	}
	s.pass("P11D")
	past := s.past()
	if len(past) != 1 || past[0].OrderID == nil {
		t.Fatalf("past orders %+v, want one", past)
	}
	after = rewards()
	want(after[applied], *past[0].OrderID, *past[0].OrderName, past[0].BillingDate)
	if got := s.loyalty("PUT", "/update-discount-code-status", map[string]any{"id": after[applied].ID, "status": "REFUNDED"}, nil); got != http.StatusOK {
		t.Errorf("giving back what was used, because the order was refunded, answered %d", got)
	}
	s.pass("P80D")
	for code, status := range map[string]string{entered: "USED", applied: "REFUNDED", kept: "EXPIRED"} {
		if got := rewards()[code].Status; got != status {
			t.Errorf("in the end a reward is %s, want %s", got, status)
		}
	}
}

// The birthday of a member is kept from the enrolment on.
func TestBirthdayIsKeptAndShown(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	who := s.ana().CustomerID
	var member struct{ DOB *string }
	if got := s.loyalty("POST", "/enroll-customer", map[string]any{"customerId": who, "dob": "1990-02-28"}, nil); got != http.StatusOK {
		t.Fatalf("enrolling answered %d", got)
	}
	if got := s.loyalty("GET", fmt.Sprintf("/customer-loyalty?customerId=%d", who), nil, &member); got != http.StatusOK || member.DOB == nil || *member.DOB != "1990-02-28" {
		t.Errorf("the member answered %d, born on %v", got, member.DOB)
	}
}

// A member reads the code in an e-mail, and ends e-mails of its kind with the one request of a mail program.
func TestRedeemedCodeIsMailedUntilTheMemberEndsIt(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	in := map[string]any{"customerId": s.ana().CustomerID, "points": 2000}
	redeem := func() string {
		t.Helper()
		var ana points
		if got := s.loyalty("POST", "/redeem-points", map[string]any{"customerId": in["customerId"], "pointRedeemRuleId": 1}, &ana); got != http.StatusOK {
			t.Fatalf("redeeming answered %d", got)
		}
		s.pass("P1D")
		return *ana.Rewards[0].DiscountCode
	}
	if got := s.loyalty("POST", "/add-points", in, nil); got != http.StatusOK {
		t.Fatalf("adding answered %d", got)
	}
	code := redeem()
	list := s.mails("kind=reward_issued")
	if len(list) != 1 || list[0].To != "ana@shopper.example" || !strings.Contains(list[0].Text, code) || !strings.Contains(list[0].Text, "/rewards") {
		t.Fatalf("the e-mails with codes are %+v, want one with %s", list, code)
	}
	at := slices.IndexFunc(list[0].Links, func(link string) bool { return strings.Contains(link, "/u/") })
	if at < 0 {
		t.Fatalf("no link of %v ends such e-mails", list[0].Links)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, list[0].Links[at], strings.NewReader("List-Unsubscribe=One-Click"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("ending them answered %d", res.StatusCode)
	}
	redeem()
	if n := len(s.mails("kind=reward_issued")); n != 1 {
		t.Errorf("there are %d e-mails with codes", n)
	}
	var entries []struct{ EventType, Status, AdditionalInfo string }
	s.get(fmt.Sprintf("/activity-logs?size=100&sort=id,asc&id.greaterThan=%d", s.log), &entries)
	var ends []string
	for _, e := range entries {
		if strings.Contains(e.AdditionalInfo, `"reward_issued"`) {
			ends = append(ends, e.EventType+" "+e.Status)
		}
	}
	if want := []string{"INFORMATIONAL_EVENT SUCCESS", "INFORMATIONAL_EVENT SKIPPED"}; !slices.Equal(ends, want) {
		t.Errorf("the log says %v, want %v", ends, want)
	}
}
