package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// shelf is what a group sells: products, and single variants.
type shelf struct{ products, variants []int64 }

// soldGroup is what a story looks at in what a group sells.
type soldGroup struct {
	ID                                int64
	ProductCount, ProductVariantCount int
	ProductIDs, VariantIDs            string // JSON texts
}

func (m *merchant) shelf(g soldGroup) (s shelf) {
	m.t.Helper()
	numbers := func(text string) (ids []int64) {
		var list []struct{ ID int64 }
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			m.t.Fatalf("%q: %v", text, err)
		}
		for _, one := range list {
			ids = append(ids, one.ID)
		}
		slices.Sort(ids)
		return ids
	}
	s = shelf{numbers(g.ProductIDs), numbers(g.VariantIDs)}
	if g.ProductCount != len(s.products) || g.ProductVariantCount != len(s.variants) {
		m.t.Errorf("the group counts %d products and %d variants and shows %v and %v", g.ProductCount, g.ProductVariantCount, s.products, s.variants)
	}
	return s
}

// platformShelf returns what the platform sells on the only group.
func (m *merchant) platformShelf() (s shelf) {
	m.t.Helper()
	answer := m.graphQL(m.token, []byte(`{"query":"{ sellingPlanGroups(first: 2) { nodes { products(first: 50) { nodes { id } } productVariants(first: 50) { nodes { id } } } } }"}`))
	type ids struct{ Nodes []struct{ ID string } }
	var got struct {
		SellingPlanGroups struct {
			Nodes []struct{ Products, ProductVariants ids }
		}
	}
	if err := json.Unmarshal(answer.Data, &got); err != nil || len(got.SellingPlanGroups.Nodes) != 1 {
		m.t.Fatalf("%v: %s %s", err, answer.Data, answer.Errors)
	}
	numbers := func(list ids) (numbers []int64) {
		for _, one := range list.Nodes {
			var n int64
			if _, err := fmt.Sscan(number(one.ID), &n); err != nil {
				m.t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
		slices.Sort(numbers)
		return numbers
	}
	group := got.SellingPlanGroups.Nodes[0]
	return shelf{numbers(group.Products), numbers(group.ProductVariants)}
}

func TestGroupRemovesProductsByEveryName(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Empty: true, MainOnly: true})
	var sold []struct {
		VariantID, ProductID int64
		Collections          []struct {
			ID    int64
			Title string
		}
	}
	m.call("GET", "/platform/variants", nil, &sold)
	var products, coffee, others []int64
	var collection int64
	for _, v := range sold {
		if slices.Contains(products, v.ProductID) {
			continue
		}
		if products = append(products, v.ProductID); v.Collections[0].Title == "Coffee" {
			coffee, collection = append(coffee, v.ProductID), v.Collections[0].ID
		} else {
			others = append(others, v.ProductID)
		}
	}
	if len(coffee) < 2 || len(others) < 3 {
		t.Fatalf("the store sells the coffees %v and else %v", coffee, others)
	}
	member := sold[len(sold)-1] // a variant that is sold beside the products
	products, others = products[:len(products)-1], others[:len(others)-1]
	list := func(ids []int64) (items []any) {
		for _, id := range ids {
			items = append(items, map[string]any{"id": id})
		}
		return items
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	body := monthlyGroup("Everything")
	body["productIds"], body["variantIds"] = text(list(products)), text(list([]int64{member.VariantID}))
	var group soldGroup
	if got := m.do("POST", "/subscription-groups", body, &group); got != http.StatusCreated {
		t.Fatalf("making a group answered %d", got)
	}
	if got, want := m.shelf(group), (shelf{products, []int64{member.VariantID}}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("the new group sells %v, want %v", got, want)
	}
	for _, step := range []struct {
		name, query string
		want        shelf
	}{
		{"a product", fmt.Sprint("productIds=", others[0]), shelf{products: slices.DeleteFunc(slices.Clone(products), func(id int64) bool { return id == others[0] }), variants: []int64{member.VariantID}}},
		{"a collection", fmt.Sprint("collectionId=", collection), shelf{products: others[1:], variants: []int64{member.VariantID}}},
		{"a variant", fmt.Sprint("variantIds=", member.VariantID), shelf{products: others[1:]}},
		{"nothing, though everything could", fmt.Sprintf("productIds=%d&deleteAllProductsAndVariants=false", others[1]), shelf{products: others[2:]}},
		{"everything", "deleteAllProductsAndVariants=true", shelf{}},
	} {
		if got := m.do("PUT", fmt.Sprintf("/subscription-groups/%d/remove-products?%s", group.ID, step.query), nil, &group); got != http.StatusOK {
			t.Fatalf("%s: answered %d", step.name, got)
		}
		if here, there := m.shelf(group), m.platformShelf(); fmt.Sprint(here) != fmt.Sprint(step.want) || fmt.Sprint(there) != fmt.Sprint(step.want) {
			t.Errorf("%s: the group sells %v, at the platform %v, want %v", step.name, here, there, step.want)
		}
	}
}
