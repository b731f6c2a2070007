package test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/google/go-cmp/cmp"
)

// shopper is a customer's browser at the store's own domain, and what its pages ask
// of the portal's interface there.
type shopper struct {
	*store
	line    string // subscriptions or memberships
	cookie  string // of the signed-in customer; empty when signed out
	headers map[string]string
	own     string // path of the interface on the service's own address; empty: at the store's domain
	doc     *openapi3.T
	answer  http.Header // of the last request
	text    []byte
}

// visit opens the store's pages. A customer of 0 does not sign in.
func (s *store) visit(customer int64) *shopper {
	s.t.Helper()
	p := &shopper{store: s, line: "subscriptions"}
	r, err := http.Get(s.urls.Subscriptions + "/portal/openapi.json")
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if p.doc, err = openapi3.NewLoader().LoadFromData(text); err != nil {
		s.t.Fatal(err)
	}
	if customer == 0 {
		return p
	}
	in, err := http.Post(fmt.Sprintf("%s/account/login?customer_id=%d", s.urls.Storefront, customer), "", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer in.Body.Close()
	if in.StatusCode != http.StatusOK || len(in.Cookies()) != 1 {
		s.t.Fatalf("signing in answered %d with %v", in.StatusCode, in.Cookies())
	}
	p.cookie = in.Cookies()[0].Name + "=" + in.Cookies()[0].Value
	return p
}

// base is the path of the portal's operations at the store's domain.
func (p *shopper) base() string { return "/apps/" + p.line + "/cp/api" }

// ask calls an operation, holds the answer to the document, and returns the status.
func (p *shopper) ask(method, path string, in, out any) int {
	p.t.Helper()
	if p.own != "" {
		return p.at(method, p.urls.Subscriptions+p.own+path, in, out)
	}
	return p.at(method, p.urls.Storefront+p.base()+path, in, out)
}

// at is ask with a whole address.
func (p *shopper) at(method, address string, in, out any) int {
	p.t.Helper()
	var sent []byte
	if in != nil {
		var err error
		if sent, err = json.Marshal(in); err != nil {
			p.t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, address, bytes.NewReader(sent))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.cookie != "" {
		r.Header.Set("Cookie", p.cookie)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range p.headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	if p.text, err = io.ReadAll(answer.Body); err != nil {
		p.t.Fatal(err)
	}
	p.answer = answer.Header
	if got := answer.Header.Get("Access-Control-Allow-Origin"); got != "" {
		p.t.Errorf("%s %s lets pages of %s read the answer", method, address, got)
	}
	p.documented(r, answer)
	if answer.StatusCode >= 300 {
		p.t.Logf("%s %s: %d %.500s", method, address, answer.StatusCode, p.text)
		return answer.StatusCode
	}
	proofs.note(p.t.Name(), method, r.URL, sent, p.text)
	if out != nil {
		if err := json.Unmarshal(p.text, out); err != nil {
			p.t.Fatalf("%s %s: %v in %.300s", method, address, err, p.text)
		}
	}
	return answer.StatusCode
}

// documented holds an answer to the document, which is written for subscriptions.
func (p *shopper) documented(r *http.Request, answer *http.Response) {
	p.t.Helper()
	path := strings.Replace(r.URL.Path, "/apps/memberships/", "/apps/subscriptions/", 1)
	if p.own != "" {
		path = strings.Replace(path, p.own, "/apps/subscriptions/cp/api", 1)
	}
	for template, item := range p.doc.Paths.Map() {
		op := item.Operations()[r.Method]
		if _, ok := fits(template, path); !ok || op == nil {
			continue
		}
		err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{
				Request: r, Route: &routers.Route{Spec: p.doc, Path: template, PathItem: item, Method: r.Method, Operation: op},
			},
			Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(p.text)),
			Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
		})
		if err != nil {
			p.t.Errorf("%s %s: the document does not allow the answer %d: %.600v", r.Method, r.URL.Path, answer.StatusCode, err)
		}
	}
}

// want calls an operation that must answer a status.
func (p *shopper) want(status int, method, path string, in, out any) {
	p.t.Helper()
	if got := p.ask(method, path, in, out); got != status {
		p.t.Fatalf("%s %s answered %d %s, want %d", method, path, got, p.text, status)
	}
}

