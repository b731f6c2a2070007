package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// contractKind is a kind of contract: a purchase, and an act of the customer or the merchant after it. With
// Options.Kinds the main store has one contract of each kind.
type contractKind struct {
	name     string         // in sandbox.json
	plan     int64          // selling plan of the demo stores; 0: every month
	option   demo.Plan      // option that the customer buys in place of a plan of the demo stores
	skus     []string       // default: coffee
	quantity int            // of each; default 1
	currency money.Currency // default: the store's
	code     string         // discount code that the customer enters
	least    int            // number of orders that the customer is committed to; 0: none
	days     int            // until the first renewal; 0: a day of its own
	act      func(scene, context.Context) error
}

// discountOrders is the number of orders that a discount of the kinds applies to.
const discountOrders = 4

// firstDays is the number of days until the first of the kinds renews: enough for its reminder.
const firstDays = 8

// Discount codes that customers of the kinds enter. They end after discountOrders.
const (
	codePercent  = "HONEYMOON15"
	codeShipping = "SHIPFREE4"
)

// contractKinds lists the kinds, in the order in which their contracts are made. The options are those
// of the boxes, and of the plan with a free trial.
func contractKinds(boxes []demo.Plan, trial demo.Plan) []contractKind {
	kinds := []contractKind{
		{name: "percentageDiscount", act: discounted(contractedit.Discount{Percent: 15})},
		{name: "amountDiscount", act: discounted(contractedit.Discount{Amount: dollars(350)})},
		{name: "amountDiscountEachItem", quantity: 2, act: discounted(contractedit.Discount{Amount: dollars(125), EachItem: true})},
		{name: "codeDiscount", code: codePercent},
		{name: "freeShippingDiscount", code: codeShipping},
		{name: "priceSteps", act: scene.stepPrices},
		{name: "dearerSwap", skus: []string{demo.HoneySmall}, days: 10},
		{name: "cheaperSwap", skus: []string{demo.HoneySummer}, days: 10},
		{name: "prepaidDiscount", plan: 6009, skus: []string{demo.GiftBox}, act: discounted(contractedit.Discount{Percent: 10})},
		{name: "oneOff", act: scene.addOneOff},
		{name: "otherCurrency", currency: "CAD", act: discounted(contractedit.Discount{Percent: 5})},
		{name: "pausedUntil", act: scene.pauseForAMonth},
		{name: "trial", option: trial},
		{name: "commitment", least: 3},
		{name: "membershipDiscount", plan: demo.MembershipPlans()[0], skus: []string{demo.Membership}, act: discounted(contractedit.Discount{Percent: 20})},
	}
	for i, name := range boxNames() {
		kinds = append(kinds, contractKind{name: name, option: boxes[i], skus: []string{demo.CoffeeBeans, demo.CoffeeGuji}, quantity: 3})
	}
	return kinds
}

// line is the side of the business that the contract is on.
func (k contractKind) line() shop.Line {
	if slices.Contains(demo.MembershipPlans(), k.plan) {
		return shop.Memberships
	}
	return shop.Subscriptions
}

// dollars returns an amount of US dollars.
func dollars(cents int64) *money.Amount { return &money.Amount{Minor: cents, Currency: "USD"} }

