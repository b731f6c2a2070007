package roomtest_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/products"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// productsChanges sells two products and notes what was asked for.
type productsChanges struct {
	subscription.Changes

	asked []string
	final bool // what is removed cannot be added again as it was
	added contract.Detail
}

func (c *productsChanges) note(format string, args ...any) (contract.Detail, error) {
	c.asked = append(c.asked, fmt.Sprintf(format, args...))
	return contract.Detail{}, nil
}

var sold = []do.Product{
	portaltest.Product(201, "House Blend Coffee", "Whole bean", 1408), portaltest.Product(301, "Decaf", contract.OnlyVariant, 1300),
	portaltest.Product(302, "Geisha", "250 g", 2000), soldOut(portaltest.Product(303, "Monsooned", "1 kg", 1408)),
}

func soldOut(p do.Product) do.Product {
	p.Available = false
	return p
}

func (c *productsChanges) Products(_ context.Context, _ do.Caller, _ contract.ID, q do.ProductQuery) (do.ProductList, error) {
	list := do.ProductList{More: q.Page == 0}
	for _, p := range sold {
		if strings.Contains(p.ProductTitle, q.Text) {
			list.Products = append(list.Products, p)
		}
	}
	return list, nil
}

func (c *productsChanges) Product(_ context.Context, _ do.Caller, _ contract.ID, _ string, variant int64) (do.Product, error) {
	for _, p := range append(slices.Clone(sold), portaltest.Product(202, "Earl Grey Loose Leaf", "Tin", 792)) {
		if p.ID == variant {
			return p, nil
		}
	}
	return do.Product{}, fault.New(fault.FailedPrecondition, "not offered").Code("variantNotOffered")
}

func (c *productsChanges) AddProduct(_ context.Context, _ do.Caller, ref do.ContractRef, w do.NewProduct) (contract.Detail, error) {
	_, err := c.note("add %d of %d to %d", w.Quantity, w.Variant, ref.ID)
	return c.added, err
}

func (c *productsChanges) ChangeLine(_ context.Context, _ do.Caller, ref do.ContractRef, w do.LineEdit) (contract.Detail, error) {
	if w.Variant != nil {
		return c.note("swap line %s of %d for %d", w.Line, ref.ID, *w.Variant)
	}
	return c.note("%d of line %s of %d", *w.Quantity, w.Line, ref.ID)
}

func (c *productsChanges) RemoveProduct(_ context.Context, _ do.Caller, ref do.ContractRef, line string) (do.Removal, error) {
	d, err := c.note("remove line %s of %d", line, ref.ID)
	return do.Removal{Detail: d, Reversible: !c.final}, err
}

func openProducts(t *testing.T, c *productsChanges, change func(*contract.Contract)) *portaltest.Site {
	t.Helper()
	return openRooms(t, change, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: c}), products.New(products.Options{Sheets: s.Overview, Changes: c})}
	})
}

func (c *productsChanges) want(t *testing.T, asked ...string) {
	t.Helper()
	if got, want := strings.Join(c.asked, "\n"), strings.Join(asked, "\n"); got != want {
		t.Errorf("carried out:\n%s\nwant:\n%s", got, want)
	}
}

const subscriptionPath = "/s/1" // path of the contract

func TestHigherPriceOfSwapHasToBeAgreedTo(t *testing.T) {
	t.Parallel()
	c := &productsChanges{}
	s := openProducts(t, c, nil)
	list := s.Get(portaltest.At + subscriptionPath + "/swap?line=1-1")
	s.Want(list, http.StatusOK, "$5.92 more", "$1.08 less", "Sold out", "More products", "/s/1/swap?line=1-1&amp;variant=302")
	if strings.Contains(list.Text, "House Blend Coffee</h3>") {
		t.Error("the product that is swapped is offered")
	}
	s.Want(s.Get(portaltest.At+subscriptionPath+"/swap?line=1-1&search=Lungo"), http.StatusOK, "No product has “Lungo” in its name.", `name="line" value="1-1"`)

	dear := subscriptionPath + "/swap?line=1-1&variant=302"
	p := s.Get(portaltest.At + dear)
	s.Want(p, http.StatusOK, "Swap House Blend Coffee for Geisha, 250 g?", "$24.50", "$30.42", "I agree to pay $5.92 more for each order.")
	s.Want(s.Send(p, dear), http.StatusUnprocessableEntity, "Agree to the higher price")
	s.Want(s.Send(p, dear, "agreed", "500"), http.StatusUnprocessableEntity, "Agree to the higher price") // another price was shown
	c.want(t)
	s.Want(s.Send(p, dear, "agreed", "592"), http.StatusOK, "The product is swapped")
	cheap := subscriptionPath + "/swap?line=1-1&variant=301"
	p = s.Get(portaltest.At + cheap)
	if strings.Contains(p.Text, "agreed") {
		t.Error("a lower price has to be agreed to")
	}
	s.Want(s.Send(p, cheap), http.StatusOK, "The product is swapped")
	c.want(t, "swap line 1-1 of 1 for 302", "swap line 1-1 of 1 for 301")

	s.Want(s.Get(portaltest.At+subscriptionPath+"/swap?line=1-1&variant=999"), http.StatusConflict, "The store doesn’t offer this product here.")
	s.Want(s.Get(portaltest.At+subscriptionPath+"/swap?line=9"), http.StatusNotFound)
}

