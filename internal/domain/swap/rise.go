package swap

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// NoticeTime is the shortest time between the notice of a higher price and the first order with it.
const NoticeTime = 14 * 24 * time.Hour

// Notice is a price of a rule's product that a subscriber was notified of, because it is higher than
// that of what the rule replaces. Orders that are due from an instant on have it.
type Notice struct {
	Rule    ID
	Variant int64
	Price   money.Amount // of one
	From    time.Time

	// Of a rule that lasts: what one costs in the contract until then, and the prices by cycle that
	// come with Price; nil: none.
	Kept    money.Amount
	Pricing *platform.Pricing
}

// Rise is a product of a rule that would cost more in an order than what it replaces, without the
// subscriber having been notified in time. The order has it at the price that is kept.
type Rise struct {
	Rule        Rule
	Variant     int64
	Title       string       // of the product, as the rule names it
	Price, Kept money.Amount // of one
	Pricing     *platform.Pricing
}

// Notice returns the notice of the rise that counts from an instant on.
func (r Rise) Notice(from time.Time) Notice {
	n := Notice{Rule: r.Rule.ID, Variant: r.Variant, Price: r.Price, From: from}
	if !r.Rule.OneOrderOnly() {
		n.Kept, n.Pricing = r.Kept, r.Pricing
	}
	return n
}

// notified returns the newest notice of a rule's product that an order has.
func (o Order) notified(rule ID, variant int64) (Notice, bool) {
	var newest Notice
	for _, n := range o.Notices {
		if n.Rule == rule && n.Variant == variant && !n.From.After(o.Date) && (newest.From.IsZero() || n.From.After(newest.From)) {
			newest = n
		}
	}
	return newest, !newest.From.IsZero()
}

// keepPrices has products that a rule brings cost no more in an order than those that it replaces, or
// than the subscriber was notified of. What they cost less is below a unit of the currency times
// their quantity, where prices of one do not divide.
func (o Order) keepPrices(r Rule, old, made []LineItem) []Rise {
	was, is := sum(old), sum(made)
	if o.Date.IsZero() || is <= was || old[0].Price.Currency != made[0].Price.Currency {
		return nil
	}
	limits := make([]money.Amount, len(made))
	all := true
	for i, l := range made {
		n, has := o.notified(r.ID, l.VariantID)
		limits[i], all = n.Price, all && has && n.Price.Currency == l.Price.Currency
	}
	var rises []Rise
	for i := range made {
		l := &made[i]
		limit := limits[i]
		if !all {
			limit = money.Amount{Minor: l.Price.Minor * was / is, Currency: l.Price.Currency}
		}
		if l.Price.Minor <= limit.Minor {
			continue
		}
		rises = append(rises, Rise{Rule: r, Variant: l.VariantID, Title: r.nameOf(*l), Price: l.Price, Kept: limit, Pricing: l.Pricing})
		if l.Price = limit; l.Pricing != nil {
			l.Pricing = &platform.Pricing{Base: limit}
		}
	}
	return rises
}

// nameOf returns what the rule calls the product of a line that it brings.
func (r Rule) nameOf(l LineItem) string {
	for _, p := range r.Destinations {
		if p.VariantID == l.VariantID && p.Name != "" {
			return p.Name
		}
	}
	return l.Title
}

// sum returns what lines cost, in minor units.
func sum(lines []LineItem) (total int64) {
	for _, l := range lines {
		total += l.Price.Minor * int64(l.Quantity)
	}
	return total
}

// Raised returns lines of a contract in which the prices that rules kept have become those of the
// subscriber's notices, for an order that is due then, and the positions of those lines.
func (o Order) Raised(lines []LineItem) (raised []LineItem, at []int) {
	for i, l := range lines {
		for _, n := range o.Notices {
			if n.Kept.Currency == "" || n.Variant != l.VariantID || n.Kept != l.Price || n.Price == l.Price || n.From.After(o.Date) {
				continue
			}
			if raised == nil {
				raised = slices.Clone(lines)
			}
			raised[i].Price, raised[i].Pricing = n.Price, n.Pricing
			at = append(at, i)
			break
		}
	}
	if raised == nil {
		return lines, nil
	}
	return raised, at
}
