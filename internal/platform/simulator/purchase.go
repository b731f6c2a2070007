package simulator

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
)

// Purchase is a cart at the checkout.
type Purchase struct {
	Shop     string // default: the first store
	Customer CustomerSpec
	Items    []PurchaseItem
}

// PurchaseItem is something in a cart.
type PurchaseItem struct {
	VariantID int64
	Quantity  int   // default 1
	PlanID    int64 // selling plan; 0: once
	// NextBillingDate is when it is paid for again; it belongs to a plan.
	NextBillingDate time.Time
}

// Purchased names what a purchase made.
type Purchased struct {
	Order     int64        `json:"orderId"`
	OrderName string       `json:"orderName"`
	Customer  int64        `json:"customerId"`
	Total     money.Amount `json:"-"`         // that was charged
	Contracts []Made       `json:"contracts"` // one for each selling plan
}

// Buy makes one order of what is in a cart, and a contract for each selling plan in it.
// The store's prices are charged. The webhooks are due at once. What is wrong with the
// cart is an Invalid fault.
func (s *Simulator) Buy(p Purchase) (Purchased, error) {
	var made Purchased
	err := s.update(func() (err error) {
		made, err = s.buy(p)
		return err
	})
	return made, err
}

func (s *Simulator) buy(p Purchase) (Purchased, error) {
	sh, err := s.store(p.Shop)
	if err != nil {
		return Purchased{}, err
	}
	now := s.now()
	ordered, agreed, err := sh.priced(p.Items, now)
	if err != nil {
		return Purchased{}, err
	}
	for _, t := range agreed {
		if refused := s.checkTerms(sh, t); refused != nil {
			return Purchased{}, fault.New(fault.Invalid, "%s", refused.Message).Code(refused.Code)
		}
	}
	cust, err := s.buyer(sh, p.Customer)
	if err != nil {
		return Purchased{}, err
	}
	method := s.wallet(sh, cust, MethodValid)
	ordered.Shipping.Address = addressOf(cust)
	o := s.newOrder(sh, cust, &ordered, sh.Currency, now)
	made := Purchased{Order: o.ID, OrderName: o.Name, Customer: cust.ID, Total: o.Amount, Contracts: []Made{}}
	for _, t := range agreed {
		t.PaymentMethod, t.Shipping = method.ID, ordered.Shipping
		c := s.newContract(sh, cust, sh.Currency, t, now)
		c.App, c.OriginOrder = sh.groupOfPlan(t.Lines[0].SellingPlanID).App, o.ID
		c.orders = append(c.orders, o)
		if o.contract == nil {
			o.Contract, o.contract = c.ID, c
		}
		for i := range o.Lines {
			if o.Lines[i].SellingPlanID == t.Lines[0].SellingPlanID {
				o.Lines[i].Contract = c.ID
			}
		}
		s.billFirstCycle(c)
		s.emitContract(c, "SUBSCRIPTION_CONTRACTS_CREATE", now)
		one := Made{Contract: c.ID, Customer: cust.ID, Order: o.ID, OrderName: o.Name, PaymentMethod: method.gid()}
		for _, l := range c.Terms.Lines {
			one.Lines = append(one.Lines, l.gid())
		}
		made.Contracts = append(made.Contracts, one)
	}
	for i, l := range ordered.Lines {
		o.Lines[i].Once = l.SellingPlanID == 0
		if v, ok := sh.variants.get(l.Variant); ok && v.Tracked {
			v.Quantity -= l.Quantity
			s.save(v)
		}
	}
	s.save(o)
	return made, nil
}

// Bought returns what a purchase made, by the number of its order.
func (s *Simulator) Bought(shop string, order int64) (Purchased, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(shop)
	if err != nil {
		return Purchased{}, err
	}
	o, ok := sh.orders.get(order)
	if !ok {
		return Purchased{}, fault.New(fault.NotFound, "%s has no order %d", sh.Domain, order).Field("order")
	}
	p := Purchased{Order: o.ID, OrderName: o.Name, Customer: o.Customer, Total: o.Amount, Contracts: []Made{}}
	for _, c := range o.customer.contracts {
		if c.OriginOrder == o.ID {
			p.Contracts = append(p.Contracts, Made{Contract: c.ID, Customer: o.Customer, Order: o.ID, OrderName: o.Name})
		}
	}
	return p, nil
}

// billFirstCycle marks the cycle that the origin order paid for.
func (s *Simulator) billFirstCycle(c *contract) {
	if !s.opts.Switches.OriginOrderBillsFirstCycle {
		return
	}
	c.BilledAtStart = true
	r := c.record(1)
	r.Billed = true
	s.save(r)
}

// priced turns a cart into what is ordered and the terms of each contract.
func (sh *store) priced(items []PurchaseItem, now time.Time) (ordered terms, agreed []terms, err error) {
	if len(items) == 0 {
		return terms{}, nil, fault.New(fault.Invalid, "the cart is empty").Field("items")
	}
	free := money.Amount{Currency: sh.Currency}
	ordered = terms{Price: free, Shipping: &shipping{Code: "Standard", Title: "Standard", Label: "Standard"}}
	for _, item := range items {
		l, plan, err := sh.sold(item)
		if err != nil {
			return terms{}, nil, err
		}
		ordered.Lines = append(ordered.Lines, l)
		if item.PlanID == 0 {
			continue
		}
		if !item.NextBillingDate.After(now) {
			return terms{}, nil, fault.New(fault.Invalid, "the next billing date must be after the purchase").Field("nextBillingDate")
		}
		i := slices.IndexFunc(agreed, func(t terms) bool { return t.Lines[0].SellingPlanID == plan.ID })
		if i >= 0 {
			agreed[i].Lines = append(agreed[i].Lines, l)
			continue
		}
		agreed = append(agreed, terms{
			Status: statusActive, Billing: plan.Billing, Delivery: plan.Delivery, Price: free, Shipping: ordered.Shipping,
			NextBillingDate: item.NextBillingDate.UTC().Truncate(time.Second), Lines: []line{l},
		})
	}
	return ordered, agreed, nil
}

// sold returns what an item of a cart is as a line, and its plan if it has one.
func (sh *store) sold(item PurchaseItem) (line, sellingPlan, error) {
	v, ok := sh.variants.get(item.VariantID)
	if !ok {
		return line{}, sellingPlan{}, fault.New(fault.Invalid, "%s has no variant %d", sh.Domain, item.VariantID).Field("variant")
	}
	l := line{Variant: v.ID, Quantity: or(item.Quantity, 1), Price: v.Price}
	switch {
	case l.Quantity < 1:
		return line{}, sellingPlan{}, fault.New(fault.Invalid, "a line's quantity is at least 1").Field("quantity")
	case !v.available(l.Quantity):
		return line{}, sellingPlan{}, fault.New(fault.Invalid, "%s is sold out", v.describe().Title).Field("quantity")
	case item.PlanID == 0 && v.product.OnlyOnPlans:
		return line{}, sellingPlan{}, fault.New(fault.Invalid, "%s is sold only on a plan", v.product.Title).Field("plan")
	case item.PlanID == 0:
		return l, sellingPlan{}, nil
	}
	for _, g := range sh.planGroups.order {
		for _, p := range g.Plans {
			if p.ID == item.PlanID && g.sells(v) {
				l.SellingPlanID, l.SellingPlanName, l.Price = p.ID, p.Name, p.onShelf().Prices(v.Price)[0].Price
				return l, p, nil
			}
		}
	}
	return line{}, sellingPlan{}, fault.New(fault.Invalid, "%s is not sold on plan %d", v.describe().Title, item.PlanID).Field("plan")
}
