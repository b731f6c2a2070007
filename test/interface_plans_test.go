package test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// wantKept asserts that an answer has every field as it was sent.
func wantKept(t *testing.T, where string, sent, got map[string]any) {
	t.Helper()
	for field, want := range sent {
		if field != "subscriptionPlans" && fmt.Sprint(got[field]) != fmt.Sprint(want) {
			t.Errorf("%s: %s is %v, want %v", where, field, got[field], want)
		}
	}
}

// A group keeps all that can be said of it and of its plans, wherever it is read.
func TestGroupKeepsEveryPlanField(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Empty: true, MainOnly: true})
	var sold []struct{ ProductID int64 }
	m.call("GET", "/platform/variants", nil, &sold)
	yearly := map[string]any{
		"frequencyName": "Every December", "frequencyDescription": "Before the holidays", "planType": "PAY_AS_YOU_GO", "prepaidFlag": "false",
		"frequencyCount": 1, "frequencyInterval": "YEAR", "billingFrequencyCount": 1, "billingFrequencyInterval": "YEAR",
		"frequencyType": "ON_SPECIFIC_DAY", "specificDayEnabled": true, "specificDayValue": 6, "specificMonthValue": 12, "cutOff": 3, "deliveryPolicyPreAnchorBehavior": "NEXT",
		"discountEnabled": true, "discountOffer": 20, "discountType": "PERCENTAGE", "afterCycle1": 0,
		"discountEnabled2": true, "discountOffer2": 5, "discountType2": "FIXED", "afterCycle2": 2, "minCycles": 2, "maxCycles": 6,
		"memberOnly": true, "memberInclusiveTags": "gold,silver", "memberExclusiveTags": "staff", "rulesJson": "{}",
	}
	monthly := map[string]any{
		"frequencyName": "Every month, first one free", "frequencyCount": 1, "frequencyInterval": "MONTH", "billingFrequencyCount": 1, "billingFrequencyInterval": "MONTH",
		"freeTrialEnabled": true, "freeTrialCount": 2, "freeTrialInterval": "WEEK", "keepOriginalNextBillingDateAfterTrial": true,
		"allowedForUpgradeDowngrade": true, "nonMemberOnly": true,
	}
	body := map[string]any{
		"groupName": "All of it", "productIds": fmt.Sprintf("%d,%d", sold[0].ProductID, sold[len(sold)-1].ProductID),
		"customerTag": "subscriber", "orderTag": "begun", "memberOrderTag": "renewal",
		"productId": "3001", "accessoryProductIds": "3002", "translations": `{"de":"Alles"}`, "rulesJson": "[]", "formFieldsJson": `[{"label":"Name"}]`,
		"subscriptionPlans": []any{yearly, monthly},
	}
	var made struct{ ID int64 }
	if got := m.do("POST", "/subscription-groups", body, &made); got != http.StatusCreated {
		t.Fatalf("making it answered %d", got)
	}
	delete(body, "productIds") // shown as objects
	plansOf := func(where string, group map[string]any) []any {
		wantKept(t, where, body, group)
		plans, _ := group["subscriptionPlans"].([]any)
		if len(plans) != 2 {
			t.Fatalf("%s: the plans are %v", where, plans)
		}
		for i, sent := range []map[string]any{yearly, monthly} {
			wantKept(t, where, sent, plans[i].(map[string]any))
		}
		return plans
	}
	path := fmt.Sprintf("/subscription-groups/%d", made.ID)
	var read, less map[string]any
	if got := m.do("GET", path, nil, &read); got != http.StatusOK {
		t.Fatalf("reading it answered %d", got)
	}
	plans := plansOf("the group", read)
	if got := m.do("PUT", fmt.Sprintf("%s/remove-products?productIds=%d", path, sold[0].ProductID), nil, &less); got != http.StatusOK {
		t.Fatalf("taking a product out answered %d", got)
	}
	plansOf("the group with a product less", less)
	var options []map[string]any
	ids := fmt.Sprintf("%v,%v", plans[0].(map[string]any)["idNew"], plans[1].(map[string]any)["idNew"])
	if got := m.do("GET", "/subscription-contract-details/billing-interval?sellingPlanIds="+ids, nil, &options); got != http.StatusOK || len(options) != 2 {
		t.Fatalf("reading the plans answered %d with %v", got, options)
	}
	for i, o := range options {
		wantKept(t, "the plan alone", []map[string]any{yearly, monthly}[i], o)
	}
}

func TestAttemptFlagsAreKept(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.upcoming()[0]
	for _, on := range []bool{true, false} {
		flags := map[string]any{"retryingNeeded": on, "applyUsageCharge": on, "upgradeDowngradeBilling": on}
		body := map[string]any{"id": first.ID}
		for name, value := range flags {
			body[name] = value
		}
		var changed map[string]any
		if got := s.put("/subscription-billing-attempts", body, &changed); got != http.StatusOK {
			t.Fatalf("setting them answered %d", got)
		}
		wantKept(t, "the answer", flags, changed)
		var queue []map[string]any
		s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &queue)
		wantKept(t, "the list", flags, queue[0])
	}
}

func TestSwapRuleFlagsAreKept(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	rule := s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), nil)
	for _, on := range []bool{true, false} {
		flags := map[string]any{
			"updatedFirstOrder": on, "checkForEveryRecurringOrder": !on, "carryDiscountForward": on, "stopSwapEmails": on, "changeNextOrderDateBy": 4,
		}
		body := map[string]any{"id": rule.ID, "shop": rule.Shop}
		for name, value := range flags {
			body[name] = value
		}
		var changed, read map[string]any
		if got := s.put("/product-swaps", body, &changed); got != http.StatusOK {
			t.Fatalf("setting them answered %d", got)
		}
		wantKept(t, "the answer", flags, changed)
		s.get(fmt.Sprintf("/product-swaps/%d", rule.ID), &read)
		wantKept(t, "the rule", flags, read)
	}
}
