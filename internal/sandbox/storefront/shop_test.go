package storefront_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/sandbox/storefront"
)

// plan is a selling plan for tests: a rhythm, how many deliveries are paid for at once, and
// what it costs.
func plan(name string, deliveries int, prices ...any) map[string]any {
	every := func(n int) map[string]any {
		return map[string]any{"recurring": map[string]any{"interval": "MONTH", "intervalCount": n}}
	}
	return map[string]any{
		"name": name, "options": []any{name}, "description": name + " & more",
		"billingPolicy": every(deliveries), "deliveryPolicy": every(1), "pricingPolicies": prices,
	}
}

func percent(off float64) map[string]any {
	return map[string]any{"adjustmentType": "PERCENTAGE", "adjustmentValue": map[string]any{"percentage": off}}
}

func first(off float64) map[string]any { return map[string]any{"fixed": percent(off)} }

func from(order int, off float64) map[string]any {
	p := percent(off)
	p["afterCycle"] = order - 1
	return map[string]any{"recurring": p}
}

// sellOnPlans sells House Blend Coffee on four plans, as the app does.
func (s *scene) sellOnPlans() {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{
		"query": `mutation($input: SellingPlanGroupInput!, $resources: SellingPlanGroupResourceInput) {
			sellingPlanGroupCreate(input: $input, resources: $resources) { userErrors { message } } }`,
		"variables": map[string]any{
			"input": map[string]any{"name": "Subscribe <and> save", "merchantCode": "save", "options": []any{"Delivery"}, "sellingPlansToCreate": []any{
				plan("Every month", 1, first(10)), plan("3 months prepaid", 3, first(15)), plan("Try it", 1, first(100), from(2, 10)), plan("Start cheap", 1, first(50), from(4, 5)),
			}},
			"resources": map[string]any{"productIds": []any{"gid://shopify/Product/3001"}},
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	req := httptest.NewRequest("POST", "/admin/api/2026-10/graphql.json", strings.NewReader(string(body)))
	req.Header.Set("X-Shopify-Access-Token", demo.Main)
	req.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	s.sim.Handler().ServeHTTP(answer, req)
	if text := answer.Body.String(); !strings.Contains(text, `"userErrors":[]`) {
		s.t.Fatal(text)
	}
}

// option returns what the product's page says of a plan, as one line of text.
func option(page, value string) string {
	for part := range strings.SplitSeq(page, `<div class="perennial-option">`) {
		if strings.Contains(part, `name="selling_plan" value="`+value+`"`) {
			part, _, _ = strings.Cut(part, "</div>")
			return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(part, " ")), " ")
		}
	}
	return ""
}