// key returns the errorKey of the last answer.
func (p *shopper) key() string {
	var problem struct{ ErrorKey string }
	if err := json.Unmarshal(p.text, &problem); err != nil {
		p.t.Errorf("the answer is no problem: %v in %s", err, p.text)
	}
	return problem.ErrorKey
}

// payer returns the number of a contract's customer.
func (s *subscription) payer(contract int64) int64 {
	s.t.Helper()
	var rows []struct {
		ID         int64 `json:"subscriptionContractId"`
		CustomerID int64
	}
	s.get("/subscription-contract-details?size=100", &rows)
	for _, r := range rows {
		if r.ID == contract {
			return r.CustomerID
		}
	}
	s.t.Fatalf("contract %d is not there", contract)
	return 0
}

// raw is an answer of the admin interface as it is.
func (s *subscription) raw(path string) string {
	s.t.Helper()
	var text json.RawMessage
	s.get(path, &text)
	return string(text)
}

const (
	portalSkipped = "CUSTOMER_PORTAL BILLING_ATTEMPT_SKIPPED SUCCESS"
	settled       = "MERCHANT_PORTAL UPDATED SUCCESS" // of the store's settings
)

// What the portal shows of attempts and contracts is what the admin interface shows
// of them, field by field.
func TestPortalShowsShoppersTheirOwnData(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	bobs := s.checkout(map[string]any{"customer": map[string]any{"email": "bob@shopper.example"}})
	s.pass("P11D")
	ana := s.visit(s.payer(s.id))

	var who int64
	ana.want(200, "GET", "/logged-in-customer", nil, &who)
	if who != s.payer(s.id) {
		t.Errorf("signed in is %d", who)
	}
	same := func(theirs, admins string) {
		t.Helper()
		ana.want(200, "GET", theirs, nil, nil)
		if diff := cmp.Diff(s.raw(admins), strings.TrimSpace(string(ana.text))); diff != "" {
			t.Errorf("%s (-admin +portal):\n%s", theirs, diff)
		}
	}
	attempts := fmt.Sprintf("/subscription-billing-attempts/%%s?contractId=%d", s.id)
	for _, list := range []string{"top-orders", "past-orders"} {
		same(fmt.Sprintf(attempts, list), fmt.Sprintf(attempts, list))
		same("/subscription-billing-attempts/"+list, fmt.Sprintf(attempts, list)) // of all her contracts, which is one
	}
	same(fmt.Sprintf("/subscription-customers-detail/valid/%d", who), fmt.Sprintf("/subscription-customers-detail/valid/%d", who))

	var upcoming []attempt
	ana.want(200, "GET", fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=gid://shopify/SubscriptionContract/%d&size=2&page=1", s.id), nil, &upcoming)
	all := s.upcoming()
	if len(all) < 6 || len(upcoming) != 2 || upcoming[0].ID != all[2].ID || ana.answer.Get("X-Total-Count") != fmt.Sprint(len(all)) {
		t.Errorf("%d of %s upcoming orders: %+v", len(upcoming), ana.answer.Get("X-Total-Count"), upcoming)
	}
	links := strings.Split(ana.answer.Get("Link"), ", ")
	if len(links) != 4 {
		t.Fatalf("links %q", links)
	}
	next, _, _ := strings.Cut(strings.TrimPrefix(links[2], "<"), ">")
	if got := ana.at("GET", ana.urls.Storefront+next, nil, &upcoming); got != 200 || len(upcoming) != 2 || upcoming[0].ID != all[4].ID {
		t.Errorf("the next page at %s answered %d %+v", next, got, upcoming)
	}
	if strings.Contains(next, "signature") || strings.Contains(next, "logged_in") {
		t.Errorf("the link has what the platform adds: %s", next)
	}

	var info map[string]any
	ana.want(200, "GET", "/shop-infos-by-current-login", nil, &info)
	var admins []struct{ Shop string }
	s.get("/subscription-contract-details", &admins)
	if info["shop"] != admins[0].Shop || info["ianaTimeZone"] == "" || info["shopId"] == 0.0 || info["buildBoxVersion"] != "V2" || info["customerPortalMode"] != "NO_IFRAME" {
		t.Errorf("the store is %v", info)
	}

	var methods struct {
		Nodes    []map[string]any
		Edges    []struct{ Node map[string]any }
		PageInfo map[string]any
	}
	ana.want(200, "GET", "/subscription-contract-details/shopify/customer/payment-methods", nil, &methods)
	var object object
	s.get(fmt.Sprintf("/subscription-contracts/%d", s.id), &object)
	if len(methods.Nodes) != 1 || methods.Nodes[0]["id"] != object.CustomerPaymentMethod.ID || methods.Nodes[0]["instrument"] == nil || methods.PageInfo["hasNextPage"] != false {
		t.Errorf("payment methods %+v, want that of the contract, %s", methods, object.CustomerPaymentMethod.ID)
	}
	if diff := cmp.Diff(methods.Nodes[0], methods.Edges[0].Node); diff != "" {
		t.Error(diff)
	}

	v := s.articles()[1]
	var price struct {
		ID, Title, Price  string
		SKU               *string
		Media             struct{ Nodes []any }
		Product           struct{ ID, Title string }
		ContextualPricing struct {
			Price struct{ Amount, CurrencyCode string }
		}
	}
	ana.want(200, "GET", fmt.Sprintf("/data/variant-contextual-pricing?variantId=%d&contractId=%d&currencyCode=usd&countryCode=CA", v.VariantID, s.id), nil, &price)
	if price.ID != fmt.Sprintf("gid://shopify/ProductVariant/%d", v.VariantID) || price.Price != v.Price || price.ContextualPricing.Price.Amount != v.Price || price.ContextualPricing.Price.CurrencyCode != "USD" || price.Product.ID == "" {
		t.Errorf("the variant is %+v, want %+v", price, v)
	}
	for path, row := range map[string]struct {
		status int
		key    string
	}{
		"/data/variant-contextual-pricing":                                                            {400, "parameterMissing"},
		"/data/variant-contextual-pricing?variantId=1":                                                {404, "variantNotFound"},
		fmt.Sprintf("/data/variant-contextual-pricing?variantId=%d&currencyCode=JPY", v.VariantID):    {400, "currencyMismatch"},
		fmt.Sprintf("/data/variant-contextual-pricing?variantId=%d&contractId=%d", v.VariantID, bobs): {404, "contractNotFound"},
		"/subscription-customers-detail/valid/1":                                                      {404, "customerNotFound"},
		"/subscriptions-contracts-freeze-status-detail":                                               {400, "parameterMissing"},
		"/subscription-billing-attempts/top-orders?size=2001":                                         {400, "pageTooLarge"},
		fmt.Sprintf("/subscription-customers-detail/valid/%d", s.payer(bobs)):                         {404, "customerNotFound"},
	} {
		if got := ana.ask("GET", path, nil, nil); got != row.status || ana.key() != row.key {
			t.Errorf("%s answered %d %s", path, got, ana.text)
		}
	}
	var frozen map[string]any
	ana.want(200, "GET", fmt.Sprintf("/subscriptions-contracts-freeze-status-detail?contractId=%d", s.id), nil, &frozen)
	want := map[string]any{"contractId": float64(s.id), "frozen": false, "minCycles": 0.0, "completedCycles": 2.0, "remainingCycles": 0.0}
	if diff := cmp.Diff(want, frozen); diff != "" {
		t.Errorf("frozen (-want +got):\n%s", diff)
	}
}

func TestPortalSkipsMovesAndTriggersOrders(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true}, nil)
	ana := s.visit(s.payer(s.id))
	first := s.upcoming()[0]
	var got attempt

	// A skip, and back.
	path := fmt.Sprintf("/%%s/%d?subscriptionContractId=%d&isPrepaid=false", first.ID, s.id)
	ana.want(200, "PUT", "/subscription-billing-attempts"+fmt.Sprintf(path, "skip-order"), nil, &got)
	if got.ID != first.ID || got.Status != "SKIPPED" || s.upcoming()[0].ID == first.ID {
		t.Errorf("skipped: %+v, and the next order is %+v", got, s.upcoming()[0])
	}
	ana.want(200, "PUT", "/subscription-billing-attempts"+fmt.Sprintf(path, "unskip-order"), nil, &got)
	if got.Status != "QUEUED" || s.upcoming()[0].ID != first.ID {
		t.Errorf("taken back: %+v, and the next order is %+v", got, s.upcoming()[0])
	}
	for query, key := range map[string]string{"isPrepaid=true": "prepaidMismatch", "subscriptionContractId=1": "contractMismatch"} {
		if status := ana.ask("PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d?%s", first.ID, query), nil, nil); status != 400 || ana.key() != key {
			t.Errorf("%s answered %d %s", query, status, ana.text)
		}
	}

	// Another date and a note; nothing else may differ.
	var whole []map[string]any
	ana.want(200, "GET", "/subscription-billing-attempts/top-orders?size=1", nil, &whole)
	change := maps.Clone(whole[0])
	change["billingDate"], change["orderNote"] = first.BillingDate.AddDate(0, 0, 5), "Ring twice"
	ana.want(200, "PUT", "/subscription-billing-attempts", change, &got)
	if is := s.upcoming()[0]; is.ID != first.ID || !is.BillingDate.Equal(first.BillingDate.AddDate(0, 0, 5)) || is.OrderNote == nil || *is.OrderNote != "Ring twice" || !got.BillingDate.Equal(is.BillingDate) {
		t.Errorf("after the change: %+v, answered %+v", is, got)
	}
	for field, value := range map[string]any{"status": "SKIPPED", "orderAmount": 1.5, "orderAmountUSD": 1.5, "contractId": 1, "retryingNeeded": true} {
		if status := ana.ask("PUT", "/subscription-billing-attempts", map[string]any{"id": first.ID, field: value, "orderNote": "No"}, nil); status != 400 || ana.key() != "fieldReadOnly" {
			t.Errorf("another %s answered %d %s", field, status, ana.text)
		}
	}
	ana.want(200, "PUT", "/subscription-billing-attempts", map[string]any{"id": first.ID, "status": "queued", "orderNote": nil}, nil)
	if is := s.upcoming()[0]; is.OrderNote != nil || is.Status != "QUEUED" {
		t.Errorf("after clearing the note: %+v", is)
	}

	// Now, at the store at which she is.
	now := fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", first.ID)
	if status := ana.ask("PUT", now+"?shop=other.myshopify.com", nil, nil); status != 400 || ana.key() != "shopMismatch" || s.upcoming()[0].ID != first.ID {
		t.Errorf("another store answered %d %s", status, ana.text)
	}
	s.pass("P9D") // an order is charged from the day before its cycle on
	ana.want(200, "PUT", now+"?shop=demo.myshopify.com", nil, &got)
	if got.ID != first.ID || got.ContractID != s.id || got.Status != "REQUESTING" && got.Status != "PROGRESS" { // a worker may have sent it already
		t.Errorf("ordered: %+v", got)
	}
	s.pass("PT1H")
	if past := s.past(); len(past) != 1 || past[0].ID != first.ID || past[0].Status != "SUCCESS" || len(s.orders()) != 1 {
		t.Errorf("past orders %+v", past)
	}
	s.wantEntries(created, settled, portalSkipped, "CUSTOMER_PORTAL BILLING_ATTEMPT_UPDATED SUCCESS", "CUSTOMER_PORTAL NEXT_BILLING_DATE_CHANGE SUCCESS",
		"CUSTOMER_PORTAL BILLING_ATTEMPT_UPDATED SUCCESS", "CUSTOMER_PORTAL BILLING_ATTEMPT_UPDATED SUCCESS", "CUSTOMER_PORTAL BILLING_ATTEMPT_TRIGGERED INFO", charged)
	var entries []struct{ ActivityBy, ClientIP string }
	s.get("/activity-logs?eventSource.equals=CUSTOMER_PORTAL", &entries)
	for _, e := range entries {
		if e.ActivityBy != "customer" || e.ClientIP == "" {
			t.Errorf("entry %+v", e)
		}
	}
}

