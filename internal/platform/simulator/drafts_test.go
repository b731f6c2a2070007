package simulator

import (
	"strings"
	"testing"
)

// open opens a draft of a contract and returns its id.
func (w *world) open(contract int64) string {
	w.t.Helper()
	d := w.ask(`mutation($c: ID!) { subscriptionContractUpdate(contractId: $c) { draft { id } userErrors { code } } }`, map[string]any{"c": contractGID(contract)})
	return dig(d, "subscriptionContractUpdate", "draft", "id").(string)
}

// edit sends a draft's input and returns the code that refuses it.
func (w *world) edit(draft string, input map[string]any) string {
	w.t.Helper()
	d := w.ask(`mutation($d: ID!, $in: SubscriptionDraftInput!) { subscriptionDraftUpdate(draftId: $d, input: $in) { userErrors { code } } }`, map[string]any{"d": draft, "in": input})
	code, _ := dig(d, "subscriptionDraftUpdate", "userErrors", 0, "code").(string)
	return code
}

// commit commits a draft and returns the code that refuses it.
func (w *world) commit(draft string) string {
	w.t.Helper()
	d := w.ask(`mutation($d: ID!) { subscriptionDraftCommit(draftId: $d) { contract { id } userErrors { code } } }`, map[string]any{"d": draft})
	code, _ := dig(d, "subscriptionDraftCommit", "userErrors", 0, "code").(string)
	return code
}

func (w *world) line(doc, draft, line string, input map[string]any) (code string) {
	w.t.Helper()
	d := w.ask(doc, map[string]any{"d": draft, "l": line, "in": input})
	for _, v := range d {
		code, _ = dig(v, "userErrors", 0, "code").(string)
	}
	return code
}

const (
	lineAdd    = `mutation($d: ID!, $in: SubscriptionLineInput!) { subscriptionDraftLineAdd(draftId: $d, input: $in) { lineAdded { id } userErrors { code } } }`
	lineUpdate = `mutation($d: ID!, $l: ID!, $in: SubscriptionLineUpdateInput!) { subscriptionDraftLineUpdate(draftId: $d, lineId: $l, input: $in) { lineUpdated { id } userErrors { code } } }`
	lineRemove = `mutation($d: ID!, $l: ID!) { subscriptionDraftLineRemove(draftId: $d, lineId: $l) { lineRemoved { id } userErrors { code } } }`
)

func TestDraftTakesEffectAtCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	before, _ := w.sim.Contract(made.Contract)
	d := w.open(made.Contract)
	for _, code := range []string{
		w.edit(d, map[string]any{"note": "ring twice", "deliveryPrice": "7.5", "customAttributes": []any{map[string]any{"key": "gift", "value": "yes"}}}),
		w.line(lineAdd, d, "", map[string]any{"productVariantId": "gid://shopify/ProductVariant/4002", "quantity": 1, "currentPrice": "36"}),
		w.line(lineUpdate, d, made.Lines[0], map[string]any{"quantity": 3}),
	} {
		if code != "" {
			t.Fatal(code)
		}
	}
	if c, _ := w.sim.Contract(made.Contract); c.Amount != "30.00" || c.Note != "" || c.Revision != before.Revision {
		t.Errorf("before the commit: %+v", c)
	}
	if code := w.commit(d); code != "" {
		t.Fatal(code)
	}
	c, _ := w.sim.Contract(made.Contract)
	if c.Amount != "81.00" || c.Note != "ring twice" || len(c.Lines) != 2 || c.Lines[0].ID != made.Lines[0] || c.Revision <= before.Revision || c.Attributes[0].Value != "yes" {
		t.Errorf("after the commit: %+v", c)
	}
}

