package contract

import (
	"maps"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// PriceAt returns a line's unit price in an order: by its prices by cycle at the
// platform or, if it has none, by those of its selling plan for the number of the order,
// which is 1 at the checkout. Both the amounts that are shown and those that are charged
// come from here. The platform stores prices by cycle but does not apply them; the
// service does, where Priced says so. A price that does not come from the policy was set
// by hand and stays.
func (c Contract) PriceAt(l LineItem, cycle, order int) money.Amount {
	if !c.Priced {
		return l.Price
	}
	price, ok := money.Amount{}, false
	if policy, has := c.Pricing[l.ID]; has {
		price, ok = policy.At(l.Price, cycle)
	} else if policy, has := c.PlanPricing[l.ID]; has {
		price, ok = policy.Forward(l.Price, order)
	}
	if !ok {
		return l.Price
	}
	return price
}

// Repriced returns the contract with another unit price of a line, in all of its orders.
func (c Contract) Repriced(line string, unit money.Amount) Contract {
	c.Lines, c.Pricing, c.PlanPricing = slices.Clone(c.Lines), maps.Clone(c.Pricing), maps.Clone(c.PlanPricing)
	delete(c.Pricing, line)
	delete(c.PlanPricing, line)
	for i := range c.Lines {
		if c.Lines[i].ID == line {
			c.Lines[i].Price = unit
		}
	}
	return c
}

// Swapped returns the contract with another product in a line, at a unit price.
func (c Contract) Swapped(line string, variant int64, unit money.Amount) Contract {
	c = c.Repriced(line, unit)
	for i := range c.Lines {
		if c.Lines[i].ID == line {
			c.Lines[i].VariantID = variant
		}
	}
	return c
}

// CountsOrders reports whether an order's cost depends on how many orders come before
// it.
func (c Contract) CountsOrders() bool {
	return c.Priced && len(c.PlanPricing) > 0 || slices.ContainsFunc(c.Discounts, func(d Discount) bool { return d.CycleLimit > 0 })
}

// WithReading returns the contract with the lines of a reading and their prices by
// cycle. The plan's prices stay with a line while it has the same product and plan and
// no prices by cycle at the platform.
func (c Contract) WithReading(p platform.Contract) Contract {
	lines := make([]LineItem, len(p.Lines))
	for i, l := range p.Lines {
		lines[i] = NewLine(l).withFormerVariant(c.Lines)
	}
	return c.WithLines(lines, p.Pricing)
}

// WithLines is WithReading with lines and prices by cycle.
func (c Contract) WithLines(lines []LineItem, policies map[string]Pricing) Contract {
	had, plans := c.Lines, c.PlanPricing
	c.Lines, c.Pricing, c.PlanPricing = lines, policies, nil
	kept := make(map[string]Pricing)
	for _, l := range lines {
		if policy, has := plans[l.ID]; has && l.among(had) {
			kept[l.ID] = policy
		}
	}
	c.SetPlanPricing(kept)
	return c
}

// Unpriced returns the lines on selling plans whose plan prices are not stored yet and
// that the old contract did not have; if the contract is Priced, all such lines.
func (c Contract) Unpriced(old *Contract) []LineItem {
	return slices.DeleteFunc(slices.Clone(c.Lines), func(l LineItem) bool {
		_, ruled := c.Pricing[l.ID]
		_, known := c.PlanPricing[l.ID]
		return l.SellingPlanID == 0 || ruled || known || old != nil && !c.Priced && l.among(old.Lines)
	})
}

// SetPlanPricing stores the plans' prices of lines, by line. A line with prices by cycle
// at the platform keeps those.
func (c *Contract) SetPlanPricing(plans map[string]Pricing) {
	all := maps.Clone(c.PlanPricing)
	for _, l := range c.Lines {
		policy, has := plans[l.ID]
		if _, ruled := c.Pricing[l.ID]; !has || ruled {
			continue
		}
		if all == nil {
			all = make(map[string]Pricing, len(plans))
		}
		all[l.ID] = policy
	}
	c.PlanPricing = all
	for _, policies := range []map[string]Pricing{c.Pricing, c.PlanPricing} {
		for _, p := range policies {
			c.Priced = c.Priced || p.Changes()
		}
	}
}

// among reports whether lines include the line with the same product and plan. A line
// whose variant the store no longer has counts with its former variant.
func (l LineItem) among(lines []LineItem) bool {
	return slices.ContainsFunc(lines, func(o LineItem) bool {
		return o.ID == l.ID && o.SellingPlanID == l.SellingPlanID && o.variant() == l.variant()
	})
}

// variant returns the line's variant, or its former one.
func (l LineItem) variant() int64 {
	if l.VariantID == 0 {
		return l.FormerVariantID
	}
	return l.VariantID
}