func TestPortalChangesOrderContents(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	ana := s.visit(s.payer(s.id))
	v, first := s.articles(), s.upcoming()[0]
	if got := s.put(oneOffPath(s.id, first.ID, v[1].VariantID, ""), nil, nil); got != 200 {
		t.Fatalf("adding a product answered %d", got)
	}
	names := map[string]any{"contractId": s.id, "billingAttemptId": first.ID, "variantId": v[1].VariantID, "quantity": 3}
	query := url.Values{}
	for name, value := range names {
		query.Set(name, fmt.Sprint(value))
	}
	var one oneOff
	ana.want(200, "PUT", "/subscription-contract-one-offs-update-quantity?"+query.Encode(), nil, &one)
	if diff := cmp.Diff(s.upcomingOneOffs(), []oneOff{one}); diff != "" || one.Quantity != 3 || one.Contract != s.id {
		t.Errorf("one-time product %+v (-admin +portal):\n%s", one, diff)
	}
	names["quantity"] = 4
	ana.want(200, "PUT", "/subscription-contract-one-offs-update-quantity", names, &one)
	if one.Quantity != 4 || s.upcomingOneOffs()[0].Quantity != 4 {
		t.Errorf("by its body: %+v", one)
	}
	for _, quantity := range []int{0, 1000} {
		names["quantity"] = quantity
		if got := ana.ask("PUT", "/subscription-contract-one-offs-update-quantity", names, nil); got != 400 {
			t.Errorf("a quantity of %d answered %d", quantity, got)
		}
	}

	var before, after object
	s.get(fmt.Sprintf("/subscription-contracts/%d", s.id), &before)
	swap := map[string]any{"shop": "demo.myshopify.com", "contractId": s.id, "oldLineId": before.Lines.Nodes[0].ID, "newVariantId": v[2].VariantID, "quantity": 2}
	ana.want(200, "POST", "/subscription-contract-details/replace-variants-v2", swap, &after)
	var admins object
	s.get(fmt.Sprintf("/subscription-contracts/%d", s.id), &admins)
	if diff := cmp.Diff(admins, after); diff != "" || len(after.Lines.Nodes) != 1 || after.Lines.Nodes[0].VariantID != fmt.Sprintf("gid://shopify/ProductVariant/%d", v[2].VariantID) || after.Lines.Nodes[0].Quantity != 2 {
		t.Errorf("after the swap: %+v (-admin +portal):\n%s", after.Lines, diff)
	}
	for _, wrong := range []string{"contractId", "oldLineId", "newVariantId"} {
		body := maps.Clone(swap)
		delete(body, wrong)
		if got := ana.ask("POST", "/subscription-contract-details/replace-variants-v2", body, nil); got != 400 || ana.key() != "bodyField" {
			t.Errorf("without %s: %d %s", wrong, got, ana.text)
		}
	}

	said := map[string]any{"shop": "demo.myshopify.com", "contractId": s.id, "retentionAction": "DISCOUNT_APPLIED", "cancellationReason": "Too much coffee", "discountApplied": "20% x 3", "additionalInfo": `{"flowVersion":3}`}
	var kept map[string]any
	ana.want(200, "POST", "/customer-retention-activities", said, &kept)
	for field, value := range said {
		if fmt.Sprint(kept[field]) != fmt.Sprint(value) {
			t.Errorf("kept %s as %v, want %v", field, kept[field], value)
		}
	}
	if kept["id"] == nil || kept["activityOn"] != s.now().Format("2006-01-02T15:04:05Z") {
		t.Errorf("kept %v", kept)
	}
	for field, value := range map[string]any{"contractId": nil, "retentionAction": "", "cancellationReason": strings.Repeat("x", 501), "shop": "other.myshopify.com"} {
		body := maps.Clone(said)
		body[field] = value
		if got := ana.ask("POST", "/customer-retention-activities", body, nil); got != 400 {
			t.Errorf("%s of %v: %d %s", field, value, got, ana.text)
		}
	}
	s.wantEntries(created, "MERCHANT_EXTERNAL_API ONE_TIME_PURCHASE_PRODUCT_ADDED SUCCESS", "CUSTOMER_PORTAL ONE_TIME_PURCHASE_PRODUCT_UPDATE SUCCESS",
		"CUSTOMER_PORTAL ONE_TIME_PURCHASE_PRODUCT_UPDATE SUCCESS", "CUSTOMER_PORTAL PRODUCT_REPLACE SUCCESS", "CUSTOMER_PORTAL CREATED INFO")
	var entries []struct {
		EntityID   int64
		EntityType string
		Info       string `json:"additionalInfo"`
	}
	s.get("/activity-logs?entityType.equals=CANCELLATION_MANAGEMENT", &entries)
	if len(entries) != 1 || float64(entries[0].EntityID) != kept["id"] || !strings.Contains(entries[0].Info, `"retentionAction":"DISCOUNT_APPLIED"`) {
		t.Errorf("entries %+v", entries)
	}
}

