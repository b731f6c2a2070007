package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// An invalid request is answered 400 whether or not its object exists; a valid one for
// an unknown id is answered 404. The bodies' simple fields are tried
// by TestEveryOperationKeepsItsDocument; here is what lies deeper.
func TestInvalidRequestIsRefusedBeforeLookup(t *testing.T) {
	t.Parallel()
	w := openStage(t)
	const nothing = 1<<53 - 1
	type fields = map[string]any
	variants := func(list string) fields { return fields{"id": nothing, "shop": w.mine.domain, "sourceVariants": list} }
	of := func(path string) string { return fmt.Sprintf("%s?contractId=%d", path, nothing) }
	for name, row := range map[string]struct {
		method, target string
		body           any
		want           int
	}{
		"a swap rule":                            {"PUT", "/product-swaps", variants(`[{"id":1}]`), 404},
		"a swap rule without sources":            {"PUT", "/product-swaps", variants(`[]`), 400},
		"a swap rule with an empty list":         {"PUT", "/product-swaps", variants(``), 400},
		"a swap rule of too many":                {"PUT", "/product-swaps", variants(`[{"id":1,"quantity":10000}]`), 400},
		"a swap rule that names a variant twice": {"PUT", fmt.Sprintf("/product-swaps/%d", nothing), fields{"sourceVariants": `[{"id":1},{"id":1}]`}, 400},
		"a swap rule that changes nothing":       {"PUT", fmt.Sprintf("/product-swaps/%d", nothing), fields{"sourceVariants": `[{"id":1}]`, "destinationVariants": `[{"id":1}]`}, 400},
		"an attempt":                             {"PUT", "/subscription-billing-attempts", fields{"id": nothing, "orderNote": "x"}, 404},
		"an attempt with an amount that is none": {"PUT", "/subscription-billing-attempts", fields{"id": nothing, "orderAmount": "much"}, 400},
		"an attempt with lines that are none":    {"PUT", "/subscription-billing-attempts", fields{"id": nothing, "variantList": "all"}, 400},
		"an order to be moved":                   {"PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=2027-01-31", nothing), nil, 404},
		"an order to be moved into the past":     {"PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=2020-01-31", nothing), nil, 400},
		"an order to be moved too far":           {"PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=2090-01-31", nothing), nil, 400},
		"a contract to be moved into the past":   {"PUT", of("/subscription-contracts-update-billing-date") + "&nextBillingDate=2020-01-31", nil, 400},
		"a pause":                                {"PUT", of("/subscription-contracts-update-status") + "&status=PAUSED&pauseTillDate=2027-01-31", nil, 404},
		"a pause until the past":                 {"PUT", of("/subscription-contracts-update-status") + "&status=PAUSED&pauseTillDate=2020-01-31", nil, 400},
		"a pause that is too long":               {"PUT", of("/subscription-contracts-update-status") + "&status=PAUSED&pauseTillDate=2090-01-31", nil, 400},
		"a pause of two lengths":                 {"PUT", of("/subscription-contracts-update-status") + "&status=PAUSED&pauseTillDate=2027-01-31&pauseDurationCycle=2", nil, 400},
		"an activation in the past":              {"PUT", of("/subscription-contracts-update-status") + "&status=ACTIVE&activationDate=2020-01-31", nil, 400},
		"an activation too far away":             {"PUT", of("/subscription-contracts-update-status") + "&status=ACTIVE&activationDate=2090-01-31", nil, 400},
		"lines":                                  {"PUT", of("/subscription-contracts-add-line-items"), []any{fields{"variantId": 1, "quantity": 1, "currentPrice": 1.5}}, 404},
		"no lines":                               {"PUT", of("/subscription-contracts-add-line-items"), []any{}, 400},
		"a line without a variant":               {"PUT", of("/subscription-contracts-add-line-items"), []any{fields{"quantity": 1}}, 400},
		"a line of nothing":                      {"PUT", of("/subscription-contracts-add-line-items"), []any{fields{"variantId": 1, "quantity": 0}}, 400},
		"a line below its price":                 {"PUT", of("/subscription-contracts-add-line-items"), []any{fields{"variantId": 1, "quantity": 1, "currentPrice": -1}}, 400},
		"a product for one order at a price":     {"PUT", of("/subscription-contract-add-line-item") + "&variantId=1&quantity=1&isOneTimeProduct=true&price=5", nil, 404},
		"a price by cycle":                       {"PUT", of("/subscription-contracts-update-line-item-pricing-policy") + "&lineId=x", []any{fields{"afterCycle": 1, "discountType": "PRICE", "value": 5}}, 404},
		"a price by cycle of no kind":            {"PUT", of("/subscription-contracts-update-line-item-pricing-policy") + "&lineId=x", []any{fields{"afterCycle": 1, "discountType": "GIFT", "value": 5}}, 400},
		"a price by cycle of more than all":      {"PUT", of("/subscription-contracts-update-line-item-pricing-policy") + "&lineId=x", []any{fields{"afterCycle": 1, "discountType": "PERCENTAGE", "value": 101}}, 400},
		"a price by cycle beyond all":            {"PUT", of("/subscription-contracts-update-line-item-pricing-policy") + "&lineId=x", []any{fields{"afterCycle": 1, "discountType": "PRICE", "value": 1000000}}, 400},
		"an amount off that is beyond all":       {"PUT", of("/subscription-contracts-update-line-item-pricing-policy") + "&lineId=x", []any{fields{"afterCycle": 1, "discountType": "FIXED", "value": 1000000}}, 400},
		"prices by cycle that do not grow":       {"PUT", of("/subscription-contracts-update-line-item-pricing-policy") + "&lineId=x", []any{fields{"afterCycle": 1, "discountType": "PRICE", "value": 5}, fields{"afterCycle": 1, "discountType": "PRICE", "value": 5}}, 400},
		"a discount":                             {"PUT", of("/subscription-contracts-add-discount") + "&amount=5", nil, 404},
		"a discount of two kinds":                {"PUT", of("/subscription-contracts-add-discount") + "&amount=5&percentage=5", nil, 400},
		"a discount of nothing":                  {"PUT", of("/subscription-contracts-add-discount") + "&amount=0", nil, 400},
		"a split":                                {"POST", of("/subscription-contract-details/split-existing-contract"), []any{"x"}, 404},
		"a split of no line":                     {"POST", of("/subscription-contract-details/split-existing-contract"), []any{}, 400},
		"a swap for an order and of too many":    {"POST", "/subscription-contract-details/replace-variants-v3", fields{"contractId": nothing, "oldLineId": "x", "newVariants": fields{"1": 10000}, "newOneTimeVariants": fields{"1": 1}}, 400},
		"a group":                                {"PUT", fmt.Sprintf("/subscription-groups/%d", nothing), fields{"orderTag": "x"}, 404},
		"a group without a name":                 {"PUT", fmt.Sprintf("/subscription-groups/%d", nothing), fields{"groupName": " "}, 400},
		"a group without plans":                  {"PUT", fmt.Sprintf("/subscription-groups/%d", nothing), fields{"subscriptionPlans": []any{}}, 400},
		"a group whose plan is known":            {"PUT", fmt.Sprintf("/subscription-groups/%d", nothing), fields{"subscriptionPlans": []any{fields{"id": "6001"}}}, 404},
		"a group whose new plan has no name":     {"PUT", fmt.Sprintf("/subscription-groups/%d", nothing), fields{"subscriptionPlans": []any{fields{"frequencyCount": 1, "frequencyInterval": "DAY"}}}, 400},
		"a bundle":                               {"PUT", "/subscription-bundle-settings", fields{"id": nothing, "bundleRedirect": "CUSTOM", "pricingModel": "FIXED", "discounts": fields{"enableVolumeDiscounts": true}}, 404},
		"a bundle of too many":                   {"PUT", "/subscription-bundle-settings", fields{"id": nothing, "maxProducts": 1001}, 400},
		"a bundle that leads nowhere":            {"PUT", "/subscription-bundle-settings", fields{"id": nothing, "customRedirectURL": "javascript:x"}, 400},
		"a bundle whose discounts fall":          {"PUT", "/subscription-bundle-settings", fields{"id": nothing, "discounts": fields{"volumeDiscountTiers": []any{fields{"minProducts": 2, "discountPercent": 5}, fields{"minProducts": 1, "discountPercent": 5}}}}, 400},
		"a profile":                              {"POST", "/delivery-profiles/v2/create-shipping-profile", fields{"id": nothing, "name": "Parcels"}, 404},
		"a profile without a location":           {"POST", "/delivery-profiles/v2/create-shipping-profile", fields{"id": nothing, "locationInfos": []any{}}, 400},
		"a connection that keeps nothing":        {"PUT", fmt.Sprintf("/partner-connections/%d/scopes", nothing), fields{"scopes": []any{}}, 400},
	} {
		for line, base := range map[string]string{"subscriptions": w.urls.Subscriptions, "memberships": w.urls.Memberships} {
			var said struct{ Message string }
			if got := w.send(row.method, base+api+row.target, w.key, row.body, &said); got != row.want {
				t.Errorf("%s, on the host of %s: answered %d %s, want %d", name, line, got, said.Message, row.want)
			}
		}
	}
	if got := w.send(http.MethodPost, w.urls.Loyalty+"/api/external/add-points", w.key, fields{"customerId": nothing, "points": -1}, nil); got != 400 {
		t.Errorf("points below zero for an unknown customer: answered %d, want 400", got)
	}
}

