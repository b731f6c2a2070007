package here

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

// The steps of a plan count with the orders, and those of a move with the cycles from the contract's first: both
// name the same order.
func TestPlanStepsLeaveAsPricesByCycle(t *testing.T) {
	t.Parallel()
	// 10.00 without a plan, 8.00 from the order of the checkout on, 9.00 after the third order, 9.50 after the fifth.
	plan := contract.Pricing{Base: usd(1000), Cycles: []contract.CyclePrice{{Computed: usd(800)}, {After: 3, Computed: usd(900)}, {After: 5, Computed: usd(950)}}}
	for name, row := range map[string]struct {
		is      money.Amount
		orders  int // renewals
		skipped int // cycles that were no order
		priced  bool
		want    []int64 // of the next orders
	}{
		"from the beginning":           {usd(800), 0, 0, true, []int64{800, 800, 900, 900, 950}},
		"after renewals":               {usd(800), 2, 0, true, []int64{900, 900, 950, 950}},
		"with a skipped cycle":         {usd(800), 0, 1, true, []int64{800, 800, 900, 900, 950}},
		"at a step":                    {usd(900), 3, 0, true, []int64{900, 950, 950}},
		"with a later price from then": {usd(950), 0, 0, true, []int64{950, 950, 950}},
		"with a price by hand":         {usd(777), 0, 0, true, []int64{777, 777, 777, 777}},
		"with a price that stays":      {usd(800), 0, 0, false, []int64{800, 800, 800, 800}},
	} {
		d := contract.Detail{Contract: contract.Contract{
			Currency: "USD", OriginOrderID: 1, Orders: row.orders, Priced: row.priced, Lines: []contract.LineItem{{ID: "line", Quantity: 1, Price: row.is}},
			PlanPricing: map[string]contract.Pricing{"line": plan},
		}}
		c := describe(d)
		c.CyclesDone = row.orders + row.skipped
		addPlanPrices(&c, d)
		l := c.Lines[0]
		for n, want := range row.want {
			is := moving.Line{Price: l.NextPrice(c.CyclesDone), Pricing: l.Rest(c.CyclesDone)} // as the other service gets it
			if got := is.NextPrice(n); got.Minor != want {
				t.Errorf("%s: order %d from now on costs %s, want %s", name, n+1, got, usd(want))
			}
			if want != plan.Cycles[0].Computed.Minor && row.priced && d.PriceAt(contract.LineItem{ID: "line", Price: row.is}, 0, d.NextOrder()+n).Minor != want {
				t.Errorf("%s: the service itself would charge another price for order %d", name, n+1)
			}
		}
	}
}