func TestDraftRefusals(t *testing.T) {
	t.Parallel()
	monthly := map[string]any{"interval": "MONTH", "intervalCount": 1}
	tests := []struct {
		name string
		do   func(w *world, made Made, draft string) string
		want string
	}{
		{"a committed draft is not committed again", func(w *world, _ Made, d string) string { w.commit(d); return w.commit(d) }, "COMMITTED"},
		{"a committed draft is not changed", func(w *world, _ Made, d string) string { w.commit(d); return w.edit(d, map[string]any{"note": "x"}) }, "COMMITTED"},
		{"a contract that changed meanwhile is stale", func(w *world, m Made, d string) string {
			w.commit(w.open(m.Contract))
			return w.commit(d)
		}, "STALE_CONTRACT"},
		{"a contract needs a line", func(w *world, m Made, d string) string {
			w.line(lineRemove, d, m.Lines[0], nil)
			return w.commit(d)
		}, "INVALID_LINES"},
		{"a line is removed once", func(w *world, m Made, d string) string {
			w.line(lineRemove, d, m.Lines[0], nil)
			return w.line(lineRemove, d, m.Lines[0], nil)
		}, "ALREADY_REMOVED"},
		{"a variant must exist", func(w *world, _ Made, d string) string {
			return w.line(lineAdd, d, "", map[string]any{"productVariantId": "gid://shopify/ProductVariant/1", "quantity": 1, "currentPrice": "1"})
		}, "INVALID"},
		{"a quantity is at least one", func(w *world, m Made, d string) string {
			return w.line(lineUpdate, d, m.Lines[0], map[string]any{"quantity": 0})
		}, "GREATER_THAN_OR_EQUAL_TO"},
		{"more cycles at least than at most", func(w *world, _ Made, d string) string {
			return w.edit(d, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "minCycles": 3, "maxCycles": 3}})
		}, "SELLING_PLAN_MAX_CYCLES_MUST_BE_GREATER_THAN_MIN_CYCLES"},
		{"a billing that is no multiple of the delivery", func(w *world, _ Made, d string) string {
			w.edit(d, map[string]any{"billingPolicy": monthly, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 2}})
			return w.commit(d)
		}, "DELIVERY_MUST_BE_MULTIPLE_OF_BILLING"},
		{"a note that is too long", func(w *world, _ Made, d string) string {
			w.edit(d, map[string]any{"note": strings.Repeat("x", maxNote+1)})
			return w.commit(d)
		}, "INVALID_NOTE_LENGTH"},
		{"another customer's payment method", func(w *world, _ Made, d string) string {
			other := w.monthly(func(c *ContractSpec) { c.Customer.Email = "bob@example.com" })
			return w.edit(d, map[string]any{"paymentMethodId": other.PaymentMethod})
		}, "CUSTOMER_MISMATCH"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.monthly()
			if got := tt.do(w, made, w.open(made.Contract)); got != tt.want {
				t.Errorf("refused with %q, want %q", got, tt.want)
			}
		})
	}
}

func TestChangedPolicyKeepsRunningCycle(t *testing.T) {
	t.Parallel()
	weekly := map[string]any{"interval": "WEEK", "intervalCount": 1}
	tests := []struct {
		name     string
		switches Switches
		want     []string // ends of cycles 2, 3 and 4
	}{
		{"its end stays and weeks follow", Switches{}, []string{"2025-03-01T15:00:00Z", "2025-03-08T15:00:00Z", "2025-03-15T14:00:00Z"}},
		{"its end is now and the next has its place when switched so", Switches{PolicyChangeRenumbers: true}, []string{"2025-02-09T23:59:59Z", "2025-03-08T15:00:00Z", "2025-03-15T14:00:00Z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Switches = tt.switches })
			made := w.monthly()
			w.pass("2025-02-10")
			d := w.open(made.Contract)
			w.edit(d, map[string]any{"billingPolicy": weekly, "deliveryPolicy": weekly})
			if code := w.commit(d); code != "" {
				t.Fatal(code)
			}
			cycles, err := w.sim.Cycles(made.Contract)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tt.want {
				if got := stamp(cycles[i+1].End); got != want {
					t.Errorf("cycle %d ends at %s, want %s", i+2, got, want)
				}
			}
		})
	}
}

func TestContractIsCreatedThroughAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	terms := func() map[string]any {
		return map[string]any{
			"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
			"deliveryMethod": map[string]any{"shipping": map[string]any{"address": map[string]any{"city": "Rome", "countryCode": "IT"}}},
			"deliveryPrice":  "0", "paymentMethodId": made.PaymentMethod, "status": "PAUSED",
		}
	}
	input := func() map[string]any {
		return map[string]any{
			"customerId": "gid://shopify/Customer/7001", "currencyCode": "USD", "nextBillingDate": "2025-03-10T08:00:00Z", "contract": terms(),
			"lines": []any{map[string]any{"line": map[string]any{"productVariantId": "gid://shopify/ProductVariant/4001", "quantity": 1, "currentPrice": "9.99"}}},
		}
	}
	const create = `mutation($in: SubscriptionContractAtomicCreateInput!) { subscriptionContractAtomicCreate(input: $in) { contract { id status nextBillingDate originOrder { id } lines(first: 1) { nodes { currentPrice { amount } } } } userErrors { code } } }`
	t.Run("at once", func(t *testing.T) {
		got := text(w.ask(create, map[string]any{"in": input()})["subscriptionContractAtomicCreate"])
		want := `{"contract":{"id":"gid://shopify/SubscriptionContract/9002","lines":{"nodes":[{"currentPrice":{"amount":"9.99"}}]},"nextBillingDate":"2025-03-10T08:00:00Z","originOrder":null,"status":"PAUSED"},"userErrors":[]}`
		if got != want {
			t.Errorf("got %s", got)
		}
		if c, err := w.sim.Cycles(9002); err != nil || stamp(c[0].End) != "2025-03-10T08:00:00Z" {
			t.Errorf("first cycle %+v %v", c[0], err)
		}
	})
	for name, tt := range map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"an unknown customer":     {func(m map[string]any) { m["customerId"] = "gid://shopify/Customer/1" }, "CUSTOMER_DOES_NOT_EXIST"},
		"no delivery method":      {func(m map[string]any) { delete(m["contract"].(map[string]any), "deliveryMethod") }, "DELIVERY_METHOD_REQUIRED"},
		"no lines":                {func(m map[string]any) { m["lines"] = []any{} }, "INVALID_LINES"},
		"no policy":               {func(m map[string]any) { delete(m["contract"].(map[string]any), "billingPolicy") }, "PRESENCE"},
		"a next date in the past": {func(m map[string]any) { m["nextBillingDate"] = "2024-01-01T00:00:00Z" }, "INVALID_BILLING_DATE"},
	} {
		t.Run(name, func(t *testing.T) {
			in := input()
			tt.change(in)
			d := w.ask(create, map[string]any{"in": in})
			if got := dig(d, "subscriptionContractAtomicCreate", "userErrors", 0, "code"); got != tt.want {
				t.Errorf("refused with %v, want %s", got, tt.want)
			}
		})
	}
}

