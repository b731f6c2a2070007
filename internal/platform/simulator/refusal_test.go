package simulator

import (
	"net/http"
	"strings"
	"testing"
)

func TestRefusalsHavePlatformMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	id := contractGID(made.Contract)
	tests := []struct {
		name, query string
		vars        map[string]any
		want        string // the first error, as JSON
		data        string // "absent", "null" or a fragment of the data
	}{
		{"a syntax error says where it is", "query {\n shop {", nil,
			`{"message":"syntax error, expected Name, found \u003cEOF\u003e at [2, 8]","locations":[{"line":2,"column":8}],"extensions":{"code":"PARSE_ERROR"}}`, "absent"},
		{"an unknown field is named with its type", `query Op { products(first: 1) { nodes { x } } }`, nil,
			`{"message":"Field 'x' doesn't exist on type 'Product'","locations":[{"line":1,"column":41}],"path":["query Op","products","nodes","x"],"extensions":{"code":"undefinedField","typeName":"Product","fieldName":"x"}}`, "absent"},
		{"an object without a selection is a mismatch", `{ shop }`, nil,
			`{"message":"Field must have selections (field 'shop' returns Shop but has no selections. Did you mean 'shop { ... }'?)","locations":[{"line":1,"column":3}],"path":["query","shop"],"extensions":{"code":"selectionMismatch","typeName":"Shop","nodeName":"field 'shop'"}}`, "absent"},
		{"a literal of the wrong type is incompatible", `{ products(first: "one") { nodes { id } } }`, nil,
			`{"message":"Argument 'first' on Field 'products' has an invalid value (\"one\"). Expected type 'Int'.","locations":[{"line":1,"column":12}],"path":["query","products","first"],"extensions":{"code":"argumentLiteralsIncompatible","typeName":"Field","argumentName":"first"}}`, "absent"},
		{"an unknown enum value is incompatible", `{ products(first: 1, sortKey: LUCK) { nodes { id } } }`, nil,
			`{"message":"Argument 'sortKey' on Field 'products' has an invalid value (LUCK). Expected type 'ProductSortKeys'.","locations":[{"line":1,"column":22}],"path":["query","products","sortKey"],"extensions":{"code":"argumentLiteralsIncompatible","typeName":"Field","argumentName":"sortKey"}}`, "absent"},
		{"a missing argument is named", `{ product { id } }`, nil,
			`{"message":"Field 'product' is missing required arguments: id","locations":[{"line":1,"column":3}],"path":["query","product"],"extensions":{"code":"missingRequiredArguments","className":"Field","name":"product","arguments":"id"}}`, "absent"},
		{"an argument that does not exist is not accepted", `{ shop(id: 1) { id } }`, nil,
			`{"message":"Field 'shop' doesn't accept argument 'id'","locations":[{"line":1,"column":8}],"path":["query","shop","id"],"extensions":{"code":"argumentNotAccepted","typeName":"Field","name":"shop","argumentName":"id"}}`, "absent"},
		{"a null variable where a value is needed is invalid", `query($x: ID!) { product(id: $x) { id } }`, nil,
			`{"message":"Variable $x of type ID! was provided invalid value","locations":[{"line":1,"column":7}],"extensions":{"code":"INVALID_VARIABLE","problems":[{"path":[],"explanation":"Expected value to not be null"}]}}`, "absent"},
		{"a missing field of an input object is named by its path", createDocInput, map[string]any{"id": id, "in": map[string]any{"originTime": "2025-01-01T00:00:00Z"}},
			`{"message":"Variable $in of type SubscriptionBillingAttemptInput! was provided invalid value for idempotencyKey (Expected value to not be null)","locations":[{"line":1,"column":20}],"extensions":{"code":"INVALID_VARIABLE","value":{"originTime":"2025-01-01T00:00:00Z"},"problems":[{"path":["idempotencyKey"],"explanation":"Expected value to not be null"}]}}`, "absent"},
		{"a malformed graph id is invalid", `query($x: ID!) { product(id: $x) { id } }`, map[string]any{"x": "abc"},
			`{"message":"Variable $x of type ID! was provided invalid value","locations":[{"line":1,"column":7}],"extensions":{"code":"INVALID_VARIABLE","value":"abc","problems":[{"path":[],"explanation":"Invalid global id 'abc'"}]}}`, "absent"},
		{"a graph id of another type is found nowhere", `query($x: ID!) { subscriptionContract(id: $x) { id } shop { name } }`, map[string]any{"x": "gid://shopify/Product/1"},
			`{"message":"Invalid id: gid://shopify/Product/1","locations":[{"line":1,"column":18}],"path":["subscriptionContract"],"extensions":{"code":"RESOURCE_NOT_FOUND"}}`, `"shop":{"name":"demo"}`},
		{"a connection wants a page size", `{ products { nodes { id } } }`, nil,
			`{"message":"you must provide one of first or last","locations":[{"line":1,"column":3}],"path":["products"],"extensions":{"code":"BAD_REQUEST"}}`, "null"},
		{"a connection wants one page size only", `{ products(first: 1, last: 1) { nodes { id } } }`, nil,
			`{"message":"providing both first and last is not supported","locations":[{"line":1,"column":3}],"path":["products"],"extensions":{"code":"BAD_REQUEST"}}`, "null"},
		{"a variable that is not declared is named", `query Q { product(id: $x) { id } }`, nil,
			`{"message":"Variable $x is used by Q but not declared","locations":[{"line":1,"column":19}],"path":["query Q","product","id"],"extensions":{"code":"variableNotDefined","variableName":"x"}}`, "absent"},
		{"a root field that is valid but not simulated says so", `{ giftCards(first: 1) { nodes { id } } }`, nil,
			`{"message":"The simulator does not simulate field 'giftCards' of type 'QueryRoot': the document is valid, and the platform would answer it.","locations":[{"line":1,"column":3}],"extensions":{"code":"NOT_SIMULATED","typeName":"QueryRoot","fieldName":"giftCards"}}`, "null"},
		{"an object's field that is valid but not simulated says so", `{ shop { alerts { action { title } } } }`, nil,
			`{"message":"The simulator does not simulate field 'alerts' of type 'Shop': the document is valid, and the platform would answer it.","locations":[{"line":1,"column":10}],"extensions":{"code":"NOT_SIMULATED","typeName":"Shop","fieldName":"alerts"}}`, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := w.post(tt.query, tt.vars)
			if r.status != http.StatusOK || len(r.Errors) == 0 {
				t.Fatalf("answered %d %s", r.status, r.raw)
			}
			if got := text(r.Errors[0]); got != tt.want {
				t.Errorf("error\n got %s\nwant %s", got, tt.want)
			}
			switch tt.data {
			case "absent":
				if strings.Contains(r.raw, `"data"`) {
					t.Errorf("there is data: %s", r.raw)
				}
			case "null":
				if !strings.Contains(r.raw, `"data":null`) {
					t.Errorf("data is not null: %s", r.raw)
				}
			default:
				if !strings.Contains(r.raw, tt.data) {
					t.Errorf("data lacks %s: %s", tt.data, r.raw)
				}
			}
		})
	}
}