func TestProductPageShowsPurchaseOptions(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.sellOnPlans()
	res, page := s.do("GET", "/products/house-blend-coffee", "")
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, page)
	}
	for value, want := range map[string]string{
		"":     "One-time purchase $16.00",
		"6001": "Every month $14.40 per delivery Save $1.60 Today: $14.40 Every renewal: $14.40 Every month &amp; more",
		"6002": "3 months prepaid $13.60 per delivery Save $2.40 Today: $40.80 for 3 deliveries Every renewal: $40.80 for 3 deliveries 3 months prepaid &amp; more",
		"6003": "Try it First order free Save $1.60 Today: nothing to pay From order 2 on: $14.40 Try it &amp; more",
		"6004": "Start cheap $8.00 per delivery Save $0.80 Today: $8.00 From order 4 on: $15.20 Start cheap &amp; more",
	} {
		if got := option(page, value); got != want {
			t.Errorf("plan %q is shown as\n%s\nwant\n%s", value, got, want)
		}
	}
	for _, want := range []string{
		`value="" form="product-form-main" checked>`, `id="product-form-main"`, `<link rel="stylesheet" href="/assets/storefront.css">`,
		`<script src="/assets/purchase-options.js" defer></script>`, "Subscribe &lt;and&gt; save", `href="/apps/subscriptions">Sign in to manage your subscriptions</a>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "Cancel any time") {
		t.Error("the page promises what the merchant did not")
	}
}

func TestProductPageFollowsAddressAndSettings(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.sellOnPlans()
	get := func(query string) string {
		_, page := s.do("GET", "/products/house-blend-coffee?"+query, "")
		return page
	}
	if page := get("variant=4003&selling_plan=6002"); !strings.Contains(option(page, "6002"), "$33.15 per delivery") || !strings.Contains(page, `value="6002" form="product-form-main" aria-describedby="perennial-purchase-options-6002-then" checked>`) {
		t.Errorf("the variant of 1 kg on the prepaid plan is\n%s", page)
	}
	own := get("variant=4002&purchase-options.form=own&purchase-options.cancel_any_time=true&purchase-options.preselect=plan")
	for _, want := range []string{
		`<form method="post" action="/cart/add" accept-charset="UTF-8" enctype="multipart/form-data" id="perennial-purchase-options-form" class="perennial-form">`,
		`<a href="/products/house-blend-coffee?variant=4002" aria-current="true">Ground, 340 g</a>`, "Cancel any time", `name="id" value="4002"`,
		`value="6001" form="perennial-purchase-options-form" aria-describedby="perennial-purchase-options-6001-then" checked>`,
	} {
		if !strings.Contains(own, want) {
			t.Errorf("the block's own form lacks %s in\n%s", want, own)
		}
	}
	if strings.Contains(own, "product-form-main") {
		t.Error("there are two forms")
	}
	if page := get("locale=de"); option(page, "6002") != "3 months prepaid $13.60 pro Lieferung $2.40 sparen Heute: $40.80 für 3 Lieferungen Jede Verlängerung: $40.80 für 3 Lieferungen 3 months prepaid &amp; more" {
		t.Errorf("in German it is %s", option(page, "6002"))
	}
	part := get("section_id=main&variant=4003")
	if strings.Contains(part, "<html") || !strings.HasPrefix(strings.TrimSpace(part), `<section id="shopify-section-main"`) || !strings.Contains(option(part, "6001"), "$35.10 per delivery") {
		t.Errorf("the section alone is\n%s", part)
	}
}

// What the page says of a plan is what the checkout charges.
func TestShownPriceIsCharged(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		plan, total, next string
		quantity          string
		contracts         int
	}{
		"once":                       {"", "$16.00", "", "1", 0},
		"every month":                {"6001", "$14.40", "14.40", "1", 1},
		"two of them":                {"6001", "$28.80", "14.40", "2", 1},
		"prepaid":                    {"6002", "$40.80", "40.80", "1", 1},
		"with a free first order":    {"6003", "$0.00", "0.00", "1", 1},
		"with a cheaper first order": {"6004", "$8.00", "8.00", "1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.sellOnPlans()
			s.login()
			form := url.Values{"id": {"4001"}, "selling_plan": {row.plan}, "quantity": {row.quantity}}.Encode()
			if res, text := s.do("POST", "/cart/add", form, "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/cart" {
				t.Fatalf("%d %s", res.StatusCode, text)
			}
			for _, path := range []string{"/cart", "/checkout"} {
				if _, text := s.do("GET", path, ""); !strings.Contains(text, "<strong>"+row.total+"</strong>") {
					t.Errorf("%s does not say %s", path, row.total)
				}
			}
			res, text := s.do("POST", "/checkout", "", "Accept", "text/html")
			if res.StatusCode != http.StatusSeeOther {
				t.Fatalf("%d %s", res.StatusCode, text)
			}
			_, text = s.do("GET", res.Header.Get("Location"), "")
			if !strings.Contains(text, "is paid: <strong>"+row.total+"</strong>") {
				t.Errorf("the thanks are\n%s", text)
			}
			ids, err := s.sim.Contracts(demo.Main)
			if err != nil || len(ids) != 3+row.contracts {
				t.Fatalf("there are %d contracts, %v", len(ids), err)
			}
			if row.contracts > 0 {
				c, err := s.sim.Contract(ids[len(ids)-1])
				if err != nil || c.Lines[0].CurrentPrice != row.next || c.Customer.ID != 7001 {
					t.Errorf("the contract is %+v, %v", c, err)
				}
			}
			if _, text := s.do("GET", "/cart", ""); !strings.Contains(text, "The cart is empty") {
				t.Error("the cart still holds what was bought")
			}
		})
	}
}

func TestCartIsChanged(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.sellOnPlans()
	s.do("POST", "/cart/add?id=4001&selling_plan=6001", "")
	s.do("POST", "/cart/add?id=4001&selling_plan=6001&quantity=2", "")
	s.do("POST", "/cart/add?id=4001", "")
	if _, text := s.do("GET", "/cart", ""); !strings.Contains(text, "<strong>$59.20</strong>") || !strings.Contains(text, "Cart (4)") || !strings.Contains(text, "Every renewal: $43.20") {
		t.Errorf("the cart is\n%s", text)
	}
	s.do("POST", "/cart/change?line=1&quantity=0", "")
	if _, text := s.do("GET", "/cart", ""); !strings.Contains(text, "<strong>$16.00</strong>") || strings.Contains(text, "Every month") {
		t.Errorf("after the change it is\n%s", text)
	}
	if res, text := s.do("POST", "/checkout", "email=new@shopper.example", "Content-Type", "application/x-www-form-urlencoded"); res.StatusCode != http.StatusOK || !strings.Contains(text, `"contracts":[]`) {
		t.Errorf("%d %s", res.StatusCode, text)
	}
}

func TestPicturesAreDrawnFromProducts(t *testing.T) {
	t.Parallel()
	s := open(t)
	shelf, err := s.sim.Shelf("")
	if err != nil {
		t.Fatal(err)
	}
	looks := map[string]string{}
	for _, p := range shelf {
		res, text := s.do("GET", "/pictures/"+url.PathEscape(p.Handle)+".svg", "")
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/svg+xml" || text != storefront.Picture(p) {
			t.Errorf("%s: %d %s", p.Handle, res.StatusCode, res.Header.Get("Content-Type"))
		}
		decoder := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s is no XML: %v", p.Handle, err)
			}
		}
		if strings.Contains(text, "%!") {
			t.Errorf("%s is drawn as %s", p.Handle, text)
		}
		looks[text] = p.Handle
	}
	if len(looks) < len(shelf)-2 {
		t.Errorf("%d products have only %d pictures", len(shelf), len(looks))
	}
}
