package test

import (
	"fmt"
	"net/url"
)

// example is what a document cannot say of an operation: what must be before it,
// and values that belong together.
type example struct {
	before func(*stage)
	params func(*facts) map[string]string
	body   func(*facts) any
	free   []string // parameters and fields that take any value, or have another name that counts
	fresh  bool     // wants a contract of its own, though it only reads
	secret bool     // a repetition does not show again what is shown once
	hides  bool     // answers an empty list for what is not there
}

// change calls an operation on the world's contract.
func (w *stage) change(method, path string, body, out any) {
	w.t.Helper()
	if got := w.send(method, w.urls.Subscriptions+api+path, w.key, body, out); got >= 300 {
		w.t.Fatalf("%s %s answered %d", method, path, got)
	}
}

var examples = map[string]example{
	"listActivityLogs": {hides: true},
	"searchContracts": {hides: true, params: func(f *facts) map[string]string {
		return map[string]string{"subscriptionContractId": fmt.Sprint(f.contract)}
	}, free: []string{"subscriptionContractId"}},
	"listUpcomingOrders":         {params: ofContract, hides: true},
	"listPastOrders":             {params: ofContract, hides: true},
	"unskipOrder":                {before: skipFirst},
	"removeDiscount":             {before: discounted},
	"addDiscount":                {params: func(*facts) map[string]string { return map[string]string{"percentage": "10"} }},
	"updateOrderNote":            {params: func(*facts) map[string]string { return map[string]string{"orderNote": "ring twice"} }},
	"updateVariant":              {params: func(f *facts) map[string]string { return map[string]string{"oldLineId": f.lines[0]} }},
	"updateCustomNoteAttributes": {body: attributes},
	"postCustomNoteAttributes":   {body: attributes},
	"updateBillingInterval":      {params: func(*facts) map[string]string { return map[string]string{"interval": "WEEK", "intervalCount": "2"} }},
	"updateDeliveryInterval":     {before: paidAhead, params: func(*facts) map[string]string { return map[string]string{"interval": "MONTH", "intervalCount": "2"} }},
	"updateLineItem":             {params: func(*facts) map[string]string { return map[string]string{"quantity": "3"} }},
	"updateDeliveryMethod":       {params: func(*facts) map[string]string { return map[string]string{"deliveryMethodName": "Express"} }},
	"updateStatus":               {params: func(*facts) map[string]string { return map[string]string{"status": "PAUSED"} }},
	"updateLineItemPricingPolicy": {body: func(*facts) any {
		return []any{map[string]any{"afterCycle": 0, "discountType": "PERCENTAGE", "value": 10}, map[string]any{"afterCycle": 3, "discountType": "PRICE", "value": 9.5}}
	}},
	"updateMultipleLineItemAttributes": {body: func(f *facts) any {
		return map[string]any{f.lines[0]: []any{map[string]any{"key": "size", "value": "L"}}}
	}},
	"updateLineItemAttributes": {body: func(*facts) any { return []any{map[string]any{"key": "size", "value": "L"}} }},
	"addLineItems":             {body: func(f *facts) any { return []any{map[string]any{"variantId": f.variants[2], "quantity": 1}} }},
	"removeLineItems":          {body: func(f *facts) any { return []any{f.lines[1]} }},
	"splitContract":            {body: func(f *facts) any { return []any{f.lines[1]} }},
	"restartContract":          {before: terminated, body: func(*facts) any { return map[string]any{"nextBillingDate": "2027-01-31"} }},
	"replaceVariants": {body: func(f *facts) any {
		return map[string]any{"shop": f.domain, "contractId": f.contract, "oldVariants": []any{f.variants[0]}, "newVariants": map[string]any{fmt.Sprint(f.variants[2]): 1}}
	}, free: []string{"eventSource"}},
	"createContract": {body: func(f *facts) any {
		return map[string]any{
			"customerId": f.customer, "nextBillingDate": "2027-01-31", "billingIntervalType": "MONTH", "billingIntervalCount": 1,
			"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT",
			"lines": []any{map[string]any{"variantId": f.variants[0], "quantity": 1}},
		}
	}},
	"updateShippingAddress": {body: func(*facts) any {
		return map[string]any{"firstName": "Ana", "lastName": "Silva", "address1": "12 Rua Nova", "city": "Lisboa", "countryCode": "PT", "zip": "1100-001"}
	}},
	"updateBillingAttempt":         {body: func(f *facts) any { return map[string]any{"id": f.attempts[0], "orderNote": "ring twice"} }},
	"getPendingDowngrade":          {before: downgraded, fresh: true},
	"cancelPendingDowngrade":       {before: downgraded},
	"createAPIKey":                 {secret: true, body: func(*facts) any { return map[string]any{"name": "Warehouse"} }, before: revokeKeys},
	"rotateAPIKey":                 {secret: true, before: aKey},
	"revokeAPIKey":                 {before: aKey},
	"createCustomerPortalToken":    {params: ofCustomer},
	"createManageSubscriptionLink": {params: ofCustomer},
	"sendMagicLink":                {},
	"getCancelSession":             {params: func(f *facts) map[string]string { return map[string]string{"id": fmt.Sprint(f.session)} }},
	"createShippingProfile": {body: func(*facts) any {
		return map[string]any{"name": "Parcels", "locationInfos": []any{map[string]any{"locationId": "6001", "countryInfos": []any{map[string]any{
			"code": "PT", "shouldIncludeAllProvince": true, "restOfWorld": false, "deliveryMethodInfo": []any{
				map[string]any{"name": "Light", "amount": 4.9, "deliveryConditionType": "WEIGHT", "weightConditions": []any{
					map[string]any{"deliveryCondition": "LESS_THAN_OR_EQUAL_TO", "weight": 2.5, "weightUnit": "KILOGRAMS"}}},
				map[string]any{"name": "Small", "amount": 3.9, "deliveryConditionType": "PRICE", "priceConditions": []any{
					map[string]any{"amount": 50, "deliverCondtion": "LESS_THAN_OR_EQUAL_TO"}}},
			},
		}}}}}
	}},
	"createWebhookEndpoint": {before: noEndpoints, secret: true},
	"getWebhookEndpoint":    {before: anEndpoint},
	"changeWebhookEndpoint": {before: anEndpoint, body: func(*facts) any {
		return map[string]any{"types": []any{"subscription.created"}, "url": "https://erp.example.com/perennial"}
	}},
	"deleteWebhookEndpoint":       {before: anEndpoint},
	"rotateWebhookSecret":         {before: anEndpoint, secret: true},
	"testWebhookEndpoint":         {before: anEndpoint},
	"replayWebhookEndpoint":       {before: anEndpoint, body: func(f *facts) any { return map[string]any{"since": f.now} }},
	"listWebhookDeliveries":       {before: aDelivery},
	"replayWebhookDelivery":       {before: aDelivery},
	"resendNotification":          {before: aFailedMessage},
	"setNotificationPreferences":  {body: func(*facts) any { return map[string]any{"emails": map[string]any{"paused": false}} }},
	"requestPartnerConnection":    {before: anApp, body: func(f *facts) any { return map[string]any{"partnerId": f.partner} }},
	"reviewPartnerConnection":     {before: connected, fresh: true},
	"approvePartnerConnection":    {before: asked},
	"rejectPartnerConnection":     {before: asked},
	"disconnectPartnerConnection": {before: connected},
	"reducePartnerConnection":     {before: connected, body: func(*facts) any { return map[string]any{"scopes": []any{"contracts:read"}} }},
	"createProductSwap":           {free: []string{"id"}, body: rule(false)},
	"updateProductSwap":           {before: aRule, body: rule(true)},
	"updateProductSwapById":       {before: aRule, body: rule(false)},
	"getProductSwap":              {before: aRule, fresh: true},
	"deleteProductSwap":           {before: aRule},
	"updateAttemptOrderNote":      {params: func(*facts) map[string]string { return map[string]string{"orderNote": "ring twice"} }},
	"skipUpcomingOrder": {params: func(f *facts) map[string]string {
		return map[string]string{"subscriptionContractId": fmt.Sprint(f.contract)}
	}},
	"createBundleSettings": {free: []string{"id"}, body: func(f *facts) any { return map[string]any{"shop": f.domain, "title": "Box"} }},
	"updateBundleSettings": {before: aBundle, body: func(f *facts) any { return map[string]any{"id": f.bundle, "shop": f.domain, "title": "Box"} }},
	"getBundleSettings":    {before: aBundle, fresh: true},
	"deleteBundleSettings": {before: aBundle},
	"addOneOff":            {hides: true}, // an order that the contract does not have stands for its next one
	"removeOneOff":         {before: aOneOff, hides: true},
	"updateOneOffQuantity": {before: aOneOff, params: func(f *facts) map[string]string {
		return map[string]string{"contractId": fmt.Sprint(f.contract), "billingAttemptId": fmt.Sprint(f.attempts[0]), "variantId": fmt.Sprint(f.variants[2]), "quantity": "3"}
	}, body: func(*facts) any { return map[string]any{} }, free: []string{"contractId", "billingAttemptId", "variantId", "quantity"}},
	"listCustomerContracts":         {hides: true},
	"listCustomerPaymentMethods":    {hides: true},
	"listCustomerContractIds":       {hides: true},
	"getCustomer":                   {hides: true},
	"reportPastOrders":              {params: func(*facts) map[string]string { return map[string]string{"status": "SKIPPED"} }, hides: true},
	"createSubscriptionGroup":       {body: aNewGroup},
	"updateSubscriptionGroup":       {before: aGroup, body: aNewGroup},
	"updateSubscriptionGroupByBody": {before: aGroup, body: func(f *facts) any { return map[string]any{"id": f.group, "groupName": "Renamed"} }},
	"deleteSubscriptionGroup":       {before: aGroup},
	"getSubscriptionGroup":          {before: aGroup, fresh: true},
	"addGroupProducts":              {before: aGroup, params: ofProduct},
	"removeGroupProducts":           {before: aGroup, params: ofProduct, hides: true},
	"removeProductsFromAllGroups":   {before: aGroup, params: ofProduct, hides: true},
	"addPoints":                     {before: member, body: func(f *facts) any { return map[string]any{"customerId": f.customer, "points": 100, "note": "sorry"} }},
	"removePoints":                  {before: member, body: func(f *facts) any { return map[string]any{"customerId": f.customer, "points": 10, "note": "sorry"} }},
	"addCredits":                    {before: member, body: func(f *facts) any { return map[string]any{"customerId": f.customer, "amount": 7.5, "note": "sorry"} }},
	"enrollCustomer":                {body: func(f *facts) any { return map[string]any{"customerId": f.customer} }},
	"redeemPoints":                  {before: member, body: func(f *facts) any { return map[string]any{"customerId": f.customer, "pointRedeemRuleId": 1} }},
	"approvePendingTransactions":    {before: pendingPoints, body: func(f *facts) any { return map[string]any{"customerId": f.customer} }},
	"updateDiscountCodeStatus":      {before: rewarded, body: func(f *facts) any { return map[string]any{"id": f.reward, "status": "USED"} }},
	"getCustomerLoyalty":            {before: rewarded, fresh: true, params: ofCustomer},
	"listPointTransactions":         {before: rewarded, fresh: true},
}

