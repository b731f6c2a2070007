package simulator

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWebhookHasSignatureHeadersAndBody(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), newSink(t)
	w.subscribe(s, "SUBSCRIPTION_CONTRACTS_CREATE", "SUBSCRIPTION_BILLING_ATTEMPTS_FAILURE", "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS")
	made := w.monthly()
	if err := w.sim.Outcome(Outcome{Contract: made.Contract, Code: "INSUFFICIENT_FUNDS"}); err != nil {
		t.Fatal(err)
	}
	w.pass("2025-02-01T15:00:00Z")
	w.charge(made.Contract, "k1", 1)
	w.pass("2025-02-01T15:01:00Z")
	w.charge(made.Contract, "k2", 1)
	w.pass("2025-02-01T15:02:00Z")
	want := []struct{ topic, body string }{
		{"subscription_contracts/create", `{"admin_graphql_api_id":"gid://shopify/SubscriptionContract/9001","id":9001,"billing_policy":{"interval":"month","interval_count":1},"currency_code":"USD","customer_id":7001,"admin_graphql_api_customer_id":"gid://shopify/Customer/7001","delivery_policy":{"interval":"month","interval_count":1},"status":"active","admin_graphql_api_origin_order_id":"gid://shopify/Order/5001","origin_order_id":5001,"revision_id":"1"}`},
		{"subscription_billing_attempts/failure", `{"id":900100001,"admin_graphql_api_id":"gid://shopify/SubscriptionBillingAttempt/900100001","idempotency_key":"k1","order_id":null,"admin_graphql_api_order_id":null,"subscription_contract_id":9001,"admin_graphql_api_subscription_contract_id":"gid://shopify/SubscriptionContract/9001","ready":true,"error_message":"Insufficient funds.","error_code":"insufficient_funds"}`},
		{"subscription_billing_attempts/success", `{"id":900100002,"admin_graphql_api_id":"gid://shopify/SubscriptionBillingAttempt/900100002","idempotency_key":"k2","order_id":5002,"admin_graphql_api_order_id":"gid://shopify/Order/5002","subscription_contract_id":9001,"admin_graphql_api_subscription_contract_id":"gid://shopify/SubscriptionContract/9001","ready":true,"error_message":null,"error_code":null}`},
	}
	if len(s.hooks) != len(want) {
		t.Fatalf("there came %s", s.topics())
	}
	for i, h := range s.hooks {
		if got := h.header.Get("X-Shopify-Topic"); got != want[i].topic {
			t.Errorf("webhook %d: topic %s, want %s", i, got, want[i].topic)
		}
		if h.body != want[i].body {
			t.Errorf("webhook %d:\n got %s\nwant %s", i, h.body, want[i].body)
		}
		if got := h.header.Get("X-Shopify-Hmac-Sha256"); got != Sign(testSecret, []byte(h.body)) {
			t.Errorf("webhook %d: signature %s", i, got)
		}
		for _, name := range []string{"X-Shopify-Webhook-Id", "X-Shopify-Event-Id", "X-Shopify-Triggered-At"} {
			if h.header.Get(name) == "" {
				t.Errorf("webhook %d lacks %s", i, name)
			}
		}
		if h.header.Get("X-Shopify-Shop-Domain") != testShop || h.header.Get("X-Shopify-API-Version") != "2026-10" {
			t.Errorf("webhook %d: %v", i, h.header)
		}
	}
}

func TestTopicsOfEachMutation(t *testing.T) {
	t.Parallel()
	all := []string{
		"SUBSCRIPTION_CONTRACTS_CREATE", "SUBSCRIPTION_CONTRACTS_UPDATE", "SUBSCRIPTION_CONTRACTS_PAUSE", "CUSTOMER_PAYMENT_METHODS_CREATE",
		"CUSTOMER_PAYMENT_METHODS_UPDATE", "CUSTOMER_PAYMENT_METHODS_REVOKE", "SUBSCRIPTION_BILLING_CYCLES_SKIP", "SUBSCRIPTION_BILLING_CYCLES_UNSKIP",
		"SUBSCRIPTION_BILLING_CYCLE_EDITS_CREATE", "SUBSCRIPTION_BILLING_CYCLE_EDITS_UPDATE", "SUBSCRIPTION_BILLING_CYCLE_EDITS_DELETE", "APP_UNINSTALLED", "SUBSCRIPTION_BILLING_ATTEMPTS_CHALLENGED",
		"SHOP_UPDATE",
	}
	tests := []struct {
		name string
		do   func(w *world, m Made)
		want string
	}{
		{"a pause", func(w *world, m Made) {
			w.ask(`mutation($id: ID!) { subscriptionContractPause(subscriptionContractId: $id) { userErrors { code } } }`, map[string]any{"id": contractGID(m.Contract)})
		}, "subscription_contracts/update subscription_contracts/pause"},
		{"a skip, asked for twice", func(w *world, m Made) { w.skip(m.Contract, 2); w.skip(m.Contract, 2) }, "subscription_billing_cycles/skip subscription_billing_cycle_edits/create"},
		{"an edit of a cycle, twice, and its end", func(w *world, m Made) {
			for range 2 {
				d := w.openCycle(m.Contract, 2)
				w.edit(d, map[string]any{"note": "for one"})
				w.commitCycle(d)
			}
			w.dropEdit(m.Contract, 2)
		}, "subscription_billing_cycle_edits/create subscription_billing_cycle_edits/update subscription_billing_cycle_edits/delete"},
		{"an edit of a contract", func(w *world, m Made) {
			d := w.open(m.Contract)
			w.edit(d, map[string]any{"note": "for all"})
			w.commit(d)
		}, "subscription_contracts/update"},
		{"a card that is updated", func(w *world, m Made) { w.method(m, MethodValid) }, "customer_payment_methods/update"},
		{"a card that is revoked", func(w *world, m Made) { w.method(m, MethodRevoked) }, "customer_payment_methods/revoke"},
		{"a store that moves", func(w *world, _ Made) {
			if is, err := w.sim.ChangeShop(Shop{TimeZone: "Asia/Tokyo", Currency: "JPY"}); err != nil || is.TimeZone != "Asia/Tokyo" || is.Currency != "JPY" || is.Name == "" {
				w.t.Fatalf("the store is %+v, %v", is, err)
			}
		}, "shop/update"},
		{"an uninstall", func(w *world, _ Made) {
			if err := w.sim.Uninstall(""); err != nil {
				w.t.Fatal(err)
			}
		}, "app/uninstalled"},
		{"a challenge", func(w *world, m Made) {
			if err := w.sim.Outcome(Outcome{Contract: m.Contract, Code: Challenge}); err != nil {
				w.t.Fatal(err)
			}
			w.pass("2025-02-01T15:00:00Z")
			w.charge(m.Contract, "k", 1)
			w.pass("2025-02-01T15:10:00Z")
		}, "subscription_billing_attempts/challenged"},
		{"a checkout by another customer", func(w *world, _ Made) {
			w.monthly(func(c *ContractSpec) { c.Customer.Email = "bob@example.com" })
		}, "customer_payment_methods/create subscription_contracts/create"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, s := newWorld(t), newSink(t)
			made := w.monthly()
			w.subscribe(s, all...)
			tt.do(w, made)
			w.stepTo(w.clock.Now())
			got := strings.Fields(s.topics())
			if strings.HasPrefix(tt.name, "a checkout") { // webhooks of a card and of a contract overtake each other
				slices.Sort(got)
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("there came %q, want %q", got, tt.want)
			}
		})
	}
}

