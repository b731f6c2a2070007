package theme

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/liquid"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// Page is where a block stands and who looks at it.
type Page struct {
	Currency money.Currency
	Language string
	Customer int64              // who is signed in; 0: no customer
	Product  *simulator.Product // nil: not a product's page
	Variant  int64              // chosen; 0: none
	Plan     int64              // chosen selling plan; 0: none
	Section  string             // id of the section
	Settings map[string]string  // that a merchant has changed, by "block.setting"
}

// objects are the platform's global objects on the page.
func (p Page) objects() map[string]any {
	objects := map[string]any{
		"shop": object("shop", map[string]any{"currency": string(p.Currency)}),
		"request": object("request", map[string]any{
			"locale": object("request.locale", map[string]any{"iso_code": p.Language}),
		}),
		"product": nil, "customer": nil,
	}
	if p.Customer != 0 {
		objects["customer"] = object("customer", map[string]any{"id": p.Customer})
	}
	if p.Product != nil {
		objects["product"] = p.product()
	}
	return objects
}

func object(name string, properties map[string]any) *liquid.Object {
	return &liquid.Object{Name: name, Properties: properties}
}

// URL returns the address of a product's page.
func URL(p simulator.Product) string { return "/products/" + url.PathEscape(p.Handle) }

// Chosen returns the variant that a product's page shows: the one that was asked for, or
// the first that can be bought, or the first.
func Chosen(p simulator.Product, asked int64) simulator.ProductVariant {
	for _, is := range []func(v simulator.ProductVariant) bool{
		func(v simulator.ProductVariant) bool { return v.ID == asked },
		func(v simulator.ProductVariant) bool { return v.Available },
	} {
		if i := slices.IndexFunc(p.Variants, is); i >= 0 {
			return p.Variants[i]
		}
	}
	return p.Variants[0]
}

func (p Page) product() *liquid.Object {
	of := *p.Product
	chosen := Chosen(of, p.Variant)
	product := object("product", map[string]any{
		"id": of.ID, "title": of.Title, "handle": of.Handle, "url": URL(of), "vendor": of.Vendor, "type": of.Type,
		"requires_selling_plan": of.OnlyOnPlans, "selected_variant": nil,
	})
	variants, groups := []any{}, []any{}
	for _, v := range of.Variants {
		one := p.variant(v)
		variants = append(variants, one)
		if v.ID == chosen.ID {
			product.Properties["selected_or_first_available_variant"] = one
			if v.ID == p.Variant {
				product.Properties["selected_variant"] = one
			}
		}
	}
	available := false
	for _, v := range of.Variants {
		available = available || v.Available
	}
	for _, g := range of.Groups {
		groups = append(groups, p.group(g))
	}
	product.Properties["variants"], product.Properties["selling_plan_groups"], product.Properties["available"] = variants, groups, available
	return product
}

func (p Page) variant(v simulator.ProductVariant) *liquid.Object {
	allocations := []any{}
	var selected any
	for _, g := range p.Product.Groups {
		if !slices.Contains(g.Variants, v.ID) {
			continue
		}
		for _, plan := range g.Plans {
			one := p.allocation(v, g, plan)
			allocations = append(allocations, one)
			if plan.ID == p.Plan {
				selected = one
			}
		}
	}
	return object("variant", map[string]any{
		"id": v.ID, "title": v.Title, "sku": v.SKU, "price": subunits(v.Price), "available": v.Available,
		"url": URL(*p.Product) + "?variant=" + strconv.FormatInt(v.ID, 10), "requires_shipping": v.RequiresShipping,
		"requires_selling_plan": p.Product.OnlyOnPlans, "selling_plan_allocations": allocations, "selected_selling_plan_allocation": selected,
	})
}

func (p Page) group(g simulator.PlanGroup) *liquid.Object {
	options, plans, selected := []any{}, []any{}, false
	for i, label := range g.Options {
		options = append(options, object("selling_plan_group_option", map[string]any{"name": label, "position": int64(i + 1)}))
	}
	for _, plan := range g.Plans {
		plans = append(plans, p.plan(g, plan, money.Amount{Currency: p.Currency}))
		selected = selected || plan.ID == p.Plan
	}
	return object("selling_plan_group", map[string]any{
		"id": groupID(g), "name": g.Name, "app_id": nil, "options": options, "selling_plans": plans, "selling_plan_selected": selected,
	})
}

// groupID is a text, as at the platform.
func groupID(g simulator.PlanGroup) string { return strconv.FormatInt(g.ID, 16) }

func (p Page) allocation(v simulator.ProductVariant, g simulator.PlanGroup, plan simulator.Plan) *liquid.Object {
	prices := plan.Prices(v.Price)
	adjustments := []any{}
	for i, price := range prices {
		adjustments = append(adjustments, object("selling_plan_allocation_price_adjustment", map[string]any{
			"position": int64(i + 1), "price": subunits(price.Price),
		}))
	}
	if !plan.Adjusts() {
		adjustments = []any{}
	}
	return object("selling_plan_allocation", map[string]any{
		"price": subunits(prices[0].Price), "per_delivery_price": subunits(prices[0].Each), "checkout_charge_amount": subunits(prices[0].Price),
		"remaining_balance_charge_amount": int64(0), "compare_at_price": subunits(v.Price.Times(plan.Deliveries())), "unit_price": nil,
		"price_adjustments": adjustments, "selling_plan": p.plan(g, plan, v.Price), "selling_plan_group_id": groupID(g),
	})
}

func (p Page) plan(g simulator.PlanGroup, plan simulator.Plan, base money.Amount) *liquid.Object {
	options, adjustments := []any{}, []any{}
	for i, value := range plan.Options {
		options = append(options, object("selling_plan_option", map[string]any{"name": g.Options[i], "position": int64(i + 1), "value": value}))
	}
	prices := plan.Prices(base)
	for i, price := range prices {
		var orders any // it lasts
		if i+1 < len(prices) {
			orders = int64(prices[i+1].After - price.After)
		}
		value := any(price.Value)
		if price.Kind != "PERCENTAGE" {
			value = int64(price.Value*float64(scale(base.Currency)) + 0.5)
		} else if price.Value == float64(int64(price.Value)) {
			value = int64(price.Value)
		}
		adjustments = append(adjustments, object("selling_plan_price_adjustment", map[string]any{
			"order_count": orders, "position": int64(i + 1), "value": value,
			"value_type": map[string]string{"PERCENTAGE": "percentage", "FIXED_AMOUNT": "fixed_amount", "PRICE": "price"}[price.Kind],
		}))
	}
	if !plan.Adjusts() {
		adjustments = []any{}
	}
	return object("selling_plan", map[string]any{
		"id": plan.ID, "name": plan.Name, "description": plan.Description, "options": options, "price_adjustments": adjustments,
		"recurring_deliveries": true, "selected": plan.ID == p.Plan, "group_id": groupID(g),
	})
}
