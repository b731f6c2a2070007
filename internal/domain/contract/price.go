package contract

import (
	"maps"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// PriceAt returns the unit price of a line in an order: that of its policy at the
// platform for the order's cycle or, where it has none, that of the plan on which it
// came for the order, counted from 1 for the one at the checkout. What is said of an
// order and what is charged for it both come from here. The platform shows policies and
// applies none; the service does, where Priced says so. A price that is none of the
// policy's was set by somebody, and stays.
func (c Contract) PriceAt(l Line, cycle, order int) money.Amount {
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

// CountsOrders reports whether it matters to the cost of an order how many come before
// it: discounts are for some orders only, or prices go by them.
func (c Contract) CountsOrders() bool {
	return c.Priced && len(c.PlanPricing) > 0 || slices.ContainsFunc(c.Discounts, func(d Discount) bool { return d.CycleLimit > 0 })
}

// WithReading returns the contract with the lines of a reading, and with what is known of
// their prices. What a plan said of a line when it came stays with it, as long as it is
// for the same product on the same plan and has no policy at the platform.
func (c Contract) WithReading(p platform.Contract) Contract {
	lines := make([]Line, len(p.Lines))
	for i, l := range p.Lines {
		lines[i] = NewLine(l).after(c.Lines)
	}
	return c.WithLines(lines, p.Pricing)
}

// WithLines is With of lines, and of policies by line.
func (c Contract) WithLines(lines []Line, policies map[string]Pricing) Contract {
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

// Unpriced returns the lines on plans of which it is not known yet what the plans say
// of their prices, which the contract, as it was before, did not have; all of those
// where prices change with the orders.
func (c Contract) Unpriced(old *Contract) []Line {
	return slices.DeleteFunc(slices.Clone(c.Lines), func(l Line) bool {
		_, ruled := c.Pricing[l.ID]
		_, known := c.PlanPricing[l.ID]
		return l.SellingPlanID == 0 || ruled || known || old != nil && !c.Priced && l.among(old.Lines)
	})
}

// SetPlanPricing notes what plans of ours say of the prices of lines, by line. A line that
// has a policy at the platform goes by that.
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

// among reports whether one of the lines is the line, for the same product on the same
// plan. One that the store has no more is for what it was for.
func (l Line) among(lines []Line) bool {
	return slices.ContainsFunc(lines, func(o Line) bool {
		return o.ID == l.ID && o.SellingPlanID == l.SellingPlanID && o.variant() == l.variant()
	})
}

// variant returns what the line is for, or was while the store had it.
func (l Line) variant() int64 {
	if l.VariantID == 0 {
		return l.FormerVariantID
	}
	return l.VariantID
}
