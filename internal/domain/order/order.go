// Package order computes what an order of a contract holds and costs, and why. Everything that
// shows, announces, forecasts or charges an order gets its lines and amounts here.
package order

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Rules are the swap rules and the boxes of a store for a contract, and the products that the rules
// name. The zero value changes no order.
type Rules struct {
	Lasting []swap.Rule       // of the contract's line, in their sequence: those that change the contract
	Single  []swap.Rule       // and those that change one order
	Used    map[swap.ID]bool  // of the rules that act once for a contract, those that have
	Notices []swap.Notice     // of higher prices, that the contract's customer has got
	Boxes   []bundle.Settings // of the contract's line
	Catalogue
}

// Catalogue has the products and plans that a store is known to sell.
type Catalogue struct {
	Variants map[int64]platform.Variant // that swap rules name; one that is not sold any more is not among them
	Plans    map[int64]Plan             // by selling plan
}

// Plan is an option of a plan group and what it sells of the variants.
type Plan struct {
	plan.Option
	For []int64 // variants
}

// Place is an order to come.
type Place struct {
	Cycle  int
	Date   time.Time           // when it is due
	Once   []contract.LineItem // its one-time products
	Lasted bool                // the rules that last have changed the contract for it
	Lines  []contract.LineItem // that it was prepared with, or was sent with; nil: not yet

	Declined []swap.ID // rules that do not change it
}

// Order is the contents of an order, its bill, and the rules that have changed it.
type Order struct {
	Cycle     int
	Lines     []contract.LineItem // at the prices of the order; one-time products come last
	Bill      contract.Bill
	Applied   []swap.Rule   // in the order in which they were
	Missing   []swap.Rule   // that fit, and name a product which is no longer sold
	ShiftDays int           // by how much the orders after it move
	Rises     []swap.Rise   // prices that it does not have yet
	Box       *bundle.Price // of the box that it holds; nil: none, or one that costs the sum of its products
}

// Walk returns orders of a contract that follow one another. Places are in the order in
// which the orders are made; the first is the contract's next one. For each of them prices that
// begin with it apply first, then rules that change the contract, then rules for the order alone,
// then its one-time products, then the price of a box, then discounts, each used once an order.
func Walk(c contract.Contract, r Rules, places []Place) []Order {
	w := walk{Contract: c, rules: r}
	if w.rules.Used = maps.Clone(r.Used); w.rules.Used == nil {
		w.rules.Used = make(map[swap.ID]bool)
	}
	list := make([]Order, len(places))
	for i, p := range places {
		list[i] = w.next(p, i)
	}
	return list
}

// walk is a contract on its way through its orders.
type walk struct {
	contract.Contract
	rules   Rules
	unnamed int // lines without an identity at the platform
}

// next takes the contract through an order. Ahead is the number of orders before it.
func (w *walk) next(p Place, ahead int) Order {
	o := Order{Cycle: p.Cycle}
	if p.Lines != nil {
		o.Lines = p.Lines
		o.Bill, o.Box = w.rules.Bill(w.Contract, o.Lines, ahead)
		return o
	}
	lines := w.lines(p.Cycle, ahead)
	if !p.Lasted {
		raised, at := w.rules.Sees(w.Contract, lines, p, ahead).Raised(lines)
		lasting := w.apply(w.rules.Lasting, raised, p, ahead)
		for _, rule := range lasting.Applied {
			w.rules.Used[rule.ID] = true
		}
		if len(lasting.Applied)+len(at) > 0 {
			lines = w.keep(lasting.Lines)
		}
		o.add(lasting)
	}
	once := w.apply(w.rules.Single, lines, p, ahead)
	o.add(once)
	o.Lines = append(swap.Plain(once.Lines), p.Once...)
	o.Bill, o.Box = w.rules.Bill(w.Contract, o.Lines, ahead)
	return o
}

// lines returns the contract's lines at their prices in an order.
func (w *walk) lines(cycle, ahead int) []swap.LineItem {
	lines := swap.Lines(w.PricedAt(w.Lines, cycle, ahead))
	for i, l := range lines {
		if policy, has := w.Pricing[l.ID]; has {
			lines[i].Pricing = &policy
		}
	}
	return lines
}