func (w *world) method(m Made, status MethodStatus) {
	w.t.Helper()
	if err := w.sim.SetPaymentMethodStatus(m.PaymentMethod, status); err != nil {
		w.t.Fatal(err)
	}
}

func TestFailedWebhookIsResentUnchanged(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), newSink(t, 500, 302)
	w.subscribe(s, "SUBSCRIPTION_CONTRACTS_CREATE")
	w.monthly()
	start := w.clock.Now()
	w.stepTo(start.Add(firstRetryWait - time.Second))
	if len(s.hooks) != 1 {
		t.Fatalf("%d tries at once", len(s.hooks))
	}
	w.stepTo(start.Add(4 * time.Hour))
	if len(s.hooks) != 3 {
		t.Fatalf("%d tries", len(s.hooks))
	}
	for _, h := range s.hooks {
		for _, name := range []string{"X-Shopify-Webhook-Id", "X-Shopify-Event-Id", "X-Shopify-Triggered-At"} {
			if h.header.Get(name) != s.hooks[0].header.Get(name) || h.body != s.hooks[0].body {
				t.Errorf("%s changed between tries", name)
			}
		}
	}
}

func TestWebhookSubscriptionFailingFourHoursIsRemoved(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]bool{"it is gone": false, "it stays when switched so": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Switches.KeepFailingSubscriptions = keep })
			s := newSink(t, 500, 500, 500, 500, 500, 500, 500, 500, 500)
			w.subscribe(s, "SUBSCRIPTION_CONTRACTS_CREATE")
			w.monthly()
			count := func() int {
				list, _ := dig(w.ask(`{ webhookSubscriptions(first: 5) { nodes { id } } }`, nil), "webhookSubscriptions", "nodes").([]any)
				return len(list)
			}
			w.stepTo(w.clock.Now().Add(3 * time.Hour))
			if n := count(); n != 1 {
				t.Errorf("after three hours %d subscriptions", n)
			}
			w.stepTo(w.clock.Now().Add(time.Hour))
			if n := count(); (n == 1) != keep || len(s.hooks) != deliveryRetries+1 {
				t.Errorf("after four hours %d subscriptions and %d tries", n, len(s.hooks))
			}
		})
	}
}

func TestWebhookSubscriptionRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.AllowHTTPWebhooks = false })
	create := func(uri string) string {
		d := w.ask(`mutation($u: String!) { webhookSubscriptionCreate(topic: APP_UNINSTALLED, webhookSubscription: {uri: $u}) { userErrors { field message } } }`, map[string]any{"u": uri})
		return text(dig(d, "webhookSubscriptionCreate", "userErrors"))
	}
	for _, tt := range []struct{ uri, want string }{
		{"https://a.example/hooks", `[]`},
		{"https://a.example/hooks", `[{"field":["webhookSubscription","callbackUrl"],"message":"Address for this topic has already been taken"}]`},
		{"http://a.example/hooks", `[{"field":["webhookSubscription","callbackUrl"],"message":"Address protocol http:// is not supported"}]`},
	} {
		if got := create(tt.uri); got != tt.want {
			t.Errorf("%s: %s", tt.uri, got)
		}
	}
}

func TestRunExecutesScheduledRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.CompletionDelay = -1 })
	s := newSink(t)
	w.subscribe(s, "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS")
	made := w.monthly()
	w.clock.Set(day("2025-02-01T15:00:00Z"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.sim.Run(ctx) }()
	w.charge(made.Contract, "k", 1)
	for strings.Count(s.topics(), "success") == 0 {
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
