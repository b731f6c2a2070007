package swap

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// LineItem is a line item of an order, with how its price changes.
type LineItem struct {
	contract.LineItem
	Pricing *platform.Pricing // prices by cycle; nil: none
}

// Lines returns lines without prices by cycle.
func Lines(list []contract.LineItem) []LineItem {
	lines := make([]LineItem, len(list))
	for i, l := range list {
		lines[i].LineItem = l
	}
	return lines
}

// Plain returns lines without their policies.
func Plain(list []LineItem) []contract.LineItem {
	lines := make([]contract.LineItem, len(list))
	for i, l := range list {
		lines[i] = l.LineItem
	}
	return lines
}

// Order is what rules are applied to.
type Order struct {
	Cycle int  // the platform's index of the billing cycle
	First bool // no order of the contract was made before
	Used  map[ID]bool
	Lines []LineItem

	Date    time.Time // when it is due; zero: so late that every price was announced
	Notices []Notice  // that the subscriber has got
}

// Catalogue is what rules need to know of products.
type Catalogue struct {
	Variants map[int64]platform.Variant // of all products in the rules that the platform has
	// PlanPrice returns what a plan of the product asks for it in place of the
	// line, per unit, and how that changes with the orders; false when no plan of the
	// product fits. It may be nil.
	PlanPrice func(of contract.LineItem, v platform.Variant) (money.Amount, *platform.Pricing, bool)
}

// Result is what rules made of an order.
type Result struct {
	Lines     []LineItem // lines without an ID are new; one whose ID is gone was replaced as a whole
	Applied   []Rule     // in the order in which they were
	Missing   []Rule     // rules that fit and name a product which is no longer sold
	ShiftDays int        // by how much later orders move
	Rises     []Rise     // prices that are not charged yet
}

// Apply applies rules, in their sequence, to an order. A rule may build on what the
// one before it did, but none adds a product that this order has replaced
// already, so that rules cannot form a cycle.
func Apply(rules []Rule, o Order, c Catalogue) Result {
	r := Result{Lines: slices.Clone(o.Lines)}
	given := make(map[int64]bool)
	for _, rule := range rules {
		times := 0
		if rule.due(o) {
			times = rule.fits(r.Lines)
		}
		if times == 0 || brings(rule, given) {
			continue
		}
		lines, rises, ok := rule.swap(o, r.Lines, times, c)
		if !ok {
			r.Missing = append(r.Missing, rule)
			continue
		}
		r.Lines = lines
		r.Applied = append(r.Applied, rule)
		r.Rises = append(r.Rises, rises...)
		if rule.ShiftDays != nil {
			r.ShiftDays += *rule.ShiftDays
		}
		for _, p := range rule.Sources {
			given[p.VariantID] = true
		}
	}
	return r
}

// due reports whether the rule is evaluated for the order.
func (r Rule) due(o Order) bool {
	switch {
	case o.First && !r.FirstOrder:
		return false
	case r.OneOrderOnly():
		return o.Cycle == r.Cycle
	case r.EveryOrder:
		return o.Cycle >= r.Cycle
	}
	return !o.Used[r.ID]
}

// Concerns reports whether the rule could change the order: the cheap
// check before products are read.
func (r Rule) Concerns(o Order) bool { return r.due(o) && r.fits(o.Lines) > 0 }

// Concern reports whether one of the rules Concerns the order.
func Concern(rules []Rule, o Order) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.Concerns(o) })
}

// fits returns how often the sources are in the lines as a whole.
func (r Rule) fits(lines []LineItem) int {
	times := -1
	for _, p := range r.Sources {
		have := 0
		for _, l := range lines {
			if l.VariantID == p.VariantID {
				have += l.Quantity
			}
		}
		if n := have / p.Quantity; times < 0 || n < times {
			times = n
		}
	}
	return max(times, 0)
}

// brings reports whether the rule adds a product that was replaced.
func brings(r Rule, given map[int64]bool) bool {
	for _, p := range r.Destinations {
		if given[p.VariantID] {
			return true
		}
	}
	return false
}

// swap replaces the sources as often as the lines have them. What is left of a source
// stays. A line that is replaced as a whole passes its id, with its plan and
// its attributes, to a destination.
func (r Rule) swap(o Order, lines []LineItem, times int, c Catalogue) ([]LineItem, []Rise, bool) {
	for _, p := range r.Destinations {
		if _, sold := c.Variants[p.VariantID]; !sold {
			return nil, nil, false
		}
	}
	taken := r.taken(lines, times)
	var old []LineItem // what is replaced
	var kept, free []LineItem
	at := -1 // where the destinations go
	for i, l := range lines {
		n := taken[i]
		if n > 0 {
			gone := l
			gone.Quantity = n
			old = append(old, gone)
			if at < 0 {
				at = len(kept)
			}
		}
		if n < l.Quantity {
			l.Quantity -= n
			kept = append(kept, l)
		} else {
			free = append(free, l)
		}
	}
	var made []LineItem
	for i, p := range r.Destinations {
		v := c.Variants[p.VariantID]
		base := old[min(i, len(old)-1)]
		line := LineItem{LineItem: contract.LineItem{
			ProductID: v.ProductID, VariantID: v.ID, SKU: v.SKU, Title: v.ProductTitle, VariantTitle: v.Title, Image: v.Image,
			Quantity: times * p.Quantity, SellingPlanID: base.SellingPlanID, SellingPlanName: base.SellingPlanName, Taxable: v.Taxable,
		}}
		line.Price, line.Pricing = r.price(base, old, v, c)
		ruled := base.Pricing != nil || r.discountMode() == None && base.SellingPlanID != 0 // whose steps would be kept
		if len(free) > 0 {
			line.ID, ruled = free[0].ID, ruled || free[0].Pricing != nil
			free = free[1:]
		}
		line.Pricing = line.ruledBy(ruled, v)
		made = append(made, line)
	}
	rises := o.keepPrices(r, old, made)
	return slices.Concat(kept[:at], made, kept[at:]), rises, true
}

// taken returns how many of each line the rule replaces.
func (r Rule) taken(lines []LineItem, times int) []int {
	taken := make([]int, len(lines))
	for _, p := range r.Sources {
		rest := times * p.Quantity
		for i, l := range lines {
			if l.VariantID == p.VariantID {
				n := min(rest, l.Quantity)
				taken[i] += n
				rest -= n
			}
		}
	}
	return taken
}

// price returns the unit price of a destination and its prices by cycle.
func (r Rule) price(base LineItem, old []LineItem, v platform.Variant, c Catalogue) (money.Amount, *platform.Pricing) {
	foreign := base.Price.Currency != v.Price.Currency
	carry := r.discountMode()
	if (carry == ProductPlan || carry == ProductThenExisting) && c.PlanPrice != nil && !foreign {
		if price, pricing, ok := c.PlanPrice(base.LineItem, v); ok {
			return price, pricing
		}
	}
	if (carry == None || carry == ProductPlan) && !foreign {
		return v.Price, nil
	}
	return DiscountedPrice(old, v, c.Variants)
}

// ruledBy returns a destination's prices by cycle: none where nothing else would change its
// price, and otherwise its own. A price without any gets a policy without
// steps, so that the old product's, or the plan's, does not apply to it.
func (l LineItem) ruledBy(ruled bool, v platform.Variant) *platform.Pricing {
	switch {
	case !ruled:
		return nil
	case l.Pricing != nil:
		return l.Pricing
	case l.Price.Currency != v.Price.Currency:
		return &platform.Pricing{Base: l.Price}
	}
	return &platform.Pricing{Base: v.Price}
}
