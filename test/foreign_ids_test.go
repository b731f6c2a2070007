package test

import (
	"fmt"
	"net/http"
	"testing"
)

// What another store has does not exist for this one, wherever a request names it, and
// the same request succeeds with the store's own. Ids in paths and in parameters that
// every operation shares are tried by TestEveryOperationKeepsItsDocument; here are those
// in bodies and in filters.
func TestIDsOfAnotherStoreAreNotFound(t *testing.T) {
	t.Parallel()
	w := openStage(t)
	w.renew(&w.mine, w.key)
	type fields = map[string]any
	list := func(f facts, i int) string { return fmt.Sprintf(`[{"id":%d}]`, f.variants[i]) }
	endpoint := func(key string) (made struct{ ID int64 }) {
		w.send("POST", w.urls.Subscriptions+api+"/webhook-endpoints", key, fields{"url": "http://127.0.0.1:9/hook", "types": []string{"subscription.created"}}, &made)
		return made
	}
	// named is what a request names of one of the stores.
	type named struct {
		facts
		location, endpoint int64
	}
	mine, theirs := named{w.mine, 6001, endpoint(w.key).ID}, named{w.theirs, 10006001, endpoint(w.foreign).ID}
	if mine.endpoint == 0 || theirs.endpoint == 0 {
		t.Fatal("a store has no webhook endpoint")
	}
	group := fmt.Sprintf("/subscription-groups/%d", w.mine.group)
	profile := func(location int64) fields {
		method := fields{"name": "Parcel", "amount": 5}
		return fields{"name": "Parcels", "locationInfos": []any{fields{"locationId": location, "countryInfos": []any{fields{"code": "US", "shouldIncludeAllProvince": true, "deliveryMethodInfo": []any{method}}}}}}
	}
	monthly := []any{fields{"frequencyName": "Monthly", "frequencyCount": 1, "frequencyInterval": "MONTH"}}
	entries := func() int {
		var list []struct{}
		w.send("GET", w.urls.Subscriptions+api+"/activity-logs?eventSource.equals=MERCHANT_EXTERNAL_API&status.equals=SUCCESS&size=100", w.key, nil, &list)
		return len(list)
	}
	type ask struct {
		method, target string
		body           any
	}
	rows := []struct {
		name string
		of   func(n named) ask
		key  string
	}{
		{"a swap rule's sources", func(n named) ask {
			return ask{"POST", "/product-swaps", fields{"sourceVariants": list(n.facts, 0), "destinationVariants": list(w.mine, 1)}}
		}, "variantNotFound"},
		{"a swap rule's destinations", func(n named) ask {
			return ask{"POST", "/product-swaps", fields{"sourceVariants": list(w.mine, 2), "destinationVariants": list(n.facts, 1)}}
		}, "variantNotFound"},
		{"a kept rule's destinations", func(n named) ask {
			return ask{"PUT", fmt.Sprintf("/product-swaps/%d", w.mine.swap), fields{"destinationVariants": list(n.facts, 1)}}
		}, "variantNotFound"},
		{"the products of a new group", func(n named) ask {
			return ask{"POST", "/subscription-groups", fields{"groupName": "Theirs", "subscriptionPlans": monthly, "productIds": fmt.Sprint(n.products[0])}}
		}, "productNotFound"},
		{"products for a group", func(n named) ask {
			return ask{"PUT", fmt.Sprintf("%s/add-products?productIds=%d", group, n.products[0]), nil}
		}, "productNotFound"},
		{"variants for a group", func(n named) ask {
			return ask{"PUT", fmt.Sprintf("%s/add-products?variantIds=%d", group, n.variants[0]), nil}
		}, "variantNotFound"},
		{"a group's products in its record", func(n named) ask {
			return ask{"PUT", group, fields{"updateProducts": fields{"productIds": fmt.Sprint(n.products[0])}}}
		}, "productNotFound"},
		{"a delivery profile's location", func(n named) ask {
			return ask{"POST", "/delivery-profiles/v2/create-shipping-profile", profile(n.location)}
		}, "locationNotFound"},
		{"a place to pick up at", func(n named) ask {
			return ask{"PUT", fmt.Sprintf("/subscription-contracts-update-shipping-address?contractId=%d", w.mine.contract), fields{"methodType": "PICK_UP", "locationId": n.location}}
		}, "locationNotFound"},
		{"the contract of a report", func(n named) ask {
			return ask{"GET", fmt.Sprintf("/subscription-billing-attempts/past-orders/report?status=SUCCESS&contractId=%d", n.contract), nil}
		}, "contractNotFound"},
		{"the contract of an empty report", func(n named) ask {
			return ask{"GET", fmt.Sprintf("/subscription-billing-attempts/past-orders/report?status=REFUNDED&contractId=%d", n.contract), nil}
		}, "contractNotFound"},
		{"the endpoint of a list of tries", func(n named) ask {
			return ask{"GET", fmt.Sprintf("/webhook-deliveries?endpointId=%d", n.endpoint), nil}
		}, "webhookEndpointNotFound"},
	}
	before := entries()
	for _, row := range rows {
		a := row.of(theirs)
		if got := w.demand(a.method, a.target, w.key, a.body); got.status != http.StatusNotFound || got.errorKey() != row.key {
			t.Errorf("%s: answered %d %.300s, want 404 %s", row.name, got.status, got.body, row.key)
		}
	}
	if after := entries(); after != before {
		t.Errorf("%d entries say that something was done, want none", after-before)
	}
	for _, row := range rows {
		a := row.of(mine)
		if got := w.demand(a.method, a.target, w.key, a.body); got.status != http.StatusOK && got.status != http.StatusCreated {
			t.Errorf("%s of the store itself: answered %d %.300s", row.name, got.status, got.body)
		}
	}
}
