package platformtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/platformtest"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

func TestClientAgainstSimulatorOverHTTP(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, newWorld)
}

const (
	domain = "demo.myshopify.com"
	token  = "shpat_demo"
)

// world is a simulated platform behind HTTP, asked by the real client.
type world struct {
	t      *testing.T
	clock  *clock.Manual
	sim    *simulator.Simulator
	server *httptest.Server
	client *shopify.Client
	wire   *wiretap
	people int
}

func newWorld(t *testing.T) platformtest.World {
	t.Helper()
	w := &world{t: t, clock: clock.NewManual(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))}
	var err error
	w.sim, err = simulator.New(simulator.Options{Clock: w.clock})
	w.must(err)
	w.must(w.sim.AddShop(simulator.ShopSpec{Domain: domain, Token: token, TimeZone: "America/New_York"}))
	variants := make([]simulator.VariantSpec, 3)
	for i := range variants {
		variants[i] = simulator.VariantSpec{Title: fmt.Sprint("Size ", i), SKU: fmt.Sprint("TEA-", i), Price: "12.50"}
	}
	_, err = w.sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: variants})
	w.must(err)
	w.server = httptest.NewServer(w.sim.Handler())
	w.wire = &wiretap{}
	w.client = shopify.New(shopify.Options{BaseURL: w.server.URL, HTTP: &http.Client{Transport: w.wire}})
	t.Cleanup(func() {
		w.server.Close()
		w.must(w.sim.Close())
	})
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) Platform() platform.Platform { return w.client }
func (w *world) Shop() platform.Shop         { return platform.Shop{Domain: domain, Token: token} }
func (w *world) Now() time.Time              { return w.clock.Now() }

func (w *world) Pass(d time.Duration) {
	w.t.Helper()
	w.clock.Set(w.clock.Now().Add(d))
	_, err := w.sim.RunDue(w.t.Context())
	w.must(err)
}

func (w *world) Contract(c platformtest.Contract) int64 {
	w.t.Helper()
	w.people++
	email := c.Customer
	if email == "" {
		email = fmt.Sprintf("customer%d@example.com", w.people)
	}
	method := simulator.MethodValid
	if c.Unpayable {
		method = simulator.MethodExpired
	}
	sold, err := w.sim.Variants(domain)
	w.must(err)
	lines := make([]simulator.LineSpec, max(c.Lines, 1))
	for i := range lines {
		lines[i] = simulator.LineSpec{VariantID: sold[i%len(sold)].ID, Quantity: 1}
	}
	made, err := w.sim.Checkout(simulator.ContractSpec{
		Customer: simulator.CustomerSpec{Email: email, FirstName: "Ada", LastName: "Love"}, NextBillingDate: c.Next,
		Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: lines, PaymentMethod: method,
		Note: c.Note, Attributes: []simulator.AttributeSpec{{Key: "gift", Value: "yes"}},
	})
	w.must(err)
	return made.Contract
}

func (w *world) Outcome(contract int64, code string) {
	w.t.Helper()
	w.must(w.sim.Outcome(simulator.Outcome{Contract: contract, Code: code}))
}

func (w *world) Orders(contract int64) int {
	return len(w.sim.Orders(simulator.OrderFilter{Contract: contract}))
}

func (w *world) ChargeUnasked() {
	w.t.Helper()
	_, err := w.sim.BulkCharge(domain, w.Now().Add(-time.Minute), w.Now().Add(time.Minute))
	w.must(err)
}

func (w *world) Break(how platformtest.Fault, call func()) {
	w.t.Helper()
	f := simulator.Faults{Rate: 1, Seed: 1}
	switch how {
	case platformtest.AnswerLost:
		f.Kinds = []simulator.FaultKind{simulator.TimeoutAfter}
	case platformtest.RequestLost:
		f.Kinds = []simulator.FaultKind{simulator.TimeoutBefore}
	case platformtest.Busy:
		f.Kinds, f.Rate = []simulator.FaultKind{simulator.Throttled}, 0.5
	default:
		w.t.Fatalf("no such fault: %s", how)
	}
	before := w.sim.FaultCounts()[f.Kinds[0]]
	w.must(w.sim.SetFaults(f))
	call()
	w.must(w.sim.ClearFaults())
	if w.sim.FaultCounts()[f.Kinds[0]] == before {
		w.t.Errorf("nothing went wrong: %s", how)
	}
}

func (w *world) Subscriptions(topic platform.Topic) []string {
	w.t.Helper()
	var got struct {
		WebhookSubscriptions struct {
			Nodes []struct {
				URI string `json:"uri"`
			} `json:"nodes"`
		} `json:"webhookSubscriptions"`
	}
	w.ask(`query { webhookSubscriptions(first: 250, topics: [`+word(topic)+`]) { nodes { uri } } }`, &got)
	var addresses []string
	for _, n := range got.WebhookSubscriptions.Nodes {
		addresses = append(addresses, n.URI)
	}
	return addresses
}

func (w *world) SubscribeTwice(topic platform.Topic, address string) {
	w.t.Helper()
	var got struct {
		WebhookSubscriptionCreate struct {
			UserErrors []struct{ Message string } `json:"userErrors"`
		} `json:"webhookSubscriptionCreate"`
	}
	w.ask(`mutation { webhookSubscriptionCreate(topic: `+word(topic)+`, webhookSubscription: {uri: "`+address+`"}) { userErrors { message } } }`, &got)
	if len(got.WebhookSubscriptionCreate.UserErrors) > 0 {
		w.t.Fatalf("subscribe twice: %+v", got)
	}
}

func word(topic platform.Topic) string {
	return strings.ToUpper(strings.ReplaceAll(string(topic), "/", "_"))
}

// ask sends a document past the client.
func (w *world) ask(query string, data any) {
	w.t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	w.must(err)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.server.URL+"/admin/api/2026-10/graphql.json", bytes.NewReader(body))
	w.must(err)
	req.Header.Set("X-Shopify-Access-Token", token)
	res, err := w.server.Client().Do(req)
	w.must(err)
	defer func() { _ = res.Body.Close() }()
	answer := struct {
		Data   any             `json:"data"`
		Errors json.RawMessage `json:"errors"`
	}{Data: data}
	w.must(json.NewDecoder(res.Body).Decode(&answer))
	if len(answer.Errors) > 0 {
		w.t.Fatalf("%s: %s", query, answer.Errors)
	}
}

func (w *world) Uninstall() {
	w.t.Helper()
	w.must(w.sim.Uninstall(domain))
}