// everyPortalCall is each operation on what belongs to a contract, in an order in which
// its owner may call them all. The next order carries the second article.
func everyPortalCall(s *subscription, customer int64) []call {
	s.t.Helper()
	first, id, sold := s.upcoming()[0].ID, s.id, s.articles()
	variant := sold[1].VariantID
	if got := s.put(oneOffPath(id, first, variant, ""), nil, nil); got != 200 {
		s.t.Fatalf("adding a product answered %d", got)
	}
	var is object
	s.get(fmt.Sprintf("/subscription-contracts/%d", id), &is)
	return []call{
		{"POST", "/customer-retention-activities", map[string]any{"contractId": id, "retentionAction": "KEPT"}, "contractNotFound"},
		{"GET", fmt.Sprintf("/data/variant-contextual-pricing?variantId=%d&contractId=%d", variant, id), nil, "contractNotFound"},
		{"GET", fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", id), nil, "contractNotFound"},
		{"GET", fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d", id), nil, "contractNotFound"},
		{"PUT", fmt.Sprintf("/subscription-contract-one-offs-update-quantity?contractId=%d&billingAttemptId=%d&variantId=%d&quantity=2", id, first, variant), nil, "billingAttemptNotFound"},
		{"PUT", "/subscription-billing-attempts", map[string]any{"id": first, "orderNote": "mine"}, "billingAttemptNotFound"},
		{"PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", first), nil, "billingAttemptNotFound"},
		{"PUT", fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", first), nil, "billingAttemptNotFound"},
		{"GET", fmt.Sprintf("/subscription-customers-detail/valid/%d", customer), nil, "customerNotFound"},
		{"POST", "/subscription-contract-details/replace-variants-v2", map[string]any{"contractId": id, "oldLineId": is.Lines.Nodes[0].ID, "newVariantId": sold[2].VariantID}, "contractNotFound"},
		{"GET", fmt.Sprintf("/subscriptions-contracts-freeze-status-detail?contractId=%d", id), nil, "contractNotFound"},
		{"PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d?shop=demo.myshopify.com", first), nil, "billingAttemptNotFound"},
	}
}

// call is a request, and the errorKey of the answer to a shopper who may not make it.
type call struct {
	method, path string
	body         any
	key          string
}

// Another shopper finds nothing, and leaves no trace. Requests without a customer, or
// without the platform's signature, are refused.
func TestPortalShowsNothingOfOtherCustomers(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true}, nil)
	s.checkout(map[string]any{"customer": map[string]any{"email": "bob@shopper.example"}})
	var bobs int64
	var rows []struct {
		ID         int64 `json:"subscriptionContractId"`
		CustomerID int64
	}
	s.get("/subscription-contract-details", &rows)
	for _, r := range rows {
		if r.ID != s.id {
			bobs = r.CustomerID
		}
	}
	bob, guest := s.visit(bobs), s.visit(0)
	calls := everyPortalCall(s, s.payer(s.id))
	owners := calls
	all := func() string {
		return s.raw(fmt.Sprintf("/subscription-contracts/%d", s.id)) + s.raw(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id)) +
			s.raw(fmt.Sprintf("/subscription-contract-one-offs-by-contractId?contractId=%d", s.id))
	}
	before := all()
	for _, c := range calls {
		if got := bob.ask(c.method, c.path, c.body, nil); got != 404 || bob.key() != c.key {
			t.Errorf("bob's %s %s answered %d %s, want 404 %s", c.method, c.path, got, bob.text, c.key)
		}
	}
	for _, path := range []string{"/logged-in-customer", "/shop-infos-by-current-login", "/subscription-contract-details/shopify/customer/payment-methods"} {
		calls = append(calls, call{"GET", path, nil, ""})
	}
	for _, c := range calls {
		if got := guest.ask(c.method, c.path, c.body, nil); got != 401 || guest.key() != "signedOut" {
			t.Errorf("signed out, %s %s answered %d %s", c.method, c.path, got, guest.text)
		}
		if got := guest.at(c.method, s.urls.Subscriptions+guest.base()+c.path, c.body, nil); got != 401 || guest.key() != "signatureInvalid" {
			t.Errorf("past the platform, %s %s answered %d %s", c.method, c.path, got, guest.text)
		}
		join := "?"
		if strings.Contains(c.path, "?") {
			join = "&"
		}
		if got := bob.ask(c.method, c.path+join+fmt.Sprintf("logged_in_customer_id=%d", s.payer(s.id)), c.body, nil); got != 401 || bob.key() != "proxyParameter" {
			t.Errorf("as another customer, %s %s answered %d %s", c.method, c.path, got, bob.text)
		}
	}
	if got := bob.ask("GET", "/logged-in-customer?shop=other.myshopify.com", nil, nil); got != 401 {
		t.Errorf("at another store: %d", got)
	}
	if diff := cmp.Diff(before, all()); diff != "" {
		t.Errorf("something was changed (-before +after):\n%s", diff)
	}
	s.wantEntries(created, settled, created, "MERCHANT_EXTERNAL_API ONE_TIME_PURCHASE_PRODUCT_ADDED SUCCESS")
	owner := s.visit(s.payer(s.id))
	for _, c := range owners {
		if got := owner.ask(c.method, c.path, c.body, nil); got != 200 {
			t.Errorf("the owner's %s %s answered %d %s", c.method, c.path, got, owner.text)
		}
	}
}

