package swap

import (
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// DiscountedPrice returns what one unit of a product costs that gets the discount of
// the lines which it replaces, and by which policy; nil when by none.
//
// Prices by cycle are carried with their steps, off the price of the new product.
// Without them as many per cent are taken off as the lines had off what the
// catalogue asks for them; who paid more than that pays the catalogue's price now. In
// a currency that is not the catalogue's the price keeps the proportion that the
// catalogue has between the products.
func DiscountedPrice(old []Line, to platform.Variant, sold map[int64]platform.Variant) (money.Amount, *platform.Pricing) {
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
	case listed == 0 && foreign: // nobody knows what the old products cost by the catalogue
		return first.Price, nil
	case listed == 0:
		return to.Price, nil
	case !foreign:
		paid = min(paid, listed)
	}
	return money.Amount{Minor: to.Price.Minor, Currency: first.Price.Currency}.Share(paid, listed), nil
}

// PriceForDeliveries returns variants at the price of so many deliveries, which is what one
// payment of a prepaid contract asks for.
func PriceForDeliveries(sold map[int64]platform.Variant, deliveries int64) map[int64]platform.Variant {
	paid := make(map[int64]platform.Variant, len(sold))
	for id, v := range sold {
		v.Price = v.Price.Times(deliveries)
		paid[id] = v
	}
	return paid
}

// shared returns the policy of lines that are all priced by the same steps; nil when
// they are not.
func shared(lines []Line) *platform.Pricing {
	first := lines[0].Pricing
	for _, l := range lines {
		if l.Pricing == nil || len(l.Pricing.Cycles) == 0 || !l.Pricing.SameSteps(*first) || !l.Pricing.Made(l.Price) {
			return nil
		}
	}
	return first
}
