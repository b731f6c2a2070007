package simulator

import (
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Product is something that a store sells, as its theme sees it.
type Product struct {
	ID          int64
	Handle      string // names it in addresses
	Title       string
	Vendor      string
	Type        string
	Image       string
	Tags        []string
	Collections []Collection
	OnlyOnPlans bool // it is not sold without a selling plan
	Variants    []ProductVariant
	Groups      []PlanGroup // on which it, or one of its variants, is sold
}

// ProductVariant is one form of a product.
type ProductVariant struct {
	ID               int64
	Title            string
	SKU              string
	Price            money.Amount
	Available        bool // not sold out
	RequiresShipping bool
}

// PlanGroup is a group of selling plans.
type PlanGroup struct {
	ID       int64
	Name     string
	Options  []string // labels of what its plans differ in
	Plans    []Plan   // by position
	Variants []int64  // of the product that are sold on it
}

// Plan is a selling plan.
type Plan struct {
	ID          int64
	Name        string
	Description string
	Options     []string // what it says under each label of the group
	Billing     PolicySpec
	Delivery    PolicySpec

	prices []planPrice
}

// Deliveries returns how many deliveries one payment covers.
func (p Plan) Deliveries() int64 {
	b, d := p.Billing.policy(), p.Delivery.policy()
	if p.Delivery.Interval == "" || !b.multipleOf(d) {
		return 1
	}
	n := int64(b.Count)
	if b.Interval != d.Interval {
		n *= map[string]int64{"WEEK": 7, "YEAR": 12}[b.Interval]
	}
	return n / int64(d.Count)
}

// Adjusts reports whether the plan has prices of its own.
func (p Plan) Adjusts() bool { return len(p.prices) > 0 }

// PlanPrice is what one payment on a plan costs, from an order on.
type PlanPrice struct {
	After int          // orders that come before it, 0 for the one at the checkout
	Price money.Amount // of one payment, for one unit
	Each  money.Amount // of one delivery
	Kind  string       // PERCENTAGE, FIXED_AMOUNT or PRICE
	Value float64      // a percentage, or an amount in main units
}

// Prices returns what a unit costs on the plan when a single delivery costs base without
// one: one price, or one for the first orders and one for those that follow. A percentage
// is taken off each delivery, where half a minor unit is the buyer's. Amounts off and
// fixed prices are for the whole payment. A delivery's part of a payment is rounded half
// away from zero.
func (p Plan) Prices(base money.Amount) []PlanPrice {
	n := p.Deliveries()
	from := p.prices
	if len(from) == 0 {
		from = []planPrice{{Kind: "PERCENTAGE"}}
	}
	var list []PlanPrice
	for _, f := range from {
		price, value := base.PercentOff(f.Percent).Times(n), f.Percent
		switch f.Kind {
		case "FIXED_AMOUNT":
			price, value = money.Amount{Minor: max(base.Times(n).Minor-f.Amount.Minor, 0), Currency: base.Currency}, f.Amount.Float()
		case "PRICE":
			price, value = f.Amount, f.Amount.Float()
		}
		list = append(list, PlanPrice{After: f.After, Price: price, Each: price.Ratio(1, n), Kind: f.Kind, Value: value})
	}
	return list
}

// Shelf returns what a store sells, in the order in which it was put on sale; "" means the
// first store.
func (s *Simulator) Shelf(shop string) ([]Product, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(shop)
	if err != nil {
		return nil, err
	}
	var list []Product
	for _, p := range sh.products.order {
		if len(p.variants) > 0 {
			list = append(list, sh.onShelf(p))
		}
	}
	return list, nil
}

func (sh *store) onShelf(p *product) Product {
	d := Product{
		ID: p.ID, Handle: p.Handle, Title: p.Title, Vendor: p.Vendor, Type: p.Type, Image: p.Image, Tags: slices.Clone(p.Tags),
		OnlyOnPlans: p.OnlyOnPlans,
	}
	for _, c := range p.Collections {
		d.Collections = append(d.Collections, Collection(c))
	}
	for _, v := range p.variants {
		d.Variants = append(d.Variants, ProductVariant{
			ID: v.ID, Title: v.Title, SKU: v.SKU, Price: v.Price, Available: v.available(1), RequiresShipping: v.RequiresShipping,
		})
	}
	for _, g := range sh.planGroups.order {
		of := PlanGroup{ID: g.ID, Name: g.Name, Options: slices.Clone(g.Options)}
		for _, v := range p.variants {
			if g.sells(v) {
				of.Variants = append(of.Variants, v.ID)
			}
		}
		if len(of.Variants) == 0 {
			continue
		}
		for _, plan := range g.Plans {
			of.Plans = append(of.Plans, plan.onShelf())
		}
		d.Groups = append(d.Groups, of)
	}
	return d
}

// sells reports whether a variant is sold on the group's plans.
func (g *planGroup) sells(v *variant) bool {
	return slices.Contains(g.Products, v.Product) || slices.Contains(g.Variants, v.ID)
}

// available reports whether so many pieces can be sold.
func (v *variant) available(n int) bool { return !v.Tracked || !v.Deny || v.Quantity >= n }

func (p sellingPlan) onShelf() Plan {
	return Plan{
		ID: p.ID, Name: p.Name, Description: p.Description, Options: slices.Clone(p.Options),
		Billing: p.Billing.spec(), Delivery: p.Delivery.spec(), prices: slices.Clone(p.Prices),
	}
}
