package bundle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// DiscountTitle begins the title of the discount on a contract that makes its box cost what the bundle
// says. No other discount has such a title.
const DiscountTitle = "Box price"

// IsDiscount reports whether a title is that of a box's discount.
func IsDiscount(title string) bool {
	return title == DiscountTitle || strings.HasPrefix(title, DiscountTitle+":")
}

// CheckDiscountTitle refuses a title that only discounts of boxes have.
func CheckDiscountTitle(title string) error {
	if !IsDiscount(title) {
		return nil
	}
	return fault.New(fault.Invalid, "a discount with the title %q is that of a box, whose price follows from its bundle: choose another title", title).
		Entity(entity).Code("discountTitleReserved").Field("discountTitle")
}

// Price is the price of a box with its reasons.
type Price struct {
	Pieces  int
	Sum     money.Amount // of its products at the prices of the order
	Cost    money.Amount // of the box before other discounts
	Fixed   bool         // it is the bundle's one price, less the tier
	Tier    Tier         // that the pieces reach; zero: none
	Rounded bool         // the tier's percentage is a fraction of the currency's minor unit
}

// Off is the amount by which the products are cheaper in the box than together.
func (p Price) Off() money.Amount {
	return money.Amount{Minor: p.Sum.Minor - p.Cost.Minor, Currency: p.Sum.Currency}
}

// Title is the title of the discount that the box is.
func (p Price) Title() string {
	if p.Tier == (Tier{}) {
		return DiscountTitle
	}
	return fmt.Sprintf("%s: %s %% off from %d products", DiscountTitle, strconv.FormatFloat(p.Tier.Percent, 'f', -1, 64), p.Tier.MinProducts)
}

// Price returns what a box of these lines costs, at their prices; false when the bundle has no
// lines of them, or asks nothing but their sum. A fixed price is that of one delivery, in the
// store's currency. It never makes a box dearer than its products, and a contract in
// another currency has none.
func (s Settings) Price(lines []contract.LineItem, deliveries int64) (Price, bool) {
	inside := s.Inside(lines)
	if len(inside) == 0 || s.Pricing.Model != Fixed && !s.Pricing.Volume {
		return Price{}, false
	}
	p := Price{Sum: money.Amount{Currency: inside[0].Price.Currency}}
	for _, l := range inside {
		p.Pieces += l.Quantity
		p.Sum.Minor += l.Price.Minor * int64(l.Quantity)
	}
	p.Cost = p.Sum
	if fixed, has := s.Pricing.FixedFor(p.Sum.Currency, deliveries); has && fixed.Minor < p.Sum.Minor {
		p.Cost, p.Fixed = fixed, true
	}
	if tier, reached := s.Pricing.TierOf(p.Pieces); reached {
		p.Tier, p.Rounded = tier, !p.Cost.HasPercent(tier.Percent)
		p.Cost = p.Cost.PercentOff(tier.Percent)
	}
	return p, p.Fixed || p.Tier != (Tier{})
}

// FixedFor returns the fixed price of so many deliveries in a currency; false when there is none.
func (p Pricing) FixedFor(c money.Currency, deliveries int64) (money.Amount, bool) {
	return p.Fixed.Times(max(1, deliveries)), p.Model == Fixed && p.Fixed.Currency == c
}

// TierOf returns the tier that so many pieces reach; false when they reach none.
func (p Pricing) TierOf(pieces int) (Tier, bool) {
	if !p.Volume {
		return Tier{}, false
	}
	for i := len(p.Tiers) - 1; i >= 0; i-- {
		if pieces >= p.Tiers[i].MinProducts && p.Tiers[i].Percent > 0 {
			return p.Tiers[i], true
		}
	}
	return Tier{}, false
}
