package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// happening is the data of a webhook about a member.
type happening struct {
	Customer struct {
		points
		PendingPoints, StoreCreditBalance float64
		CurrentVIPTier                    string
	}
	Transaction *struct {
		ID, CustomerID                int64
		TransactionType, Activity     string
		Points, PendingPoints         float64
		Description                   string
		Note                          *string
		PointEarnRuleID, RewardID     *int64
		AvailableAt, OccurredAt, Shop string
	}
	Reward *struct {
		ID, PointTransactionID, CustomerID int64
		Status                             string
		DiscountCode                       *string
	}
	StoreCredit *struct {
		Amount         float64
		Activity, Shop string
		Note           *string
		CustomerID     int64
	}
}

func (a arrived) happening(t *testing.T) (h happening) {
	t.Helper()
	if err := json.Unmarshal(a.says(t).Data, &h); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return h
}

var ofMembers = []string{"loyalty.sign-up", "loyalty.earned", "loyalty.redeemed", "loyalty.credits-earned"}

func TestWebhooksReportMemberEvents(t *testing.T) {
	t.Parallel()
	s := house(t, sandbox.Options{Empty: true, MainOnly: true}).subscription
	r := listen(s, ofMembers...)
	dull := listen(s, "subscription.paused")
	s.id = s.checkout(nil)
	list := r.wantTypes("loyalty.sign-up", "loyalty.earned")
	ana := s.ana()
	if h := list[0].happening(t); h.Customer.CustomerID != ana.CustomerID || h.Customer.CustomerStatus != "ACTIVE" || h.Transaction != nil || h.Reward != nil || h.StoreCredit != nil {
		t.Errorf("a sign-up tells %s", list[0].Body)
	}
	if h := list[1].happening(t); h.Customer.AvailablePoints != 25 || h.Transaction == nil || h.Transaction.Points != 25 || h.Transaction.TransactionType != "EARN" ||
		h.Transaction.Activity != "PURCHASE" || h.Transaction.CustomerID != ana.CustomerID || h.Transaction.PointEarnRuleID == nil || h.Reward != nil {
		t.Errorf("the first order tells %s", list[1].Body)
	}

	s.pass("P11D") // a renewal earns too
	r.wantTypes("loyalty.sign-up", "loyalty.earned", "loyalty.earned")
	by := func(path string, more map[string]any, answer int) {
		t.Helper()
		more["customerId"] = ana.CustomerID
		if got := s.loyalty("POST", path, more, nil); got != answer {
			t.Fatalf("%s answered %d", path, got)
		}
	}
	by("/add-points", map[string]any{"points": 500, "note": "sorry"}, http.StatusOK)
	by("/remove-points", map[string]any{"points": 10}, http.StatusOK) // no endpoint subscribes to this type
	by("/redeem-points", map[string]any{"pointRedeemRuleId": 2}, http.StatusBadRequest)
	by("/redeem-points", map[string]any{"pointRedeemRuleId": 1}, http.StatusOK)
	by("/add-credits", map[string]any{"amount": 7.5, "note": "sorry again"}, http.StatusOK)
	list = r.wantTypes("loyalty.sign-up", "loyalty.earned", "loyalty.earned", "loyalty.earned", "loyalty.redeemed", "loyalty.credits-earned")
	if h := list[3].happening(t); h.Transaction == nil || h.Transaction.TransactionType != "ADJUST" || h.Transaction.Activity != "MANUAL" || h.Transaction.Points != 500 || h.Transaction.Note == nil {
		t.Errorf("points by hand tell %s", list[3].Body)
	}
	if h := list[4].happening(t); h.Transaction == nil || h.Transaction.Points != -500 || h.Reward == nil || h.Reward.Status != "UNUSED" || h.Reward.DiscountCode == nil ||
		h.Reward.PointTransactionID != h.Transaction.ID || h.Customer.AvailablePoints != 40 {
		t.Errorf("a reward tells %s", list[4].Body)
	}
	if h := list[5].happening(t); h.StoreCredit == nil || h.StoreCredit.Amount != 7.5 || h.StoreCredit.Activity != "MANUAL" || h.StoreCredit.CustomerID != ana.CustomerID ||
		h.Customer.StoreCreditBalance != 7.5 || h.Transaction != nil {
		t.Errorf("store credit tells %s", list[5].Body)
	}
	var deliveries []struct{ CustomerID, ContractID *int64 }
	s.get(fmt.Sprintf("/webhook-deliveries?endpointId=%d", r.id), &deliveries)
	for _, d := range deliveries {
		if d.CustomerID == nil || *d.CustomerID != ana.CustomerID || d.ContractID != nil {
			t.Errorf("a delivery is about %+v", d)
		}
	}
	if len(dull.messages()) != 0 {
		t.Error("a receiver got a type that it had not subscribed to")
	}

	// Points that are given back are not earned, and a code that can be used again was not redeemed again.
	reward := map[string]any{"id": list[4].happening(t).Reward.ID}
	for _, status := range []string{"USED", "UNUSED", "REFUNDED"} {
		reward["status"] = status
		if got := s.loyalty("PUT", "/update-discount-code-status", reward, nil); got != http.StatusOK {
			t.Fatalf("%s answered %d", status, got)
		}
	}
	by("/redeem-points", map[string]any{"pointRedeemRuleId": 4}, http.StatusOK) // store credit for points
	list = r.messages()
	var got []string
	for _, a := range list[6:] {
		got = append(got, a.says(t).Type)
	}
	if fmt.Sprint(got) != "[loyalty.credits-earned loyalty.redeemed]" {
		t.Errorf("afterwards %v", got)
	}
	if a := s.demand("GET", fmt.Sprintf("/webhook-deliveries?endpointId=%d", dull.id), s.key, nil); strings.TrimSpace(string(a.body)) != "[]" {
		t.Errorf("owed to a receiver that had not asked: %s", a.body)
	}
}

