package test

import (
	"fmt"
	"net/http"
	"testing"
)

// What another store has does not exist for this one, wherever a request names it. Ids
// in paths and in parameters that every operation shares are tried by
// TestEveryOperationKeepsItsDocument; here are those in bodies and in filters.
func TestWhatAnotherStoreHasIsNotFoundWhereverItIsNamed(t *testing.T) {
	t.Parallel()
	w := openStage(t)
	w.renew(&w.mine, w.key)
	type fields = map[string]any
	list := func(f facts, i int) string { return fmt.Sprintf(`[{"id":%d}]`, f.variants[i]) }
	endpoint := func(key string) (made struct{ ID int64 }) {
		w.send("POST", w.urls.Subscriptions+api+"/webhook-endpoints", key, fields{"url": "http://127.0.0.1:9/hook", "types": []string{"subscription.created"}}, &made)
		return made
	}
	theirs := endpoint(w.foreign)
	if theirs.ID == 0 {
		t.Fatal("the other store has no webhook endpoint")
	}
	group := fmt.Sprintf("/subscription-groups/%d", w.mine.group)
	profile := func(location int64) fields {
		method := fields{"name": "Parcel", "amount": 5}
		return fields{"name": "Parcels", "locationInfos": []any{fields{"locationId": location, "countryInfos": []any{fields{"code": "US", "shouldIncludeAllProvince": true, "deliveryMethodInfo": []any{method}}}}}}
	}
	entries := func() int {
		var list []struct{}
		w.send("GET", w.urls.Subscriptions+api+"/activity-logs?eventSource.equals=MERCHANT_EXTERNAL_API&status.equals=SUCCESS&size=100", w.key, nil, &list)
		return len(list)
	}
	before := entries()
	for name, row := range map[string]struct {
		method, target string
		body           any
		key            string
	}{
		"a swap rule's sources":            {"POST", "/product-swaps", fields{"sourceVariants": list(w.theirs, 0), "destinationVariants": list(w.mine, 1)}, "variantNotFound"},
		"a swap rule's destinations":       {"POST", "/product-swaps", fields{"sourceVariants": list(w.mine, 0), "destinationVariants": list(w.theirs, 1)}, "variantNotFound"},
		"a kept rule's destinations":       {"PUT", fmt.Sprintf("/product-swaps/%d", w.mine.swap), fields{"destinationVariants": list(w.theirs, 1)}, "variantNotFound"},
		"the products of a new group":      {"POST", "/subscription-groups", fields{"groupName": "Theirs", "subscriptionPlans": []any{fields{"frequencyName": "Monthly", "frequencyCount": 1, "frequencyInterval": "MONTH"}}, "productIds": fmt.Sprint(w.theirs.products[0])}, "productNotFound"},
		"products for a group":             {"PUT", fmt.Sprintf("%s/add-products?productIds=%d", group, w.theirs.products[0]), nil, "productNotFound"},
		"variants for a group":             {"PUT", fmt.Sprintf("%s/add-products?variantIds=%d", group, w.theirs.variants[0]), nil, "variantNotFound"},
		"a group's products in its record": {"PUT", group, fields{"updateProducts": fields{"productIds": fmt.Sprint(w.theirs.products[0])}}, "productNotFound"},
		"a delivery profile's location":    {"POST", "/delivery-profiles/v2/create-shipping-profile", profile(10006001), "locationNotFound"},
		"a place to pick up at":            {"PUT", fmt.Sprintf("/subscription-contracts-update-shipping-address?contractId=%d", w.mine.contract), fields{"methodType": "PICK_UP", "locationId": 10006001}, "locationNotFound"},
		"the contract of a report":         {"GET", fmt.Sprintf("/subscription-billing-attempts/past-orders/report?status=SUCCESS&contractId=%d", w.theirs.contract), nil, "contractNotFound"},
		"the contract of an empty report":  {"GET", fmt.Sprintf("/subscription-billing-attempts/past-orders/report?status=REFUNDED&contractId=%d", w.theirs.contract), nil, "contractNotFound"},
		"the endpoint of a list of tries":  {"GET", fmt.Sprintf("/webhook-deliveries?endpointId=%d", theirs.ID), nil, "webhookEndpointNotFound"},
	} {
		if got := w.demand(row.method, row.target, w.key, row.body); got.status != http.StatusNotFound || got.errorKey() != row.key {
			t.Errorf("%s: answered %d %.300s, want 404 %s", name, got.status, got.body, row.key)
		}
	}
	if after := entries(); after != before {
		t.Errorf("%d entries say that something was done, want none", after-before)
	}
}
