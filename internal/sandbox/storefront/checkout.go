package storefront

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/sandbox/storefront/theme"
)

// next says what is charged after today.
func next(prices []simulator.PlanPrice, quantity int64) string {
	last := prices[len(prices)-1]
	amount := theme.Format(last.Price.Times(quantity))
	if len(prices) > 1 {
		return fmt.Sprintf("From order %d on: %s", last.After+1, amount)
	}
	return "Every renewal: " + amount
}

func (s *Store) showCart(w http.ResponseWriter, r *http.Request) {
	s.pageOfCart(w, r, http.StatusOK, "")
}

func (s *Store) pageOfCart(w http.ResponseWriter, r *http.Request, status int, problem string) {
	s.showPriced(w, r, status, problem, "cart.html")
}

func (s *Store) showCheckout(w http.ResponseWriter, r *http.Request) {
	if len(s.cart(r)) == 0 {
		http.Redirect(w, r, "/cart", http.StatusSeeOther)
		return
	}
	s.pageOfCheckout(w, r, http.StatusOK, "")
}

func (s *Store) pageOfCheckout(w http.ResponseWriter, r *http.Request, status int, problem string) {
	s.showPriced(w, r, status, problem, "checkout.html")
}

func (s *Store) showPriced(w http.ResponseWriter, r *http.Request, status int, problem, name string) {
	p, err := s.priced(s.cart(r))
	if err != nil { // the store no longer sells what is in it
		keep(w, nil)
		s.refused(w, r, err, s.showList)
		return
	}
	title := "Checkout"
	if name == "cart.html" {
		title = "Cart"
		for i := range p.Lines {
			p.Lines[i].Line = i + 1
		}
	}
	p.Email = r.FormValue("email")
	s.show(w, r, status, name, view{Title: title + " · " + s.Name, Page: p, Problem: problem})
}

// checkout buys what is in the cart; with a variant in the form, that alone.
func (s *Store) checkout(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("variant") == "" {
		s.buyCart(w, r)
		return
	}
	made, err := s.buyOne(r)
	if err == nil {
		err = s.Settled(r.Context())
	}
	if err != nil {
		s.refused(w, r, err, s.showList)
		return
	}
	s.done(w, r, s.thanksFor(made.Order), made)
}

// buyCart buys what is in the cart.
func (s *Store) buyCart(w http.ResponseWriter, r *http.Request) {
	items := s.cart(r)
	if len(items) == 0 {
		s.refused(w, r, fault.New(fault.Invalid, "the cart is empty, and no variant was named").Field("variant"), s.pageOfCart)
		return
	}
	made, err := s.buy(r, items)
	if err == nil {
		err = s.Settled(r.Context())
	}
	if err != nil {
		s.refused(w, r, err, s.pageOfCheckout)
		return
	}
	keep(w, nil)
	s.done(w, r, s.thanksFor(made.Order), made)
}

func (s *Store) buy(r *http.Request, items []simulator.PurchaseItem) (simulator.Purchased, error) {
	p, err := s.priced(items)
	if err != nil {
		return simulator.Purchased{}, err
	}
	store, _ := demo.StoreByDomain(s.Shop)
	for i, l := range p.Lines {
		if l.Plan.ID != 0 {
			items[i].NextBillingDate = store.FirstRenewal(planOf(l.Plan), s.Clock.Now())
		}
	}
	return s.Platform.Buy(simulator.Purchase{Shop: s.Shop, Customer: s.buyer(r), Items: items})
}

// buyOne buys the one thing that a form names, on a plan. A store without groups of plans
// sells on the plans of the demo stores.
func (s *Store) buyOne(r *http.Request) (simulator.Made, error) {
	item, err := s.item(r, "variant", "plan")
	if err != nil {
		return simulator.Made{}, err
	}
	if item.PlanID == 0 {
		return simulator.Made{}, fault.New(fault.Invalid, "plan: a plan is missing").Field("plan")
	}
	if plan, known := demo.PlanByID(item.PlanID); known && !s.hasPlans() {
		return s.buyOnDemoPlan(r, item, plan)
	}
	made, err := s.buy(r, []simulator.PurchaseItem{item})
	if err != nil {
		return simulator.Made{}, err
	}
	return made.Contracts[0], nil
}

// hasPlans reports whether something is sold on plans.
func (s *Store) hasPlans() bool {
	shelf, err := s.Platform.Shelf(s.Shop)
	if err != nil {
		return false
	}
	for _, p := range shelf {
		if len(p.Groups) > 0 {
			return true
		}
	}
	return false
}

func (s *Store) buyOnDemoPlan(r *http.Request, item simulator.PurchaseItem, plan demo.Plan) (simulator.Made, error) {
	unit, err := s.unitPrice(item.VariantID, plan)
	if err != nil {
		return simulator.Made{}, err
	}
	store, _ := demo.StoreByDomain(s.Shop)
	return s.Platform.Checkout(simulator.ContractSpec{
		Shop: s.Shop, Customer: s.buyer(r), NextBillingDate: store.FirstRenewal(plan, s.Clock.Now()), Billing: plan.Billing, Delivery: plan.Delivery,
		Lines: []simulator.LineSpec{{VariantID: item.VariantID, Quantity: item.Quantity, CurrentPrice: unit.String(), SellingPlanID: plan.ID, SellingPlanName: plan.Name}},
	})
}

// buyer is the signed-in customer, or the one that the form names.
func (s *Store) buyer(r *http.Request) simulator.CustomerSpec {
	if id, err := strconv.ParseInt(s.session(r), 10, 64); err == nil {
		return simulator.CustomerSpec{ID: id}
	}
	return simulator.CustomerSpec{Email: strings.TrimSpace(r.FormValue("email")), FirstName: r.FormValue("first_name"), LastName: r.FormValue("last_name")}
}

func (s *Store) unitPrice(variant int64, plan demo.Plan) (money.Amount, error) {
	variants, err := s.Platform.Variants(s.Shop)
	if err != nil {
		return money.Amount{}, err
	}
	store, _ := demo.StoreByDomain(s.Shop)
	for _, v := range variants {
		if v.ID == variant {
			once, err := money.Parse(v.Price, store.Currency)
			return plan.Price(once), err
		}
	}
	return money.Amount{}, fault.New(fault.Invalid, "the store has no variant %d", variant).Field("variant")
}

// thanksFor is the address at which a shopper sees an order that was just made. It carries a
// seal, so that a shopper does not read the orders of others by counting.
func (s *Store) thanksFor(order int64) string {
	id := strconv.FormatInt(order, 10)
	return "/thanks?" + url.Values{"order": {id}, "seal": {s.seal("order " + id)}}.Encode()
}

func (s *Store) thanks(w http.ResponseWriter, r *http.Request) {
	id, err := number(r, "order")
	if err != nil || r.FormValue("seal") != s.seal("order "+strconv.FormatInt(id, 10)) {
		s.refused(w, r, fault.New(fault.NotFound, "the address of the order is not complete").Code("orderNotFound"), s.showList)
		return
	}
	bought, err := s.Platform.Bought(s.Shop, id)
	if err != nil {
		s.refused(w, r, err, s.showList)
		return
	}
	page, err := s.themePage(r, nil)
	if err != nil {
		s.refused(w, r, err, s.showList)
		return
	}
	v := view{Title: "Thank you · " + s.Name}
	portal, err := s.block(&v, portalBlock, page)
	if err != nil {
		s.refused(w, r, err, s.showList)
		return
	}
	v.Page = map[string]any{"Bought": bought, "Portal": portal}
	s.show(w, r, http.StatusOK, "thanks.html", v)
}
