package billing

import (
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
)

// BoxChange is a change of the discount that makes a box cost what its bundle says. Amounts are in
// the contract's currency.
type BoxChange struct {
	Title   string `json:"title,omitempty"` // of the discount; empty: there is none any more
	From    string `json:"from"`
	To      string `json:"to"`
	Rounded bool   `json:"rounded,omitempty"` // the percentage of its tier is a fraction of the minor unit
}

// NewBoxChange returns the change of a box's discount between those of a contract and those that it
// gets. The price is nil if it is no box then.
func NewBoxChange(is []contract.Discount, becomes contract.Contract, price *bundle.Price) *BoxChange {
	amount := func(list []contract.Discount) string {
		return money.Amount{Minor: order.BoxDiscount(list), Currency: becomes.Currency}.String()
	}
	c := &BoxChange{From: amount(is), To: amount(becomes.Discounts)}
	if price != nil {
		c.Title, c.Rounded = price.Title(), price.Rounded
	}
	return c
}

// Events returns the events of the entries about the change.
func (c BoxChange) Events() []activity.EventType {
	if c.Rounded {
		return []activity.EventType{activity.BABDiscountAdjustment, activity.BundleDiscountPercentageRounded}
	}
	return []activity.EventType{activity.BABDiscountAdjustment}
}