// furnishKinds makes a contract of each kind, with the rules, bundles and plans that they need. It is
// decided when the sandbox is new. If the process ends meanwhile, the next one makes all contracts again.
func (s *Sandbox) furnishKinds(ctx context.Context, store shop.Shop) error {
	if !s.options.Kinds || s.begun() || len(s.secrets.Cast.Kinds) > 0 {
		return nil
	}
	if err := s.prepareKinds(ctx, store); err != nil {
		return err
	}
	boxes, err := s.boxPlans(ctx, store)
	if err != nil {
		return fmt.Errorf("make the boxes: %w", err)
	}
	trial, err := scene{Sandbox: s, store: store}.trial(ctx)
	if err != nil {
		return fmt.Errorf("make the plan with a free trial: %w", err)
	}
	kinds := contractKinds(boxes, onOption(trial))
	made := make([]simulator.Made, len(kinds))
	for i, k := range kinds {
		if made[i], err = s.subscribeKind(k, i); err != nil {
			return fmt.Errorf("subscribe to %s: %w", k.name, err)
		}
	}
	if err := s.steps.Settle(ctx); err != nil {
		return err
	}
	ids := make(map[string]int64, len(kinds))
	for i, k := range kinds {
		ids[k.name] = made[i].Contract
		if k.act == nil {
			continue
		}
		if err := k.act(scene{Sandbox: s, store: store, line: k.line(), made: made[i]}, ctx); err != nil {
			return fmt.Errorf("change %s: %w", k.name, err)
		}
	}
	s.secrets.Cast.Kinds = ids
	return s.keepSecrets()
}

// stockHoney puts on sale what only the kinds have, before the groups of plans are made.
func (s *Sandbox) stockHoney() error {
	if !s.options.Kinds || s.begun() {
		return nil
	}
	if _, err := s.variantsBySKU(demo.HoneySmall); err == nil {
		return nil
	}
	return demo.StockHoney(s.sim)
}

// prepareKinds defines the discount codes and swap rules of the kinds.
func (s *Sandbox) prepareKinds(ctx context.Context, store shop.Shop) error {
	for _, code := range []simulator.CodeSpec{
		{Shop: demo.Main, Code: codePercent, Percent: 15, CycleLimit: discountOrders},
		{Shop: demo.Main, Code: codeShipping, FreeShipping: true, CycleLimit: discountOrders},
	} {
		if err := s.sim.AddCode(code); err != nil {
			return fmt.Errorf("define the discount code %s: %w", code.Code, err)
		}
	}
	honey, err := s.variantsBySKU(demo.HoneySmall, demo.HoneyLarge, demo.HoneySummer, demo.HoneySpring)
	if err != nil {
		return err
	}
	for i, name := range []string{"Honey: large jars", "Honey: the summer harvest is sold"} {
		if err := s.lastingSwap(ctx, store, name, honey[2*i], honey[2*i+1]); err != nil {
			return fmt.Errorf("make the swap rule %q: %w", name, err)
		}
	}
	return nil
}

// subscribeKind makes the contract of a kind at the platform. The first renewals fall on days of their own.
func (s *Sandbox) subscribeKind(k contractKind, number int) (simulator.Made, error) {
	store, _ := demo.StoreByDomain(demo.Main)
	on := k.option
	if on.ID == 0 {
		on, _ = demo.PlanByID(cmp.Or(k.plan, demo.EveryMonth))
	}
	p := demo.Purchase{Plan: on, Quantity: max(1, k.quantity), Currency: k.currency, Days: k.days}
	if p.Days == 0 {
		p.Days = firstDays + number
	}
	skus := k.skus
	if len(skus) == 0 {
		skus = []string{demo.CoffeeGround}
	}
	var err error
	if p.Variants, err = s.variantsBySKU(skus...); err != nil {
		return simulator.Made{}, err
	}
	spec, err := store.Checkout(p, k.name, s.clock.Now())
	if err != nil {
		return simulator.Made{}, err
	}
	spec.Billing.MinCycles = k.least
	if k.code != "" {
		spec.DiscountCodes = []string{k.code}
	}
	return s.sim.Checkout(spec)
}

// variantsBySKU returns variants that the main store sells.
func (s *Sandbox) variantsBySKU(skus ...string) ([]simulator.Variant, error) {
	all, err := s.sim.Variants(demo.Main)
	if err != nil {
		return nil, err
	}
	list := make([]simulator.Variant, len(skus))
	for i, sku := range skus {
		at := slices.IndexFunc(all, func(v simulator.Variant) bool { return v.SKU == sku })
		if at < 0 {
			return nil, fmt.Errorf("the store does not sell %s", sku)
		}
		list[i] = all[at]
	}
	return list, nil
}
