package simulator

import (
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// optionResult is how a draft's orders can be shipped to an address.
type optionResult struct {
	message string // why that is not known; empty: it is
	options []shippingOption
}

type shippingOption struct {
	code, title string
	price       money.Amount
}

// deliveryOptions answers what is asked of the ways of shipping.
func (r registry) deliveryOptions() {
	r["SubscriptionDraft"]["deliveryOptions"] = on(func(x *exec, d draftView, a args) any {
		is := x.shippingTo(d.draft, a.object("deliveryAddress"))
		if is.message != "" {
			return object{"SubscriptionDeliveryOptionResultFailure", is}
		}
		return object{"SubscriptionDeliveryOptionResultSuccess", is}
	})
	r["SubscriptionDeliveryOptionResultFailure"] = fields{"message": get(func(is optionResult) any { return is.message })}
	r["SubscriptionDeliveryOptionResultSuccess"] = fields{"deliveryOptions": get(func(is optionResult) any {
		list := make([]object, len(is.options))
		for i, o := range is.options {
			list[i] = object{"SubscriptionShippingOption", o}
		}
		return list
	})}
	r["SubscriptionShippingOption"] = fields{
		"code":             get(func(o shippingOption) any { return o.code }),
		"title":            get(func(o shippingOption) any { return o.title }),
		"presentmentTitle": get(func(o shippingOption) any { return o.title }),
		"description":      always(nil),
		"phoneRequired":    always(false),
		"price":            get(func(o shippingOption) any { return o.price }),
	}
}

// shippingTo returns the rates of the profile that the draft's plans are in, for an address and the
// products. Carriers say no price here. A profile without any rate says nothing.
func (x *exec) shippingTo(d *draft, to args) optionResult {
	p := x.profileOf(d)
	if p == nil || !slices.ContainsFunc(p.zones(), func(z *zone) bool { return len(z.Rates) > 0 }) {
		return optionResult{message: "There are no rates for the products."}
	}
	country := or(to.text("countryCode"), countryCode(to.text("country")))
	province, ok := provinceCode(country, or(to.text("provinceCode"), to.text("province")))
	if !ok {
		return optionResult{message: fmt.Sprintf("Province is not valid in %s.", country)}
	}
	var sum money.Amount
	for _, l := range d.Terms.Lines {
		if !l.Removed {
			sum.Minor += l.Price.Minor * int64(l.Quantity)
		}
	}
	var is optionResult
	for _, z := range p.zones() {
		if !z.has(country, province, p) {
			continue
		}
		for _, m := range z.Rates {
			if m.Inactive || m.Carrier != 0 || !m.allows(sum) {
				continue
			}
			if m.Price.Minor != 0 && m.Price.Currency != d.Currency {
				return optionResult{message: "The rates are in another currency."}
			}
			is.options = append(is.options, shippingOption{m.Name, m.Name, money.Amount{Minor: m.Price.Minor, Currency: d.Currency}})
		}
	}
	return is
}

// profileOf returns the profile of the plan groups of a draft's lines, or the default one.
func (x *exec) profileOf(d *draft) *profile {
	var general *profile
	for _, p := range x.shop.profiles.order {
		if p.Removed {
			continue
		}
		if p.Default {
			general = p
		}
		for _, l := range d.Terms.Lines {
			if slices.ContainsFunc(p.PlanGroups, func(group int64) bool { return x.sells(group, l.SellingPlanID) }) {
				return p
			}
		}
	}
	return general
}

// sells reports whether a plan is one of a group.
func (x *exec) sells(group, plan int64) bool {
	g, ok := x.shop.planGroups.get(group)
	return ok && slices.ContainsFunc(g.Plans, func(o sellingPlan) bool { return o.ID == plan })
}

// has reports whether a zone of a profile is the one of a place. The rest of the world is what no other zone has.
func (z *zone) has(country, province string, of *profile) bool {
	for _, c := range z.Countries {
		switch {
		case c.Code == country && (c.Whole || len(c.Provinces) == 0 || slices.Contains(c.Provinces, province)):
			return true
		case c.Code == "" && !slices.ContainsFunc(of.zones(), func(other *zone) bool {
			return other != z && slices.ContainsFunc(other.Countries, func(o zoneCountry) bool { return o.Code == country })
		}):
			return true
		}
	}
	return false
}

// allows reports whether a rate is for products of a price. They weigh nothing here.
func (m *rate) allows(sum money.Amount) bool {
	for _, c := range m.Conditions {
		least := c.Operator == string(platform.AtLeast)
		switch {
		case c.Price != nil && least && sum.Minor < c.Price.Minor, c.Price != nil && !least && sum.Minor > c.Price.Minor, c.Weight != nil && least && c.Weight.Value > 0:
			return false
		}
	}
	return true
}