// A page of another site can post a form in the name of its viewer, and can ask whether
// it may do more.
func TestPortalRefusesFormsOfOtherSites(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ana := s.visit(s.payer(s.id))
	said := map[string]any{"contractId": s.id, "retentionAction": "CANCELLED"}
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
		ana.headers = map[string]string{"Content-Type": media, "Origin": "https://evil.example"}
		for _, path := range []string{"/customer-retention-activities", "/subscription-contract-details/replace-variants-v2"} {
			if got := ana.ask("POST", path, said, nil); got != 415 || ana.key() != "contentType" {
				t.Errorf("%q: %s answered %d %s", media, path, got, ana.text)
			}
		}
	}
	ana.headers = map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"}
	for _, path := range []string{"/subscription-billing-attempts", "/customer-retention-activities"} {
		if got := ana.ask("OPTIONS", path, nil, nil); got != 405 {
			t.Errorf("asking for leave answered %d %s", got, ana.text)
		}
		for name := range ana.answer {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("the answer has %s", name)
			}
		}
	}
	ana.headers = map[string]string{"X-HTTP-Method-Override": "PUT"}
	skip := fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", s.upcoming()[0].ID)
	if got := ana.ask("POST", skip+"?_method=PUT", map[string]any{"_method": "PUT"}, nil); got != 405 {
		t.Errorf("a PUT in disguise answered %d", got)
	}
	s.wantEntries(created)
}

