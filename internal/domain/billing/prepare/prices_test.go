package prepare

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestPlanPricesBeginWithTheirOrder(t *testing.T) {
	t.Parallel()
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	steps := func(list ...platform.CyclePrice) platform.Pricing {
		return platform.Pricing{Base: usd(1000), Cycles: list}
	}
	at := func(after int, minor int64) platform.CyclePrice {
		return platform.CyclePrice{After: after, Computed: usd(minor)}
	}
	intro := steps(at(0, 800), at(2, 900))
	free := steps(at(0, 0), at(1, 1000))
	for name, test := range map[string]struct {
		policy platform.Pricing
		is     int64
		order  int
		want   int64 // -1: stays
	}{
		"before its order a price does not begin":                  {intro, 800, 2, -1},
		"it begins with its order":                                 {intro, 800, 3, 900},
		"and stays":                                                {intro, 900, 4, -1},
		"a late one is made up for":                                {intro, 800, 9, 900},
		"the product's own price becomes the first":                {intro, 1000, 1, 800},
		"or the one that is due":                                   {intro, 1000, 3, 900},
		"a price that a person set stays":                          {intro, 850, 3, -1},
		"what came at a later price does not go back":              {intro, 900, 1, -1},
		"a paying customer does not get the free order afterwards": {free, 1000, 1, -1},
		"what was free is paid for from the second order":          {free, 0, 2, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			price, ok := test.policy.Forward(usd(test.is), test.order)
			if ok != (test.want >= 0) || ok && price != usd(test.want) {
				t.Errorf("got %v, %t; want %d", price, ok, test.want)
			}
		})
	}
}
