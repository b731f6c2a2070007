package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// stage is the demo store, and another one that it must not see.
type stage struct {
	*store
	key, foreign string
	appSecret    string // with which the platform signs what shoppers ask
	mine, theirs facts
}

// facts are numbers and names of what a store has.
type facts struct {
	domain     string
	now        string // when the endpoint was made
	customer   int64
	session    int64 // of cancelling its contract; 0: none
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
	endpoint   int64
	delivery   int64
	message    int64 // that has failed
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
		AppSecret string
		Shop      string
		OtherShop struct{ Shop, APIKey string }
		Examples  struct{ SubscriptionGroupID, SwapRuleID, BundleID, LoyaltyCustomerID, SellingPlanID int64 }
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	w.key, w.foreign, w.appSecret = m.APIKey, m.OtherShop.APIKey, m.AppSecret
	for _, domain := range []string{m.Shop, m.OtherShop.Shop} {
		w.call("POST", "/settings", map[string]any{"shop": domain, "requestsPerSecond": 1000, "requestBurst": 1000, "enableImmediatePlaceOrder": true}, nil)
	}
	w.mine = facts{domain: m.Shop, group: m.Examples.SubscriptionGroupID, swap: m.Examples.SwapRuleID, bundle: m.Examples.BundleID, plan: m.Examples.SellingPlanID}
	w.theirs = facts{domain: m.OtherShop.Shop}
	w.renew(&w.theirs, w.foreign)
	return w
}

// renew gives a store a contract that no other test has changed.
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

// document is a document, with a compiler that compiles each of its schemas once.
type document struct {
	*openapi3.T
	address string
	schemas *jsonschema.Compiler
}

func (w *stage) document(address string) *document {
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
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		w.t.Fatalf("%s: %v", address, err)
	}
	schemas := jsonschema.NewCompiler()
	schemas.DefaultDraft(jsonschema.Draft2020)
	for name, format := range openapi3.SchemaIntegerFormats {
		schemas.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(value any) error {
			number, ok := value.(json.Number)
			if !ok {
				return nil
			}
			n, err := number.Int64()
			if err != nil {
				return err
			}
			return format.Validate(n)
		}})
	}
	schemas.AssertFormat()
	if err := schemas.AddResource(address, whole); err != nil {
		w.t.Fatalf("%s: %v", address, err)
	}
	return &document{T: doc, address: address, schemas: schemas}
}

// check returns an error when an operation's document does not allow the body of its answer.
func (d *document) check(o *operation, answer *http.Response, text []byte) error {
	status := fmt.Sprint(answer.StatusCode)
	documented := o.op.Responses.Value(status)
	if documented == nil {
		return fmt.Errorf("the status %s is not documented", status)
	}
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	content := documented.Value.Content[kind]
	if content == nil {
		return fmt.Errorf("the content type %s is not documented", kind)
	}
	if content.Schema == nil || !strings.HasSuffix(kind, "json") {
		return nil
	}
	at := documented.Ref
	if at == "" {
		at = "#/paths/" + pointer(o.path) + "/" + strings.ToLower(o.method) + "/responses/" + status
	}
	schema, err := d.schemas.Compile(d.address + at + "/content/" + pointer(kind) + "/schema")
	if err != nil {
		return err
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(body)
}

// pointer escapes a name for a JSON pointer in the fragment of an address.
func pointer(name string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}
