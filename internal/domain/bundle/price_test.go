package bundle

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestPrice(t *testing.T) {
	t.Parallel()
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	line := func(n int, price money.Amount) contract.LineItem {
		return contract.LineItem{SellingPlanID: 7, VariantID: 1, Quantity: n, Price: price}
	}
	fixed := Pricing{Model: Fixed, Fixed: usd(4900)}
	tiers := Pricing{Model: Dynamic, Volume: true, Tiers: []Tier{{3, 5}, {6, 12.5}}}
	both := fixed
	both.Volume, both.Tiers = true, tiers.Tiers
	for name, row := range map[string]struct {
		pricing    Pricing
		lines      []contract.LineItem
		deliveries int64
		cost       int64
		title      string // of the discount; empty: the sum
		rounded    bool
	}{
		"the sum":                            {Pricing{Model: Dynamic}, []contract.LineItem{line(5, usd(1000))}, 1, 5000, "", false},
		"one price":                          {fixed, []contract.LineItem{line(5, usd(1000))}, 1, 4900, "Box price", false},
		"one price above the sum":            {fixed, []contract.LineItem{line(4, usd(1000))}, 1, 4000, "", false},
		"one price of three deliveries":      {fixed, []contract.LineItem{line(5, usd(3000))}, 3, 14700, "Box price", false},
		"one price in another currency":      {fixed, []contract.LineItem{line(5, money.Amount{Minor: 1000, Currency: "EUR"})}, 1, 5000, "", false},
		"no tier is reached":                 {tiers, []contract.LineItem{line(2, usd(1000))}, 1, 2000, "", false},
		"a tier is":                          {tiers, []contract.LineItem{line(5, usd(1000))}, 1, 4750, "Box price: 5 % off from 3 products", false},
		"the highest is":                     {tiers, []contract.LineItem{line(6, usd(1000))}, 1, 5250, "Box price: 12.5 % off from 6 products", false},
		"it is rounded half up":              {tiers, []contract.LineItem{line(3, usd(33))}, 1, 94, "Box price: 5 % off from 3 products", true}, // 4.95 off
		"a tier in another currency":         {tiers, []contract.LineItem{line(3, money.Amount{Minor: 1000, Currency: "JPY"})}, 1, 2850, "Box price: 5 % off from 3 products", false},
		"tiers that are off":                 {Pricing{Model: Dynamic, Tiers: tiers.Tiers}, []contract.LineItem{line(6, usd(1000))}, 1, 6000, "", false},
		"a tier of one price":                {both, []contract.LineItem{line(3, usd(2000))}, 1, 4655, "Box price: 5 % off from 3 products", false},
		"a tier of less than one price":      {both, []contract.LineItem{line(3, usd(1000))}, 1, 2850, "Box price: 5 % off from 3 products", false},
		"what is on no plan of it is beside": {fixed, []contract.LineItem{line(5, usd(1000)), {VariantID: 2, Quantity: 1, Price: usd(500)}}, 1, 4900, "Box price", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Settings{Plans: []int64{7}, Pricing: row.pricing}
			got, has := s.Price(row.lines, row.deliveries)
			if has != (row.title != "") || has && (got.Cost.Minor != row.cost || got.Title() != row.title || got.Rounded != row.rounded) {
				t.Errorf("it costs %s: %q (%t, rounded %t), want %d: %q", got.Cost, got.Title(), has, got.Rounded, row.cost, row.title)
			}
			if has && (!IsDiscount(got.Title()) || CheckDiscountTitle(got.Title()) == nil) {
				t.Errorf("%q is not taken for the title of a box's discount", got.Title())
			}
		})
	}
}
