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
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// The documents are the truth: each operation is called as its document says,
// then with every parameter and field of the body left out, emptied, of a wrong
// type and beyond its bounds, then for another store's objects. Whatever the
// answer is, the document must allow it, and it must never be our own fault.
func TestEveryOperationKeepsItsDocument(t *testing.T) {
	t.Parallel()
	w := openStage(t)
	for _, address := range []string{w.urls.Subscriptions + "/openapi.json", w.urls.Loyalty + "/loyalty/openapi.json"} {
		doc := w.document(address)
		for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
			item := doc.Paths.Value(path)
			for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
				o := &operation{stage: w, doc: doc, item: item, method: method, path: path, op: item.Operations()[method]}
				t.Run(o.op.OperationID, o.drive)
			}
		}
	}
}

// stage is the demo store, and another one that it must not see.
type stage struct {
	*store
	key, foreign string
	mine, theirs facts
}

// facts are numbers and names of what a store has.
type facts struct {
	domain     string
	customer   int64
	email      string
	contract   int64
	lines      []string
	variants   []int64
	products   []int64
	attempts   []int64
	discount   string
	payment    string
	group      int64
	plan       int64
	swap       int64
	bundle     int64
	apiKey     int64
	reward     int64
	partner    string
	connection int64
}

func openStage(t *testing.T) *stage {
	t.Helper()
	w := &stage{store: open(t, sandbox.Options{Seed: 1, Contracts: 20})}
	text, err := os.ReadFile(filepath.Join(w.dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		APIKey    string
		Shop      string
		OtherShop struct{ Shop, APIKey string }
		Examples  struct{ SubscriptionGroupID, SwapRuleID, BundleID, LoyaltyCustomerID, SellingPlanID int64 }
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	w.key, w.foreign = m.APIKey, m.OtherShop.APIKey
	for _, domain := range []string{m.Shop, m.OtherShop.Shop} {
		w.call("POST", "/settings", map[string]any{"shop": domain, "requestsPerSecond": 1000, "requestBurst": 1000, "enableImmediatePlaceOrder": true}, nil)
	}
	w.mine = facts{domain: m.Shop, group: m.Examples.SubscriptionGroupID, swap: m.Examples.SwapRuleID, bundle: m.Examples.BundleID, plan: m.Examples.SellingPlanID}
	w.theirs = facts{domain: m.OtherShop.Shop}
	w.renew(&w.theirs, w.foreign)
	return w
}

// renew gives a store a contract that nobody has touched.
func (w *stage) renew(f *facts, key string) {
	w.t.Helper()
	var variants []struct{ VariantID, ProductID int64 }
	w.call("GET", "/platform/variants?shop="+f.domain, nil, &variants)
	f.variants, f.products = nil, nil
	for _, v := range variants {
		f.variants, f.products = append(f.variants, v.VariantID), append(f.products, v.ProductID)
	}
	f.email = fmt.Sprintf("shopper%d@shopper.example", f.contract)
	line := func(i int) map[string]any {
		l := map[string]any{"variantId": f.variants[i], "quantity": 2, "currentPrice": "12.50"}
		if f.plan != 0 {
			l["sellingPlanId"] = f.plan
		}
		return l
	}
	var made struct{ ID, CustomerID int64 }
	w.call("POST", "/platform/contracts", map[string]any{
		"shop": f.domain, "customer": map[string]any{"email": f.email, "firstName": "Ana", "lastName": "Silva"}, "nextBillingDate": w.now().AddDate(0, 0, 10),
		"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}, "lines": []any{line(0), line(1)}, "paymentMethod": "valid",
	}, &made)
	f.contract, f.customer = made.ID, made.CustomerID
	var o object
	w.send("GET", fmt.Sprintf("%s%s/subscription-contracts/%d", w.urls.Subscriptions, api, f.contract), key, nil, &o)
	f.lines = nil
	for _, n := range o.Lines.Nodes {
		f.lines = append(f.lines, n.ID)
	}
	if o.CustomerPaymentMethod != nil {
		f.payment = o.CustomerPaymentMethod.ID
	}
	var queue []attempt
	w.send("GET", fmt.Sprintf("%s%s/subscription-billing-attempts/top-orders?contractId=%d", w.urls.Subscriptions, api, f.contract), key, nil, &queue)
	f.attempts = nil
	for _, a := range queue {
		f.attempts = append(f.attempts, a.ID)
	}
}

func (w *stage) document(address string) *openapi3.T {
	w.t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		w.t.Fatalf("%s: %v", address, err)
	}
	return doc
}

// operation is one operation of a document.
type operation struct {
	*stage
	doc          *openapi3.T
	item         *openapi3.PathItem
	method, path string
	op           *openapi3.Operation
	replayed     bool // the last answer was one of before
}

// request is what is sent: values by parameter, and a body.
type request struct {
	params map[string]string
	body   any
	key    string
	raw    []byte // in place of the body
	repeat string // the Idempotency-Key
}

func (o *operation) drive(t *testing.T) {
	e := examples[o.op.OperationID]
	fresh := func(t *testing.T) request {
		t.Helper()
		o.stage.t = t
		if e.fresh || o.method != http.MethodGet {
			o.renew(&o.mine, o.key)
		} else if o.mine.contract == 0 {
			o.renew(&o.mine, o.key)
		}
		if e.before != nil {
			e.before(o.stage)
		}
		return o.valid(e)
	}
	valid := fresh(t)
	status, text := o.ask(t, "as the document says", valid)
	if status >= 300 {
		t.Fatalf("a request as the document says answered %d %s", status, text)
	}
	for _, p := range o.op.Parameters {
		for name, bad := range o.badParameter(p.Value) {
			r := valid
			r.params = maps.Clone(valid.params)
			if bad == nil {
				delete(r.params, p.Value.Name)
			} else {
				r.params[p.Value.Name] = *bad
			}
			if status, text := o.ask(t, name, r); status != http.StatusBadRequest {
				t.Errorf("%s: %s answered %d %.200s, want 400", p.Value.Name, name, status, text)
			}
		}
	}
	o.sorted(t, valid)
	o.strangers(t, valid)
	if o.method != http.MethodGet {
		o.repeat(t, fresh(t))
	}
	if o.op.RequestBody != nil {
		o.badBodies(t, fresh(t))
	}
}

// valid is a request as the document says: what is required, and what the example
// adds.
func (o *operation) valid(e example) request {
	r := request{params: map[string]string{}, key: o.key}
	for _, p := range o.op.Parameters {
		if !p.Value.Required {
			continue
		}
		r.params[p.Value.Name] = fmt.Sprint(o.value(p.Value.Name, p.Value.Schema.Value))
	}
	if e.params != nil {
		maps.Copy(r.params, e.params(&o.mine))
	}
	if e.body != nil {
		r.body = e.body(&o.mine)
	} else if o.op.RequestBody != nil {
		r.body = o.sample(o.bodySchema(), "")
	}
	return r
}

func (o *operation) bodySchema() *openapi3.Schema {
	return o.op.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// value returns a good value of a parameter or field.
func (o *operation) value(name string, s *openapi3.Schema) any {
	f := o.mine
	switch name {
	case "id":
		switch {
		case strings.Contains(o.path, "subscription-groups"):
			return f.group
		case strings.Contains(o.path, "product-swaps"):
			return f.swap
		case strings.Contains(o.path, "bundle"):
			return f.bundle
		case strings.Contains(o.path, "api-keys"):
			return f.apiKey
		case strings.Contains(o.path, "partner-connections"):
			return f.connection
		case strings.Contains(o.path, "customers"), strings.Contains(o.path, "point-transaction"):
			return f.customer
		}
		return f.attempts[0]
	case "contractId", "subscriptionContractId":
		return f.contract
	case "lineId", "oldLineId":
		return f.lines[0]
	case "variantId", "newVariantId":
		return f.variants[2]
	case "oldVariantId":
		return f.variants[0]
	case "productIds":
		return f.products[0]
	case "variantIds":
		return f.variants[0]
	case "billingAttemptId":
		return f.attempts[0]
	case "customerId", "customer_id":
		return f.customer
	case "sellingPlanId", "sellingPlanIds":
		return f.plan
	case "discountId":
		return f.discount
	case "discountCode":
		return "WELCOME10"
	case "paymentMethodId":
		return f.payment
	case "email", "customerEmail", "customer_email":
		return f.email
	case "nextBillingDate", "billingDate":
		return o.now().AddDate(0, 0, 20).Format("2006-01-02")
	case "shop":
		return f.domain
	}
	return o.sample(s, name)
}

// sample makes a value that a schema allows, from its example if it has one.
func (o *operation) sample(s *openapi3.Schema, name string) any {
	switch {
	case s.Example != nil:
		return s.Example
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.OneOf) > 0:
		return o.sample(s.OneOf[0].Value, name)
	case s.Type.Is("object") || len(s.Properties) > 0:
		made := map[string]any{}
		for field, p := range s.Properties {
			if slices.Contains(s.Required, field) {
				made[field] = o.value(field, p.Value)
			}
		}
		return made
	case includes(s, "array"):
		return []any{o.value(strings.TrimSuffix(name, "s"), s.Items.Value)}
	case includes(s, "integer"), includes(s, "number"):
		if s.Min != nil {
			return *s.Min
		}
		return 1
	case includes(s, "boolean"):
		return true
	case s.Format == "date-time":
		return o.now().AddDate(0, 0, 20)
	}
	return strings.Repeat("x", max(1, int(s.MinLength)))
}

func includes(s *openapi3.Schema, kind string) bool { return s.Type != nil && s.Type.Includes(kind) }

// badParameter returns values that a parameter must not have, by what is wrong
// with them; nil leaves it out.
func (o *operation) badParameter(p *openapi3.Parameter) map[string]*string {
	bad := map[string]*string{}
	if p.In != "query" && p.In != "path" || o.ignored(p.Name) {
		return bad
	}
	s := p.Schema.Value
	if p.Required && p.In == "query" {
		bad["left out"], bad["empty"] = nil, new("")
	}
	if includes(s, "array") {
		return bad
	}
	if p.In == "path" && (s.Format == "id" || includes(s, "integer")) || s.Format == "id" {
		bad["another kind of id"] = new("gid://shopify/Nonsense/1")
	}
	switch {
	case includes(s, "integer"), includes(s, "number"):
		bad["no number"] = new("many")
		if s.Min != nil {
			bad["below the minimum"] = new(fmt.Sprint(int64(*s.Min) - 1))
		}
		if s.Max != nil && *s.Max < 1<<53 {
			bad["above the maximum"] = new(fmt.Sprint(int64(*s.Max) + 1))
		}
	case includes(s, "boolean"):
		bad["neither true nor false"] = new("maybe")
	case len(s.Enum) > 0:
		bad["none of the values"] = new("NONSENSE")
	case s.MaxLength != nil:
		bad["too long"] = new(strings.Repeat("x", int(*s.MaxLength)+1))
	}
	return bad
}

// ignored are parameters whose other spelling counts.
func (o *operation) ignored(name string) bool {
	return strings.HasPrefix(name, "pageable") || name == "api_key" || slices.Contains(examples[o.op.OperationID].free, name)
}

// sorted asks for a list by every field that its document names, in both
// spellings, and by one that it does not name.
func (o *operation) sorted(t *testing.T, valid request) {
	p := o.op.Parameters.GetByInAndName("query", "sort")
	if p == nil {
		return
	}
	ask := func(value string) int {
		r := valid
		r.params = maps.Clone(valid.params)
		r.params["sort"] = value
		status, _ := o.ask(t, "sorted by "+value, r)
		return status
	}
	_, list, sortable := strings.Cut(p.Description, "Fields: ")
	if !sortable && !strings.Contains(p.Description, "order of its own") {
		t.Errorf("the document does not say by what the list is sorted: %q", p.Description)
	}
	for field := range strings.SplitSeq(strings.TrimSuffix(list, "."), ", ") {
		if !sortable {
			break
		}
		spellings := []string{field, field + ",desc", regexp.MustCompile("[A-Z]").ReplaceAllStringFunc(field, func(c string) string { return "_" + strings.ToLower(c) })}
		if strings.EqualFold(field, "createAt") {
			spellings = append(spellings, "createdAt", "created_at,desc")
		}
		for _, s := range spellings {
			if status := ask(s); status != http.StatusOK {
				t.Errorf("sorted by %s: answered %d", s, status)
			}
		}
	}
	if status := ask("nonsense"); status != http.StatusBadRequest {
		t.Errorf("sorted by nonsense: answered %d, want 400", status)
	}
}

// strangers sends what nobody may: no key, a key that may do nothing here, and
// the objects of another store.
func (o *operation) strangers(t *testing.T, valid request) {
	r := valid
	r.key = ""
	if status, _ := o.ask(t, "without a key", r); status != http.StatusUnauthorized {
		t.Errorf("without a key: answered %d, want 401", status)
	}
	r.key = "prn_" + strings.Repeat("0", 40)
	if status, _ := o.ask(t, "with nobody's key", r); status != http.StatusUnauthorized {
		t.Errorf("with nobody's key: answered %d, want 401", status)
	}
	for name, value := range o.foreignIDs() {
		if _, used := valid.params[name]; !used || o.ignored(name) {
			continue
		}
		r := valid
		r.params = maps.Clone(valid.params)
		r.params[name] = value
		status, text := o.ask(t, "another store's "+name, r)
		if hidden := examples[o.op.OperationID].hides; status != http.StatusNotFound && !(hidden && status == http.StatusOK && !bytes.Contains(text, []byte(value))) {
			t.Errorf("another store's %s answered %d %.200s, want 404", name, status, text)
		}
	}
}

// repeat sends a request twice under one Idempotency-Key, and then another one.
func (o *operation) repeat(t *testing.T, r request) {
	r.repeat = o.op.OperationID
	first, text := o.ask(t, "with a key of its own", r)
	again, same := o.ask(t, "a second time", r)
	if first != again || !o.replayed || !bytes.Equal(text, same) && !examples[o.op.OperationID].secret {
		t.Errorf("repeated: answered %d %.200s and then %d %.200s, replayed %t", first, text, again, same, o.replayed)
	}
	r.params = maps.Clone(r.params)
	r.params["other"] = "1"
	if status, text := o.ask(t, "another request under the same key", r); status != http.StatusUnprocessableEntity {
		t.Errorf("another request under the same key answered %d %.200s, want 422", status, text)
	}
}

// foreignIDs are another store's objects, by the parameters that name one.
func (o *operation) foreignIDs() map[string]string {
	f := o.theirs
	ids := map[string]string{
		"contractId": fmt.Sprint(f.contract), "subscriptionContractId": fmt.Sprint(f.contract), "billingAttemptId": fmt.Sprint(f.attempts[0]),
		"customerId": fmt.Sprint(f.customer), "customer_id": fmt.Sprint(f.customer), "newVariantId": fmt.Sprint(f.variants[0]), "variantId": fmt.Sprint(f.variants[0]),
	}
	if strings.Contains(o.path, "billing-attempts") {
		ids["id"] = fmt.Sprint(f.attempts[0])
	} else if strings.Contains(o.path, "customers") {
		ids["id"] = fmt.Sprint(f.customer)
	}
	return ids
}

// badBodies sends bodies that are none, and bodies with each field null, absent
// and of a wrong type.
func (o *operation) badBodies(t *testing.T, valid request) {
	for name, row := range map[string]struct {
		raw  []byte
		want int
	}{
		"no body":        {[]byte(" "), http.StatusBadRequest},
		"half a body":    {[]byte(`{"a":`), http.StatusBadRequest},
		"another kind":   {[]byte(`"text"`), http.StatusBadRequest},
		"too deep":       {[]byte(strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)), http.StatusBadRequest},
		"a MiB and more": {bytes.Repeat([]byte(" "), 1<<20+1), http.StatusRequestEntityTooLarge},
	} {
		r := valid
		r.raw = row.raw
		if status, text := o.ask(t, name, r); status != row.want {
			t.Errorf("%s answered %d %.200s, want %d", name, status, text, row.want)
		}
	}
	body, ok := valid.body.(map[string]any)
	if !ok {
		return
	}
	schema := o.bodySchema()
	for field, p := range schema.Properties {
		alter := func(name string, change func(map[string]any)) int {
			r := valid
			altered := maps.Clone(body)
			change(altered)
			r.body = altered
			status, _ := o.ask(t, field+" "+name, r)
			return status
		}
		alter("null", func(b map[string]any) { b[field] = nil })
		alter("absent", func(b map[string]any) { delete(b, field) })
		if wrong := wrongType(p.Value); wrong != nil && !slices.Contains(examples[o.op.OperationID].free, field) {
			if status := alter("of a wrong type", func(b map[string]any) { b[field] = wrong }); status != http.StatusBadRequest {
				t.Errorf("field %s of a wrong type answered %d, want 400", field, status)
			}
		}
		if longest := p.Value.MaxLength; longest != nil && includes(p.Value, "string") {
			if status := alter("too long", func(b map[string]any) { b[field] = strings.Repeat("x", int(*longest)+1) }); status != http.StatusBadRequest {
				t.Errorf("field %s of %d characters answered %d, want 400", field, *longest+1, status)
			}
		}
		if len(p.Value.Enum) > 0 {
			if status := alter("none of the values", func(b map[string]any) { b[field] = "NONSENSE" }); status != http.StatusBadRequest {
				t.Errorf("field %s with none of its values answered %d, want 400", field, status)
			}
		}
	}
	if _, has := schema.Properties["shop"]; has {
		r := valid
		altered := maps.Clone(body)
		altered["shop"] = o.theirs.domain
		r.body = altered
		if status, text := o.ask(t, "another store", r); status != http.StatusBadRequest {
			t.Errorf("another store in the body answered %d %.200s, want 400", status, text)
		}
	}
}

