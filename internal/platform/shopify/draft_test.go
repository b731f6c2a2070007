package shopify

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// everyEdit is an edit with one of each change.
func everyEdit() *platform.Edit {
	price := money.Amount{Minor: 100, Currency: "USD"}
	return &platform.Edit{
		Note: new("a note"),
		Lines: []platform.LineEdit{
			{Line: "gid://shopify/SubscriptionLine/1", Remove: true},
			{Line: "gid://shopify/SubscriptionLine/2", Quantity: new(2)},
			{Variant: new(int64(4001)), Quantity: new(1), Price: &price},
		},
		Discounts: []platform.DiscountEdit{
			{Code: "WELCOME"},
			{Add: &platform.Discount{Title: "free", FreeShipping: true}},
			{Add: &platform.Discount{Title: "half", Percent: 50, AllLines: true}},
			{Remove: "gid://shopify/SubscriptionManualDiscount/1"},
		},
	}
}

// draftShapes are documents that change drafts: one with each change, and one of
// the greatest size for each.
func draftShapes() map[string][]draftOp {
	shapes := map[string][]draftOp{"each": draftOps(everyEdit())}
	for _, op := range shapes["each"] {
		shapes[op.mutation+" × "+strconv.Itoa(maxOps)] = slices.Repeat([]draftOp{op}, maxOps)
	}
	return shapes
}

func TestDraftChangesAreInAcceptedOrder(t *testing.T) {
	t.Parallel()
	var got []string
	for _, op := range draftOps(everyEdit()) {
		got = append(got, op.mutation)
	}
	want := []string{
		"subscriptionDraftUpdate", "subscriptionDraftLineUpdate", "subscriptionDraftLineAdd", "subscriptionDraftLineRemove",
		"subscriptionDraftDiscountRemove", "subscriptionDraftDiscountCodeApply", "subscriptionDraftFreeShippingDiscountAdd", "subscriptionDraftDiscountAdd",
	}
	if !slices.Equal(got, want) {
		t.Errorf("changes %v, want %v", got, want)
	}
	if ops := draftOps(&platform.Edit{}); len(ops) != 0 {
		t.Errorf("an empty edit makes the changes %v", ops)
	}
}

func TestEditSendsOnlyItsFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		edit platform.Edit
		want string
	}{
		{"a note alone", platform.Edit{Note: new("hi")}, `{"draft":"d","input0":{"note":"hi"}}`},
		{"an empty note", platform.Edit{Note: new("")}, `{"draft":"d","input0":{"note":""}}`},
		{"no attributes any more", platform.Edit{Attributes: &[]platform.Attribute{}}, `{"draft":"d","input0":{"customAttributes":[]}}`},
		{"a quantity alone", platform.Edit{Lines: []platform.LineEdit{{Line: "l", Quantity: new(2)}}}, `{"draft":"d","input0":{"quantity":2},"lineId0":"l"}`},
		{"a policy without anchors and limits takes those away", platform.Edit{Billing: &platform.Policy{Interval: "WEEK", Count: 2}},
			`{"draft":"d","input0":{"billingPolicy":{"interval":"WEEK","intervalCount":2,"anchors":[]}}}`},
		{"a delivery policy has no limits of cycles", platform.Edit{Delivery: &platform.Policy{Interval: "WEEK", Count: 2, MinCycles: 3}},
			`{"draft":"d","input0":{"deliveryPolicy":{"interval":"WEEK","intervalCount":2,"anchors":[]}}}`},
		{"codes of province and country outrank their names", platform.Edit{Method: &platform.DeliveryMethod{
			Kind: platform.MethodShipping, Address: platform.Address{City: "Rye", Province: "New York", ProvinceCode: "NY", Country: "United States", CountryCode: "US"}}},
			`{"draft":"d","input0":{"deliveryMethod":{"shipping":{"address":{"city":"Rye","provinceCode":"NY","countryCode":"US"},"shippingOption":{}}}}}`},
		{"an amount off once", platform.Edit{Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "x", Amount: money.Amount{Minor: 250, Currency: "USD"}, Lines: []string{"l"}}}}},
			`{"draft":"d","input0":{"title":"x","value":{"fixedAmount":{"amount":2.5,"appliesOnEachItem":false}},"entitledLines":{"lines":{"add":["l"]}}}}`},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, got, err := draftDocument("d", draftOps(&c.edit))
			if err != nil || string(got) != c.want {
				t.Errorf("sent %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestLargeEditIsSentInSeveralRequests(t *testing.T) {
	t.Parallel()
	bodies := []string{`{"data":{"draft":{"draft":{"id":"gid://shopify/SubscriptionDraft/1"},"userErrors":[]}}}`, opAnswers(maxOps), opAnswers(3),
		`{"data":{"done":{"userErrors":[{"code":"INVALID_LINES","field":null,"message":"no"}]}}}`}
	c, sent := scripted(t, bodies...)
	var e platform.Edit
	for range maxOps + 3 {
		e.Lines = append(e.Lines, platform.LineEdit{Line: "l", Quantity: new(1)})
	}
	_, err := c.EditContract(t.Context(), demo, 1, e)
	if !isRefusal(err, "INVALID_LINES") {
		t.Errorf("got %v, want the refusal %s", err, "INVALID_LINES")
	}
	if len(sent.variables) != len(bodies) {
		t.Errorf("%d requests, want %d", len(sent.variables), len(bodies))
	}
}

func opAnswers(n int) string {
	var fields []string
	for i := range n {
		fields = append(fields, `"`+opAlias(i)+`":{"userErrors":[]}`)
	}
	return `{"data":{` + strings.Join(fields, ",") + `}}`
}

func TestRefusedStepCommitsNothing(t *testing.T) {
	t.Parallel()
	const opened = `{"data":{"draft":{"draft":{"id":"gid://shopify/SubscriptionDraft/1"},"userErrors":[]}}}`
	tests := []struct {
		name   string
		bodies []string
		code   string
	}{
		{"of the draft itself", []string{`{"data":{"draft":{"draft":null,"userErrors":[{"code":"HAS_FUTURE_EDITS","field":["contractId"],"message":"no"}]}}}`}, "HAS_FUTURE_EDITS"},
		{"of a change", []string{opened, `{"data":{"op0":{"userErrors":[{"code":"INVALID_NOTE_LENGTH","field":["input","note"],"message":"no"}]}}}`}, "INVALID_NOTE_LENGTH"},
		{"of the document", []string{opened, `{"errors":[{"message":"no","extensions":{"code":"ACCESS_DENIED"}}]}`}, "ACCESS_DENIED"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, _ := scripted(t, c.bodies...)
			_, err := client.EditContract(t.Context(), demo, 1, platform.Edit{Note: new("x")})
			if !isRefusal(err, c.code) {
				t.Errorf("got %v, want the refusal %s", err, c.code)
			}
		})
	}
}
