package simulator

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// prepaidInput is a plan that is paid for three deliveries at once, cheaper from the
// second payment on.
func prepaidInput() map[string]any {
	return planInputOf("Prepaid", func(p map[string]any) {
		p["position"] = 2
		p["billingPolicy"] = map[string]any{"recurring": map[string]any{"interval": "MONTH", "intervalCount": 3}}
		p["deliveryPolicy"] = map[string]any{"recurring": map[string]any{"interval": "MONTH", "intervalCount": 1}}
		p["pricingPolicies"] = []any{
			map[string]any{"fixed": map[string]any{"adjustmentType": "FIXED_AMOUNT", "adjustmentValue": map[string]any{"fixedValue": "6"}}},
			map[string]any{"recurring": map[string]any{"adjustmentType": "PRICE", "adjustmentValue": map[string]any{"fixedValue": "25"}, "afterCycle": 1}},
		}
	})
}

// sellOnPlans makes a group of a monthly and a prepaid plan for the world's coffee of 250 g.
func (w *world) sellOnPlans() {
	w.t.Helper()
	if made := text(w.ask(createGroup, map[string]any{
		"input":     groupInputOf(planInputOf("Monthly"), prepaidInput()),
		"resources": map[string]any{"productVariantIds": []any{"gid://shopify/ProductVariant/4001"}},
	})); !strings.Contains(made, `"userErrors":[]`) {
		w.t.Fatal(made)
	}
}

func TestShelfShowsPlansAndTheirPrices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sellOnPlans()
	shelf, err := w.sim.Shelf("")
	if err != nil || len(shelf) != 1 {
		t.Fatalf("%v %v", shelf, err)
	}
	p := shelf[0]
	if p.Handle != "coffee" || len(p.Variants) != 2 || !p.Variants[0].Available || len(p.Groups) != 1 {
		t.Fatalf("the product is %+v", p)
	}
	g := p.Groups[0]
	if len(g.Variants) != 1 || g.Variants[0] != w.variants[0].ID || g.Options[0] != "Delivery" || len(g.Plans) != 2 {
		t.Fatalf("the group is %+v", g)
	}
	base := p.Variants[0].Price // 12.50
	once := g.Plans[0].Prices(base)
	if len(once) != 1 || once[0].Price.String() != "11.25" || once[0].Each.String() != "11.25" || g.Plans[0].Deliveries() != 1 {
		t.Errorf("a month costs %+v", once)
	}
	prepaid := g.Plans[1].Prices(base) // 3 x 12.50 less 6, then 25
	if len(prepaid) != 2 || prepaid[0].Price.String() != "31.50" || prepaid[0].Each.String() != "10.50" || g.Plans[1].Deliveries() != 3 {
		t.Errorf("prepaid costs %+v", prepaid)
	}
	if prepaid[1].After != 1 || prepaid[1].Price.String() != "25.00" || prepaid[1].Each.String() != "8.33" {
		t.Errorf("prepaid goes on with %+v", prepaid[1])
	}
}

