package simulator

import (
	"bytes"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	firstID, secondID, quietID = "app-1", "app-2", "app-3"
	secondSecret               = "whisper"
)

// twoApps is a world whose store has two apps, and the same world as the second app sees it.
func twoApps(t *testing.T, change ...func(*Options)) (one, two *world) {
	t.Helper()
	one = newWorld(t, change...)
	one.addApps()
	for client, token := range map[string]string{secondID: "token-2", quietID: "token-3"} {
		if err := one.sim.InstallApp("", client, token); err != nil {
			t.Fatal(err)
		}
	}
	return one, one.as("token-2")
}

func (w *world) addApps() {
	w.sim.SetApp(AppSettings{ClientID: firstID})
	w.sim.AddApp(AppSettings{ClientID: secondID, Secret: secondSecret, OwnContracts: true})
	w.sim.AddApp(AppSettings{ClientID: quietID, Secret: "silence"})
}

// as returns the world as another token opens it.
func (w *world) as(token string) *world {
	other := *w
	other.token = token
	return &other
}

// create makes a contract through the API for the customer of another one.
func (w *world) create(of Made) int64 {
	w.t.Helper()
	d := w.ask(`mutation($in: SubscriptionContractAtomicCreateInput!) { subscriptionContractAtomicCreate(input: $in) { contract { id } userErrors { message } } }`, map[string]any{"in": map[string]any{
		"customerId": "gid://shopify/Customer/7001", "currencyCode": "USD", "nextBillingDate": "2025-02-01T15:00:00Z",
		"contract": map[string]any{
			"status": "ACTIVE", "paymentMethodId": of.PaymentMethod, "deliveryPrice": "0", "deliveryMethod": map[string]any{"shipping": map[string]any{}},
			"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
		},
		"lines": []any{map[string]any{"line": map[string]any{"productVariantId": w.variants[0].gid(), "quantity": 1, "currentPrice": "9"}}},
	}})
	id, _ := dig(d, "subscriptionContractAtomicCreate", "contract", "id").(string)
	if !strings.HasPrefix(id, "gid://shopify/SubscriptionContract/") {
		w.t.Fatal(text(d))
	}
	return w.sim.state.order[0].contracts.order[len(w.sim.state.order[0].contracts.order)-1].ID
}