const createDocInput = `mutation($id: ID!, $in: SubscriptionBillingAttemptInput!) { subscriptionBillingAttemptCreate(subscriptionContractId: $id, subscriptionBillingAttemptInput: $in) { userErrors { code } } }`

func TestUnsimulatedFieldIsRefusedBeforeExecution(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	r := w.post(`mutation($id: ID!) { subscriptionContractPause(subscriptionContractId: $id) { contract { customer { storeCreditAccounts(first: 1) { nodes { id } } } } } }`,
		map[string]any{"id": contractGID(made.Contract)})
	if len(r.Errors) == 0 || r.Errors[0].Extensions.Code != codeNotSimulated {
		t.Fatal(r.raw)
	}
	if c, err := w.sim.Contract(made.Contract); err != nil || c.Status != statusActive {
		t.Errorf("the contract was paused all the same: %+v %v", c.Status, err)
	}
}

func TestUnknownTokenIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	req, err := http.NewRequest(http.MethodPost, w.server.URL+"/admin/api/2026-10/graphql.json", strings.NewReader(`{"query":"{shop{id}}"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Shopify-Access-Token", "wrong")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("answered %d", res.StatusCode)
	}
}

func TestFragmentsAliasesAndDirectives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	d := w.ask(`query($id: ID!, $no: Boolean!) {
		n: node(id: $id) { __typename id ... on SubscriptionContract { ...terms } ... on Order { name } }
		skipped: shop @include(if: $no) { id }
	}
	fragment terms on SubscriptionContract { billingPolicy { interval intervalCount } status }`,
		map[string]any{"id": contractGID(made.Contract), "no": false})
	want := `{"n":{"__typename":"SubscriptionContract","billingPolicy":{"interval":"MONTH","intervalCount":1},"id":"gid://shopify/SubscriptionContract/9001","status":"ACTIVE"}}`
	if got := text(d); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestPagesOfContractsByChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		w.monthly()
	}
	w.clock.Set(day("2025-01-02"))
	w.ask(`mutation($id: ID!) { subscriptionContractPause(subscriptionContractId: $id) { userErrors { code } } }`, map[string]any{"id": contractGID(9002)})
	const list = `query($after: String, $q: String) { subscriptionContracts(first: 2, after: $after, sortKey: UPDATED_AT, query: $q) { nodes { id } pageInfo { hasNextPage endCursor } } }`
	var seen []string
	var after any
	for range 3 {
		d := w.ask(list, map[string]any{"after": after, "q": "updated_at:>='2025-01-01T00:00:00Z'"})
		for i := range 2 {
			if id, ok := dig(d, "subscriptionContracts", "nodes", i, "id").(string); ok {
				seen = append(seen, id[len(id)-4:])
			}
		}
		after = dig(d, "subscriptionContracts", "pageInfo", "endCursor")
	}
	if got := strings.Join(seen, " "); got != "9001 9003 9004 9005 9002" {
		t.Errorf("pages held %s", got)
	}
	d := w.ask(list, map[string]any{"q": "updated_at:>2025-01-01T12:00:00Z status:PAUSED"})
	if got := text(dig(d, "subscriptionContracts", "nodes")); got != `[{"id":"gid://shopify/SubscriptionContract/9002"}]` {
		t.Errorf("changed and paused: %s", got)
	}
}
