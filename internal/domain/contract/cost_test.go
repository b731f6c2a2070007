package contract

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

func TestCost(t *testing.T) {
	t.Parallel()
	coffee := LineItem{ID: "coffee", Quantity: 2, Price: usd(1250)}
	tea := LineItem{ID: "tea", Quantity: 1, Price: usd(999)}
	once := LineItem{Quantity: 3, Price: usd(400)} // a one-time product
	steps := map[string]Pricing{"coffee": {Base: usd(1500), Cycles: []CyclePrice{{After: 0, Computed: usd(1250)}, {After: 2, Computed: usd(1000)}}}}
	for _, row := range []struct {
		name         string
		lines        []LineItem
		delivery     int64
		discounts    []Discount
		priced       bool
		cycle, ahead int
		want         string
	}{
		{name: "lines and delivery add up", lines: []LineItem{coffee, tea}, delivery: 490, cycle: 1, want: "39.89"},
		{name: "a one-time product is paid too", lines: []LineItem{coffee, once}, cycle: 1, want: "37.00"},
		{name: "a percentage is rounded half up for each line", lines: []LineItem{coffee, tea}, discounts: []Discount{{Percent: 15, AllLines: true}}, cycle: 1, want: "29.74"},
		{name: "it is for the lines that it names", lines: []LineItem{coffee, tea}, discounts: []Discount{{Percent: 50, Lines: []string{"tea"}}}, cycle: 1, want: "29.99"},
		{name: "one for all lines is for one-time products too", lines: []LineItem{coffee, once}, discounts: []Discount{{Percent: 10, AllLines: true}}, cycle: 1, want: "33.30"},
		{name: "an amount is taken off once", lines: []LineItem{coffee, tea}, discounts: []Discount{{Amount: usd(1001), AllLines: true}}, cycle: 1, want: "24.98"},
		{name: "or off each item", lines: []LineItem{coffee, tea}, discounts: []Discount{{Amount: usd(100), EachItem: true, AllLines: true}}, cycle: 1, want: "31.99"},
		{name: "never more than there is", lines: []LineItem{tea}, delivery: 490, discounts: []Discount{{Amount: usd(5000), AllLines: true}}, cycle: 1, want: "4.90"},
		{name: "nor off each item", lines: []LineItem{coffee, tea}, discounts: []Discount{{Amount: usd(1100), EachItem: true, AllLines: true}}, cycle: 1, want: "3.00"},
		{name: "each discount is off what the one before it left", lines: []LineItem{coffee}, discounts: []Discount{{Amount: usd(500), AllLines: true}, {Percent: 50, AllLines: true}}, cycle: 1, want: "10.00"},
		{name: "an amount is shared in proportion", lines: []LineItem{coffee, tea}, discounts: []Discount{{Amount: usd(1000), AllLines: true}, {Percent: 100, Lines: []string{"coffee"}}}, cycle: 1, want: "7.14"},
		{name: "what rounding leaves is the first one's", lines: []LineItem{coffee, tea}, discounts: []Discount{{Amount: usd(1000), AllLines: true}, {Percent: 100, Lines: []string{"tea"}}}, cycle: 1, want: "17.85"},
		{name: "free shipping leaves the lines", lines: []LineItem{tea}, delivery: 490, discounts: []Discount{{FreeShipping: true, TargetIsOrder: true, Percent: 100}}, cycle: 1, want: "9.99"},
		{name: "half the shipping too", lines: []LineItem{tea}, delivery: 490, discounts: []Discount{{TargetIsOrder: true, Percent: 50}}, cycle: 1, want: "12.44"},
		{name: "a discount that is used up is none", lines: []LineItem{coffee}, discounts: []Discount{{Percent: 50, AllLines: true, CycleLimit: 2, UsedCycles: 2}}, cycle: 3, want: "25.00"},
		{name: "one that has an order left is for the next", lines: []LineItem{coffee}, discounts: []Discount{{Percent: 50, AllLines: true, CycleLimit: 2, UsedCycles: 1}}, cycle: 2, want: "12.50"},
		{name: "and not for the one after it", lines: []LineItem{coffee}, discounts: []Discount{{Percent: 50, AllLines: true, CycleLimit: 2, UsedCycles: 1}}, cycle: 3, ahead: 1, want: "25.00"},
		{name: "one that the platform rejects is none", lines: []LineItem{coffee}, discounts: []Discount{{Percent: 50, AllLines: true, RejectedWhy: "NOT_FOUND"}}, cycle: 1, want: "25.00"},
		{name: "before a price changes it is what it was", lines: []LineItem{coffee}, priced: true, cycle: 2, want: "25.00"},
		{name: "afterwards it is the new one", lines: []LineItem{coffee}, priced: true, cycle: 3, want: "20.00"},
		{name: "without prices by cycle the price stays", lines: []LineItem{coffee}, cycle: 3, want: "25.00"},
		{name: "a price set by hand stays", lines: []LineItem{{ID: "coffee", Quantity: 2, Price: usd(777)}}, priced: true, cycle: 3, want: "15.54"},
		{name: "amounts may be large", lines: []LineItem{{ID: "gold", Quantity: 9999, Price: usd(99999999)}, tea}, discounts: []Discount{{Amount: usd(99999999), AllLines: true}}, cycle: 1, want: "9997999910.01"},
		{name: "an order of nothing costs its delivery", delivery: 490, discounts: []Discount{{Amount: usd(500), AllLines: true}}, cycle: 1, want: "4.90"},
	} {
		c := Contract{Currency: "USD", Lines: row.lines, DeliveryPrice: usd(row.delivery), Discounts: row.discounts, Priced: row.priced, Pricing: steps}
		if got := c.Cost(row.lines, row.cycle, row.ahead); got.String() != row.want || got.Currency != "USD" {
			t.Errorf("%s: %s %s, want %s", row.name, got, got.Currency, row.want)
		}
	}
}