func TestAppsTokenKnowsItsOwnContractsOnly(t *testing.T) {
	t.Parallel()
	one, two := twoApps(t)
	first := one.monthly()
	second := two.create(first)
	draft := one.open(first.Contract)
	one.pass("2025-02-01T15:00:00Z")
	attempt, code := one.charge(first.Contract, "same key", 1)
	if code != "" {
		t.Fatal(code)
	}
	group := dig(one.ask(createGroup, map[string]any{"input": groupInputOf(planInputOf("A")), "resources": map[string]any{"productIds": []any{"gid://shopify/Product/3001"}}}), "sellingPlanGroupCreate", "sellingPlanGroup", "id")
	one.ask(`mutation($m: [MetafieldsSetInput!]!) { metafieldsSet(metafields: $m) { userErrors { code } } }`,
		map[string]any{"m": []any{map[string]any{"ownerId": "gid://shopify/Shop/1001", "key": "epoch", "type": "number_integer", "value": "1"}}})
	profile := dig(one.ask(`mutation { deliveryProfileCreate(profile: {name: "Subscriptions"}) { profile { id } } }`, nil), "deliveryProfileCreate", "profile", "id")
	one.pass("2025-02-01T15:01:00Z")

	own, foreign := contractGID(second), contractGID(first.Contract)
	vars := map[string]any{"c": foreign, "a": attempt, "d": draft, "g": group, "p": profile, "m": first.PaymentMethod}
	for name, tt := range map[string]struct{ query, want string }{
		"a contract":       {`query($c: ID!) { subscriptionContract(id: $c) { id } }`, `{"subscriptionContract":null}`},
		"a node":           {`query($c: ID!, $a: ID!, $d: ID!, $g: ID!) { nodes(ids: [$c, $a, $d, $g]) { id } }`, `{"nodes":[null,null,null,null]}`},
		"an attempt":       {`query($a: ID!) { subscriptionBillingAttempt(id: $a) { id } }`, `{"subscriptionBillingAttempt":null}`},
		"a draft":          {`query($d: ID!) { subscriptionDraft(id: $d) { note } }`, `{"subscriptionDraft":null}`},
		"a cycle":          {`query($c: ID!) { subscriptionBillingCycle(billingCycleInput: {contractId: $c, selector: {index: 1}}) { status } }`, `{"subscriptionBillingCycle":null}`},
		"a search":         {`{ subscriptionContracts(first: 5) { nodes { id } } }`, `{"subscriptionContracts":{"nodes":[{"id":"` + own + `"}]}}`},
		"all attempts":     {`{ subscriptionBillingAttempts(first: 5) { nodes { id } } }`, `{"subscriptionBillingAttempts":{"nodes":[]}}`},
		"a customer":       {`{ customer(id: "gid://shopify/Customer/7001") { email subscriptionContracts(first: 5) { nodes { id } } } }`, `{"customer":{"email":"ann@example.com","subscriptionContracts":{"nodes":[{"id":"` + own + `"}]}}}`},
		"a payment method": {`query($m: ID!) { customerPaymentMethod(id: $m) { subscriptionContracts(first: 5) { nodes { id } } } }`, `{"customerPaymentMethod":{"subscriptionContracts":{"nodes":[{"id":"` + own + `"}]}}}`},
		"an order":         {`{ orders(first: 5, query: "name:1002") { nodes { name lineItems(first: 1) { nodes { contract { id } } } } } }`, `{"orders":{"nodes":[{"lineItems":{"nodes":[{"contract":null}]},"name":"#1002"}]}}`},
		"plans":            {`query($g: ID!) { sellingPlanGroup(id: $g) { id } sellingPlanGroups(first: 5) { nodes { id } } product(id: "gid://shopify/Product/3001") { title sellingPlanGroups(first: 5) { nodes { id } } } }`, `{"product":{"sellingPlanGroups":{"nodes":[]},"title":"Coffee"},"sellingPlanGroup":null,"sellingPlanGroups":{"nodes":[]}}`},
		"profiles":         {`query($p: ID!) { deliveryProfile(id: $p) { name } deliveryProfiles(first: 5) { nodes { name } } }`, `{"deliveryProfile":null,"deliveryProfiles":{"nodes":[{"name":"General profile"}]}}`},
		"its metafields":   {`{ shop { metafield(key: "epoch") { value } metafields(first: 5) { nodes { value } } } }`, `{"shop":{"metafield":null,"metafields":{"nodes":[]}}}`},
		"a pause":          {`mutation($c: ID!) { subscriptionContractPause(subscriptionContractId: $c) { userErrors { message } } }`, `{"subscriptionContractPause":{"userErrors":[{"message":"Subscription contract does not exist."}]}}`},
		"an edit":          {`mutation($d: ID!) { subscriptionDraftUpdate(draftId: $d, input: {note: "mine"}) { userErrors { message } } }`, `{"subscriptionDraftUpdate":{"userErrors":[{"message":"Subscription draft does not exist."}]}}`},
		"a skip":           {`mutation($c: ID!) { subscriptionBillingCycleSkip(billingCycleInput: {contractId: $c, selector: {index: 3}}) { userErrors { message } } }`, `{"subscriptionBillingCycleSkip":{"userErrors":[{"message":"Subscription contract does not exist."}]}}`},
		"a plan's end":     {`mutation($g: ID!) { sellingPlanGroupDelete(id: $g) { userErrors { message } } }`, `{"sellingPlanGroupDelete":{"userErrors":[{"message":"Selling plan group does not exist."}]}}`},
	} {
		used := map[string]any{}
		for v, value := range vars {
			if strings.Contains(tt.query, "$"+v) {
				used[v] = value
			}
		}
		if got := text(two.ask(tt.query, used)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
	if _, code := two.charge(first.Contract, "another key", 1); code != "CONTRACT_NOT_FOUND" {
		t.Errorf("the charge of the other app's contract: %q", code)
	}
	if id, code := two.charge(second, "same key", 1); code != "" || id == attempt {
		t.Errorf("the key of the other app: %s %q", id, code)
	}
	one.pass("2025-02-01T15:02:00Z")
	if got := text(one.ask(`{ subscriptionContracts(first: 5) { nodes { id status } } }`, nil)); got != `{"subscriptionContracts":{"nodes":[{"id":"`+foreign+`","status":"ACTIVE"}]}}` {
		t.Errorf("the first app sees %s", got)
	}
	books := map[string]int64{}
	for _, o := range one.sim.Orders(OrderFilter{}) {
		books[o.App] += o.Contract
	}
	if len(books) != 2 || books[firstID] != first.Contract || books[secondID] != second {
		t.Errorf("the books have %v", books)
	}
	if r, err := one.as("token-3").tryPost(`{shop{id}}`, nil); err != nil || r.status != http.StatusUnauthorized {
		t.Errorf("the token of the app without contracts: %d %v", r.status, err)
	}
}

func TestWebhooksReachTheAppOfTheContract(t *testing.T) {
	t.Parallel()
	one, two := twoApps(t)
	sinks := map[string]*sink{testSecret: newSink(t), secondSecret: newSink(t)}
	topics := []string{"SUBSCRIPTION_CONTRACTS_CREATE", "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS", "SHOP_UPDATE"}
	one.subscribe(sinks[testSecret], topics...)
	two.subscribe(sinks[secondSecret], topics...)
	if got, _ := dig(two.ask(`{ webhookSubscriptions(first: 10) { nodes { id } } }`, nil), "webhookSubscriptions", "nodes").([]any); len(got) != len(topics) {
		t.Errorf("the second app sees %d subscriptions", len(got))
	}
	first := one.monthly()
	second := one.monthly(func(c *ContractSpec) { c.App = secondID })
	if _, err := one.sim.ChangeShop(Shop{Name: "Another name"}); err != nil {
		t.Fatal(err)
	}
	if err := one.sim.Redact(first.Customer); err != nil {
		t.Fatal(err)
	}
	one.pass("2025-02-01T15:00:00Z")
	one.charge(first.Contract, "k", 1)
	one.pass("2025-02-01T15:01:00Z")
	for secret, want := range map[string]struct {
		topics   string
		contract int64
	}{
		testSecret:   {"customers/redact shop/update subscription_billing_attempts/success subscription_contracts/create", first.Contract},
		secondSecret: {"customers/redact shop/update subscription_contracts/create", second.Contract},
	} {
		s := sinks[secret]
		if got := strings.Join(slices.Sorted(slices.Values(strings.Fields(s.topics()))), " "); got != want.topics {
			t.Errorf("%s: there came %s", secret, got)
		}
		for _, h := range s.hooks {
			if h.header.Get("X-Shopify-Hmac-Sha256") != Sign(secret, []byte(h.body)) {
				t.Errorf("%s: another signature on %s", secret, h.body)
			}
			if strings.HasPrefix(h.body, `{"admin_graphql_api_id":"gid://shopify/SubscriptionContract/`) && !strings.HasPrefix(h.body, `{"admin_graphql_api_id":"`+contractGID(want.contract)+`"`) {
				t.Errorf("%s: a webhook of another app's contract: %s", secret, h.body)
			}
		}
	}
}

func TestUninstalledAppEndsItsOwnContracts(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]string{"the first": firstID, "the second": secondID} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := twoApps(t)
			worlds := map[string]*world{firstID: one, secondID: two}
			sinks, contracts := map[string]*sink{}, map[string]int64{}
			for app, w := range worlds {
				sinks[app] = newSink(t)
				w.subscribe(sinks[app], "APP_UNINSTALLED", "SUBSCRIPTION_CONTRACTS_PAUSE")
				w.ask(createGroup, map[string]any{"input": groupInputOf(planInputOf("A"))})
				contracts[app] = w.monthly(func(c *ContractSpec) { c.App = app }).Contract
			}
			if err := one.sim.UninstallApp("", gone); err != nil {
				t.Fatal(err)
			}
			one.stepTo(one.clock.Now().Add(orphanCancelDelay + time.Second))
			for app, w := range worlds {
				if app != gone {
					w.ask(`mutation($c: ID!) { subscriptionContractPause(subscriptionContractId: $c) { userErrors { message } } }`, map[string]any{"c": contractGID(contracts[app])})
					one.stepTo(one.clock.Now())
				}
				c, err := one.sim.Contract(contracts[app])
				if err != nil {
					t.Fatal(err)
				}
				r, err := w.tryPost(`{ sellingPlanGroups(first: 5) { nodes { name } } }`, nil)
				if err != nil {
					t.Fatal(err)
				}
				status, answer, topics := statusPaused, http.StatusOK, "subscription_contracts/pause"
				if app == gone {
					status, answer, topics = statusCancelled, http.StatusUnauthorized, "app/uninstalled"
				}
				if c.App != app || c.Status != status || r.status != answer || sinks[app].topics() != topics {
					t.Errorf("%s: contract %s of %s, status %d, webhooks %q", app, c.Status, c.App, r.status, sinks[app].topics())
				}
				if groups, _ := dig(r.Data, "sellingPlanGroups", "nodes").([]any); app != gone && len(groups) != 1 {
					t.Errorf("%s has %d groups", app, len(groups))
				}
			}
			if err := one.sim.InstallApp("", gone, "token-new"); err != nil {
				t.Fatal(err)
			}
			if d := one.as("token-new").ask(`{ subscriptionContracts(first: 5) { nodes { status } } }`, nil); text(d) != `{"subscriptionContracts":{"nodes":[{"status":"CANCELLED"}]}}` {
				t.Errorf("installed again: %s", text(d))
			}
		})
	}
}

