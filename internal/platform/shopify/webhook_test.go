package shopify

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
)

var _ platform.Webhooks = Webhooks{}

const secret = "hush"

// sign computes an HMAC-SHA256 from its definition, so that the test does not
// share the code that it tests. The key is shorter than a block.
func sign(key string, body []byte) string {
	inner, outer := make([]byte, 64), make([]byte, 64)
	copy(inner, key)
	copy(outer, key)
	for i := range inner {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	first := sha256.Sum256(append(inner, body...))
	second := sha256.Sum256(append(outer, first[:]...))
	return base64.StdEncoding.EncodeToString(second[:])
}

func headers(topic, body string) map[string]string {
	return map[string]string{
		"X-Shopify-Topic": topic, "X-Shopify-Hmac-Sha256": sign(secret, []byte(body)), "X-Shopify-Shop-Domain": "demo.myshopify.com",
		"X-Shopify-API-Version": "2026-10", "X-Shopify-Webhook-Id": "delivery", "X-Shopify-Event-Id": "event",
		"X-Shopify-Triggered-At": "2026-01-31T12:00:00.123456789Z",
	}
}

func open(h map[string]string, body string) (platform.Event, error) {
	return Webhooks{Secret: secret}.Open(func(name string) string { return h[name] }, []byte(body))
}

// The signature was computed with openssl dgst -sha256 -hmac hush -binary.
func TestKnownSignatureIsAccepted(t *testing.T) {
	t.Parallel()
	const body = `{"admin_graphql_api_id":"gid://shopify/SubscriptionContract/9001","id":9001}`
	h := headers("subscription_contracts/create", body)
	h["X-Shopify-Hmac-Sha256"] = "SeUD4ZGipMUrhiE0Jvg1PvJ5sLiKLfMs9jwzll0sLZI="
	if h["X-Shopify-Hmac-Sha256"] != sign(secret, []byte(body)) {
		t.Error("the test's own signature differs from the known one")
	}
	if e, err := open(h, body); err != nil || e.Contract != 9001 {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestReadWebhook(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, topic, body string
		want              platform.Event
	}{
		{"a contract with its revision as a string", "subscription_contracts/update",
			`{"admin_graphql_api_id":"gid://shopify/SubscriptionContract/9001","id":9001,"customer_id":7001,"revision_id":"551","status":"active"}`,
			platform.Event{Contract: 9001, Revision: 551, Customer: 7001}},
		{"a contract with its revision as a number and ids as strings", "subscription_contracts/update",
			`{"id":"9001","customer_id":"7001","revision_id":551}`, platform.Event{Contract: 9001, Revision: 551, Customer: 7001}},
		{"a contract with graph ids only", "subscription_contracts/create",
			`{"admin_graphql_api_id":"gid://shopify/SubscriptionContract/9001","id":null,"customer_id":null,"admin_graphql_api_customer_id":"gid://shopify/Customer/7001","revision_id":null}`,
			platform.Event{Contract: 9001, Customer: 7001}},
		{"a billing attempt", "subscription_billing_attempts/success",
			`{"id":null,"admin_graphql_api_id":"gid://shopify/SubscriptionBillingAttempt/5","idempotency_key":"k","order_id":77,"subscription_contract_id":9001,"ready":true,"error_code":null}`,
			platform.Event{Attempt: "gid://shopify/SubscriptionBillingAttempt/5", Contract: 9001, Key: "k"}},
		{"a billing attempt with a numeric id and an error code in any case", "subscription_billing_attempts/failure",
			`{"id":5,"idempotency_key":"k","order_id":null,"admin_graphql_api_subscription_contract_id":"gid://shopify/SubscriptionContract/9001","error_code":"card_Declined"}`,
			platform.Event{Attempt: "gid://shopify/SubscriptionBillingAttempt/5", Contract: 9001, Key: "k"}},
		{"an edit of a cycle", "subscription_billing_cycle_edits/create",
			`{"subscription_contract_id":9001,"cycle_index":3,"skipped":false,"edited":true}`, platform.Event{Contract: 9001, Cycle: 3}},
		{"a payment method", "customer_payment_methods/update",
			`{"admin_graphql_api_id":"gid://shopify/CustomerPaymentMethod/abc","token":"abc","customer_id":7001}`,
			platform.Event{PaymentMethod: "gid://shopify/CustomerPaymentMethod/abc", Customer: 7001}},
		{"a revoked payment method may come without a body", "customer_payment_methods/revoke", ``, platform.Event{}},
		{"two customers who are merged", "customers/merge",
			`{"admin_graphql_api_customer_kept_id":"gid://shopify/Customer/1","admin_graphql_api_customer_deleted_id":"gid://shopify/Customer/2","admin_graphql_api_job_id":null,"status":"completed","errors":[]}`,
			platform.Event{Customer: 2, Kept: 1}},
		{"an uninstallation", "app/uninstalled", `{"id":1,"domain":"demo.myshopify.com"}`, platform.Event{}},
		{"a store that changed", "shop/update", `{"id":1,"domain":"tea.example","myshopify_domain":"Demo.myshopify.com"}`, platform.Event{}},
		{"a customer whose data is erased", "customers/redact", `{"shop_id":1,"shop_domain":"demo.myshopify.com","customer":{"id":7001}}`, platform.Event{Customer: 7001}},
		{"a topic that we do not know is opened all the same", "orders/create", `{"id":1}`, platform.Event{}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := open(headers(row.topic, row.body), row.body)
			if err != nil {
				t.Fatal(err)
			}
			row.want.ID, row.want.Topic, row.want.Shop, row.want.APIVersion = "event", platform.Topic(row.topic), "demo.myshopify.com", "2026-10"
			row.want.TriggeredAt = time.Date(2026, 1, 31, 12, 0, 0, 123456789, time.UTC)
			if row.body != "" {
				row.want.Signature = sign(secret, []byte(row.body))
			}
			if d := cmp.Diff(row.want, got); d != "" {
				t.Errorf("events differ (- want, + got):\n%s", d)
			}
		})
	}
}

func TestInvalidWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	const topic, good = "subscription_contracts/update", `{"id":9001}`
	rows := []struct {
		name   string
		body   string
		change func(map[string]string)
		want   fault.Kind
	}{
		{"no signature", good, withoutHeader("X-Shopify-Hmac-Sha256"), fault.Unauthenticated},
		{"a signature of another body", good, with("X-Shopify-Hmac-Sha256", sign(secret, []byte(`{"id":9002}`))), fault.Unauthenticated},
		{"a signature with another secret", good, with("X-Shopify-Hmac-Sha256", sign("hash", []byte(good))), fault.Unauthenticated},
		{"a signature with the empty secret", good, with("X-Shopify-Hmac-Sha256", sign("", []byte(good))), fault.Unauthenticated},
		{"a signature that is not base64", good, with("X-Shopify-Hmac-Sha256", "%%%"), fault.Unauthenticated},
		{"the beginning of the right signature", good, with("X-Shopify-Hmac-Sha256", sign(secret, []byte(good))[:40]), fault.Unauthenticated},
		{"a wrong signature of a request without a topic", good, func(h map[string]string) { delete(h, "X-Shopify-Topic"); h["X-Shopify-Hmac-Sha256"] = "" }, fault.Unauthenticated},
		{"no topic", good, withoutHeader("X-Shopify-Topic"), fault.Invalid},
		{"no shop", good, withoutHeader("X-Shopify-Shop-Domain"), fault.Invalid},
		{"no version", good, withoutHeader("X-Shopify-API-Version"), fault.Invalid},
		{"no id", good, withoutHeader("X-Shopify-Webhook-Id"), fault.Invalid},
		{"a shop that is not a store's domain", good, with("X-Shopify-Shop-Domain", "demo.example"), fault.Invalid},
		{"a topic that is too long", good, with("X-Shopify-Topic", strings.Repeat("x", maxWebhookHeader+1)), fault.Invalid},
		{"an event id that is too long", good, with("X-Shopify-Event-Id", strings.Repeat("x", maxWebhookHeader+1)), fault.Invalid},
		{"a time that cannot be read", good, with("X-Shopify-Triggered-At", "yesterday"), fault.Invalid},
		{"an empty body", ``, nil, fault.Invalid},
		{"a body that is not JSON", `id=9001`, nil, fault.Invalid},
		{"a body that is no object", `[9001]`, nil, fault.Invalid},
		{"an id that is no number", `{"id":"nine"}`, nil, fault.Invalid},
		{"an id that is negative", `{"id":-1}`, nil, fault.Invalid},
		{"an id that a float64 cannot hold", `{"id":9007199254740992}`, nil, fault.Invalid},
		{"an id that is not whole", `{"id":1.5}`, nil, fault.Invalid},
		{"a body of another store", `{"id":1,"myshopify_domain":"other.myshopify.com"}`, with("X-Shopify-Topic", "shop/update"), fault.Unauthenticated},
		{"an uninstallation of another store", `{"id":1,"myshopify_domain":"other.myshopify.com"}`, with("X-Shopify-Topic", "app/uninstalled"), fault.Unauthenticated},
		{"an erasure that another store asked for", `{"shop_domain":"other.myshopify.com","customer":{"id":1}}`, with("X-Shopify-Topic", "customers/redact"), fault.Unauthenticated},
		{"an erasure of a customer that names no store", `{"id":9001,"customer":{"id":1}}`, with("X-Shopify-Topic", "customers/redact"), fault.Unauthenticated},
		{"an erasure of a store that names none", `{"id":9001}`, with("X-Shopify-Topic", "shop/redact"), fault.Unauthenticated},
		{"a body that is too long", `{"id":1,"x":"` + strings.Repeat("x", maxWebhookBody) + `"}`, nil, fault.Invalid},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := headers(topic, row.body)
			if row.change != nil {
				row.change(h)
			}
			got, err := open(h, row.body)
			if !fault.Is(err, row.want) || got != (platform.Event{}) {
				t.Errorf("got %+v, %v; want a fault of kind %v", got, err, row.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
	h := headers(topic, good)
	h["X-Shopify-Hmac-Sha256"] = sign("", []byte(good))
	if _, err := (Webhooks{}).Open(func(name string) string { return h[name] }, []byte(good)); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("without a secret: %v, want Unauthenticated", err)
	}
}

// The last character of base64 has bits that do not count: a signature is one all the same.
func TestSignatureIgnoresParameterOrderAndEncoding(t *testing.T) {
	t.Parallel()
	const body = `{"id":9001}`
	h := headers("subscription_contracts/update", body)
	want := h["X-Shopify-Hmac-Sha256"]
	for _, last := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		h["X-Shopify-Hmac-Sha256"] = want[:len(want)-2] + string(last) + "="
		if e, err := open(h, body); err == nil && e.Signature != want {
			t.Errorf("%s is taken for %s", h["X-Shopify-Hmac-Sha256"], e.Signature)
		}
	}
}

func TestEventIDFallsBackToDeliveryID(t *testing.T) {
	t.Parallel()
	h := headers("app/uninstalled", "{}")
	delete(h, "X-Shopify-Event-Id")
	delete(h, "X-Shopify-Triggered-At")
	h["X-Shopify-Shop-Domain"] = "Demo.myshopify.com"
	e, err := open(h, "{}")
	if err != nil || e.ID != "delivery" || !e.TriggeredAt.IsZero() || e.Shop != "demo.myshopify.com" {
		t.Errorf("got %+v, %v", e, err)
	}
}

func withoutHeader(name string) func(map[string]string) {
	return func(h map[string]string) { delete(h, name) }
}

func with(name, value string) func(map[string]string) {
	return func(h map[string]string) { h[name] = value }
}

func FuzzOpen(f *testing.F) {
	for _, topic := range platform.Topics {
		f.Add(string(topic), "demo.myshopify.com", "2026-01-31T12:00:00Z", `{"admin_graphql_api_id":"gid://shopify/SubscriptionContract/9001","id":"9001","revision_id":"1","customer_id":null,"cycle_index":3}`)
	}
	f.Add("subscription_contracts/update", "x.myshopify.com", "", `{"id":"gid://shopify/SubscriptionContract/-1","revision_id":18446744073709551615}`)
	f.Fuzz(func(t *testing.T, topic, shop, triggered, body string) {
		h := headers(topic, body)
		h["X-Shopify-Shop-Domain"], h["X-Shopify-Triggered-At"] = shop, triggered
		e, err := open(h, body)
		if err != nil {
			if !fault.Is(err, fault.Invalid) || e != (platform.Event{}) {
				t.Errorf("got %+v, %v; want an Invalid fault alone", e, err)
			}
			return
		}
		if e.ID == "" || !validDomain(e.Shop) || string(e.Topic) != topic {
			t.Errorf("event %+v", e)
		}
		if e.Contract < 0 || e.Customer < 0 || e.Cycle < 0 || e.Contract > gid.Max || e.Customer > gid.Max {
			t.Errorf("an id is out of range: %+v", e)
		}
		h["X-Shopify-Hmac-Sha256"] = sign(secret+"x", []byte(body))
		if _, err := open(h, body); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a forged webhook was opened: %v", err)
		}
	})
}

func TestWebhookOfEitherAppIsGenuine(t *testing.T) {
	t.Parallel()
	h := map[string]string{
		"X-Shopify-Topic": "shop/redact", "X-Shopify-Shop-Domain": "a.myshopify.com", "X-Shopify-API-Version": "2026-10", "X-Shopify-Webhook-Id": "1",
	}
	body := []byte(`{"shop_domain":"a.myshopify.com"}`)
	for secret, genuine := range map[string]bool{"first": true, "second": true, "third": false, "": false} {
		h["X-Shopify-Hmac-Sha256"] = base64.StdEncoding.EncodeToString(macOf(secret, body))
		for _, w := range []Webhooks{{Secret: "first", Other: "second"}, {Secret: "second", Other: "first"}} {
			e, err := w.Open(func(name string) string { return h[name] }, body)
			if (err == nil) != genuine || genuine && e.Signature != h["X-Shopify-Hmac-Sha256"] {
				t.Errorf("signed with %q: %+v, %v", secret, e, err)
			}
		}
	}
}
