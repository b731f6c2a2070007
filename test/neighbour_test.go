package test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/sandbox/storefront"
)

// across returns the stage as the other store sees it.
func (w *stage) across() *stage {
	return &stage{store: w.store, key: w.foreign, foreign: w.key, appSecret: w.appSecret, mine: w.theirs, theirs: w.mine}
}

// furnish gives the store one of everything that an operation shows.
func (w *stage) furnish() {
	w.t.Helper()
	var plans []struct {
		ID int64 `json:"idNew,string"`
	}
	w.change("GET", "/all-selling-plans?size=1", nil, &plans)
	w.mine.plan = plans[0].ID
	w.renew(&w.mine, w.key)
	aKey(w)
	aRule(w)
	aBundle(w)
	aDelivery(w)
	aFailedMessage(w)
	connected(w)
	rewarded(w)
	w.change("PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", w.mine.attempts[0]), nil, nil)
	w.pass("PT0S")
	w.mine.attempts = w.mine.attempts[1:]
	skipFirst(w)
	w.mine.attempts = w.mine.attempts[1:]
	aOneOff(w)
	discounted(w)
	aGroup(w)
	downgraded(w)
	boxed(w)
	w.leaves(&w.mine, w.mine.customer)
}

// boxed makes the contract a box: its plans are those of the bundle.
func boxed(w *stage) {
	var c struct {
		Lines struct {
			Nodes []struct{ SellingPlanID *string }
		}
	}
	w.change("GET", fmt.Sprintf("/subscription-contracts/%d", w.mine.contract), nil, &c)
	var plans []any
	for _, l := range c.Lines.Nodes {
		if l.SellingPlanID != nil {
			plans = append(plans, lastPart(*l.SellingPlanID))
		}
	}
	w.change("PUT", "/subscription-bundle-settings", map[string]any{"id": w.mine.bundle, "shop": w.mine.domain, "title": "Another box", "sellingPlanIds": plans}, nil)
}

// effects are operations that only seem to read: what they answer is made by the request.
var effects = []string{"createCustomerPortalToken", "createManageSubscriptionLink", "createManageSubscriptionLinkOfCustomer", "emailMagicLink", "syncCustomer"}

// reads returns the operations of a document that show what a store has: all that get
// something, and searches that are posted.
func (w *stage) reads(address string) (list []*operation) {
	w.t.Helper()
	doc := w.document(address)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		for method, op := range item.Operations() {
			if method == http.MethodGet && !slices.Contains(effects, op.OperationID) || method == http.MethodPost && counted(op) {
				list = append(list, &operation{stage: w, doc: doc, item: item, method: method, path: path, op: op})
			}
		}
	}
	return list
}

// counted reports whether an operation answers a list with its total.
func counted(op *openapi3.Operation) bool {
	answer := op.Responses.Status(http.StatusOK)
	return answer != nil && answer.Value.Headers["X-Total-Count"] != nil
}

// leastReads is fewer than there are operations that read: documents that show less are
// read wrongly.
const leastReads = 45

// empty reports whether an answer holds nothing.
func empty(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || string(text) == "[]" || string(text) == "{}" || string(text) == "null"
}

// portalPath is the path of the portal's operations.
const portalPath = "/apps/subscriptions/cp/api"

// shopper makes a request that of the store's customer, as the platform passes it on.
func (o *operation) shopper(r *request) {
	r.key = ""
	query := url.Values{}
	maps.Copy(r.params, map[string]string{
		"shop": o.mine.domain, "logged_in_customer_id": fmt.Sprint(o.mine.customer), "path_prefix": "/apps/subscriptions", "timestamp": fmt.Sprint(o.now().Unix()),
	})
	for name, value := range r.params {
		if !strings.Contains(o.path, "{"+name+"}") {
			query.Set(name, value)
		}
	}
	r.params["signature"] = storefront.Sign(o.appSecret, query)
}

