package storefront

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/web"
)

// maxQuantity is how many pieces of one thing a shopper may take.
const maxQuantity = 99

// checkout buys one variant on a plan: an order now, and a contract for the
// orders to come.
func (s *Store) checkout(w http.ResponseWriter, r *http.Request) {
	spec, err := s.order(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	made, err := s.Platform.Checkout(spec)
	if err == nil {
		err = s.Settled(r.Context())
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if web.WantsPage(r) {
		http.Redirect(w, r, "/?thanks="+strconv.FormatInt(made.Contract, 10), http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(made) // the client is gone
}

// order reads the form.
func (s *Store) order(r *http.Request) (simulator.ContractSpec, error) {
	number := func(name string) (int64, error) {
		n, err := strconv.ParseInt(r.FormValue(name), 10, 64)
		if err != nil {
			return 0, fault.New(fault.Invalid, "%s: %q is not a number", name, r.FormValue(name)).Field(name)
		}
		return n, nil
	}
	variant, err := number("variant")
	if err != nil {
		return simulator.ContractSpec{}, err
	}
	planID, err := number("plan")
	if err != nil {
		return simulator.ContractSpec{}, err
	}
	quantity := int64(1)
	if r.FormValue("quantity") != "" {
		if quantity, err = number("quantity"); err != nil {
			return simulator.ContractSpec{}, err
		}
	}
	if quantity < 1 || quantity > maxQuantity {
		return simulator.ContractSpec{}, fault.New(fault.Invalid, "the quantity must be from 1 to %d", maxQuantity).Field("quantity")
	}
	plan, known := demo.PlanByID(planID)
	if !known {
		return simulator.ContractSpec{}, fault.New(fault.Invalid, "the store has no plan %d", planID).Field("plan")
	}
	unit, err := s.unitPrice(variant, plan)
	if err != nil {
		return simulator.ContractSpec{}, err
	}
	store, _ := demo.StoreByDomain(s.Shop)
	return simulator.ContractSpec{
		Shop: s.Shop, Customer: s.buyer(r), NextBillingDate: store.FirstRenewal(plan, s.Clock.Now()), Billing: plan.Billing, Delivery: plan.Delivery,
		Lines: []simulator.LineSpec{{VariantID: variant, Quantity: int(quantity), CurrentPrice: unit.String(), SellingPlanID: plan.ID, SellingPlanName: plan.Name}},
	}, nil
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
