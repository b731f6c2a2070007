package roomtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/orders"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// ordersChanges notes what was asked for about one order.
type ordersChanges struct {
	orders.Changes

	asked []string
}

func (c *ordersChanges) note(format string, args ...any) error {
	c.asked = append(c.asked, fmt.Sprintf(format, args...))
	return nil
}

var decaf = portaltest.Product(301, "Decaf", contract.OnlyVariant, 1300)

func (c *ordersChanges) OneTimeProducts(context.Context, do.Caller, contract.ID, do.ProductQuery) (do.ProductList, error) {
	return do.ProductList{Products: []do.Product{decaf}}, nil
}

func (c *ordersChanges) OneTimeProduct(_ context.Context, _ do.Caller, _ contract.ID, variant int64) (do.Product, error) {
	if variant != decaf.ID {
		return do.Product{}, fault.New(fault.FailedPrecondition, "not offered").Code("variantNotOffered")
	}
	return decaf, nil
}

func (c *ordersChanges) EditOrder(_ context.Context, _ do.Caller, ref do.OrderRef, want do.OrderEdit) (billing.Record, error) {
	return billing.Record{}, c.note("note of %d: %q", ref.Contract, *want.Note)
}

func (c *ordersChanges) AddOneTime(_ context.Context, _ do.Caller, p do.OneTime) error {
	return c.note("%d of %d once", p.Quantity, p.Variant)
}

func (c *ordersChanges) UpdateOneTime(_ context.Context, _ do.Caller, p do.OneTime) (billing.OneOffRecord, error) {
	return billing.OneOffRecord{}, c.note("now %d of %d", p.Quantity, p.Variant)
}

func (c *ordersChanges) RemoveOneTime(_ context.Context, _ do.Caller, p do.OneTime) error {
	return c.note("no %d", p.Variant)
}

func (c *ordersChanges) DeclineSwap(_ context.Context, _ do.Caller, ref do.OrderRef) (billing.Record, error) {
	return billing.Record{}, c.note("keep %d", ref.Contract)
}

// openOrders opens a store with a contract of Maya's, and returns the path of its next order.
func openOrders(t *testing.T, c *ordersChanges) (s *portaltest.Site, order string) {
	t.Helper()
	s = portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: s.Portal}), orders.New(orders.Options{Orders: s.Overview, Changes: c})}
	})
	is := portaltest.Subscription(1)
	is.OneOffs = 1
	s.Put(s.First, []contract.Contract{is}, portaltest.Orders(1, 3)...)
	s.PutOneOff(s.First, billing.OneOff{Contract: 1, Cycle: 5, Variant: decaf.Variant, Quantity: 2})
	s.SignIn(portaltest.Maya)
	page := s.Get(portaltest.At + "/s/1").Text
	_, after, found := strings.Cut(page, portaltest.At+"/s/1/orders/")
	number, _, _ := strings.Cut(after, "/")
	if !found {
		t.Fatalf("the page links to no order:\n%s", page)
	}
	return s, "/s/1/orders/" + number
}

// only returns a map of one value.
func only[K comparable, V any](key K, value V) map[K]V { return map[K]V{key: value} }

// An order says what a rule puts in whose place, and can keep what it has.
func TestOrderKeepsWhatRuleWouldReplace(t *testing.T) {
	t.Parallel()
	c := &ordersChanges{}
	s, order := openOrders(t, c)
	if p := s.Get(portaltest.At + order); strings.Contains(p.Text, "Keep ") {
		t.Errorf("without a rule there is something to keep:\n%s", p.Text)
	}
	of := portaltest.Subscription(1).Lines[0]
	rule := swap.Rule{
		Line: shop.Subscriptions, Sources: []swap.Product{{VariantID: of.VariantID, Name: "House Blend", Quantity: 1}}, Destinations: []swap.Product{{VariantID: decaf.ID, Name: "Decaf", Quantity: 1}},
		FirstOrder: true, EveryOrder: true, Variants: only(decaf.ID, decaf.Variant),
	}
	if err := s.DB.Update(t.Context(), s.First.ID, func(tx *store.Tx) error { put := rule; return tx.PutSwapRule(t.Context(), &put) }); err != nil {
		t.Fatal(err)
	}
	s.First.Settings.SwapRules = true
	s.PutShop()
	p := s.Get(portaltest.At + order)
	s.Want(p, http.StatusOK, "In place of House Blend Coffee", "Keep House Blend in this order")
	s.Want(s.Send(p, order+"/keep"), http.StatusOK, "This order keeps its product.")
	if got := strings.Join(c.asked, ", "); got != "keep 1" {
		t.Errorf("asked for %s", got)
	}
}

func TestOneOrderIsEdited(t *testing.T) {
	t.Parallel()
	c := &ordersChanges{}
	s, order := openOrders(t, c)
	p := s.Get(portaltest.At + order)
	s.Want(p, http.StatusOK, "The order on Wednesday, March 3", "Decaf", "$26.00", "House Blend Coffee", "$50.50", "This order has no note.",
		"Without it, this order costs $24.50 before taxes.")
	for _, wrong := range []string{"0", "1000", "x"} {
		s.Want(s.Send(p, order+"/quantity", "quantity", wrong), http.StatusUnprocessableEntity, "Enter a whole number", `value="`+wrong+`"`)
	}
	s.Want(s.Send(p, order+"/quantity", "quantity", "3", "do", "count"), http.StatusOK, "After the change", `class="was">$63.50`, `value="3"`)
	p = s.Send(p, order+"/quantity", "quantity", "3")
	s.Want(p, http.StatusUnprocessableEntity, "Nothing is changed yet.", `class="was">$63.50`)
	if len(c.asked) > 0 {
		t.Errorf("carried out %v before the total was shown", c.asked)
	}
	s.Want(s.Send(p, order+"/quantity", "quantity", "3"), http.StatusOK, "The quantity in this order is changed.")
	s.Want(s.Send(p, order+"/remove"), http.StatusOK, "The product is no longer in this order.")

	s.Want(s.Get(portaltest.At+order+"/add"), http.StatusOK, "Decaf", "$13.00")
	p = s.Get(portaltest.At + order + "/add?variant=301")
	s.Want(p, http.StatusOK, "Add Decaf to the order on Wednesday, March 3?", "One costs $13.00.", "Visa ending in 4242")
	s.Want(s.Send(p, order+"/add?variant=301", "quantity", "1000"), http.StatusUnprocessableEntity, "Enter a whole number")
	s.Want(s.Send(p, order+"/add?variant=301", "quantity", "2"), http.StatusOK, "The product comes with this order.")
	s.Want(s.Get(portaltest.At+order+"/add?variant=999"), http.StatusConflict, "The store doesn’t offer this product here.")

	p = s.Get(portaltest.At + order + "/note")
	s.Want(p, http.StatusOK, "It changes no price.", `maxlength="5000"`)
	s.Want(s.Send(p, order+"/note", "orderNote", "Ring <twice>"), http.StatusOK, "The note is saved.")
	if got, want := strings.Join(c.asked, "\n"), "now 3 of 301\nno 301\n2 of 301 once\nnote of 1: \"Ring <twice>\""; got != want {
		t.Errorf("carried out:\n%s\nwant:\n%s", got, want)
	}
}
