package simulator

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const createGroup = `mutation($input: SellingPlanGroupInput!, $resources: SellingPlanGroupResourceInput) {
	sellingPlanGroupCreate(input: $input, resources: $resources) { sellingPlanGroup { id } userErrors { field message code } } }`

// planInputOf is a monthly plan of ten percent off, which a test changes.
func planInputOf(name string, change ...func(map[string]any)) map[string]any {
	every := map[string]any{"interval": "MONTH", "intervalCount": 1, "anchors": []any{map[string]any{"type": "MONTHDAY", "day": 15}}}
	p := map[string]any{
		"name": name, "options": []any{name}, "position": 1,
		"billingPolicy":   map[string]any{"recurring": every},
		"deliveryPolicy":  map[string]any{"recurring": every},
		"pricingPolicies": []any{map[string]any{"fixed": map[string]any{"adjustmentType": "PERCENTAGE", "adjustmentValue": map[string]any{"percentage": 10}}}},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func groupInputOf(plans ...map[string]any) map[string]any {
	list := make([]any, len(plans))
	for i, p := range plans {
		list[i] = p
	}
	return map[string]any{"name": "Coffee club", "merchantCode": "club", "options": []any{"Delivery"}, "sellingPlansToCreate": list}
}

func TestPlanGroupIsReadAsCreated(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "platform.db")
	w := newWorld(t, func(o *Options) { o.File = file })
	later := planInputOf("Later", func(p map[string]any) {
		p["position"] = 2
		p["billingPolicy"] = map[string]any{"recurring": map[string]any{"interval": "MONTH", "intervalCount": 3, "minCycles": 2, "maxCycles": 6}}
		p["deliveryPolicy"] = map[string]any{"recurring": map[string]any{"interval": "MONTH", "intervalCount": 1, "preAnchorBehavior": "NEXT", "cutoff": 2}}
		p["pricingPolicies"] = []any{
			map[string]any{"fixed": map[string]any{"adjustmentType": "PRICE", "adjustmentValue": map[string]any{"fixedValue": "9.5"}}},
			map[string]any{"recurring": map[string]any{"adjustmentType": "PERCENTAGE", "adjustmentValue": map[string]any{"percentage": 25}, "afterCycle": 3}},
		}
	})
	made := text(w.ask(createGroup, map[string]any{"input": groupInputOf(planInputOf("Monthly"), later), "resources": map[string]any{
		"productIds": []any{"gid://shopify/Product/3001"}, "productVariantIds": []any{"gid://shopify/ProductVariant/4002"},
	}}))
	if made != `{"sellingPlanGroupCreate":{"sellingPlanGroup":{"id":"gid://shopify/SellingPlanGroup/8001"},"userErrors":[]}}` {
		t.Fatal(made)
	}
	const look = `{ sellingPlanGroups(first: 5, query: "name:'Coffee club'") { nodes { name merchantCode summary productsCount { count }
		products(first: 2) { nodes { id } } productVariants(first: 2) { nodes { id } } appliesToProduct(productId: "gid://shopify/Product/3001")
		sellingPlans(first: 5) { nodes { id name options
			billingPolicy { ... on SellingPlanRecurringBillingPolicy { interval intervalCount minCycles maxCycles anchors { type day } } }
			deliveryPolicy { ... on SellingPlanRecurringDeliveryPolicy { intervalCount cutoff preAnchorBehavior } }
			pricingPolicies { __typename ... on SellingPlanFixedPricingPolicy { adjustmentType adjustmentValue { ... on MoneyV2 { amount } ... on SellingPlanPricingPolicyPercentageValue { percentage } } }
				... on SellingPlanRecurringPricingPolicy { afterCycle adjustmentValue { ... on SellingPlanPricingPolicyPercentageValue { percentage } } } } } } } }
		product(id: "gid://shopify/Product/3001") { sellingPlanGroups(first: 2) { nodes { id } } sellingPlanGroupsCount { count } }
		productVariant(id: "gid://shopify/ProductVariant/4001") { sellingPlanGroupsCount { count } } }`
	want := text(w.ask(look, nil))
	for _, part := range []string{
		`"summary":"1 delivery frequency, 10-25% discount"`, `"productsCount":{"count":1}`, `"appliesToProduct":true`,
		`"id":"gid://shopify/SellingPlan/6001","name":"Monthly"`, `"anchors":[{"day":15,"type":"MONTHDAY"}]`, `"id":"gid://shopify/SellingPlan/6002"`,
		`"maxCycles":6`, `"cutoff":2`, `"preAnchorBehavior":"NEXT"`, `"amount":"9.5"`, `"afterCycle":3`, `"product":{"sellingPlanGroups":{"nodes":[{"id":"gid://shopify/SellingPlanGroup/8001"}]},"sellingPlanGroupsCount":{"count":1}}`,
		`"productVariant":{"sellingPlanGroupsCount":{"count":0}}`,
	} {
		if !strings.Contains(want, part) {
			t.Errorf("there is no %s in\n%s", part, want)
		}
	}
	if err := w.sim.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := New(Options{File: file, Clock: w.clock, ThrottleClock: w.throttle})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	w.sim, w.server.Config.Handler = again, again.Handler()
	if got := text(w.ask(look, nil)); got != want {
		t.Errorf("after a restart\n%s\nwant\n%s", got, want)
	}
	if got := text(w.ask(createGroup, map[string]any{"input": groupInputOf(planInputOf("Other"))})); !strings.Contains(got, "SellingPlanGroup/8002") {
		t.Error(got)
	}
}

func TestInvalidPlanGroupsAreRefused(t *testing.T) {
	t.Parallel()
	many := func(n int) (list []map[string]any) {
		for i := range n {
			list = append(list, planInputOf(strings.Repeat("x", i+1)))
		}
		return list
	}
	recurring := func(p map[string]any, policy string) map[string]any {
		copied := map[string]any{}
		for k, v := range p[policy].(map[string]any)["recurring"].(map[string]any) {
			copied[k] = v
		}
		p[policy] = map[string]any{"recurring": copied}
		return copied
	}
	one := func(change func(map[string]any)) map[string]any { return groupInputOf(planInputOf("A", change)) }
	for code, test := range map[string]struct {
		input   map[string]any
		message string
	}{
		"BLANK":                          {map[string]any{"name": "", "sellingPlansToCreate": []any{}}, "Name can't be blank"},
		"SELLING_PLAN_COUNT_LOWER_BOUND": {groupInputOf(), ""},
		"SELLING_PLAN_COUNT_UPPER_BOUND": {groupInputOf(many(32)...), "Selling plan groups can't have more than 31 selling plans."},
		"SELLING_PLAN_DUPLICATE_NAME":    {groupInputOf(planInputOf("A"), planInputOf("A")), ""},
		"SELLING_PLAN_DUPLICATE_OPTIONS": {groupInputOf(planInputOf("A"), planInputOf("B", func(p map[string]any) { p["options"] = []any{"A"} })), ""},
		"SELLING_PLAN_BILLING_CYCLE_MUST_BE_A_MULTIPLE_OF_DELIVERY_CYCLE": {one(func(p map[string]any) { recurring(p, "deliveryPolicy")["intervalCount"] = 2 }), ""},
		"SELLING_PLAN_BILLING_AND_DELIVERY_POLICY_ANCHORS_MUST_BE_EQUAL":  {one(func(p map[string]any) { recurring(p, "deliveryPolicy")["anchors"] = []any{} }), ""},
		"SELLING_PLAN_MAX_CYCLES_MUST_BE_GREATER_THAN_MIN_CYCLES": {one(func(p map[string]any) {
			r := recurring(p, "billingPolicy")
			r["minCycles"], r["maxCycles"] = 3, 3
		}), ""},
		"SELLING_PLAN_BILLING_POLICY_MISSING": {one(func(p map[string]any) { delete(p, "billingPolicy") }), ""},
		"SELLING_PLAN_PRICING_POLICIES_MUST_CONTAIN_A_FIXED_PRICING_POLICY": {one(func(p map[string]any) {
			p["pricingPolicies"] = []any{map[string]any{"recurring": map[string]any{"adjustmentType": "PERCENTAGE", "adjustmentValue": map[string]any{"percentage": 5}, "afterCycle": 1}}}
		}), ""},
		"PRICING_POLICY_ADJUSTMENT_VALUE_AND_TYPE_MUST_MATCH": {one(func(p map[string]any) {
			p["pricingPolicies"] = []any{map[string]any{"fixed": map[string]any{"adjustmentType": "PRICE", "adjustmentValue": map[string]any{"percentage": 5}}}}
		}), ""},
		"SELLING_PLAN_MISSING_OPTION2_LABEL_ON_PARENT_GROUP": {one(func(p map[string]any) { p["options"] = []any{"A", "B"} }), ""},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			got := text(w.ask(createGroup, map[string]any{"input": test.input}))
			if !strings.Contains(got, `"code":"`+code+`"`) || !strings.Contains(got, test.message) || !strings.Contains(got, `"sellingPlanGroup":null`) {
				t.Error(got)
			}
		})
	}
}

func TestCollectionsShowTheirProducts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := text(w.ask(`{ collection(id: "gid://shopify/Collection/2001") { title productsCount { count } hasProduct(id: "gid://shopify/Product/3001") products(first: 3) { nodes { title } } }
		none: collection(id: "gid://shopify/Collection/7") { id } }`, nil))
	if got != `{"collection":{"hasProduct":true,"products":{"nodes":[{"title":"Coffee"}]},"productsCount":{"count":1},"title":"Beans"},"none":null}` {
		t.Error(got)
	}
}

func TestPlansOfUninstalledStoreEndAfterTwoDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(createGroup, map[string]any{"input": groupInputOf(planInputOf("A"))})
	groups := func() (n int) {
		for key := range rows(t, w.sim) {
			if strings.HasPrefix(key, "planGroup ") {
				n++
			}
		}
		return n
	}
	if err := w.sim.Uninstall(""); err != nil {
		t.Fatal(err)
	}
	w.stepTo(w.clock.Now().Add(orphanCancelDelay - time.Second))
	if groups() != 1 {
		t.Error("too early")
	}
	w.stepTo(w.clock.Now().Add(time.Second))
	if groups() != 0 {
		t.Error("the group is still there")
	}
}
