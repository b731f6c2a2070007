package simulator

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestDocumentCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tests := []struct {
		name, query string
		want        int
	}{
		{"scalars and money are free within one object", `{ shop { name currencyCode } }`, 1},
		{"a page of none costs the connection alone", `{ products(first: 0) { nodes { id } } }`, 2},
		{"a page of one", `{ products(first: 1) { nodes { id } } }`, 3},
		{"a page of two", `{ products(first: 2) { nodes { id } } }`, 3},
		{"a page of three", `{ products(first: 3) { nodes { id } } }`, 4},
		{"a page of five", `{ products(first: 5) { nodes { id } } }`, 5},
		{"a page of ten", `{ products(first: 10) { nodes { id } } }`, 6},
		{"a page of twenty", `{ products(first: 20) { nodes { id } } }`, 7},
		{"a page of fifty", `{ products(first: 50) { nodes { id } } }`, 9},
		{"a page of a hundred", `{ products(first: 100) { nodes { id } } }`, 11},
		{"a page of two hundred", `{ products(first: 200) { nodes { id } } }`, 12},
		{"the largest page", `{ products(first: 250) { nodes { id } } }`, 13},
		{"nodes and edges count twice", `{ products(first: 10) { nodes { id } edges { node { id } } pageInfo { hasNextPage } } }`, 10},
		{"children count for every node", `{ products(first: 10) { nodes { id variants(first: 1) { nodes { id } } } } }`, 2 + 4*(1+3)},
		{"a count costs ten", `{ products(first: 1) { nodes { variantsCount { count } } } }`, 2 + 1*(1+10)},
		{"a mutation costs ten, its payload's objects nothing", `mutation { subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/1") { contract { id } userErrors { code } } }`, 10},
		{"what lies below a payload's objects counts", `mutation { subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/1") { contract { customer { id } } } }`, 11},
		{"two mutations cost twice", `mutation { a: subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/1") { contract { id } } b: subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/1") { contract { id } } }`, 20},
		{"of fragments on a union the dearest counts", `{ subscriptionBillingAttempt(id: "gid://shopify/SubscriptionBillingAttempt/1") { state { ... on SubscriptionBillingAttemptSuccessState { order { customer { id } } } ... on SubscriptionBillingAttemptFailedState { error { __typename } } } } }`, 1 + 1 + 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := w.post(tt.query, nil)
			if r.Extensions == nil || r.Extensions.Cost.Requested != tt.want {
				t.Errorf("want %d: %s", tt.want, r.raw)
			}
		})
	}
}

func TestEmptyBucketThrottlesAndRefills(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.CostMaximum, o.CostRestore = 20, 5 })
	const doc = `mutation { subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/1") { contract { id } } }`
	for range 2 {
		if r := w.post(doc, nil); len(r.Errors) > 0 {
			t.Fatal(r.raw)
		}
	}
	want := `{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED","documentation":"https://shopify.dev/api/usage/rate-limits"}}],"extensions":{"cost":{"requestedQueryCost":10,"actualQueryCost":null,"throttleStatus":{"maximumAvailable":20,"currentlyAvailable":0,"restoreRate":5}}}}`
	if r := w.post(doc, nil); strings.TrimSpace(r.raw) != want {
		t.Errorf("got  %s\nwant %s", r.raw, want)
	}
	w.throttle.Set(w.throttle.Now().Add(2 * time.Second))
	if r := w.post(doc, nil); len(r.Errors) > 0 {
		t.Errorf("two seconds later: %s", r.raw)
	}
}

func TestSetBudgetApplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.SetBudget(15, 5)
	const doc = `mutation { subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/1") { contract { id } } }`
	if r := w.post(doc, nil); len(r.Errors) > 0 || !strings.Contains(r.raw, `"maximumAvailable":15,"currentlyAvailable":5,"restoreRate":5`) {
		t.Errorf("got %s", r.raw)
	}
	if r := w.post(doc, nil); !strings.Contains(r.raw, "THROTTLED") {
		t.Errorf("the second, of 10 points where 5 are left: %s", r.raw)
	}
}

func TestTooExpensiveDocumentIsNotExecuted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var b strings.Builder
	for i := range 101 {
		fmt.Fprintf(&b, ` m%d: tagsAdd(id: "gid://shopify/Product/3001", tags: "x") { userErrors { message } }`, i)
	}
	r := w.post("mutation {"+b.String()+"}", nil)
	want := `{"errors":[{"message":"Query cost is 1010, which exceeds the single query max cost limit (1000).","extensions":{"code":"MAX_COST_EXCEEDED","cost":1010,"maxCost":1000,"documentation":"https://shopify.dev/api/usage/rate-limits"}}]}`
	if strings.TrimSpace(r.raw) != want {
		t.Errorf("got %s", r.raw)
	}
	if d := w.ask(`{ product(id: "gid://shopify/Product/3001") { tags } }`, nil); text(d) != `{"product":{"tags":[]}}` {
		t.Errorf("it was executed: %s", text(d))
	}
}

func TestUnusedPointsAreReturned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.post(`{ customers(first: 250) { nodes { id } } }`, nil)
	if c := r.Extensions.Cost; c.Requested != 13 || *c.Actual != 2 || c.Status.CurrentlyAvailable != 1998 {
		t.Errorf("an empty page cost %s", text(c))
	}
}
