package simulator

import (
	"slices"

	"github.com/perennialhq/perennial/internal/base/gid"
)

// plans adds groups of selling plans, their plans, and what products and
// collections say of them. It comes after the tables that it adds to.
func (r registry) plans() {
	r["SellingPlanGroup"] = fields{
		"id":           get(func(g *planGroup) any { return g.gid() }),
		"appId":        always(nil),
		"name":         get(func(g *planGroup) any { return g.Name }),
		"merchantCode": get(func(g *planGroup) any { return g.Code }),
		"description":  get(func(g *planGroup) any { return textOrNull(g.Description) }),
		"options":      get(func(g *planGroup) any { return g.Options }),
		"position":     get(func(g *planGroup) any { return intOrNull(g.Position) }),
		"summary":      get(func(g *planGroup) any { return g.summary() }),
		"createdAt":    get(func(g *planGroup) any { return g.CreatedAt }),
		"sellingPlans": on(func(x *exec, g *planGroup, a args) any {
			entries := make([]entry, len(g.Plans))
			for i := range g.Plans {
				entries[i] = entry{int64(g.Plans[i].Position), g.Plans[i].ID, planObject(x.shop, &g.Plans[i])}
			}
			return x.paginate("SellingPlan", entries, a)
		}),
		"productsCount":        get(func(g *planGroup) any { return object{"Count", len(g.Products)} }),
		"productVariantsCount": get(func(g *planGroup) any { return object{"Count", len(g.Variants)} }),
		"products": on(func(x *exec, g *planGroup, a args) any {
			return x.products(g.Products, a)
		}),
		"productVariants": on(func(x *exec, g *planGroup, a args) any {
			var list []*variant
			for _, id := range g.Variants {
				if v, ok := x.shop.variants.get(id); ok && (!a.has("productId") || v.Product == a.number("productId")) {
					list = append(list, v)
				}
			}
			return x.variants(list, a)
		}),
		"appliesToProduct": on(func(_ *exec, g *planGroup, a args) any { return slices.Contains(g.Products, a.number("productId")) }),
		"appliesToProductVariant": on(func(_ *exec, g *planGroup, a args) any {
			return slices.Contains(g.Variants, a.number("productVariantId"))
		}),
		"appliesToProductVariants": on(func(x *exec, g *planGroup, a args) any {
			return slices.ContainsFunc(g.Variants, func(id int64) bool {
				v, ok := x.shop.variants.get(id)
				return ok && v.Product == a.number("productId")
			})
		}),
	}
	r.sellingPlan()
	r.soldOnPlans()
	r["QueryRoot"]["sellingPlanGroup"] = byID("SellingPlanGroup", func(sh *store) *objects[*planGroup] { return &sh.planGroups })
	r["QueryRoot"]["sellingPlanGroups"] = findPlanGroups
	for name, field := range planMutations() {
		r["Mutation"][name] = field
	}
}

// planOf is a plan and the store in whose currency its amounts are.
type planOf struct {
	*sellingPlan
	shop *store
}

func planObject(sh *store, p *sellingPlan) object { return object{"SellingPlan", planOf{p, sh}} }

func (r registry) sellingPlan() {
	r["SellingPlan"] = fields{
		"id":              get(func(p planOf) any { return gid.Of("SellingPlan", p.ID) }),
		"name":            get(func(p planOf) any { return p.Name }),
		"description":     get(func(p planOf) any { return textOrNull(p.Description) }),
		"options":         get(func(p planOf) any { return p.Options }),
		"position":        get(func(p planOf) any { return intOrNull(p.Position) }),
		"category":        get(func(p planOf) any { return textOrNull(p.Category) }),
		"createdAt":       get(func(p planOf) any { return p.CreatedAt }),
		"billingPolicy":   get(func(p planOf) any { return object{"SellingPlanRecurringBillingPolicy", p} }),
		"deliveryPolicy":  get(func(p planOf) any { return object{"SellingPlanRecurringDeliveryPolicy", p} }),
		"inventoryPolicy": get(func(p planOf) any { return object{"SellingPlanInventoryPolicy", p.Reserve} }),
		"pricingPolicies": get(func(p planOf) any {
			list := make([]object, len(p.Prices))
			for i, price := range p.Prices {
				kind := "SellingPlanFixedPricingPolicy"
				if price.Recurring {
					kind = "SellingPlanRecurringPricingPolicy"
				}
				list[i] = object{kind, price}
			}
			return list
		}),
	}
	recurring := func(of func(p planOf) policy) fields {
		return fields{
			"interval":      get(func(p planOf) any { return of(p).Interval }),
			"intervalCount": get(func(p planOf) any { return of(p).Count }),
			"createdAt":     get(func(p planOf) any { return p.CreatedAt }),
			"anchors": get(func(p planOf) any {
				list := make([]object, len(of(p).Anchors))
				for i, a := range of(p).Anchors {
					list[i] = object{"SellingPlanAnchor", a}
				}
				return list
			}),
		}
	}
	billing := recurring(func(p planOf) policy { return p.Billing })
	billing["minCycles"] = get(func(p planOf) any { return intOrNull(p.Billing.MinCycles) })
	billing["maxCycles"] = get(func(p planOf) any { return intOrNull(p.Billing.MaxCycles) })
	r["SellingPlanRecurringBillingPolicy"] = billing
	delivery := recurring(func(p planOf) policy { return p.Delivery })
	delivery["cutoff"] = get(func(p planOf) any { return intOrNull(p.Cutoff) })
	delivery["intent"] = always("FULFILLMENT_BEGIN")
	delivery["preAnchorBehavior"] = get(func(p planOf) any { return p.Behavior })
	r["SellingPlanRecurringDeliveryPolicy"] = delivery
	r["SellingPlanInventoryPolicy"] = fields{"reserve": get(func(reserve string) any { return reserve })}
	price := func() fields {
		return fields{
			"adjustmentType": get(func(p planPrice) any { return p.Kind }),
			"createdAt":      get(func(p planPrice) any { return p.CreatedAt }),
			"adjustmentValue": get(func(p planPrice) any {
				if p.Kind == "PERCENTAGE" {
					return object{"SellingPlanPricingPolicyPercentageValue", p}
				}
				return p.Amount
			}),
		}
	}
	r["SellingPlanFixedPricingPolicy"] = price()
	r["SellingPlanRecurringPricingPolicy"] = price()
	r["SellingPlanRecurringPricingPolicy"]["afterCycle"] = get(func(p planPrice) any { return p.After })
	r["SellingPlanPricingPolicyPercentageValue"] = fields{"percentage": get(func(p planPrice) any { return p.Percent })}
}

