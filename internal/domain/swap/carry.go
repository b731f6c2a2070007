package swap

import (
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// DiscountedPrice returns a product's unit price with the discount of the lines that it
// replaces, and its prices by cycle; nil when it has none.
//
// Prices by cycle are kept with their steps, relative to the new product's price.
// Without them the new product gets the same percentage off its catalogue price as the
// lines had off theirs; a line above the catalogue price counts as undiscounted. If the
// contract's currency is not the catalogue's, the price keeps the catalogue's proportion
// between the products.
func DiscountedPrice(old []LineItem, to platform.Variant, sold map[int64]platform.Variant) (money.Amount, *platform.Pricing) {
	first := old[0]
	foreign := first.Price.Currency != to.Price.Currency
	if policy := shared(old); policy != nil {
		base := to.Price
		if was := sold[first.VariantID].Price.Minor; foreign && was > 0 {
			base = policy.Base.Share(to.Price.Minor, was)
		}
		if on, price, ok := policy.Moved(first.Price, base); ok && base.Currency == first.Price.Currency {
			return price, &on
		}
	}
	paid, listed := int64(0), int64(0)
	for _, l := range old {
		if was := sold[l.VariantID].Price.Minor; was > 0 {
			paid += l.Price.Minor * int64(l.Quantity)
			listed += was * int64(l.Quantity)
		}
	}
	switch {
	case listed == 0 && foreign: // the old products' catalogue prices are not known
		return first.Price, nil
	case listed == 0:
		return to.Price, nil
	case !foreign:
		paid = min(paid, listed)
	}
	return money.Amount{Minor: to.Price.Minor, Currency: first.Price.Currency}.Share(paid, listed), nil
}

// PriceForDeliveries returns variants at the price of so many deliveries, which one
// payment of a prepaid contract covers.
func PriceForDeliveries(sold map[int64]platform.Variant, deliveries int64) map[int64]platform.Variant {
	if deliveries == 1 {
		return sold
	}
	paid := make(map[int64]platform.Variant, len(sold))
	for id, v := range sold {
		v.Price = v.Price.Times(deliveries)
		paid[id] = v
	}
	return paid
}

// shared returns the prices by cycle of lines that all have the same steps; nil when
// they do not.
func shared(lines []LineItem) *platform.Pricing {
	first := lines[0].Pricing
	for _, l := range lines {
		if l.Pricing == nil || len(l.Pricing.Cycles) == 0 || !l.Pricing.SameSteps(*first) || !l.Pricing.Made(l.Price) {
			return nil
		}
	}
	return first
}
