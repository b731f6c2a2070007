package simulator

import "github.com/perennialhq/perennial/internal/base/money"

// shownDiscount is a discount with the terms that it is part of.
type shownDiscount struct {
	*discount
	terms    *terms
	currency money.Currency
	shop     *store
}

func manualDiscount(d shownDiscount) object { return object{"SubscriptionManualDiscount", d} }

// eitherDiscount is a discount as the union of the two kinds.
func eitherDiscount(d shownDiscount) object {
	if d.Code != "" {
		return object{"SubscriptionAppliedCodeDiscount", d}
	}
	return manualDiscount(d)
}

// discounts is a connection of the discounts that a filter keeps.
func (x *exec) discounts(t *terms, c money.Currency, a args, as func(shownDiscount) object, keep func(*discount) bool) *page {
	var entries []entry
	for i := range t.Discounts {
		if d := &t.Discounts[i]; keep(d) {
			entries = append(entries, entry{int64(i), int64(i), as(shownDiscount{d, t, c, x.shop})})
		}
	}
	return x.paginate("SubscriptionDiscount", entries, a)
}

func notRemoved(d *discount) bool { return !d.Removed }

func (r registry) discounts() {
	reason := get(func(d shownDiscount) any { return textOrNull(d.Rejected) })
	r["SubscriptionAppliedCodeDiscount"] = fields{
		"id":              get(func(d shownDiscount) any { return "gid://shopify/SubscriptionAppliedCodeDiscount/" + d.ID }),
		"redeemCode":      get(func(d shownDiscount) any { return d.Code }),
		"rejectionReason": reason,
	}
	r["SubscriptionManualDiscount"] = fields{
		"id":                  get(func(d shownDiscount) any { return d.gid() }),
		"title":               get(func(d shownDiscount) any { return textOrNull(d.Title) }),
		"rejectionReason":     reason,
		"recurringCycleLimit": get(func(d shownDiscount) any { return intOrNull(d.Limit) }),
		"usageCount":          get(func(d shownDiscount) any { return d.Used }),
		"type": get(func(d shownDiscount) any {
			if d.Code != "" {
				return "CODE_DISCOUNT"
			}
			return "MANUAL"
		}),
		"targetType": get(func(d shownDiscount) any {
			if d.Shipping {
				return "SHIPPING_LINE"
			}
			return "LINE_ITEM"
		}),
		"value": get(func(d shownDiscount) any {
			if d.Fixed.Minor > 0 {
				return object{"SubscriptionDiscountFixedAmountValue", d}
			}
			return object{"SubscriptionDiscountPercentageValue", d}
		}),
		"entitledLines": get(func(d shownDiscount) any { return object{"SubscriptionDiscountEntitledLines", d} }),
	}
	r["SubscriptionDiscountFixedAmountValue"] = fields{
		"amount":            get(func(d shownDiscount) any { return d.Fixed }),
		"appliesOnEachItem": get(func(d shownDiscount) any { return d.EachItem }),
	}
	r["SubscriptionDiscountPercentageValue"] = fields{
		"percentage": get(func(d shownDiscount) any {
			if d.Shipping {
				return 100
			}
			return d.Percent
		}),
	}
	r["SubscriptionDiscountEntitledLines"] = fields{
		"all": get(func(d shownDiscount) any { return d.All || d.Shipping }),
		"lines": on(func(x *exec, d shownDiscount, a args) any {
			return x.lines(d.terms, d.currency, d.shop, a, func(l line) bool { return !d.Shipping && d.entitles(&l) })
		}),
	}
	r["SubscriptionDiscountAllocation"] = fields{
		"amount":   get(func(s shownShare) any { return s.amount }),
		"discount": get(func(s shownShare) any { return eitherDiscount(s.of) }),
	}
}

// shownShare is a discount's share on a line.
type shownShare struct {
	of     shownDiscount
	amount money.Amount
}

func shareObjects(l inCurrency[line]) []object {
	list := make([]object, len(l.shares))
	for i, s := range l.shares {
		list[i] = object{"SubscriptionDiscountAllocation", shownShare{shownDiscount{s.discount, l.terms, l.currency, l.shop}, s.amount}}
	}
	return list
}