func TestProductsAreAddedAndRemovedInAnyQuantity(t *testing.T) {
	t.Parallel()
	c := &productsChanges{}
	s := openProducts(t, c, nil)
	s.Want(s.Get(portaltest.At+subscriptionPath+"/add"), http.StatusOK, "$14.08", "$20.00", "/s/1/add?variant=301")
	p := s.Get(portaltest.At + subscriptionPath + "/add?variant=301")
	s.Want(p, http.StatusOK, "Add Decaf to all orders?", "One costs $13.00 every 2 weeks, from Wednesday, March 3 on.")
	for _, wrong := range []string{"0", "-1", "10000", "two", ""} {
		s.Want(s.Send(p, subscriptionPath+"/add?variant=301", "quantity", wrong), http.StatusUnprocessableEntity, "Enter a whole number", `value="`+wrong+`"`)
	}
	s.Want(p, http.StatusOK, `class="was">$24.50`, `class="was">$37.50`)
	s.Want(s.Send(p, subscriptionPath+"/add?variant=301", "quantity", "2", "do", "count"), http.StatusOK, `class="was">$50.50`, `value="2"`)
	p = s.Send(p, subscriptionPath+"/add?variant=301", "quantity", "2")
	s.Want(p, http.StatusUnprocessableEntity, "Nothing is changed yet.", `class="was">$50.50`)
	s.Want(s.Send(p, subscriptionPath+"/add?variant=301", "quantity", "2"), http.StatusOK, "The product is added")

	p = s.Get(portaltest.At + subscriptionPath + "/quantity?line=1-2")
	s.Want(p, http.StatusOK, "How many of Earl Grey Loose Leaf?", "One costs $7.92 in your next order.")
	s.Want(s.Send(p, subscriptionPath+"/quantity?line=1-2", "quantity", "1.5"), http.StatusUnprocessableEntity, "Enter a whole number")
	s.Want(s.Send(p, subscriptionPath+"/quantity?line=1-2", "quantity", "3", "do", "count"), http.StatusOK, `class="was">$40.34`, `value="3"`)
	p = s.Send(p, subscriptionPath+"/quantity?line=1-2", "quantity", "3")
	s.Want(p, http.StatusUnprocessableEntity, "Nothing is changed yet.", `class="was">$40.34`)
	c.want(t, "add 2 of 301 to 1")
	s.Want(s.Send(p, subscriptionPath+"/quantity?line=1-2", "quantity", "3"), http.StatusOK, "The quantity is changed")

	p = s.Get(portaltest.At + subscriptionPath + "/remove?line=1-2")
	s.Want(p, http.StatusOK, "Remove Earl Grey Loose Leaf from all future orders?", "$24.50", "$16.58")
	s.Want(s.Send(p, subscriptionPath+"/remove?line=1-2"), http.StatusOK, "The product is removed.")
	c.want(t, "add 2 of 301 to 1", "3 of line 1-2 of 1", "remove line 1-2 of 1")
}

