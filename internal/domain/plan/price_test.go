package plan

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/platform"
)

func monthly(change ...func(*Option)) Option {
	o := Option{Name: "Every month", Kind: PayAsYouGo, Billing: Frequency{cadence.Month, 1}, Delivery: Frequency{cadence.Month, 1}}
	for _, c := range change {
		c(&o)
	}
	return o
}

func TestPricesByOrder(t *testing.T) {
	t.Parallel()
	off := func(kind DiscountKind, offer float64, after int) Discount {
		return Discount{Enabled: true, Kind: kind, Offer: offer, After: after}
	}
	threeMonths := func(o *Option) { o.Kind, o.Billing.Count = Prepaid, 3 }
	for name, test := range map[string]struct {
		option Option
		base   int64
		want   []int64 // of the first orders
	}{
		"without a discount everything costs what it costs":           {monthly(), 1000, []int64{1000, 1000}},
		"a discount that is not enabled is none":                      {monthly(func(o *Option) { o.First = Discount{Kind: Percentage, Offer: 10} }), 1000, []int64{1000}},
		"ten percent are taken off every order":                       {monthly(func(o *Option) { o.First = off(Percentage, 10, 0) }), 1000, []int64{900, 900, 900}},
		"half a cent is the buyer's":                                  {monthly(func(o *Option) { o.First = off(Percentage, 15, 0) }), 1250, []int64{1062}},
		"more than that is not":                                       {monthly(func(o *Option) { o.First = off(Percentage, 15, 0) }), 1495, []int64{1271}},
		"a third of a percent is exact":                               {monthly(func(o *Option) { o.First = off(Percentage, 33.3, 0) }), 1000, []int64{667}},
		"a hundred percent is nothing":                                {monthly(func(o *Option) { o.First = off(Percentage, 100, 0) }), 1999, []int64{0}},
		"an amount is taken off":                                      {monthly(func(o *Option) { o.First = off(Fixed, 2.5, 0) }), 1000, []int64{750}},
		"an amount that is more than the price leaves nothing":        {monthly(func(o *Option) { o.First = off(Fixed, 25, 0) }), 1000, []int64{0}},
		"a price is the price":                                        {monthly(func(o *Option) { o.First = off(Price, 7.99, 0) }), 1000, []int64{799, 799}},
		"the second discount takes the first one's place":             {monthly(func(o *Option) { o.First, o.Second = off(Percentage, 10, 0), off(Percentage, 25, 2) }), 1000, []int64{900, 900, 750, 750}},
		"a first discount may come later":                             {monthly(func(o *Option) { o.First = off(Percentage, 20, 1) }), 1000, []int64{1000, 800, 800}},
		"a second discount may come without a first":                  {monthly(func(o *Option) { o.Second = off(Fixed, 1, 3) }), 1000, []int64{1000, 1000, 1000, 900}},
		"a trial costs nothing and then the price":                    {monthly(func(o *Option) { o.Trial = Trial{Enabled: true} }), 1000, []int64{0, 1000, 1000}},
		"a trial is followed by the discount":                         {monthly(func(o *Option) { o.Trial, o.First = Trial{Enabled: true}, off(Percentage, 10, 0) }), 1000, []int64{0, 900, 900}},
		"a prepaid plan is paid for all deliveries":                   {monthly(threeMonths, func(o *Option) { o.First = off(Percentage, 20, 0) }), 17000, []int64{40800}},
		"an amount off a prepaid plan is off the whole payment":       {monthly(threeMonths, func(o *Option) { o.First = off(Fixed, 5, 0) }), 1000, []int64{2500}},
		"a percentage of a prepaid plan is rounded for each delivery": {monthly(threeMonths, func(o *Option) { o.First = off(Percentage, 15, 0) }), 1250, []int64{3186}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, want := range test.want {
				if got := test.option.PriceAt(money.Amount{Minor: test.base, Currency: "USD"}, i+1); got != (money.Amount{Minor: want, Currency: "USD"}) {
					t.Errorf("order %d costs %v, want %d", i+1, got, want)
				}
			}
		})
	}
}

func TestAmountsHaveCurrencyDecimals(t *testing.T) {
	t.Parallel()
	o := monthly(func(o *Option) { o.First = Discount{Enabled: true, Kind: Fixed, Offer: 99.5} })
	for currency, want := range map[money.Currency]int64{"JPY": 900, "USD": 0, "KWD": 0} { // 99.5 yen are 100, to even
		if got := o.PriceAt(money.Amount{Minor: 1000, Currency: currency}, 1); got.Minor != want {
			t.Errorf("%s: %v", currency, got)
		}
	}
}

func TestPlatformPricesMatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		option Option
		want   []platform.PlanPrice
	}{
		"no discount": {monthly(), nil},
		"a later discount has a first step of nothing": {
			monthly(func(o *Option) { o.First = Discount{Enabled: true, Kind: Price, Offer: 5, After: 2} }),
			[]platform.PlanPrice{{Kind: platform.PercentOff}, {After: 2, Kind: platform.FixedPrice, Amount: money.Amount{Minor: 500, Currency: "USD"}}},
		},
		"a trial": {
			monthly(func(o *Option) { o.Trial.Enabled = true }),
			[]platform.PlanPrice{{Kind: platform.PercentOff, Percent: 100}, {After: 1, Kind: platform.PercentOff}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := test.option.prices("USD")
			if len(got) != len(test.want) {
				t.Fatalf("got %+v", got)
			}
			for i := range got {
				if got[i] != test.want[i] {
					t.Errorf("step %d is %+v, want %+v", i, got[i], test.want[i])
				}
			}
		})
	}
}