func ofContract(f *facts) map[string]string {
	return map[string]string{"contractId": fmt.Sprint(f.contract)}
}

func attributes(f *facts) any {
	return map[string]any{"subscriptionContractId": f.contract, "customAttributesList": []any{map[string]any{"key": "gift", "value": "yes"}}}
}

func terminated(w *stage) {
	w.change("DELETE", fmt.Sprintf("/subscription-contracts/%d", w.mine.contract), nil, nil)
}

func skipFirst(w *stage) {
	w.change("PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", w.mine.attempts[0]), nil, nil)
}

func discounted(w *stage) {
	var o object
	w.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?percentage=10&contractId=%d", w.mine.contract), nil, &o)
	w.mine.discount = o.Discounts.Nodes[0].ID
}

func downgraded(w *stage) {
	var group struct {
		ID    int64
		Plans []struct{ IDNew string } `json:"subscriptionPlans"`
	}
	w.change("POST", "/subscription-groups", aNewGroup(&w.mine), &group)
	line := fmt.Sprintf("contractId=%d&lineId=%s", w.mine.contract, url.QueryEscape(w.mine.lines[0]))
	w.change("PUT", "/subscription-contracts-update-line-item-selling-plan?sellingPlanId="+group.Plans[0].IDNew+"&"+line, nil, nil)
	w.change("PUT", "/subscription-contracts-update-line-item-price?basePrice=999&"+line, nil, nil)
	w.change("PUT", fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldLineId=%s&newVariantId=%d&prorateDowngrade=false", w.mine.contract, url.QueryEscape(w.mine.lines[0]), w.mine.variants[2]), nil, nil)
}

func paidAhead(w *stage) {
	w.mine.contract = (&subscription{store: w.store, key: w.key}).checkout(map[string]any{
		"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 4}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
	})
}

func ofCustomer(f *facts) map[string]string {
	return map[string]string{"customerId": fmt.Sprint(f.customer)}
}

func ofProduct(f *facts) map[string]string {
	return map[string]string{"productIds": fmt.Sprint(f.products[0])}
}

func revokeKeys(w *stage) {
	var keys []struct {
		ID   int64
		Name string
	}
	w.change("GET", "/api-keys?size=100", nil, &keys)
	for _, k := range keys {
		if k.Name == "Warehouse" {
			w.change("DELETE", fmt.Sprintf("/api-keys/%d", k.ID), nil, nil)
		}
	}
}

func aKey(w *stage) {
	revokeKeys(w)
	var key struct{ ID int64 }
	w.change("POST", "/api-keys", map[string]any{"name": "Warehouse"}, &key)
	w.mine.apiKey = key.ID
}

func aNewGroup(f *facts) any {
	return map[string]any{"groupName": fmt.Sprintf("Coffee %d", f.contract), "productIds": fmt.Sprint(f.products[0]), "subscriptionPlans": []any{map[string]any{
		"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH", "billingFrequencyCount": 1, "billingFrequencyInterval": "MONTH",
		"planType": "PAY_AS_YOU_GO", "discountEnabled": true, "discountOffer": 10, "discountType": "PERCENTAGE", "allowedForUpgradeDowngrade": true,
	}}}
}

func aGroup(w *stage) {
	var group struct{ ID int64 }
	w.change("POST", "/subscription-groups", aNewGroup(&w.mine), &group)
	w.mine.group = group.ID
}

// rule is a swap rule, with its number when it is there already.
func rule(there bool) func(f *facts) any {
	return func(f *facts) any {
		r := map[string]any{
			"shop": f.domain, "name": "Summer", "sourceVariants": fmt.Sprintf(`[{"id":%d,"quantity":1}]`, f.variants[0]),
			"destinationVariants": fmt.Sprintf(`[{"id":%d,"quantity":1}]`, f.variants[2]), "forBillingCycle": 90, "ruleSequence": 1,
		}
		if there {
			r["id"] = f.swap
		}
		return r
	}
}

func aRule(w *stage) {
	var made struct{ ID int64 }
	w.change("POST", "/product-swaps", rule(false)(&w.mine), &made)
	w.mine.swap = made.ID
}

func aBundle(w *stage) {
	var boxes []struct {
		ID    int64
		Title string
	}
	w.change("GET", "/subscription-bundle-settings?size=100", nil, &boxes)
	for _, b := range boxes { // a store has a hundred at most
		if b.Title != boxes[0].Title {
			w.change("DELETE", fmt.Sprintf("/subscription-bundle-settings/%d", b.ID), nil, nil)
		}
	}
	var made struct{ ID int64 }
	w.change("POST", "/subscription-bundle-settings", map[string]any{"shop": w.mine.domain, "title": "Another box"}, &made)
	w.mine.bundle = made.ID
}

// pendingPoints lets the customer of the contract earn points that wait.
func pendingPoints(w *stage) {
	w.call("POST", "/loyalty", map[string]any{"pendingDays": 30}, nil)
	w.renew(&w.mine, w.key)
	w.call("POST", "/clock", map[string]any{"advance": "PT0S"}, nil)
}

func aOneOff(w *stage) {
	w.change("PUT", fmt.Sprintf("/subscription-contract-one-offs-by-contractId-and-billing-attempt-id?contractId=%d&billingAttemptId=%d&variantId=%d&quantity=1",
		w.mine.contract, w.mine.attempts[0], w.mine.variants[2]), nil, nil)
}

func anApp(w *stage) {
	w.mine.partner = fmt.Sprintf("app%d", w.mine.contract)
	w.call("POST", "/partners", map[string]any{"id": w.mine.partner, "name": "Reports", "baseUrl": w.urls.Control, "scopes": []string{"contracts:read", "billing:write"}}, nil)
}

func connected(w *stage) {
	anApp(w)
	var c struct{ ID int64 }
	w.change("POST", "/partner-connections", map[string]any{"partnerId": w.mine.partner}, &c)
	w.mine.connection = c.ID
}

func noEndpoints(w *stage) {
	var list []struct{ ID int64 }
	w.change("GET", "/webhook-endpoints?size=100", nil, &list)
	for _, e := range list {
		w.change("DELETE", fmt.Sprintf("/webhook-endpoints/%d", e.ID), nil, nil)
	}
}

func anEndpoint(w *stage) {
	noEndpoints(w)
	var sink struct{ URL string }
	w.call("POST", "/webhook-sink", nil, &sink)
	var e struct{ ID int64 }
	w.change("POST", "/webhook-endpoints", map[string]any{"url": sink.URL, "types": []string{"membership.expired"}}, &e)
	w.mine.endpoint = e.ID
	noteTime(w)
}

// noteTime notes what time it is in the service.
func noteTime(w *stage) {
	var clock struct{ Now string }
	w.call("POST", "/clock", map[string]any{"advance": "PT0S"}, &clock)
	w.mine.now = clock.Now
}

func aDelivery(w *stage) {
	anEndpoint(w)
	w.change("POST", fmt.Sprintf("/webhook-endpoints/%d/test", w.mine.endpoint), nil, nil)
	w.call("POST", "/clock", map[string]any{"advance": "PT0S"}, nil)
	var list []struct{ ID int64 }
	w.change("GET", "/webhook-deliveries?status=DELIVERED", nil, &list)
	if len(list) != 1 {
		w.t.Fatalf("%d deliveries", len(list))
	}
	w.mine.delivery = list[0].ID
}

// aFailedMessage has the mail server refuse what greets a customer.
func aFailedMessage(w *stage) {
	w.call("POST", "/platform/contracts", map[string]any{
		"shop": w.mine.domain, "customer": map[string]any{"email": fmt.Sprintf("shopper%d@refused.example", w.mine.contract)}, "nextBillingDate": w.now().AddDate(0, 0, 10),
		"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}, "lines": []any{map[string]any{"variantId": w.mine.variants[0], "quantity": 1}}, "paymentMethod": "valid",
	}, nil)
	w.call("POST", "/clock", map[string]any{"advance": "PT0S"}, nil)
	var list []struct{ ID int64 }
	w.change("GET", "/notifications?status=FAILED", nil, &list)
	if len(list) == 0 {
		w.t.Fatal("no message has failed")
	}
	w.mine.message = list[0].ID
}

func asked(w *stage) {
	app := register(w.store, fmt.Sprintf("ask%d", w.mine.contract), "contracts:read")
	w.mine.connection = app.connect("contracts:read").connection(w.t, 202).Connection
}

// member makes the customer of the contract a member of the loyalty programme.
func member(w *stage) {
	w.send("POST", w.urls.Loyalty+"/api/external/enroll-customer", w.key, map[string]any{"customerId": w.mine.customer}, nil)
	w.send("POST", w.urls.Loyalty+"/api/external/add-points", w.key, map[string]any{"customerId": w.mine.customer, "points": 5000, "note": "welcome"}, nil)
}

func rewarded(w *stage) {
	member(w)
	var got struct{ Rewards []struct{ ID int64 } }
	w.send("POST", w.urls.Loyalty+"/api/external/redeem-points", w.key, map[string]any{"customerId": w.mine.customer, "pointRedeemRuleId": 1}, &got)
	if len(got.Rewards) > 0 {
		w.mine.reward = got.Rewards[0].ID
	}
}
