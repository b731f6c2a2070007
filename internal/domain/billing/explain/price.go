package explain

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// PriceReasons say what an order comes to, and why.
type PriceReasons struct {
	Lines     []PricedLine
	Total     money.Amount // of the lines, before discounts, delivery and taxes
	Delivery  money.Amount
	Discounts []DiscountReport // of the contract, as the platform has them now
	Words     []string
}

// PricedLine is a line with the price that counts for the order.
type PricedLine struct {
	contract.LineItem
	Was    money.Amount // its price before the order, when the order changes it; otherwise the same
	OneOff bool         // it is in this order only
	Steps  []PriceStep  // of its price rule; none: it has no rule, or the rule is not known
	Words  string
}

// PriceStep is a price that a rule has from a cycle on or, where a plan of ours
// says so, from an order on, counted from 1 for the one at the checkout.
type PriceStep struct {
	From    int    // cycle or order
	Counted string // which of both
	Price   money.Amount
	Words   string
}

// DiscountReport is a discount.
type DiscountReport struct {
	contract.Discount
	Applies bool
	Words   string
}

func (f Facts) explainPrices(history []happening) PriceReasons {
	r := PriceReasons{Total: money.Amount{Currency: f.Of.Currency}, Delivery: f.Of.DeliveryPrice}
	for _, l := range f.LinesOf() {
		p := f.explainLine(l, history)
		r.Lines = append(r.Lines, p)
		r.Total = r.Total.Plus(p.Price.Times(int64(p.Quantity)))
	}
	for _, p := range r.Lines {
		r.Words = append(r.Words, p.Words)
	}
	switch {
	case f.Status == billing.Success:
		r.Words = append(r.Words, fmt.Sprintf("The lines came to %s before discounts, delivery and taxes; %s was charged.", spoken(r.Total), spoken(f.Amount)))
		return r
	case f.open():
		r.Words = append(r.Words, fmt.Sprintf("The lines come to %s before discounts, delivery and taxes.", spoken(r.Total)))
	default:
		r.Words = append(r.Words, "Nothing is charged: these are the lines as they were when the order was left out.")
		return r
	}
	if box := f.Order().Box; box != nil {
		r.Words = append(r.Words, boxWords(*box))
	}
	if r.Delivery.Minor != 0 {
		r.Words = append(r.Words, fmt.Sprintf("Delivery costs %s.", spoken(r.Delivery)))
	}
	switch {
	case f.Terms != nil:
		for _, d := range f.Terms.Discounts {
			if bundle.IsDiscount(d.Title) { // it is made for the price of the box, which is explained above
				continue
			}
			report := explainDiscount(d, f.Ahead())
			r.Discounts = append(r.Discounts, report)
			r.Words = append(r.Words, report.Words)
		}
		if len(r.Discounts) == 0 {
			r.Words = append(r.Words, "The contract has no discounts.")
		}
	case f.Silent:
		r.Words = append(r.Words, "The platform did not answer, so its price rules and discounts are not shown.")
	}
	return r
}

// boxWords explains the price of a box.
func boxWords(p bundle.Price) string {
	words := fmt.Sprintf("%d of the products are a box. It costs %s instead of %s: ", p.Pieces, spoken(p.Cost), spoken(p.Sum))
	percent := strconv.FormatFloat(p.Tier.Percent, 'f', -1, 64)
	switch {
	case p.Fixed && p.Tier.Percent > 0:
		return words + fmt.Sprintf("one price, and %s %% off it from %d products.", percent, p.Tier.MinProducts)
	case p.Fixed:
		return words + "one price, whatever is in it."
	}
	return words + fmt.Sprintf("%d pieces: %s %% off.", p.Pieces, percent)
}

func (f Facts) explainLine(l contract.LineItem, history []happening) PricedLine {
	p := PricedLine{LineItem: l, Was: l.Price, OneOff: f.oneOff(l, history)}
	if at := f.Of.LineByID(l.ID); at >= 0 && f.open() {
		p.Was = f.Of.Lines[at].Price
	}
	why := "the contract's price"
	policy, has := f.policyOf(l)
	ofPlan, planned := f.planOf(l)
	is, other := f.Replaced(l)
	switch {
	case other:
		why = "a swap rule puts it in the place of " + called(is)
	case p.OneOff:
		why = "a one-time product at the price at which it was added"
	case has && len(policy.Cycles) > 0:
		why = p.follow(policy, f.Cycle, "cycle")
	case planned:
		why = p.followPlan(ofPlan, f.Of.NextOrder()+f.Ahead())
	default:
		if h, ok := repricing(history, l.VariantID); ok {
			why = fmt.Sprintf("its price rule changed it with this order, from %s", h.told.From)
		} else if f.Of.Priced && f.open() {
			why = "the contract's price at present; its plan has a price rule, which counts when the order is made"
		}
	}
	p.Words = fmt.Sprintf("%d × %s for %s each: %s.", p.Quantity, called(l), spoken(p.Price), why)
	return p
}

