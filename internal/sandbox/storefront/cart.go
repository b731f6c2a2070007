package storefront

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// Limits of a cart.
const (
	maxQuantity = 99 // pieces of one thing
	maxItems    = 20
)

const cartCookie = "storefront_cart"

// cart returns what a shopper's cart holds. What cannot be read is not in it.
func (s *Store) cart(r *http.Request) []simulator.PurchaseItem {
	c, err := r.Cookie(cartCookie)
	if err != nil {
		return nil
	}
	var items []simulator.PurchaseItem
	for part := range strings.SplitSeq(c.Value, "_") {
		var item simulator.PurchaseItem
		n, err := fmt.Sscanf(part, "%d.%d.%d", &item.VariantID, &item.PlanID, &item.Quantity)
		if err == nil && n == 3 && item.Quantity >= 1 && item.Quantity <= maxQuantity && len(items) < maxItems {
			items = append(items, item)
		}
	}
	return items
}

// keep stores a cart with the shopper.
func keep(w http.ResponseWriter, items []simulator.PurchaseItem) {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = fmt.Sprintf("%d.%d.%d", item.VariantID, item.PlanID, item.Quantity)
	}
	c := &http.Cookie{Name: cartCookie, Value: strings.Join(parts, "_"), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if len(items) == 0 {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// addToCart is where a product's form is sent: id is the variant, selling_plan the plan or
// empty.
func (s *Store) addToCart(w http.ResponseWriter, r *http.Request) {
	item, err := s.item(r, "id", "selling_plan")
	if err == nil {
		_, err = s.priced([]simulator.PurchaseItem{item})
	}
	items := s.cart(r)
	same := func(o simulator.PurchaseItem) bool { return o.VariantID == item.VariantID && o.PlanID == item.PlanID }
	if i := slices.IndexFunc(items, same); i >= 0 {
		item.Quantity += items[i].Quantity
		items[i] = item
	} else {
		items = append(items, item)
	}
	switch {
	case err != nil:
	case item.Quantity > maxQuantity:
		err = fault.New(fault.Invalid, "the quantity must be from 1 to %d", maxQuantity).Field("quantity")
	case len(items) > maxItems:
		err = fault.New(fault.Invalid, "a cart holds at most %d things", maxItems)
	}
	if err != nil {
		s.refused(w, r, err, s.showList)
		return
	}
	keep(w, items)
	s.done(w, r, "/cart", map[string]any{"id": item.VariantID, "selling_plan": item.PlanID, "quantity": item.Quantity})
}

// item reads a form. Without a quantity it is one piece.
func (s *Store) item(r *http.Request, variant, plan string) (item simulator.PurchaseItem, err error) {
	if item.VariantID, err = number(r, variant); err != nil {
		return item, err
	}
	if item.PlanID, err = number(r, plan); err != nil {
		return item, err
	}
	item.Quantity = 1
	if r.FormValue("quantity") != "" {
		n, err := number(r, "quantity")
		if err != nil {
			return item, err
		}
		if n < 1 || n > maxQuantity {
			return item, fault.New(fault.Invalid, "the quantity must be from 1 to %d", maxQuantity).Field("quantity")
		}
		item.Quantity = int(n)
	}
	return item, nil
}

// changeCart sets the quantity of the line-th thing, counted from 1; 0 takes it out.
func (s *Store) changeCart(w http.ResponseWriter, r *http.Request) {
	items := s.cart(r)
	at, err := number(r, "line")
	n, errToo := number(r, "quantity")
	switch {
	case err == nil:
		err = errToo
		if err == nil && (at < 1 || at > int64(len(items))) {
			err = fault.New(fault.Invalid, "the cart has no line %d", at).Field("line")
		}
		if err == nil && (n < 0 || n > maxQuantity) {
			err = fault.New(fault.Invalid, "the quantity must be from 0 to %d", maxQuantity).Field("quantity")
		}
	}
	if err != nil {
		s.refused(w, r, err, s.pageOfCart)
		return
	}
	items[at-1].Quantity = int(n)
	if n == 0 {
		items = slices.Delete(items, int(at-1), int(at))
	}
	keep(w, items)
	s.done(w, r, "/cart", map[string]any{"lines": len(items)})
}

// cartLine is a thing in the cart, with its price.
type cartLine struct {
	simulator.PurchaseItem
	Line    int // of the form that changes it, from 1; 0: none
	Product simulator.Product
	Variant simulator.ProductVariant
	Plan    simulator.Plan // zero: once
	Price   money.Amount   // of one
	Sum     money.Amount
	Then    string // what comes after today; empty: nothing
}

// cartPage is what the cart and the checkout show.
type cartPage struct {
	Lines []cartLine
	Total money.Amount
	Plans bool // something comes again
	Email string
}

// priced looks up what a cart holds. What the store does not sell is Invalid.
func (s *Store) priced(items []simulator.PurchaseItem) (cartPage, error) {
	var p cartPage
	shelf, err := s.Platform.Shelf(s.Shop)
	if err != nil {
		return p, err
	}
	for _, item := range items {
		l, err := lineOf(shelf, item)
		if err != nil {
			return p, err
		}
		p.Total = money.Amount{Currency: l.Sum.Currency}.Plus(p.Total).Plus(l.Sum)
		p.Plans = p.Plans || item.PlanID != 0
		p.Lines = append(p.Lines, l)
	}
	return p, nil
}

func lineOf(shelf []simulator.Product, item simulator.PurchaseItem) (cartLine, error) {
	l := cartLine{PurchaseItem: item}
	for _, p := range shelf {
		for _, v := range p.Variants {
			if v.ID == item.VariantID {
				l.Product, l.Variant, l.Price = p, v, v.Price
			}
		}
	}
	if l.Variant.ID == 0 {
		return l, fault.New(fault.Invalid, "the store has no variant %d", item.VariantID).Field("id")
	}
	if item.PlanID == 0 {
		if l.Product.OnlyOnPlans {
			return l, fault.New(fault.Invalid, "%s is sold only on a plan", l.Product.Title).Field("selling_plan")
		}
		l.Sum = l.Price.Times(int64(item.Quantity))
		return l, nil
	}
	for _, g := range l.Product.Groups {
		for _, plan := range g.Plans {
			if plan.ID == item.PlanID && slices.Contains(g.Variants, item.VariantID) {
				l.Plan = plan
			}
		}
	}
	if l.Plan.ID == 0 {
		return l, fault.New(fault.Invalid, "%s is not sold on plan %d", l.Product.Title, item.PlanID).Field("selling_plan")
	}
	prices := l.Plan.Prices(l.Variant.Price)
	l.Price = prices[0].Price
	l.Sum = l.Price.Times(int64(item.Quantity))
	l.Then = next(prices, int64(item.Quantity))
	return l, nil
}

// planOf returns the rhythm of a plan as the demo stores count it.
func planOf(p simulator.Plan) demo.Plan { return demo.Plan{ID: p.ID, Billing: p.Billing} }