func TestPurchaseIsOneOrderAndAContractForEachPlan(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "platform.db")
	w := newWorld(t, func(o *Options) { o.File = file })
	w.sellOnPlans()
	next := day("2025-02-15T15:00:00Z")
	made, err := w.sim.Buy(Purchase{Customer: CustomerSpec{Email: "ann@example.com"}, Items: []PurchaseItem{
		{VariantID: 4002},
		{VariantID: 4001, Quantity: 2, PlanID: 6001, NextBillingDate: next},
		{VariantID: 4001, PlanID: 6002, NextBillingDate: next},
		{VariantID: 4001, PlanID: 6001, NextBillingDate: next},
	}})
	if err != nil {
		t.Fatal(err)
	}
	// 40 + 2 x 11.25 + 31.50 + 11.25
	if made.Total.String() != "105.25" || len(made.Contracts) != 2 || len(made.Contracts[0].Lines) != 2 || len(made.Contracts[1].Lines) != 1 {
		t.Fatalf("made %+v", made)
	}
	const look = `{ order(id: "gid://shopify/Order/5001") { totalPriceSet { shopMoney { amount } } lineItems(first: 9) { nodes { quantity contract { id } sellingPlan { name } } } }
		subscriptionContract(id: "gid://shopify/SubscriptionContract/9002") { originOrder { id } orders(first: 2) { nodes { id } } nextBillingDate billingPolicy { interval intervalCount }
			lines(first: 2) { nodes { currentPrice { amount } sellingPlanId } } } }`
	got := text(w.ask(look, nil))
	for _, part := range []string{
		`"amount":"105.25"`, `{"contract":null,"quantity":1,"sellingPlan":null}`, `{"contract":{"id":"gid://shopify/SubscriptionContract/9001"},"quantity":2,"sellingPlan":{"name":"Monthly"}}`,
		`{"contract":{"id":"gid://shopify/SubscriptionContract/9002"},"quantity":1,"sellingPlan":{"name":"Prepaid"}}`,
		`"originOrder":{"id":"gid://shopify/Order/5001"}`, `"billingPolicy":{"interval":"MONTH","intervalCount":3}`, `"currentPrice":{"amount":"31.5"}`, `"orders":{"nodes":[{"id":"gid://shopify/Order/5001"}]}`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("there is no %s in\n%s", part, got)
		}
	}
	if err := w.sim.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := New(Options{File: file, Clock: w.clock, ThrottleClock: w.throttle, AppSecret: testSecret, AllowHTTPWebhooks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	w.server.Config.Handler = again.Handler()
	if kept := text(w.ask(look, nil)); kept != got {
		t.Errorf("after a restart it is\n%s\nand was\n%s", kept, got)
	}
}

func TestPurchaseOnceMakesNoContract(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.sim.Buy(Purchase{Customer: CustomerSpec{Email: "ann@example.com"}, Items: []PurchaseItem{{VariantID: 4001, Quantity: 3}}})
	if err != nil || made.Total.String() != "37.50" || len(made.Contracts) != 0 || made.OrderName != "#1001" {
		t.Fatalf("made %+v, %v", made, err)
	}
	if got := text(w.ask(`{ order(id: "gid://shopify/Order/5001") { name lineItems(first: 1) { nodes { contract { id } } } } }`, nil)); !strings.Contains(got, `"contract":null`) {
		t.Errorf("the order is %s", got)
	}
}

func TestPurchaseRefusals(t *testing.T) {
	t.Parallel()
	next := day("2025-02-15T15:00:00Z")
	for name, row := range map[string]struct {
		want string
		item PurchaseItem
	}{
		"an empty cart":                          {"the cart is empty", PurchaseItem{}},
		"a variant that the store does not have": {"demo.myshopify.com has no variant 1", PurchaseItem{VariantID: 1}},
		"a plan that the store does not have":    {"Coffee - 250 g is not sold on plan 1", PurchaseItem{VariantID: 4001, PlanID: 1, NextBillingDate: next}},
		"a plan of another variant":              {"Coffee - 1 kg is not sold on plan 6001", PurchaseItem{VariantID: 4002, PlanID: 6001, NextBillingDate: next}},
		"a quantity below one":                   {"a line's quantity is at least 1", PurchaseItem{VariantID: 4001, Quantity: -1}},
		"more than there is":                     {"Coffee - 1 kg is sold out", PurchaseItem{VariantID: 4002, Quantity: 2}},
		"a renewal in the past":                  {"the next billing date must be after the purchase", PurchaseItem{VariantID: 4001, PlanID: 6001}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.sellOnPlans()
			if err := w.sim.SetStock("", 4002, 1); err != nil {
				t.Fatal(err)
			}
			p := Purchase{Customer: CustomerSpec{Email: "ann@example.com"}, Items: []PurchaseItem{row.item}}
			if row.item == (PurchaseItem{}) {
				p.Items = nil
			}
			_, err := w.sim.Buy(p)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("answered %v, want %s", err, row.want)
			}
			if got := text(w.ask(`{ customers(first: 1) { nodes { id } } }`, nil)); !strings.Contains(got, `"nodes":[]`) {
				t.Errorf("a customer was made: %s", got)
			}
		})
	}
}
