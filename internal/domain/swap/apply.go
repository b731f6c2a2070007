package swap

import (
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// Order is what rules are applied to.
type Order struct {
	Cycle int  // the platform's index of the billing cycle
	First bool // no order of the contract was made before
	Used  map[ID]bool
	Lines []contract.Line
}

// Catalogue is what rules need to know of products.
type Catalogue struct {
	Variants map[int64]platform.Variant // of all that the rules name; those the platform lacks are missing
	// PlanPrice returns what a plan of the product asks for it in place of the
	// line, per unit; false when no plan of the product fits. It may be nil.
	PlanPrice func(of contract.Line, v platform.Variant) (money.Amount, bool)
}

// Result is what rules made of an order.
type Result struct {
	Lines     []contract.Line // lines without an ID are new; one whose ID is gone was replaced as a whole
	Applied   []Rule          // in the order in which they were
	Missing   []Rule          // rules that fit and name a product which is no longer sold
	ShiftDays int             // by how much later orders move
}

// Apply applies rules in their order to an order. A rule may build on what the
// one before it did, but none brings back a product that this order has given
// away already, so that rules cannot turn in a circle.
func Apply(rules []Rule, o Order, c Catalogue) Result {
	r := Result{Lines: append([]contract.Line(nil), o.Lines...)}
	given := make(map[int64]bool)
	for _, rule := range rules {
		times := 0
		if rule.due(o) {
			times = rule.fits(r.Lines)
		}
		if times == 0 || brings(rule, given) {
			continue
		}
		lines, ok := rule.swap(r.Lines, times, c)
		if !ok {
			r.Missing = append(r.Missing, rule)
			continue
		}
		r.Lines = lines
		r.Applied = append(r.Applied, rule)
		if rule.ShiftDays != nil {
			r.ShiftDays += *rule.ShiftDays
		}
		for _, p := range rule.Sources {
			given[p.VariantID] = true
		}
	}
	return r
}

// due reports whether the rule is looked at for the order.
func (r Rule) due(o Order) bool {
	switch {
	case o.First && !r.FirstOrder:
		return false
	case r.OfOneOrder():
		return o.Cycle == r.Cycle
	case r.EveryOrder:
		return o.Cycle >= r.Cycle
	}
	return !o.Used[r.ID]
}

// Concerns reports whether the rule could change the order at all: the cheap
// question that comes before anybody is asked for products.
func (r Rule) Concerns(o Order) bool { return r.due(o) && r.fits(o.Lines) > 0 }

// fits returns how often the sources are in the lines as a whole.
func (r Rule) fits(lines []contract.Line) int {
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

// brings reports whether the rule adds a product that was given away.
func brings(r Rule, given map[int64]bool) bool {
	for _, p := range r.Destinations {
		if given[p.VariantID] {
			return true
		}
	}
	return false
}

// swap replaces the sources as often as they are there. What is left of a source
// stays. A line that is used up as a whole passes its identity, with its plan and
// its attributes, to a destination.
func (r Rule) swap(lines []contract.Line, times int, c Catalogue) ([]contract.Line, bool) {
	for _, p := range r.Destinations {
		if _, sold := c.Variants[p.VariantID]; !sold {
			return nil, false
		}
	}
	taken := r.taken(lines, times)
	var old []contract.Line // what is given away
	var kept, free []contract.Line
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
	var made []contract.Line
	for i, p := range r.Destinations {
		v := c.Variants[p.VariantID]
		base := old[min(i, len(old)-1)]
		line := contract.Line{
			ProductID: v.ProductID, VariantID: v.ID, SKU: v.SKU, Title: v.ProductTitle, VariantTitle: v.Title, Image: v.Image,
			Quantity: times * p.Quantity, Price: r.price(base, old, v, c), SellingPlanID: base.SellingPlanID, SellingPlanName: base.SellingPlanName, Taxable: v.Taxable,
		}
		if len(free) > 0 {
			line.ID, free = free[0].ID, free[1:]
		}
		made = append(made, line)
	}
	return append(append(append([]contract.Line(nil), kept[:at]...), made...), kept[at:]...), true
}

// taken returns how many of each line the rule takes away.
func (r Rule) taken(lines []contract.Line, times int) []int {
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

// price decides what one unit of a destination costs. In a currency that is not
// the catalogue's the price keeps the proportion that the catalogue has between
// the products.
func (r Rule) price(base contract.Line, old []contract.Line, v platform.Variant, c Catalogue) money.Amount {
	foreign := base.Price.Currency != v.Price.Currency
	carry := r.carry()
	if (carry == ProductPlan || carry == ProductThenExisting) && c.PlanPrice != nil && !foreign {
		if price, ok := c.PlanPrice(base, v); ok {
			return price
		}
	}
	if carry == None || carry == ProductPlan {
		if !foreign {
			return v.Price
		}
	}
	paid, listed := int64(0), int64(0)
	for _, l := range old {
		was, sold := c.Variants[l.VariantID]
		if !sold || was.Price.Minor <= 0 {
			continue
		}
		paid += l.Price.Minor * int64(l.Quantity)
		listed += was.Price.Minor * int64(l.Quantity)
	}
	if listed == 0 { // nobody knows what the old products cost by the catalogue
		if foreign {
			return base.Price
		}
		return v.Price
	}
	if !foreign {
		paid = min(paid, listed) // who paid more than the catalogue asks pays the catalogue's price now
	}
	return money.Amount{Minor: v.Price.Minor, Currency: base.Price.Currency}.Share(paid, listed)
}