// What says everything in its query needs neither a body nor a type for one, unless a
// page of another site sends it.
func TestPortalAcceptsPostWithoutBody(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ana := s.visit(s.payer(s.id))
	var now object
	to := func(variant int64) string {
		s.get(fmt.Sprintf("/subscription-contracts/%d", s.id), &now)
		return fmt.Sprintf("/subscription-contract-details/replace-variants-v2?contractId=%d&oldLineId=%s&newVariantId=%d", s.id, url.QueryEscape(now.Lines.Nodes[0].ID), variant)
	}
	v := s.articles()
	for _, sent := range []map[string]string{
		{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
		{"Origin": "https://blog.demo.example", "Sec-Fetch-Site": "same-site"},
		{"Origin": "https://evil.example"},
		{"Content-Type": "application/x-www-form-urlencoded"},
	} {
		ana.headers = map[string]string{"Content-Type": ""}
		maps.Copy(ana.headers, sent)
		status, key := 403, "crossOrigin"
		if sent["Content-Type"] != "" {
			status, key = 415, "contentType"
		}
		if got := ana.ask("POST", to(v[1].VariantID), nil, nil); got != status || ana.key() != key {
			t.Errorf("with %v: %d %s", sent, got, ana.text)
		}
	}
	s.wantEntries(created)
	home, err := url.Parse(s.urls.Storefront)
	if err != nil {
		t.Fatal(err)
	}
	for i, sent := range []map[string]string{{}, {"Origin": "https://shop.demo.example", "Sec-Fetch-Site": "same-origin"}, {"Origin": "http://" + home.Host}} {
		ana.headers = map[string]string{"Content-Type": ""}
		maps.Copy(ana.headers, sent)
		var got object
		ana.want(200, "POST", to(v[1+i].VariantID), nil, &got)
		if want := fmt.Sprintf("gid://shopify/ProductVariant/%d", v[1+i].VariantID); got.Lines.Nodes[0].VariantID != want {
			t.Errorf("with %v: %+v, want %s", sent, got.Lines, want)
		}
	}
	ana.headers = map[string]string{"Content-Type": ""}
	if got := ana.ask("POST", "/customer-retention-activities", nil, nil); got != 400 || ana.key() != "bodyMissing" {
		t.Errorf("without the body that is needed: %d %s", got, ana.text)
	}
}

// A member is held to the orders that they committed to, whatever the store says,
// and the error says how many are left. The store's own people are not held.
func TestPortalHoldsMembersToCommitment(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": false}, nil)
	member := s.checkout(map[string]any{
		"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "minCycles": 3},
		"lines":         []any{map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "5.00", "sellingPlanId": 6101}},
	})
	var rows []struct{ CustomerID int64 }
	s.send("GET", s.urls.Memberships+api+"/subscription-contract-details", s.key, nil, &rows)
	ana := s.visit(rows[0].CustomerID)
	ana.line = "memberships"
	var queue []attempt
	ana.want(200, "GET", fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", member), nil, &queue)
	first := queue[0]
	for _, c := range []call{
		{"PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", first.ID), nil, "contractFrozen"},
		{"PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", first.ID), nil, "contractFrozen"},
		{"PUT", "/subscription-billing-attempts", map[string]any{"id": first.ID, "billingDate": first.BillingDate.AddDate(0, 0, 3)}, "contractFrozen"},
	} {
		if got := ana.ask(c.method, c.path, c.body, nil); got != 400 || ana.key() != c.key || !strings.Contains(string(ana.text), "1 of 3 orders are completed: 2 more") {
			t.Errorf("%s answered %d %s", c.path, got, ana.text)
		}
	}
	ana.want(200, "PUT", "/subscription-billing-attempts", map[string]any{"id": first.ID, "orderNote": "Ring twice"}, nil)
	var frozen map[string]any
	ana.want(200, "GET", fmt.Sprintf("/subscriptions-contracts-freeze-status-detail?contractId=%d", member), nil, &frozen)
	want := map[string]any{"contractId": float64(member), "frozen": true, "minCycles": 3.0, "completedCycles": 1.0, "remainingCycles": 2.0}
	if diff := cmp.Diff(want, frozen); diff != "" {
		t.Errorf("frozen (-want +got):\n%s", diff)
	}
	ana.line = "subscriptions" // the other line does not know the membership
	if got := ana.ask("GET", fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", member), nil, nil); got != 404 {
		t.Errorf("on the other line: %d", got)
	}
	ana.line = "memberships"
	s.pass("P45D")
	ana.want(200, "GET", "/subscription-billing-attempts/top-orders", nil, &queue)
	if got := ana.ask("PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", queue[0].ID), nil, nil); got != 200 {
		t.Errorf("after three orders a skip answered %d %s", got, ana.text)
	}
	if got := s.send("PUT", fmt.Sprintf("%s%s/subscription-billing-attempts/skip-order/%d", s.urls.Memberships, api, queue[1].ID), s.key, nil, nil); got != 200 {
		t.Errorf("the store's own skip answered %d", got)
	}
}
