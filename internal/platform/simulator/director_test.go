package simulator

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func TestCheckoutRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*ContractSpec)
	}{
		{"an unknown store", func(c *ContractSpec) { c.Shop = "nobody.myshopify.com" }},
		{"an unknown variant", func(c *ContractSpec) { c.Lines[0].VariantID = 1 }},
		{"no lines", func(c *ContractSpec) { c.Lines = nil }},
		{"a quantity below one", func(c *ContractSpec) { c.Lines[0].Quantity = -1 }},
		{"a price that is no number", func(c *ContractSpec) { c.Lines[0].CurrentPrice = "cheap" }},
		{"a customer without an address", func(c *ContractSpec) { c.Customer = CustomerSpec{FirstName: "Ann"} }},
		{"an unknown customer", func(c *ContractSpec) { c.Customer = CustomerSpec{ID: 1} }},
		{"a next billing date in the past", func(c *ContractSpec) { c.NextBillingDate = day("2024-01-01") }},
		{"an interval that does not exist", func(c *ContractSpec) { c.Billing.Interval = "DECADE" }},
		{"a status that does not exist", func(c *ContractSpec) { c.Status = "LOST" }},
		{"a delivery rarer than the billing", func(c *ContractSpec) { c.Delivery = PolicySpec{Interval: "MONTH", IntervalCount: 2} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			spec := ContractSpec{
				Customer: CustomerSpec{Email: "ann@example.com"}, NextBillingDate: day("2025-02-01"),
				Billing: PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: []LineSpec{{VariantID: w.variants[0].ID}},
			}
			tt.change(&spec)
			_, err := w.sim.Checkout(spec)
			if kind := fault.KindOf(err); err == nil || (kind != fault.Invalid && kind != fault.NotFound) {
				t.Errorf("answered %v", err)
			}
			if _, err := w.sim.Contract(9001); err == nil {
				t.Error("a contract was made all the same")
			}
		})
	}
}

func TestStoreSeesOnlyOwnObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine := w.monthly()
	if err := w.sim.AddShop(ShopSpec{Domain: "other.myshopify.com", Token: "token-2", FirstContract: 9901}); err != nil {
		t.Fatal(err)
	}
	tea, err := w.sim.AddProduct(ProductSpec{Shop: "other.myshopify.com", Title: "Tea", Variants: []VariantSpec{{Price: "3"}}})
	if err != nil {
		t.Fatal(err)
	}
	theirs := w.monthly(func(c *ContractSpec) { c.Shop, c.Lines = "other.myshopify.com", []LineSpec{{VariantID: tea[0].ID}} })
	if theirs.Contract != 9901 || theirs.Customer == mine.Customer || theirs.Order == mine.Order {
		t.Fatalf("ids meet: %+v %+v", mine, theirs)
	}
	d := w.ask(`query($c: ID!, $a: [ID!]!) { subscriptionContract(id: $c) { id } nodes(ids: $a) { id } subscriptionContracts(first: 9) { nodes { id } } }`,
		map[string]any{"c": contractGID(theirs.Contract), "a": []any{contractGID(theirs.Contract), theirs.PaymentMethod, tea[0].gid()}})
	if got := text(d); got != `{"nodes":[null,null,null],"subscriptionContract":null,"subscriptionContracts":{"nodes":[{"id":"gid://shopify/SubscriptionContract/9001"}]}}` {
		t.Error(got)
	}
	if _, code := w.charge(theirs.Contract, "k", 1); code != "CONTRACT_NOT_FOUND" {
		t.Errorf("charged with %q", code)
	}
}

func (v Variant) gid() string { return (&variant{ID: v.ID}).gid() }

func TestPaymentMethodIsCreatedThroughAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	const revoke = `mutation($m: ID!) { customerPaymentMethodRevoke(customerPaymentMethodId: $m) { revokedCustomerPaymentMethodId userErrors { message } } }`
	m := map[string]any{"m": made.PaymentMethod}
	if d := w.ask(revoke, m); dig(d, "customerPaymentMethodRevoke", "revokedCustomerPaymentMethodId") != nil {
		t.Error("a card in use was revoked")
	}
	w.ask(`mutation($m: ID!) { customerPaymentMethodSendUpdateEmail(customerPaymentMethodId: $m, email: {from: "shop@example.com"}) { customer { id } userErrors { message } } }`, m)
	mails, err := w.sim.UpdateEmails("")
	if err != nil || len(mails) != 1 || mails[0].PaymentMethod != made.PaymentMethod || mails[0].From != "shop@example.com" {
		t.Errorf("mails %+v %v", mails, err)
	}
	w.ask(`mutation($id: ID!) { subscriptionContractCancel(subscriptionContractId: $id) { userErrors { code } } }`, map[string]any{"id": contractGID(made.Contract)})
	if d := w.ask(revoke, m); dig(d, "customerPaymentMethodRevoke", "revokedCustomerPaymentMethodId") != made.PaymentMethod {
		t.Error(text(d))
	}
	d := w.ask(`query($m: ID!) { hidden: customerPaymentMethod(id: $m) { id } shown: customerPaymentMethod(id: $m, showRevoked: true) { revokedReason instrument { __typename ... on CustomerCreditCard { lastDigits } } subscriptionContracts(first: 2) { nodes { id } } } }`, m)
	want := `{"hidden":null,"shown":{"instrument":{"__typename":"CustomerCreditCard","lastDigits":"4242"},"revokedReason":"MANUALLY_REVOKED","subscriptionContracts":{"nodes":[{"id":"gid://shopify/SubscriptionContract/9001"}]}}}`
	if got := text(d); got != want {
		t.Errorf("got %s", got)
	}
}

func TestProductIsChangedWithoutDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	d := w.ask(`mutation($c: ID!, $l: ID!, $v: ID!) { subscriptionContractProductChange(subscriptionContractId: $c, lineId: $l, input: {productVariantId: $v, currentPrice: 33.5}) { lineUpdated { id variantTitle quantity currentPrice { amount } } userErrors { code } } }`,
		map[string]any{"c": contractGID(made.Contract), "l": made.Lines[0], "v": w.variants[1].gid()})
	want := `{"lineUpdated":{"currentPrice":{"amount":"33.5"},"id":"` + made.Lines[0] + `","quantity":2,"variantTitle":"1 kg"},"userErrors":[]}`
	if got := text(d["subscriptionContractProductChange"]); got != want {
		t.Errorf("got %s", got)
	}
}

func TestTagsAreAddedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	for range 2 {
		w.ask(`mutation($id: ID!) { tagsAdd(id: $id, tags: ["Subscription", "First"]) { node { id } userErrors { message } } }`, map[string]any{"id": (&order{ID: made.Order}).gid()})
	}
	d := w.ask(`{ orders(first: 5, query: "tag:Subscription") { nodes { name tags } } }`, nil)
	if got := text(dig(d, "orders", "nodes")); got != `[{"name":"#1001","tags":["Subscription","First"]}]` {
		t.Error(got)
	}
}

func TestMetafieldsOfTheStoreAreComparedAndSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	set := func(value string, digest any) string {
		d := w.ask(`mutation($m: [MetafieldsSetInput!]!) { metafieldsSet(metafields: $m) { metafields { compareDigest } userErrors { code } } }`,
			map[string]any{"m": []any{map[string]any{"ownerId": "gid://shopify/Shop/1001", "key": "epoch", "type": "number_integer", "value": value, "compareDigest": digest}}})
		if code, refused := dig(d, "metafieldsSet", "userErrors", 0, "code").(string); refused {
			return code
		}
		return dig(d, "metafieldsSet", "metafields", 0, "compareDigest").(string)
	}
	first := set("1", nil)
	if got := set("2", "stale"); got != "STALE_OBJECT" {
		t.Errorf("a stale digest: %s", got)
	}
	set("3", first)
	d := w.ask(`{ shop { metafield(key: "epoch") { value type namespace } } }`, nil)
	if got := text(d); got != `{"shop":{"metafield":{"namespace":"$app","type":"number_integer","value":"3"}}}` {
		t.Error(got)
	}
}

func TestContractsOfUninstalledStoreEndAfterTwoDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	s := newSink(t)
	w.subscribe(s, "APP_UNINSTALLED", "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS")
	w.pass("2025-02-01T15:00:00Z")
	w.charge(made.Contract, "k", 1)
	if err := w.sim.Uninstall(""); err != nil {
		t.Fatal(err)
	}
	if r, err := w.tryPost(`{shop{id}}`, nil); err != nil || r.status != 401 {
		t.Errorf("the token still opens the store: %d %v", r.status, err)
	}
	w.stepTo(w.clock.Now().Add(orphanCancelDelay - time.Second))
	if c, _ := w.sim.Contract(made.Contract); c.Status != statusActive {
		t.Errorf("too early: %s", c.Status)
	}
	if got := s.topics(); got != "app/uninstalled" || len(w.sim.Orders(OrderFilter{})) != 1 {
		t.Errorf("the uninstalled app received %s", got)
	}
	w.stepTo(w.clock.Now().Add(time.Second))
	if c, _ := w.sim.Contract(made.Contract); c.Status != statusCancelled {
		t.Errorf("after two days: %s", c.Status)
	}
}
