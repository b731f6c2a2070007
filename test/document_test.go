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
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// The documents are the truth: each operation is called as its document says,
// then with every parameter and field of the body left out, emptied, of a wrong
// type and beyond its bounds, then for another store's objects. Whatever the
// answer is, the document must allow it, and it must never be our own fault.
func TestEveryOperationKeepsItsDocument(t *testing.T) {
	t.Parallel()
	w := openStage(t)
	there := w.across()
	there.furnish()
	w.theirs = there.mine
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

// operation is one operation of a document.
type operation struct {
	*stage
	doc          *document
	item         *openapi3.PathItem
	method, path string
	op           *openapi3.Operation
	replayed     bool   // the last answer was one of before
	total        string // the last answer's X-Total-Count
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
	large := valid
	large.raw = bytes.Repeat([]byte(" "), 1<<20+1)
	if status, text := o.ask(t, "a MiB and more", large); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a MiB and more answered %d %.200s, want 413", status, text)
	}
	if o.method != http.MethodGet {
		o.repeat(t, fresh(t))
	}
	if o.op.RequestBody != nil {
		o.badBodies(t, fresh(t))
	}
}

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

// strangers sends requests that must be refused: no key, a key that may do nothing here, and
// the objects of another store.
func (o *operation) strangers(t *testing.T, valid request) {
	r := valid
	r.key = ""
	if status, _ := o.ask(t, "without a key", r); status != http.StatusUnauthorized {
		t.Errorf("without a key: answered %d, want 401", status)
	}
	r.key = "prn_" + strings.Repeat("0", 40)
	if status, _ := o.ask(t, "with an unknown key", r); status != http.StatusUnauthorized {
		t.Errorf("with an unknown key: answered %d, want 401", status)
	}
	ids := o.foreignIDs()
	for _, p := range o.op.Parameters {
		name := p.Value.Name
		foreign, known := ids[name]
		if !known && p.Value.In != "header" && namesID.MatchString(name) && !slices.Contains(unnumbered, name) {
			t.Errorf("%s: nothing says what another store has by that parameter", name)
		}
		if _, used := valid.params[name]; !known || !used || o.ignored(name) {
			continue
		}
		r := valid
		r.params = maps.Clone(valid.params)
		r.params[name] = foreign.value
		status, text := o.ask(t, "another store's "+name, r)
		if examples[o.op.OperationID].hides && status == http.StatusOK && !bytes.Contains(text, []byte(foreign.value)) {
			continue
		}
		want := http.StatusNotFound
		if foreign.key == "lineNotFound" { // a line is a field of its contract
			want = http.StatusBadRequest
		}
		if key := (reply{body: text}).errorKey(); status != want || key != foreign.key {
			t.Errorf("another store's %s answered %d %.200s, want %d %s", name, status, text, want, foreign.key)
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

// namesID matches parameters that name an object.
var namesID = regexp.MustCompile("(^i|I|_i)ds?$")

// unnumbered are parameters by which the other store has nothing that is not the store's
// too: its plans have the same numbers, and it has no collection.
var unnumbered = []string{"sellingPlanId", "sellingPlanIds", "collectionId"}

// foreignID is an object of another store, and the errorKey of the answer that it does
// not exist.
type foreignID struct{ value, key string }

// foreignIDs are another store's objects, by the parameters that name one.
func (o *operation) foreignIDs() map[string]foreignID {
	f := o.theirs
	order := foreignID{fmt.Sprint(f.attempts[0]), "billingAttemptNotFound"}
	customer := foreignID{fmt.Sprint(f.customer), "customerNotFound"}
	variant := foreignID{fmt.Sprint(f.variants[0]), "variantNotFound"}
	product := foreignID{fmt.Sprint(f.products[0]), "productNotFound"}
	agreed := foreignID{fmt.Sprint(f.contract), "contractNotFound"}
	if !strings.HasPrefix(o.path, api) {
		customer.key = "customerNotEnrolled"
	}
	if o.op.Parameters.GetByInAndName("query", "billingAttemptId") != nil && o.op.OperationID != "addOneOff" {
		agreed.key = order.key // the order is not that contract's; a product is added to the contract's next one
	}
	ids := map[string]foreignID{
		"contractId": agreed, "subscriptionContractId": agreed, "billingAttemptId": order,
		"customerId": customer, "customer_id": customer, "newVariantId": variant, "variantId": variant, "variantIds": variant,
		"productId": product, "productIds": product, "endpointId": {fmt.Sprint(f.endpoint), "webhookEndpointNotFound"},
		"lineId": {f.lines[0], "lineNotFound"}, "oldLineId": {f.lines[0], "lineNotFound"}, "oldVariantId": variant,
		"discountId": {f.discount, "discountNotFound"}, "paymentMethodId": {f.payment, "paymentMethodNotFound"},
	}
	for part, id := range map[string]foreignID{
		"billing-attempts": order, "customers": customer, "point-transaction": customer, "api-keys": {fmt.Sprint(f.apiKey), "apiKeyNotFound"},
		"partner-connections": {fmt.Sprint(f.connection), "connectionNotFound"}, "product-swaps": {fmt.Sprint(f.swap), "productSwapNotFound"},
		"bundle-settings": {fmt.Sprint(f.bundle), "bundleNotFound"}, "subscription-groups": {fmt.Sprint(f.group), "subscriptionGroupNotFound"},
		"webhook-endpoints": {fmt.Sprint(f.endpoint), "webhookEndpointNotFound"}, "webhook-deliveries": {fmt.Sprint(f.delivery), "webhookDeliveryNotFound"},
		"notifications": {fmt.Sprint(f.message), "notificationNotFound"},
	} {
		if strings.Contains(o.path, part) {
			ids["id"] = id
		}
	}
	return ids
}

// badBodies sends bodies that are none, and bodies with each field null, absent
// and of a wrong type.
func (o *operation) badBodies(t *testing.T, valid request) {
	for name, raw := range map[string]string{
		"no body":      " ",
		"half a body":  `{"a":`,
		"another kind": `"text"`,
		"too deep":     strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500),
	} {
		r := valid
		r.raw = []byte(raw)
		if status, text := o.ask(t, name, r); status != http.StatusBadRequest {
			t.Errorf("%s answered %d %.200s, want 400", name, status, text)
		}
	}
	body, ok := valid.body.(map[string]any)
	if !ok {
		return
	}
	schema := o.bodySchema()
	for field, p := range schema.Properties {
		alter := func(name string, change func(map[string]any)) int {
			altered := maps.Clone(body)
			change(altered)
			r := valid
			r.body = altered
			status, _ := o.ask(t, field+" "+name, r)
			if name == "null" || name == "absent" {
				return status
			}
			if of, text := o.ask(t, field+" "+name+" of nothing", ofNothing(r, field)); of != status {
				t.Errorf("field %s %s answered %d and, of what does not exist, %d %.200s", field, name, status, of, text)
			}
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
		for name, beyond := range map[string]*float64{"below its minimum": less(p.Value.Min), "above its maximum": more(p.Value.Max)} {
			if beyond == nil || slices.Contains(examples[o.op.OperationID].free, field) {
				continue
			}
			if status := alter(name, func(b map[string]any) { b[field] = *beyond }); status != http.StatusBadRequest {
				t.Errorf("field %s %s answered %d, want 400", field, name, status)
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

// ofNothing is the request of something that does not exist, in whatever names what
// it is about but the one field.
func ofNothing(r request, but string) request {
	const nothing = 1<<53 - 1
	r.params = maps.Clone(r.params)
	body := maps.Clone(r.body.(map[string]any))
	for _, name := range []string{"id", "contractId", "subscriptionContractId", "customerId"} {
		if _, has := r.params[name]; has {
			r.params[name] = fmt.Sprint(nothing)
		}
		if _, has := body[name]; has && name != but {
			body[name] = nothing
		}
	}
	r.body = body
	return r
}

func less(bound *float64) *float64 {
	if bound == nil {
		return nil
	}
	return new(*bound - 1)
}

func more(bound *float64) *float64 {
	if bound == nil {
		return nil
	}
	return new(*bound + 1)
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
	if !strings.HasPrefix(o.path, api) && !strings.HasPrefix(o.path, portalPath) {
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
	o.replayed, o.total = answer.Header.Get("Idempotent-Replayed") == "true", answer.Header.Get("X-Total-Count")
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
			Request: sent, Route: &routers.Route{Spec: o.doc.T, Path: o.path, PathItem: o.item, Method: o.method, Operation: o.op},
		},
		Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(text)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, ExcludeResponseBody: true},
	})
	if err == nil && len(text) > 0 {
		err = o.doc.check(o, answer, text)
	}
	if err != nil && len(text) > 0 {
		t.Errorf("%s: the document does not allow the answer %d: %.600v", about, answer.StatusCode, err)
	}
	if _, documented := o.op.Responses.Map()[fmt.Sprint(answer.StatusCode)]; !documented {
		t.Errorf("%s: the document does not know the status %d", about, answer.StatusCode)
	}
	return answer.StatusCode, text
}