func TestDraftNextBillingDateMayBeIgnored(t *testing.T) {
	t.Parallel()
	for name, ignored := range map[string]bool{"it ends the first cycle": false, "it is not heeded when switched so": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Switches.DraftCreateIgnoresNextBillingDate = ignored })
			w.monthly()
			w.clock.Set(day("2025-08-17T16:40:18Z"))
			d := w.ask(`mutation($in: SubscriptionContractCreateInput!) { subscriptionContractCreate(input: $in) { draft { id } userErrors { code message } } }`, map[string]any{"in": map[string]any{
				"customerId": "gid://shopify/Customer/7001", "currencyCode": "USD", "nextBillingDate": "2025-08-27T07:00:00Z", "contract": map[string]any{
					"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
					"deliveryMethod": map[string]any{"shipping": map[string]any{}},
				}}})
			draft := dig(d, "subscriptionContractCreate", "draft", "id").(string)
			if code := w.line(lineAdd, draft, "", map[string]any{"productVariantId": "gid://shopify/ProductVariant/4002", "quantity": 1, "currentPrice": "36"}); code != "" {
				t.Fatal(code)
			}
			if code := w.commit(draft); code != "" {
				t.Fatal(code)
			}
			cycles, err := w.sim.Cycles(9002)
			if err != nil {
				t.Fatal(err)
			}
			start, end := "2025-08-17T16:40:18Z", "2025-08-27T07:00:00Z"
			if ignored {
				start, end = "2025-08-17T16:40:19Z", "2025-09-17T16:00:00Z"
			}
			if got := cycles[0]; stamp(got.Start) != start || stamp(got.End) != end {
				t.Errorf("first cycle %s to %s, want %s to %s", stamp(got.Start), stamp(got.End), start, end)
			}
		})
	}
}

func TestStatusesOfAContract(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	id := map[string]any{"id": contractGID(made.Contract)}
	var last uint64
	for _, step := range []struct{ field, status, code string }{
		{"Pause", "PAUSED", ""}, {"Pause", "PAUSED", ""}, {"Activate", "ACTIVE", ""}, {"Fail", "FAILED", ""}, {"Activate", "ACTIVE", ""},
		{"Cancel", "CANCELLED", ""}, {"Activate", "CANCELLED", "CONTRACT_TERMINATED"}, {"Expire", "CANCELLED", "CONTRACT_TERMINATED"},
	} {
		d := w.ask(`mutation($id: ID!) { a: subscriptionContract`+step.field+`(subscriptionContractId: $id) { contract { status } userErrors { code } } }`, id)
		code, _ := dig(d, "a", "userErrors", 0, "code").(string)
		if dig(d, "a", "contract", "status") != step.status || code != step.code {
			t.Errorf("%s: %s", step.field, text(d))
		}
		c, err := w.sim.Contract(made.Contract)
		if err != nil || c.Revision < last {
			t.Errorf("revision %d after %d (%v)", c.Revision, last, err)
		}
		last = c.Revision
	}
}

func TestNextBillingDateCausesNoCharge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	d := w.ask(`mutation($id: ID!, $d: DateTime!) { subscriptionContractSetNextBillingDate(contractId: $id, date: $d) { contract { nextBillingDate } userErrors { code } } }`,
		map[string]any{"id": contractGID(made.Contract), "d": "2025-02-15T00:00:00Z"})
	if got := dig(d, "subscriptionContractSetNextBillingDate", "contract", "nextBillingDate"); got != "2025-02-15T00:00:00Z" {
		t.Errorf("shown: %v", got)
	}
	if c, err := w.sim.Cycles(made.Contract); err != nil || !c[0].Expected.Equal(day("2025-02-01T15:00:00Z")) {
		t.Errorf("the schedule moved to %s (%v)", c[0].Expected, err)
	}
}
