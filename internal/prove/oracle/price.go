package oracle

// Sale has the prices and discounts of a subscription. Amounts count the smallest unit of the currency.
type Sale struct {
	Lines     []Goods
	Discounts []Discount // in the order in which they were given
	Delivery  int64
	Paid      int // cycles that the checkout has paid for
}

// Goods is one line of a sale.
type Goods struct {
	Price    int64 // of one
	Quantity int64
	Steps    []Step // by After
}

// Step is a price that takes the place of another one once so many cycles are paid.
type Step struct {
	After   int
	Percent int64 // off the price of the sale, or
	Price   int64
}

// Discount is taken off all lines.
type Discount struct {
	Percent  int64 // or
	Amount   int64
	EachItem bool // Amount is off every item, and not off the order
	Orders   int  // that get it; 0: all
	From     int  // the first order that gets it, counted from 1 for that of the checkout
}

// Cost returns what an order costs, counted from 1 for that of the checkout.
func (s Sale) Cost(order int) int64 {
	left := make([]int64, len(s.Lines))
	for i, l := range s.Lines {
		left[i] = l.price(order-1+s.Paid) * l.Quantity
	}
	for _, d := range s.Discounts {
		if order >= d.From && (d.Orders == 0 || order < d.From+d.Orders) {
			d.take(s.Lines, left)
		}
	}
	return s.Delivery + sum(left)
}

// price returns what one costs in a cycle.
func (g Goods) price(cycle int) int64 {
	price := g.Price
	for _, s := range g.Steps {
		switch {
		case cycle <= s.After:
		case s.Percent > 0:
			price = g.Price - percentOf(g.Price, s.Percent)
		default:
			price = s.Price
		}
	}
	return price
}

// take lowers what is left of each line. Nothing costs less than nothing.
func (d Discount) take(lines []Goods, left []int64) {
	total := sum(left)
	rest := min(d.Amount, total)
	for i := range left {
		switch had := left[i]; {
		case d.Percent > 0:
			left[i] -= percentOf(had, d.Percent)
		case d.EachItem:
			left[i] -= min(d.Amount*lines[i].Quantity, had)
		case total > 0:
			part := min(d.Amount, total) * had / total
			left[i], rest = had-part, rest-part
		}
	}
	for i := 0; d.Percent == 0 && !d.EachItem && rest > 0; i = (i + 1) % len(left) { // units that cannot be divided
		if left[i] > 0 {
			left[i], rest = left[i]-1, rest-1
		}
	}
}

// percentOf returns some per cent of an amount; half a unit is rounded up.
func percentOf(amount, percent int64) int64 { return (amount*percent + 50) / 100 }

func sum(list []int64) (total int64) {
	for _, n := range list {
		total += n
	}
	return total
}