// follow returns the reason of the line's price by its policy at the platform for a cycle. A price
// that is not the policy's was set by a person, and stays.
func (p *PricedLine) follow(policy contract.Pricing, cycle int, counted string) string {
	p.steps(policy, counted)
	step, ok := policy.Step(cycle)
	switch {
	case !ok:
		return "the contract's price; its price rule does not count yet"
	case !policy.Made(p.Price):
		return fmt.Sprintf("a price that a person set, which its price rule leaves alone (it has %s for %s %d)", spoken(step.Computed), counted, cycle)
	case p.Price == step.Computed && p.Price == p.Was:
		return "by its price rule " + stepWords(step, policy.Base, counted)
	case p.Price == step.Computed:
		return fmt.Sprintf("by its price rule %s; before this order it is %s", stepWords(step, policy.Base, counted), spoken(p.Was))
	}
	return "the contract's price; its price rule, " + stepWords(step, policy.Base, counted) + ", does not change this order"
}

// followPlan does the same with the plan's price for an order, counted from 1 for the one at the
// checkout. A price never goes back to an earlier one.
func (p *PricedLine) followPlan(policy contract.Pricing, order int) string {
	price, ok := policy.Forward(p.Was, order)
	if ok && price == p.Price {
		step, _ := policy.Step(order)
		p.steps(policy, "order")
		return fmt.Sprintf("by its plan %s; before this order it is %s", stepWords(step, policy.Base, "order"), spoken(p.Was))
	}
	if ok || policy.Made(p.Price) && p.Price != policy.Base {
		p.steps(policy, "order")
		return "the contract's price, which its plan leaves alone with this order"
	}
	return p.follow(policy, order, "order")
}

func (p *PricedLine) steps(policy contract.Pricing, counted string) {
	for _, s := range policy.Cycles {
		p.Steps = append(p.Steps, PriceStep{From: s.After + 1, Counted: counted, Price: s.Computed, Words: stepWords(s, policy.Base, counted)})
	}
}

func stepWords(s platform.CyclePrice, base money.Amount, counted string) string {
	from := fmt.Sprintf("from %s %d on", counted, s.After+1)
	switch s.Kind {
	case platform.PercentOff:
		if s.Percent == 0 {
			return fmt.Sprintf("%s the full %s", from, spoken(base))
		}
		return fmt.Sprintf("%s %s %% off %s", from, strconv.FormatFloat(s.Percent, 'f', -1, 64), spoken(base))
	case platform.AmountOff:
		return fmt.Sprintf("%s %s off %s", from, spoken(s.Amount), spoken(base))
	}
	return fmt.Sprintf("%s %s", from, spoken(s.Computed))
}

// policyOf returns the pricing policy that a line has at the platform, if one is
// known.
func (f Facts) policyOf(l contract.LineItem) (contract.Pricing, bool) {
	if f.Terms == nil || l.ID == "" {
		return contract.Pricing{}, false
	}
	at := slices.IndexFunc(f.Terms.Lines, func(is contract.LineItem) bool { return is.ID == l.ID })
	if at < 0 || at >= len(f.Terms.Details) || f.Terms.Details[at].Pricing == nil {
		return contract.Pricing{}, false
	}
	return *f.Terms.Details[at].Pricing, true
}

// planOf returns what a plan of ours says of a line that has no such policy.
func (f Facts) planOf(l contract.LineItem) (contract.Pricing, bool) {
	if f.Terms == nil || l.ID == "" {
		return contract.Pricing{}, false
	}
	policy, has := f.Terms.Plans[l.ID]
	return policy, has
}

// oneOff reports whether a line is in this order only.
func (f Facts) oneOff(l contract.LineItem, history []happening) bool {
	if l.SellingPlanID != 0 || l.ID != "" && f.Of.LineByID(l.ID) >= 0 {
		return false
	}
	if slices.ContainsFunc(f.OneOffs, func(o billing.OneOff) bool { return o.Variant.ID == l.VariantID }) {
		return true
	}
	return slices.ContainsFunc(history, func(h happening) bool { return h.what == carriedAlong && h.told.Variant == l.VariantID })
}

func repricing(history []happening, variant int64) (happening, bool) {
	for i := len(history) - 1; i >= 0; i-- {
		if h := history[i]; h.what == repriced && h.told.Variant == variant {
			return h, true
		}
	}
	return happening{}, false
}

// explainDiscount says what a discount does for an order before which so many others of
// the contract come.
func explainDiscount(d contract.Discount, ahead int) DiscountReport {
	left := d.CycleLimit - d.UsedCycles
	r := DiscountReport{Discount: d, Applies: d.RejectedWhy == "" && (d.CycleLimit == 0 || left > ahead)}
	var what string
	switch {
	case d.FreeShipping:
		what = "free delivery"
	case d.Percent > 0:
		what = fmt.Sprintf("%d %% off", d.Percent)
	default:
		what = spoken(d.Amount) + " off"
		if d.EachItem {
			what += " each item"
		}
	}
	switch {
	case d.FreeShipping:
	case d.TargetIsOrder:
		what += " delivery"
	case d.AllLines:
		what += " all lines"
	default:
		what += fmt.Sprintf(" %d of the lines", len(d.Lines))
	}
	words := fmt.Sprintf("Discount %q gives %s", d.Title, what)
	if d.Code != "" && d.Code != d.Title {
		words = fmt.Sprintf("Discount %q (code %s) gives %s", d.Title, d.Code, what)
	}
	if d.CycleLimit > 0 {
		words += fmt.Sprintf(", in %d orders, %d of them made", d.CycleLimit, d.UsedCycles)
	}
	switch {
	case d.RejectedWhy != "":
		words += fmt.Sprintf("; it does not apply (%s)", d.RejectedWhy)
	case !r.Applies && left > 0:
		words += "; the orders before this one use it up"
	case !r.Applies:
		words += "; it is used up"
	}
	r.Words = words + "."
	return r
}