func TestChangeOfProductsIsTakenBack(t *testing.T) {
	t.Parallel()
	c := &productsChanges{}
	s := openProducts(t, c, nil)
	is := portaltest.Subscription(1)
	put := func(c contract.Contract) {
		is.Version++ // of the row that is there
		c.Version = is.Version
		s.Put(s.First, []contract.Contract{c})
	}
	// undo returns the path of the form with a text on a page.
	undo := func(p portaltest.Page, text string) string {
		t.Helper()
		at := regexp.MustCompile(`action="` + portaltest.At + `([^"]+/undo\?[^"]+)">(?:<input[^>]+>)*<button[^>]*>` + text).FindStringSubmatch(p.Text)
		if at == nil {
			t.Fatalf("%q is on no form of\n%s", text, p.Text)
		}
		return html.UnescapeString(at[1])
	}
	swapped := func(unit int64) (portaltest.Page, string) {
		t.Helper()
		is.Lines[0].VariantID, is.Lines[0].Price.Minor = 201, unit
		put(is)
		path := subscriptionPath + "/swap?line=1-1&variant=301"
		p := s.Send(s.Get(portaltest.At+path), path)
		is.Lines[0].VariantID = 301
		put(is)
		p = s.Get(p.Path)
		return p, undo(p, "Swap back")
	}
	p, back := swapped(1408)
	s.Want(s.Send(p, back), http.StatusOK, "You have your former product again")
	p, back = swapped(1500) // the plan's price is another one
	offered := p
	s.Want(s.Send(p, back), http.StatusOK, "Swap House Blend Coffee for House Blend Coffee, Whole bean?", "After the change")

	p = s.Send(s.Get(portaltest.At+subscriptionPath+"/remove?line=1-2"), subscriptionPath+"/remove?line=1-2")
	s.Want(s.Send(p, undo(p, "Add it again")), http.StatusOK, "The product is back, at the same price")
	c.final = true
	if p = s.Send(s.Get(portaltest.At+subscriptionPath+"/remove?line=1-2"), subscriptionPath+"/remove?line=1-2"); strings.Contains(p.Text, "Add it again") {
		t.Error("what is not given again can be asked for")
	}

	c.added.Contract = is
	c.added.Lines = append(slices.Clone(is.Lines), contract.LineItem{ID: "gid://shopify/SubscriptionLine/1-3", VariantID: 301, Title: "Decaf", Quantity: 1})
	p = s.Send(s.Get(portaltest.At+subscriptionPath+"/add?variant=301"), subscriptionPath+"/add?variant=301", "quantity", "1")
	put(c.added.Contract)
	p = s.Get(p.Path)
	s.Want(s.Send(p, undo(p, "Remove it again")), http.StatusOK, "The product is removed again.")
	c.want(t, "swap line 1-1 of 1 for 301", "swap line 1-1 of 1 for 201", "swap line 1-1 of 1 for 301",
		"remove line 1-2 of 1", "add 1 of 202 to 1", "remove line 1-2 of 1", "add 1 of 301 to 1", "remove line 1-3 of 1")

	// A link that another person has written offers nothing, and does nothing.
	for _, forged := range []string{strings.Replace(back, "variant=201", "variant=302", 1), strings.Replace(back, subscriptionPath, "/s/2", 1), regexp.MustCompile(`seal=[^&]+`).ReplaceAllString(back, "seal=")} {
		_, query, _ := strings.Cut(forged, "?")
		if p = s.Get(portaltest.At + subscriptionPath + "?" + query); strings.HasPrefix(forged, subscriptionPath+"/") && strings.Contains(p.Text, "Swap back") {
			t.Errorf("%s is offered", forged)
		}
		page := offered
		page.Text = strings.ReplaceAll(page.Text, html.EscapeString(back), html.EscapeString(forged))
		s.Want(s.Send(page, forged), http.StatusNotFound)
	}
	if len(c.asked) != 8 {
		t.Errorf("a forged link has done %q", c.asked[8:])
	}
}

func TestLastProductIsNotRemoved(t *testing.T) {
	t.Parallel()
	s := openProducts(t, &productsChanges{}, func(c *contract.Contract) { c.Lines = c.Lines[:1] })
	p := s.Get(portaltest.At + subscriptionPath + "/remove?line=1-1")
	s.Want(p, http.StatusOK, "It’s the only product of this subscription.", "Keep House Blend Coffee")
	if strings.Contains(p.Text, `action="`+portaltest.At+subscriptionPath+`/remove`) {
		t.Error("the page has the form that removes the last product")
	}
}

func TestProductsOfEndedSubscriptionStay(t *testing.T) {
	t.Parallel()
	s := openProducts(t, &productsChanges{}, func(c *contract.Contract) { c.Status = contract.Cancelled })
	for _, path := range []string{"/swap?line=1-1", "/add", "/quantity?line=1-1", "/remove?line=1-1"} {
		s.Want(s.Get(portaltest.At+subscriptionPath+path), http.StatusNotFound)
	}
}
