package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
)

const (
	testShop   = "demo.myshopify.com"
	testToken  = "token-1"
	testSecret = "hush"
)

// world is a platform with one store, three variants and a clock that stands.
type world struct {
	t        testing.TB
	sim      *Simulator
	clock    *clock.Manual
	throttle *clock.Manual
	server   *httptest.Server
	variants []Variant
	token    string
}

func day(s string) time.Time {
	t, err := parseTime(s)
	if err != nil {
		panic(err)
	}
	return t
}

func newWorld(t testing.TB, change ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, token: testToken, clock: clock.NewManual(day("2025-01-01T09:00:00Z")), throttle: clock.NewManual(day("2025-01-01"))}
	o := Options{Clock: w.clock, ThrottleClock: w.throttle, AppSecret: testSecret, AllowHTTPWebhooks: true}
	for _, c := range change {
		c(&o)
	}
	sim, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.sim = sim
	w.server = httptest.NewServer(sim.Handler())
	t.Cleanup(w.server.Close)
	t.Cleanup(func() { sim.Close() })
	if err := sim.AddShop(ShopSpec{Domain: testShop, Token: testToken, TimeZone: "America/New_York", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	w.variants, err = sim.AddProduct(ProductSpec{Title: "Coffee", Collections: []string{"Beans"}, Variants: []VariantSpec{
		{Title: "250 g", SKU: "C250", Price: "12.50"}, {Title: "1 kg", SKU: "C1000", Price: "40"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// monthly is a checkout of one coffee a month.
func (w *world) monthly(change ...func(*ContractSpec)) Made {
	w.t.Helper()
	spec := ContractSpec{
		Customer: CustomerSpec{Email: "ann@example.com", FirstName: "Ann", LastName: "Lee"}, NextBillingDate: day("2025-02-01T15:00:00Z"),
		Billing: PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: []LineSpec{{VariantID: w.variants[0].ID, Quantity: 2}}, DeliveryPrice: "5",
	}
	for _, c := range change {
		c(&spec)
	}
	made, err := w.sim.Checkout(spec)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// reply is an answer, loosely read.
type reply struct {
	status     int
	Data       map[string]any
	Errors     []apiError
	Extensions *struct{ Cost costReport }
	raw        string
}

func (w *world) post(query string, vars map[string]any) reply {
	w.t.Helper()
	r, err := w.tryPost(query, vars)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) tryPost(query string, vars map[string]any) (reply, error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
	if err != nil {
		return reply{}, err
	}
	req, err := http.NewRequest(http.MethodPost, w.server.URL+"/admin/api/2026-10/graphql.json", bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("X-Shopify-Access-Token", w.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	r := reply{status: res.StatusCode, raw: string(text)}
	if err != nil || res.StatusCode != http.StatusOK {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// ask posts and fails the test on errors beside the data.
func (w *world) ask(query string, vars map[string]any) map[string]any {
	w.t.Helper()
	r := w.post(query, vars)
	if len(r.Errors) > 0 || r.status != http.StatusOK {
		w.t.Fatalf("%d: %s", r.status, r.raw)
	}
	return r.Data
}

// dig follows names and positions into an answer.
func dig(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func (w *world) pass(to string) {
	w.t.Helper()
	w.stepTo(day(to))
}

// stepTo moves the clock through every due instant, as the sandbox does.
func (w *world) stepTo(to time.Time) {
	w.t.Helper()
	for {
		if _, err := w.sim.RunDue(context.Background()); err != nil {
			w.t.Fatal(err)
		}
		due, ok := w.sim.NextDue()
		if !ok || due.After(to) {
			break
		}
		w.clock.Set(due)
	}
	w.clock.Set(to)
	if _, err := w.sim.RunDue(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

const createDoc = `mutation Charge($contract: ID!, $key: String!, $cycle: Int) {
  subscriptionBillingAttemptCreate(subscriptionContractId: $contract, subscriptionBillingAttemptInput: {idempotencyKey: $key, billingCycleSelector: {index: $cycle}}) {
    subscriptionBillingAttempt { id ready idempotencyKey state { __typename } }
    userErrors { field code message }
  }
}`

func contractGID(id int64) string { return (&contract{ID: id}).gid() }

// charge asks for a charge and returns the attempt's id and the refusal's code.
func (w *world) charge(contract int64, key string, cycle int) (id, code string) {
	w.t.Helper()
	d := w.ask(createDoc, map[string]any{"contract": contractGID(contract), "key": key, "cycle": cycle})
	id, _ = dig(d, "subscriptionBillingAttemptCreate", "subscriptionBillingAttempt", "id").(string)
	code, _ = dig(d, "subscriptionBillingAttemptCreate", "userErrors", 0, "code").(string)
	return id, code
}

// sink receives webhooks and answers as its script says, then with 200.
type sink struct {
	*httptest.Server
	mu      sync.Mutex
	answers []int
	hooks   []hook
}

type hook struct {
	header http.Header
	body   string
}

func newSink(t testing.TB, answers ...int) *sink {
	s := &sink{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hooks = append(s.hooks, hook{r.Header, string(body)})
		if len(s.answers) > 0 {
			w.WriteHeader(s.answers[0])
			s.answers = s.answers[1:]
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) topics() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, h := range s.hooks {
		list = append(list, h.header.Get("X-Shopify-Topic"))
	}
	return strings.Join(list, " ")
}

func (w *world) subscribe(s *sink, topics ...string) {
	w.t.Helper()
	for _, topic := range topics {
		d := w.ask(`mutation($t: WebhookSubscriptionTopic!, $u: String!) {
			webhookSubscriptionCreate(topic: $t, webhookSubscription: {uri: $u}) { webhookSubscription { id } userErrors { message } } }`,
			map[string]any{"t": topic, "u": s.URL})
		if dig(d, "webhookSubscriptionCreate", "webhookSubscription", "id") == nil {
			w.t.Fatal(text(d))
		}
	}
}

func TestEverySimulatedFieldIsInTheSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for kind, table := range w.sim.tables {
		def := w.sim.schema.Types[kind]
		if def == nil {
			t.Errorf("the schema has no type %s", kind)
			continue
		}
		for name := range table {
			if def.Fields.ForName(name) == nil {
				t.Errorf("%s has no field %s", kind, name)
			}
		}
	}
}

func TestRenewalFromCheckoutToOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	if made.Contract != 9001 || made.Customer != 7001 || made.OrderName != "#1001" {
		t.Fatalf("made %+v", made)
	}
	w.pass("2025-02-01T15:00:00Z")
	id, code := w.charge(made.Contract, "k1", 1)
	if code != "" {
		t.Fatal(code)
	}
	const read = `query($id: ID!, $c: ID!) {
		subscriptionBillingAttempt(id: $id) { ready completedAt errorCode state { __typename ... on SubscriptionBillingAttemptSuccessState { order { name totalPriceSet { shopMoney { amount currencyCode } } lineItems(first: 5) { nodes { title quantity contract { id } } } } } } }
		subscriptionBillingCycle(billingCycleInput: {contractId: $c, selector: {index: 1}}) { status billingAttempts(first: 5) { nodes { id } } }
		subscriptionContract(id: $c) { lastPaymentStatus orders(first: 5) { nodes { name } } }
	}`
	vars := map[string]any{"id": id, "c": contractGID(made.Contract)}
	if d := w.ask(read, vars); dig(d, "subscriptionBillingAttempt", "state", "__typename") != "SubscriptionBillingAttemptPendingState" || dig(d, "subscriptionBillingAttempt", "ready") != false {
		t.Fatalf("before its time: %s", text(d))
	}
	w.pass("2025-02-01T15:00:02Z")
	got := text(w.ask(read, vars))
	want := `{"subscriptionBillingAttempt":{"completedAt":"2025-02-01T15:00:02Z","errorCode":null,"ready":true,"state":{"__typename":"SubscriptionBillingAttemptSuccessState","order":{"lineItems":{"nodes":[{"contract":{"id":"gid://shopify/SubscriptionContract/9001"},"quantity":2,"title":"Coffee"}]},"name":"#1002","totalPriceSet":{"shopMoney":{"amount":"30.0","currencyCode":"USD"}}}}},` +
		`"subscriptionBillingCycle":{"billingAttempts":{"nodes":[{"id":"` + id + `"}]},"status":"BILLED"},` +
		`"subscriptionContract":{"lastPaymentStatus":"SUCCEEDED","orders":{"nodes":[{"name":"#1001"},{"name":"#1002"}]}}}`
	if got != want {
		t.Errorf("after its time:\n got %s\nwant %s", got, want)
	}
	ledger := w.sim.Orders(OrderFilter{Contract: made.Contract})
	if len(ledger) != 1 || ledger[0].AttemptKey != "k1" || ledger[0].Amount != "30.00" || ledger[0].Cycle != 1 {
		t.Errorf("ledger %+v", ledger)
	}
}