// soldOnPlans adds what products and variants say of the groups in which they
// are sold, and the products of collections.
func (r registry) soldOnPlans() {
	groups := func(x *exec, list []*planGroup, a args) *page {
		entries := make([]entry, len(list))
		for i, g := range list {
			entries[i] = entry{0, g.ID, typed("SellingPlanGroup", g)}
		}
		return x.paginate("SellingPlanGroup", entries, a)
	}
	with := func(p *product) func(g *planGroup) bool {
		return func(g *planGroup) bool { return slices.Contains(g.Products, p.ID) }
	}
	withVariant := func(v *variant) func(g *planGroup) bool {
		return func(g *planGroup) bool { return slices.Contains(g.Variants, v.ID) }
	}
	r["Product"]["sellingPlanGroups"] = on(func(x *exec, p *product, a args) any { return groups(x, ownOf(x, x.shop.groupsOf(with(p))), a) })
	r["Product"]["sellingPlanGroupsCount"] = on(func(x *exec, p *product, _ args) any {
		return object{"Count", len(ownOf(x, x.shop.groupsOf(with(p))))}
	})
	r["ProductVariant"]["sellingPlanGroups"] = on(func(x *exec, v *variant, a args) any { return groups(x, ownOf(x, x.shop.groupsOf(withVariant(v))), a) })
	r["ProductVariant"]["sellingPlanGroupsCount"] = on(func(x *exec, v *variant, _ args) any {
		return object{"Count", len(ownOf(x, x.shop.groupsOf(withVariant(v))))}
	})
	in := func(sh *store, c collection) []int64 {
		var ids []int64
		for _, p := range sh.products.order {
			if slices.ContainsFunc(p.Collections, func(o collection) bool { return o.ID == c.ID }) {
				ids = append(ids, p.ID)
			}
		}
		return ids
	}
	r["Collection"]["products"] = on(func(x *exec, c collection, a args) any { return x.products(in(x.shop, c), a) })
	r["Collection"]["productsCount"] = on(func(x *exec, c collection, _ args) any { return object{"Count", len(in(x.shop, c))} })
	r["Collection"]["hasProduct"] = on(func(x *exec, c collection, a args) any {
		return slices.Contains(in(x.shop, c), a.number("id"))
	})
	r["QueryRoot"]["collection"] = func(x *exec, _ any, a args) any {
		id, ok := x.id(a, "id", "Collection")
		if !ok {
			return nil
		}
		for _, p := range x.shop.products.order {
			for _, c := range p.Collections {
				if c.ID == id {
					return object{"Collection", c}
				}
			}
		}
		return object{kind: "Collection"}
	}
}

// products is a connection of the products that the store still has.
func (x *exec) products(ids []int64, a args) *page {
	var entries []entry
	for _, id := range ids {
		if p, ok := x.shop.products.get(id); ok {
			entries = append(entries, entry{0, p.ID, typed("Product", p)})
		}
	}
	return x.paginate("Product", entries, a)
}

func findPlanGroups(x *exec, _ any, a args) any {
	list := search(x, ownOf(x, x.shop.planGroups.order), a.text("query"), func(g *planGroup, t term) (ok, known bool) {
		switch t.key {
		case "id":
			return t.matchID(g.ID), true
		case "name":
			return t.matchText(g.Name), true
		case "created_at":
			return t.matchTime(g.CreatedAt), true
		}
		return false, false
	})
	entries := make([]entry, len(list))
	for i, g := range list {
		e := entry{id: g.ID, node: typed("SellingPlanGroup", g)}
		switch a.text("sortKey") {
		case "CREATED_AT":
			e.sort = g.CreatedAt.Unix()
		case "UPDATED_AT":
			e.sort = g.UpdatedAt.Unix()
		case "NAME":
			x.fail(codeNotSimulated, "The simulator does not simulate the order of groups by name.")
		}
		entries[i] = e
	}
	return x.paginate("SellingPlanGroup", entries, a)
}
