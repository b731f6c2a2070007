package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// boxPlan makes a plan on which variants are sold as a box with rules, and returns its number.
func (s *subscription) boxPlan(variants []int64, rules map[string]any) string {
	s.t.Helper()
	text := make([]string, len(variants))
	for i, v := range variants {
		text[i] = fmt.Sprint(v)
	}
	var group struct {
		Plans []struct{ IDNew string } `json:"subscriptionPlans"`
	}
	if got := s.post("/subscription-groups", map[string]any{"groupName": "Boxes", "variantIds": strings.Join(text, ","), "subscriptionPlans": []any{map[string]any{
		"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH", "billingFrequencyCount": 1, "billingFrequencyInterval": "MONTH",
	}}}, &group); got != http.StatusCreated {
		s.t.Fatalf("the group answered %d", got)
	}
	plan := lastPart(group.Plans[0].IDNew)
	rules["title"], rules["enabled"], rules["sellingPlanIds"] = "Box", true, []any{plan}
	if got := s.post("/subscription-bundle-settings", rules, nil); got != http.StatusOK {
		s.t.Fatalf("the bundle answered %d", got)
	}
	return plan
}

// A subscriber fills a box in one request: products are exchanged, added and removed together, within the
// rules of the box. What breaks a rule changes nothing.
func TestPortalFillsBox(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.variants()
	plan := s.boxPlan(v[:5], map[string]any{"allowModifications": true, "minProducts": 3, "maxProducts": 6, "maxSwapsPerCycle": 2})
	line := func(variant int64, n int) map[string]any {
		return map[string]any{"variantId": variant, "quantity": n, "sellingPlanId": plan}
	}
	id := s.checkout(map[string]any{"lines": []any{line(v[0], 1), line(v[1], 2)}})
	ana := s.visit(s.payer(id))
	path := fmt.Sprintf("/contracts/%d/box", id)
	inside := func(list ...any) map[string]any {
		var products []any
		for i := 0; i < len(list); i += 2 {
			products = append(products, map[string]any{"variantId": list[i], "quantity": list[i+1]})
		}
		return map[string]any{"products": products}
	}
	holds := func(want ...string) {
		t.Helper()
		var box struct {
			Products []struct {
				VariantID int64 `json:"variantId"`
				Quantity  int
			}
			MinProducts, MaxProducts int
		}
		ana.want(200, "GET", path, nil, &box)
		var got []string
		for _, p := range box.Products {
			got = append(got, fmt.Sprintf("%d×%d", p.Quantity, slices.Index(v, p.VariantID)))
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) || box.MinProducts != 3 || box.MaxProducts != 6 {
			t.Errorf("the box holds %v of %d to %d, want %v", got, box.MinProducts, box.MaxProducts, want)
		}
	}
	holds("1×0", "2×1")
	for name, refused := range map[string]struct {
		body map[string]any
		key  string
	}{
		"too few":     {inside(v[0], 1), "bundleMinProducts"},
		"too many":    {inside(v[0], 5, v[1], 2), "bundleMaxProducts"},
		"not sold":    {inside(v[0], 1, v[1], 2, v[5], 1), "variantNotOffered"},
		"twice":       {inside(v[0], 1, v[0], 2), "linesCount"},
		"nothing":     {map[string]any{"products": []any{}}, "linesCount"},
		"no quantity": {inside(v[0], 0, v[1], 3), "bodyField"},
	} {
		if status := ana.ask("PUT", path, refused.body, nil); status != 400 || ana.key() != refused.key {
			t.Errorf("%s: %d %s", name, status, ana.text)
		}
	}
	holds("1×0", "2×1")

	before := s.log
	var got object
	ana.want(200, "PUT", path, inside(v[1], 1, v[2], 2, v[3], 1), &got) // one is exchanged, one comes, one is less
	if len(got.Lines.Nodes) != 3 {
		t.Errorf("the contract has %+v", got.Lines)
	}
	holds("1×1", "2×2", "1×3")
	ana.want(200, "PUT", path, inside(v[1], 1, v[2], 2), &got)
	holds("1×1", "2×2")
	events := s.did(before, "CUSTOMER_PORTAL")
	for _, want := range []string{"PRODUCT_REPLACE", "PRODUCT_QUANTITY_CHANGE", "PRODUCT_ADD", "PRODUCT_REMOVE"} {
		if !slices.ContainsFunc(events, func(e string) bool { return strings.HasPrefix(e, want) }) {
			t.Errorf("%s is not among %q", want, events)
		}
	}
	if status := ana.ask("PUT", path, inside(v[3], 1, v[4], 2), nil); status != 400 || ana.key() != "bundleMaxSwapsPerCycle" { // three exchanges in one cycle
		t.Errorf("too many exchanges: %d %s", status, ana.text)
	}

	if status := ana.ask("GET", fmt.Sprintf("/contracts/%d/box", s.id), nil, nil); status != 404 || ana.key() != "boxNotFound" {
		t.Errorf("a contract that is no box: %d %s", status, ana.text)
	}
	bob := s.visit(s.payer(s.checkout(map[string]any{"customer": map[string]any{"email": "bob@shopper.example", "firstName": "Bob", "lastName": "Reed"}})))
	for method, body := range map[string]any{"GET": nil, "PUT": inside(v[1], 2, v[2], 2)} {
		if status := bob.ask(method, path, body, nil); status != 404 || bob.key() != "contractNotFound" {
			t.Errorf("%s by another customer: %d %s", method, status, bob.text)
		}
	}
	holds("1×1", "2×2")
}