// named returns the store's object that a parameter can name.
func (f facts) named(param string) (string, bool) {
	switch param {
	case "contractId", "subscriptionContractId":
		return fmt.Sprint(f.contract), true
	case "customerId", "customer_id":
		return fmt.Sprint(f.customer), true
	case "productId", "productIds":
		return fmt.Sprint(f.products[0]), true
	case "variantId", "variantIds":
		return fmt.Sprint(f.variants[0]), true
	case "sellingPlanId", "sellingPlanIds":
		return fmt.Sprint(f.plan), true
	case "endpointId":
		return fmt.Sprint(f.endpoint), true
	case "customerEmail", "customer_email", "email":
		return f.email, true
	}
	return "", false
}

// A store that fills up changes nothing that another store is answered: no row, no total,
// no figure. Whatever shows one store's rows shows that store something of its own, or
// the test could not see.
func TestAnswersShowNoOtherStoresData(t *testing.T) {
	t.Parallel()
	w := openStage(t)
	w.furnish()
	w.demand("GET", "/events", w.key, nil) // events are kept from the first reading on
	w.pass("PT5M")                         // what follows an order has happened
	reads := w.reads(w.urls.Subscriptions + "/openapi.json")
	reads = append(reads, w.reads(w.urls.Loyalty+"/loyalty/openapi.json")...)
	reads = append(reads, w.reads(w.urls.Subscriptions+"/portal/openapi.json")...)
	if len(reads) < leastReads {
		t.Fatalf("the documents show only %d operations that read", len(reads))
	}
	partners, err := openapi3.NewLoader().LoadFromFile("../api/partner.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range partners.Paths.Map() {
		for method, op := range item.Operations() {
			if counted(op) {
				t.Errorf("%s %s answers a list, and nothing asks for it beside another store", method, path)
			}
		}
	}
	type answer struct {
		Status      int
		Total, Text string
	}
	ask := func(o *operation, by *stage, change func(map[string]string)) answer {
		t.Helper()
		one := *o
		one.stage = by
		r := one.valid(examples[o.op.OperationID])
		if change != nil {
			change(r.params)
		}
		if strings.HasPrefix(o.path, portalPath) {
			one.shopper(&r)
		}
		status, text := one.ask(t, o.op.OperationID, r)
		return answer{status, one.total, string(text)}
	}
	before := make(map[string]answer)
	for _, o := range reads {
		before[o.name()] = ask(o, w, nil)
	}
	there := w.across()
	there.furnish()
	w.theirs = there.mine
	for _, o := range reads {
		name := o.name()
		if diff := cmp.Diff(before[name], ask(o, w, nil)); diff != "" {
			t.Errorf("%s answers otherwise since another store has something (-before +after):\n%s", name, diff)
		}
		if got := before[name]; got.Status != http.StatusOK || empty([]byte(got.Text)) {
			t.Errorf("%s shows the store nothing of its own: %+v", name, got)
		}
		theirs := ask(o, there, nil)
		if theirs.Status != http.StatusOK || empty([]byte(theirs.Text)) || counted(o.op) && theirs.Total == "0" {
			t.Errorf("%s shows the other store nothing of its own: %+v", name, theirs)
		}
		for _, p := range o.op.Parameters {
			foreign, names := there.mine.named(p.Value.Name)
			if !names || p.Value.In != "query" {
				continue
			}
			own, _ := w.mine.named(p.Value.Name)
			if own == foreign { // plans of the two stores have the same numbers
				continue
			}
			put := func(value string) func(map[string]string) {
				return func(params map[string]string) {
					for _, other := range o.op.Parameters {
						if _, names := w.mine.named(other.Value.Name); names && !other.Value.Required {
							delete(params, other.Value.Name)
						}
					}
					params[p.Value.Name] = value
				}
			}
			if got := ask(o, w, put(foreign)); got.Status != http.StatusNotFound && (got.Status != http.StatusOK || !empty([]byte(got.Text)) || got.Total != "0") {
				t.Errorf("%s with another store's %s answers %+v", name, p.Value.Name, got)
			}
			if got := ask(o, w, put(own)); got.Status != http.StatusOK || empty([]byte(got.Text)) {
				t.Errorf("%s with the store's own %s answers %+v", name, p.Value.Name, got)
			}
		}
	}
}

// name names an operation among those of all documents.
func (o *operation) name() string { return o.op.OperationID + " " + o.path }