func TestWebhooksReportTiersAndReferrals(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	who := s.ana().CustomerID
	var rules []struct {
		ID       int64
		RuleType string
	}
	if got := s.loyalty("GET", "/point-earn-rules?size=100", nil, &rules); got != http.StatusOK {
		t.Fatalf("the rules answered %d", got)
	}
	r := listen(s, append([]string{"loyalty.vip-tier-achieved", "loyalty.birthday-trigger", "loyalty.referral-reward", "loyalty.referred-reward"}, ofMembers...)...)
	add := func(occasion string, points float64) {
		t.Helper()
		for _, rule := range rules {
			if rule.RuleType != occasion {
				continue
			}
			if got := s.loyalty("POST", "/add-points", map[string]any{"customerId": who, "earnRuleId": rule.ID, "points": points}, nil); got != http.StatusOK {
				t.Fatalf("adding for %s answered %d", occasion, got)
			}
		}
	}
	add("REFERRAL", 200)
	list := r.wantTypes("loyalty.earned", "loyalty.referral-reward")
	if h := list[1].happening(t); h.Transaction == nil || h.Transaction.Activity != "REFERRAL" || h.Transaction.Points != 200 || h.Customer.CurrentVIPTier != "Seedling" {
		t.Errorf("a referral tells %s", list[1].Body)
	}
	add("PURCHASE", 30) // with the 25 of the checkout it is more than 250
	list = r.wantTypes("loyalty.earned", "loyalty.referral-reward", "loyalty.earned", "loyalty.vip-tier-achieved")
	if h := list[3].happening(t); h.Transaction == nil || h.Transaction.Points != 30 || h.Customer.CurrentVIPTier != "Sapling" {
		t.Errorf("a tier tells %s", list[3].Body)
	}
	add("PURCHASE", 30)
	r.wantTypes("loyalty.earned", "loyalty.referral-reward", "loyalty.earned", "loyalty.vip-tier-achieved", "loyalty.earned")
}

func TestWebhooksOfOneMemberKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	r := listen(s, ofMembers...)
	who := map[string]any{"customerId": s.ana().CustomerID, "points": 1}
	r.answers(500)
	for _, points := range []float64{1, 2} {
		who["points"] = points
		if got := s.loyalty("POST", "/add-points", who, nil); got != http.StatusOK {
			t.Fatalf("adding answered %d", got)
		}
		r.messages()
	}
	r.wantTypes("loyalty.earned") // it was refused, and the second one waits
	s.pass("PT1M")
	list := r.wantTypes("loyalty.earned", "loyalty.earned", "loyalty.earned")
	for i, want := range []float64{1, 1, 2} {
		if got := list[i].happening(t).Transaction.Points; got != want {
			t.Errorf("message %d has %g points, want %g", i+1, got, want)
		}
	}
}
