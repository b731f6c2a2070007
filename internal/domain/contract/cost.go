package contract

import (
	"math/bits"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Bill is the sum of an order before taxes, which are not known in advance, and its parts.
type Bill struct {
	Items    money.Amount // all lines before discounts
	Delivery money.Amount // before discounts
	Total    money.Amount // after discounts
}

// Cost returns the total of the order's bill, for lines at the prices of its cycle. Ahead is
// the number of the contract's orders before it.
func (c Contract) Cost(lines []LineItem, cycle, ahead int) money.Amount {
	return c.Bill(c.PricedAt(lines, cycle, ahead), ahead).Total
}

// PricedAt returns lines at the prices that they have in an order. Ahead is the number of the
// contract's orders before it.
func (c Contract) PricedAt(lines []LineItem, cycle, ahead int) []LineItem {
	if !c.Priced {
		return lines
	}
	priced := slices.Clone(lines)
	for i, l := range priced {
		priced[i].Price = c.PriceAt(l, cycle, c.NextOrder()+ahead)
	}
	return priced
}

// Bill adds up an order of lines, whose prices are those of the order: the lines and
// delivery, less discounts. Ahead is the number of the contract's orders before it; each uses
// up one cycle of a discount. The platform decides the amount that is charged; it does not
// publish how it rounds shares.
func (c Contract) Bill(lines []LineItem, ahead int) Bill {
	left := make([]int64, len(lines)) // of each line, in minor units
	zero := money.Amount{Currency: c.Currency}
	b := Bill{Items: zero, Delivery: money.Amount{Minor: c.DeliveryPrice.Minor, Currency: c.Currency}, Total: zero}
	for i, l := range lines {
		left[i] = l.Price.Minor * int64(l.Quantity)
		b.Items.Minor += left[i]
	}
	delivery := c.DeliveryPrice.Minor
	for _, d := range c.Discounts {
		switch {
		case d.RejectedWhy != "" || d.CycleLimit > 0 && d.UsedCycles+ahead >= d.CycleLimit:
		case d.FreeShipping:
			delivery = 0
		case d.TargetIsOrder:
			delivery -= discountOn(d, delivery, 1)
		default:
			c.takeOff(d, lines, left)
		}
	}
	b.Total.Minor = delivery
	for _, n := range left {
		b.Total.Minor += n
	}
	return b
}

// HasDiscount reports whether a discount of a title is on the contract and not used up.
func (c Contract) HasDiscount(title string) bool {
	return slices.ContainsFunc(c.Discounts, func(d Discount) bool {
		return d.Title == title && d.RejectedWhy == "" && (d.CycleLimit == 0 || d.UsedCycles < d.CycleLimit)
	})
}

// takeOff subtracts a discount from the lines that it applies to.
func (c Contract) takeOff(d Discount, lines []LineItem, left []int64) {
	var chosen []int
	var sum int64
	for i, l := range lines {
		if d.Entitles(l.ID) {
			chosen = append(chosen, i)
			sum += left[i]
		}
	}
	if d.Percent > 0 || d.EachItem {
		for _, i := range chosen {
			left[i] -= discountOn(d, left[i], int64(lines[i].Quantity))
		}
		return
	}
	amount := min(d.Amount.Minor, sum)
	rest := amount
	for _, i := range chosen {
		share := proportion(amount, left[i], sum)
		left[i], rest = left[i]-share, rest-share
	}
	for _, i := range chosen { // less than a unit for each of them is left by rounding down: the first ones get it
		if rest > 0 && left[i] > 0 {
			left[i], rest = left[i]-1, rest-1
		}
	}
}

// proportion returns a part's share of an amount, rounded down.
func proportion(amount, part, sum int64) int64 {
	if sum == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(amount), uint64(part))
	share, _ := bits.Div64(hi, lo, uint64(sum))
	return int64(share)
}

// discountOn returns a discount on an amount of so many items: a percentage, rounded
// half up, or an amount off each item.
func discountOn(d Discount, amount, items int64) int64 {
	if d.Percent > 0 {
		return amount - money.Amount{Minor: amount}.PercentOff(float64(d.Percent)).Minor
	}
	return min(amount, d.Amount.Minor*items)
}