// The parameter at fault has the name that the operation gives it.
func TestRefusalNamesParameterAsOperationDoes(t *testing.T) {
	t.Parallel()
	w := openStage(t)
	w.renew(&w.mine, w.key)
	of := func(path string) string { return fmt.Sprintf("%s?contractId=%d", path, w.mine.contract) }
	for name, row := range map[string]struct{ target, params, detail string }{
		"a variant that is not sold": {of("/subscription-contract-update-variant") + fmt.Sprintf("&oldVariantId=%d&newVariantId=4711", w.mine.variants[0]), "newVariantId", "the store does not sell variant 4711"},
		"a variant that no line has": {of("/subscription-contract-update-variant") + fmt.Sprintf("&oldVariantId=4711&newVariantId=%d", w.mine.variants[2]), "oldVariantId", "Contract line not found."},
		"a line that is not there":   {of("/subscription-contract-update-variant") + fmt.Sprintf("&oldLineId=x&newVariantId=%d", w.mine.variants[2]), "oldLineId", "Contract line not found."},
		"a code that there is not":   {of("/subscription-contracts-apply-discount") + "&discountCode=NOPE", "discountCode", "the platform refuses the change: The platform rejects the discount code: NOT_FOUND."},
		"a number beyond all":        {fmt.Sprintf("/subscription-groups/%d/remove-products?productIds=99999999999999999999", w.mine.group), "productIds", `"99999999999999999999" is out of range for a Product id (1 to 9007199254740991)`},
		"a note in two spellings":    {fmt.Sprintf("/subscription-contracts-update-order-note/%d?orderNote=a&note=b", w.mine.contract), "orderNote", "parameters 'orderNote' and 'note' differ: give one of them"},
	} {
		var said struct{ Params, Detail string }
		got := w.demand("PUT", row.target, w.key, nil)
		if err := json.Unmarshal(got.body, &said); err != nil || said.Params != row.params || said.Detail != row.detail {
			t.Errorf("%s: answered %d %.300s, want %s of %s", name, got.status, got.body, row.detail, row.params)
		}
	}
}