// apply applies rules to an order, if they concern it.
func (w *walk) apply(rules []swap.Rule, lines []swap.LineItem, p Place, ahead int) swap.Result {
	rules = swap.Without(rules, p.Declined)
	o := w.rules.Sees(w.Contract, lines, p, ahead)
	if !swap.Concern(rules, o) {
		return swap.Result{Lines: lines}
	}
	return swap.Apply(rules, o, w.rules.Sells(w.Contract, p.Cycle, ahead))
}

// keep makes lines those of the contract.
func (w *walk) keep(lines []swap.LineItem) []swap.LineItem {
	policies := make(map[string]contract.Pricing)
	for i := range lines {
		if lines[i].ID == "" {
			w.unnamed++
			lines[i].ID = fmt.Sprint("line ", w.unnamed)
		}
		if p := lines[i].Pricing; p != nil {
			policies[lines[i].ID] = *p
		}
	}
	before := w.Contract
	w.Contract = before.WithLines(swap.Plain(lines), policies)
	w.SetPlanPricing(w.rules.PlanPricing(w.Unpriced(&before)))
	return lines
}

// add adds what rules have done.
func (o *Order) add(r swap.Result) {
	o.Applied = append(o.Applied, r.Applied...)
	o.Missing = append(o.Missing, r.Missing...)
	o.ShiftDays += r.ShiftDays
	o.Rises = append(o.Rises, r.Rises...)
}

// Sees returns an order of a contract as swap rules see it. Ahead is the number of the contract's orders
// before it.
func (r Rules) Sees(of contract.Contract, lines []swap.LineItem, p Place, ahead int) swap.Order {
	return swap.Order{Cycle: p.Cycle, Date: p.Date, First: ahead+of.EarlierOrders+of.Completed() == 0, Used: r.Used, Notices: r.Notices, Lines: lines}
}

// Sells returns the products of swap rules as they cost in an order of a contract. Ahead is the number
// of the contract's orders before it.
func (c Catalogue) Sells(of contract.Contract, cycle, ahead int) swap.Catalogue {
	at := plan.Place{Order: of.NextOrder() + ahead, Cycle: cycle, Deliveries: of.Deliveries()}
	return swap.Catalogue{
		Variants: swap.PriceForDeliveries(c.Variants, at.Deliveries),
		PlanPrice: func(l contract.LineItem, v platform.Variant) (money.Amount, *platform.Pricing, bool) {
			p, has := c.Plans[l.SellingPlanID]
			if !has || !slices.Contains(p.For, v.ID) {
				return money.Amount{}, nil, false
			}
			price, pricing := p.Sells(c.Variants[v.ID].Price, at) // it knows itself what it asks for several deliveries
			return price, pricing, true
		},
	}
}

// PlanPricing returns the prices that plans give lines, by line, if those change with the orders.
func (c Catalogue) PlanPricing(lines []contract.LineItem) map[string]contract.Pricing {
	prices := make(map[string]contract.Pricing)
	for _, l := range lines {
		p, has := c.Plans[l.SellingPlanID]
		v, sold := c.Variants[l.VariantID]
		if has && sold && p.Steps() > 1 && v.Price.Currency == l.Price.Currency {
			prices[l.ID] = *p.Pricing(v.Price)
		}
	}
	return prices
}

// RulesOf selects the rules that are on and for a line, in their sequence.
func RulesOf(all []swap.Rule, line shop.Line) Rules {
	on := slices.DeleteFunc(slices.Clone(all), func(r swap.Rule) bool { return r.Off || r.Line != line })
	lasting, single := swap.Split(on)
	return Rules{Lasting: lasting, Single: single}
}

// Named returns the products that rules name, as they were last read.
func Named(rules []swap.Rule) map[int64]platform.Variant {
	all := make(map[int64]platform.Variant)
	for _, r := range rules {
		maps.Copy(all, r.Variants)
	}
	return all
}

// None reports whether no swap rule can change an order.
func (r Rules) None() bool { return len(r.Lasting)+len(r.Single)+len(r.Notices) == 0 }
