package order

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// Bill adds up an order of a contract. Its lines have the prices of the order. If they are a box, it
// costs what its bundle says, and the price is returned too. Ahead is the number of the contract's
// orders before it.
func (r Rules) Bill(of contract.Contract, lines []contract.LineItem, ahead int) (contract.Bill, *bundle.Price) {
	of, box := r.Boxed(of, lines, ahead)
	return of.Bill(lines, ahead), box
}

// Boxed returns the contract with the discount that makes an order of these lines cost what its
// bundle says, after all other discounts, in place of one that it has; and the price of the box,
// or nil.
//
// The other discounts are those of a box at its price: 10 % of a box for 49 is 4.90, whatever its
// products cost. The platform takes discounts off one after another. So the discount of the box is
// the last one, and takes off what is left too much.
func (r Rules) Boxed(c contract.Contract, lines []contract.LineItem, ahead int) (contract.Contract, *bundle.Price) {
	if slices.ContainsFunc(c.Discounts, isBox) {
		c.Discounts = slices.DeleteFunc(slices.Clone(c.Discounts), isBox)
	}
	price, has := r.priceOf(c, lines)
	if !has {
		return c, nil
	}
	boxFirst := c
	boxFirst.Discounts = append([]contract.Discount{{Amount: price.Off(), AllLines: true}}, c.Discounts...)
	off := c.Bill(lines, ahead).Total
	if off.Minor -= boxFirst.Bill(lines, ahead).Total.Minor; off.Minor > 0 {
		c.Discounts = append(slices.Clip(c.Discounts), contract.Discount{Title: price.Title(), Amount: off, AllLines: true})
	}
	return c, &price
}

// Incomplete returns the first rule that the lines of a contract break as a box; nil: none. Limits by
// category are left out: products change their types without the customer.
func (r Rules) Incomplete(c contract.Contract) error {
	box, boxed := bundle.Of(r.Boxes, c)
	if !boxed {
		return nil
	}
	return box.CheckSize(c.Lines)
}

func (r Rules) priceOf(c contract.Contract, lines []contract.LineItem) (bundle.Price, bool) {
	if len(r.Boxes) == 0 {
		return bundle.Price{}, false
	}
	c.Lines = lines
	box, boxed := bundle.Of(r.Boxes, c)
	if !boxed {
		return bundle.Price{}, false
	}
	return box.Price(lines, c.Deliveries())
}

func isBox(d contract.Discount) bool { return bundle.IsDiscount(d.Title) }

// BoxEdits returns the edits of discounts after which they hold the box's discount that a contract has
// by Boxed, and no other of its kind. It is the last one; the platform adds one after the others.
func BoxEdits(is []contract.Discount, boxed contract.Contract) []platform.DiscountEdit {
	var edits []platform.DiscountEdit
	last := len(boxed.Discounts) - 1
	wanted := last >= 0 && isBox(boxed.Discounts[last])
	for i, d := range is {
		if !isBox(d) {
			continue
		}
		if wanted && i == len(is)-1 && d.Title == boxed.Discounts[last].Title && d.Amount == boxed.Discounts[last].Amount && d.RejectedWhy == "" {
			wanted = false
			continue
		}
		edits = append(edits, platform.DiscountEdit{Remove: d.ID})
	}
	if wanted {
		edits = append(edits, platform.DiscountEdit{Add: &boxed.Discounts[last]})
	}
	return edits
}

// BoxState returns the amounts and places of the boxes' discounts among others: equal texts, equal
// prices. It is empty if there are none.
func BoxState(list []contract.Discount) string {
	var state strings.Builder
	for i, d := range list {
		if isBox(d) {
			fmt.Fprintf(&state, " box %d of %d off %s", i+1, len(list), d.Amount)
		}
	}
	return state.String()
}

// BoxDiscount returns the amount of a box's discount among others, in minor units.
func BoxDiscount(list []contract.Discount) int64 {
	var off int64
	for _, d := range list {
		if isBox(d) {
			off += d.Amount.Minor
		}
	}
	return off
}