// wrongType returns a value that a schema's types exclude; nil when it allows
// nearly all.
func wrongType(s *openapi3.Schema) any {
	switch {
	case s.Type == nil:
		return nil
	case includes(s, "object"), includes(s, "array"):
		return 5
	}
	return map[string]any{"a": 1}
}

// ask sends a request and holds the answer to the document.
func (o *operation) ask(t *testing.T, about string, r request) (int, []byte) {
	t.Helper()
	target, query := o.path, url.Values{}
	for name, value := range r.params {
		if hole := "{" + name + "}"; strings.Contains(target, hole) {
			target = strings.ReplaceAll(target, hole, url.PathEscape(value))
		} else {
			query.Set(name, value)
		}
	}
	base := o.urls.Subscriptions
	if !strings.HasPrefix(o.path, api) {
		base = o.urls.Loyalty
	}
	body := r.raw
	if body == nil && r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			t.Fatal(err)
		}
	}
	sent, err := http.NewRequestWithContext(t.Context(), o.method, base+target+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if r.key != "" {
		sent.Header.Set("X-API-Key", r.key)
	}
	if r.repeat != "" {
		sent.Header.Set("Idempotency-Key", r.repeat)
	}
	answer, err := http.DefaultClient.Do(sent)
	if err != nil {
		t.Fatalf("%s: %v", about, err)
	}
	defer answer.Body.Close()
	o.replayed = answer.Header.Get("Idempotent-Replayed") == "true"

	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode >= 500 {
		t.Errorf("%s: our own fault: %d %s", about, answer.StatusCode, text)
	}
	if answer.StatusCode < 300 {
		proofs.note(o.t.Name(), o.method, sent.URL, body, text)
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: sent, Route: &routers.Route{Spec: o.doc, Path: o.path, PathItem: o.item, Method: o.method, Operation: o.op},
		},
		Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(text)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	if err != nil && len(text) > 0 {
		t.Errorf("%s: the document does not allow the answer %d: %.600v", about, answer.StatusCode, err)
	}
	if _, documented := o.op.Responses.Map()[fmt.Sprint(answer.StatusCode)]; !documented {
		t.Errorf("%s: the document does not know the status %d", about, answer.StatusCode)
	}
	return answer.StatusCode, text
}