func TestCheckoutOnAPlanBelongsToTheAppThatSellsOnIt(t *testing.T) {
	t.Parallel()
	one, two := twoApps(t)
	for _, w := range []*world{one, two} {
		w.ask(createGroup, map[string]any{"input": groupInputOf(planInputOf("A")), "resources": map[string]any{"productIds": []any{"gid://shopify/Product/3001"}}})
	}
	plan := func(w *world) int64 {
		for _, g := range w.sim.state.order[0].planGroups.order {
			if (g.App == secondID) == (w == two) {
				return g.Plans[0].ID
			}
		}
		t.Fatal("no plan")
		return 0
	}
	for want, id := range map[string]int64{firstID: plan(one), secondID: plan(two)} {
		made := one.monthly(func(c *ContractSpec) { c.Lines[0].SellingPlanID = id })
		bought, err := one.sim.Buy(Purchase{Customer: CustomerSpec{Email: "bob@example.com"}, Items: []PurchaseItem{{VariantID: one.variants[0].ID, PlanID: id, NextBillingDate: day("2025-02-01T15:00:00Z")}}})
		if err != nil {
			t.Fatal(err)
		}
		for how, contract := range map[string]int64{"a checkout": made.Contract, "a purchase": bought.Contracts[0].Contract} {
			if c, err := one.sim.Contract(contract); err != nil || c.App != want {
				t.Errorf("%s on plan %d belongs to %s, want %s: %v", how, id, c.App, want, err)
			}
		}
	}
	if _, err := one.sim.Checkout(ContractSpec{App: quietID, Customer: CustomerSpec{Email: "bob@example.com"}, NextBillingDate: day("2025-02-01"), Billing: PolicySpec{Interval: "MONTH"}, Lines: []LineSpec{{VariantID: one.variants[0].ID}}}); err == nil {
		t.Error("an app without contracts of its own got one")
	}
}

func TestAppsContractsAreKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "platform.db")
	one, two := twoApps(t, func(o *Options) { o.File = file })
	first := one.monthly()
	two.create(first)
	var snapshot bytes.Buffer
	if err := one.sim.Snapshot(&snapshot); err != nil {
		t.Fatal(err)
	}
	again, err := New(Options{File: file, Clock: one.clock, ThrottleClock: one.throttle, AppSecret: testSecret, AllowHTTPWebhooks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	one.sim, two.sim, one.server.Config.Handler = again, again, again.Handler()
	one.addApps()
	const look = `{ subscriptionContracts(first: 5) { nodes { id } } currentAppInstallation { accessScopes { handle } } }`
	want := map[*world]string{one: text(one.ask(look, nil)), two: text(two.ask(look, nil))}
	if strings.Count(want[one]+want[two], "SubscriptionContract/") != 2 || want[one] == want[two] {
		t.Fatalf("after a restart: %v", want)
	}
	two.create(first)
	if err := again.Restore(&snapshot); err != nil {
		t.Fatal(err)
	}
	for w, want := range want {
		if got := text(w.ask(look, nil)); got != want {
			t.Errorf("after a restore:\n got %s\nwant %s", got, want)
		}
	}
}
