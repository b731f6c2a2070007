package order

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

// shelf returns the variants of the tests' store: variant n costs n dollars.
func shelf(ids ...int64) map[int64]platform.Variant {
	sold := make(map[int64]platform.Variant)
	for _, id := range ids {
		sold[id] = platform.Variant{ID: id, ProductID: 100 + id, Price: usd(100 * id)}
	}
	return sold
}

// exchange is a rule that puts one variant in the place of another.
func exchange(id swap.ID, from, to int64, change func(*swap.Rule)) swap.Rule {
	r := swap.Rule{
		ID: id, Line: shop.Subscriptions, Sequence: int(id), Sources: []swap.Product{{VariantID: from, Quantity: 1}}, Destinations: []swap.Product{{VariantID: to, Quantity: 1}},
		Variants: shelf(from, to),
	}
	if change != nil {
		change(&r)
	}
	return r
}

// having are the rules of a store for subscriptions.
func having(rules ...swap.Rule) Rules {
	r := RulesOf(rules, shop.Subscriptions)
	r.Variants = Named(rules)
	return r
}

// coffee is a contract of one product, number 10 for 10 dollars, whose next order is its second one.
func coffee() contract.Contract {
	return contract.Contract{
		Line: shop.Subscriptions, Currency: "USD", OriginOrderID: 1, Series: contract.Series{Cycle: 1, Start: time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)},
		Lines: []contract.LineItem{{ID: "a", ProductID: 110, VariantID: 10, Quantity: 1, Price: usd(1000)}}, DeliveryPrice: usd(300),
	}
}

// summary says of orders which variants they hold, and what they cost.
func summary(orders []Order) string {
	var texts []string
	for _, o := range orders {
		var lines []string
		for _, l := range o.Lines {
			lines = append(lines, fmt.Sprintf("%d×%d", l.Quantity, l.VariantID))
		}
		texts = append(texts, fmt.Sprintf("%s %s", strings.Join(lines, "+"), o.Bill.Total))
	}
	return strings.Join(texts, ", ")
}

func cycles(from, n int) []Place {
	places := make([]Place, n)
	for i := range places {
		places[i].Cycle = from + i
	}
	return places
}

func TestWalk(t *testing.T) {
	t.Parallel()
	carry := func(r *swap.Rule) { r.CarryDiscount = true }
	for name, row := range map[string]struct {
		change func(*contract.Contract)
		rules  Rules
		places []Place
		want   string
	}{
		"without anything all orders are alike":                    {places: cycles(2, 3), want: "1×10 13.00, 1×10 13.00, 1×10 13.00"},
		"a rule that acts once acts in the first order, and lasts": {rules: having(exchange(1, 10, 20, nil)), places: cycles(2, 2), want: "1×20 23.00, 1×20 23.00"},
		"one that has acted does not": {
			rules:  func() Rules { r := having(exchange(1, 10, 20, nil)); r.Used = map[swap.ID]bool{1: true}; return r }(),
			places: cycles(2, 2), want: "1×10 13.00, 1×10 13.00",
		},
		"one for a cycle changes that order and no other": {
			rules: having(exchange(1, 10, 20, func(r *swap.Rule) { r.Cycle = 3 })), places: cycles(2, 3), want: "1×10 13.00, 1×20 23.00, 1×10 13.00",
		},
		"one from a cycle on lasts": {
			rules: having(exchange(1, 10, 20, func(r *swap.Rule) { r.Cycle, r.EveryOrder = 3, true })), places: cycles(2, 3), want: "1×10 13.00, 1×20 23.00, 1×20 23.00",
		},
		"an order for which the lasting ones have acted gets none of them": {
			rules: having(exchange(1, 10, 20, func(r *swap.Rule) { r.EveryOrder = true })), places: []Place{{Cycle: 2, Lasted: true}, {Cycle: 3}}, want: "1×10 13.00, 1×20 23.00",
		},
		"two orders take two steps of a chain": {
			rules:  having(exchange(1, 20, 30, func(r *swap.Rule) { r.EveryOrder = true }), exchange(2, 10, 20, func(r *swap.Rule) { r.EveryOrder = true })),
			places: cycles(2, 3), want: "1×20 23.00, 1×30 33.00, 1×30 33.00",
		},
		"prices that begin with an order come before rules, which take their discount over": {
			change: func(c *contract.Contract) {
				c.Priced, c.Lines[0].Price = true, usd(1000)
				c.Pricing = map[string]contract.Pricing{"a": {Base: usd(1000), Cycles: []contract.CyclePrice{{After: 2, Kind: platform.PercentOff, Percent: 50, Computed: usd(500)}}}}
			},
			rules: having(exchange(1, 10, 20, func(r *swap.Rule) { r.Cycle, r.EveryOrder = 4, true; carry(r) })), places: cycles(2, 4),
			want: "1×10 13.00, 1×10 8.00, 1×20 13.00, 1×20 13.00",
		},
		"one-time products are in their order, and no rule replaces them": {
			rules:  having(exchange(1, 10, 20, func(r *swap.Rule) { r.Cycle = 3 })),
			places: []Place{{Cycle: 2}, {Cycle: 3, Once: []contract.LineItem{{VariantID: 10, Quantity: 2, Price: usd(150)}}}}, want: "1×10 13.00, 1×20+2×10 26.00",
		},
		"each order uses up one cycle of a discount": {
			change: func(c *contract.Contract) {
				c.Discounts = []contract.Discount{{Title: "half", Percent: 50, AllLines: true, CycleLimit: 3, UsedCycles: 1}}
			},
			rules: having(exchange(1, 10, 20, func(r *swap.Rule) { r.Cycle = 3 })), places: cycles(2, 3), want: "1×10 8.00, 1×20 13.00, 1×10 13.00",
		},
		"an order that is prepared is what it was prepared with": {
			rules:  having(exchange(1, 10, 20, func(r *swap.Rule) { r.Cycle = 2 })),
			places: []Place{{Cycle: 2, Lasted: true, Lines: []contract.LineItem{{ID: "b", VariantID: 30, Quantity: 1, Price: usd(700)}}}, {Cycle: 3}}, want: "1×30 10.00, 1×10 13.00",
		},
		"a rule whose product is not sold any more leaves the order": {
			rules: func() Rules { r := having(exchange(1, 10, 20, nil)); delete(r.Variants, 20); return r }(), places: cycles(2, 1), want: "1×10 13.00",
		},
		"the plan of the new product sets its price, step by step": {
			change: func(c *contract.Contract) { c.Lines[0].SellingPlanID = 61 },
			rules: func() Rules {
				r := having(exchange(1, 10, 20, func(r *swap.Rule) { r.Discount = swap.ProductPlan }))
				option := plan.Option{ID: 61, Billing: plan.Frequency{Interval: cadence.Week, Count: 1}, Delivery: plan.Frequency{Interval: cadence.Week, Count: 1}}
				option.First = plan.Discount{Enabled: true, Kind: plan.Percentage, Offer: 10}
				option.Second = plan.Discount{Enabled: true, Kind: plan.Percentage, Offer: 20, After: 3}
				r.Plans = map[int64]Plan{61: {Option: option, For: []int64{20}}}
				return r
			}(),
			places: cycles(2, 3), want: "1×20 21.00, 1×20 21.00, 1×20 19.00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := coffee()
			if row.change != nil {
				row.change(&c)
			}
			if got := summary(Walk(c, row.rules, row.places)); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

// boxed is a bundle of the contract's line, for its plan 61.
func boxed(p bundle.Pricing) []bundle.Settings {
	return []bundle.Settings{{ID: 9, Line: shop.Subscriptions, Plans: []int64{61}, Pricing: p, Rules: bundle.Rules{Enabled: true, MinProducts: 2}}}
}

func TestBoxIsTheLastDiscount(t *testing.T) {
	t.Parallel()
	r := Rules{Boxes: boxed(bundle.Pricing{Model: bundle.Fixed, Fixed: usd(800)})}
	percent := contract.Discount{ID: "p", Title: "Hello", Percent: 10, AllLines: true}
	old := contract.Discount{ID: "b", Title: bundle.DiscountTitle, Amount: usd(200), AllLines: true}
	right := contract.Discount{ID: "b", Title: bundle.DiscountTitle, Amount: usd(180), AllLines: true} // of 9.00 for 7.20
	for name, row := range map[string]struct {
		discounts []contract.Discount
		plan      int64
		bill      string
		edits     int
	}{
		"none yet":                           {nil, 61, "11.00", 1},
		"the right one":                      {[]contract.Discount{percent, right}, 61, "10.20", 0},
		"one for a box without the discount": {[]contract.Discount{percent, old}, 61, "10.20", 2},
		"one before the discount":            {[]contract.Discount{right, percent}, 61, "10.20", 2},
		"one that the platform rejects":      {[]contract.Discount{percent, func() contract.Discount { d := right; d.RejectedWhy = "INELIGIBLE"; return d }()}, 61, "10.20", 2},
		"two":                                {[]contract.Discount{old, percent, right}, 61, "10.20", 1},
		"one of a contract that is no box":   {[]contract.Discount{percent, right}, 62, "12.00", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := coffee()
			c.Lines[0].SellingPlanID, c.Discounts = row.plan, row.discounts
			if got := Walk(c, r, cycles(2, 1))[0].Bill.Total.String(); got != row.bill {
				t.Errorf("the order costs %s, want %s", got, row.bill)
			}
			priced, _ := r.Boxed(c, c.Lines, 0)
			edits := BoxEdits(c.Discounts, priced)
			if len(edits) != row.edits {
				t.Errorf("%+v, want %d edits", edits, row.edits)
			}
			same := BoxState(c.Discounts) == BoxState(priced.Discounts)
			if name != "one that the platform rejects" && same != (row.edits == 0) {
				t.Errorf("states %q and %q, with %d edits", BoxState(c.Discounts), BoxState(priced.Discounts), row.edits)
			}
		})
	}
}

func TestIncompleteBox(t *testing.T) {
	t.Parallel()
	r := Rules{Boxes: boxed(bundle.Pricing{Model: bundle.Dynamic})}
	c := coffee()
	if err := r.Incomplete(c); err != nil {
		t.Errorf("a contract that is no box: %v", err)
	}
	c.Lines[0].SellingPlanID = 61
	if err := r.Incomplete(c); err == nil {
		t.Error("one piece is enough for a box of two")
	}
	c.Lines[0].Quantity = 2
	if err := r.Incomplete(c); err != nil {
		t.Errorf("two pieces: %v", err)
	}
}

func TestWalkTellsWhatRulesDid(t *testing.T) {
	t.Parallel()
	later := func(r *swap.Rule) { r.Cycle, r.ShiftDays = 3, new(5) }
	gone := exchange(2, 10, 40, func(r *swap.Rule) { r.Cycle = 2 })
	r := having(exchange(1, 10, 20, later), gone)
	delete(r.Variants, 40)
	got := Walk(coffee(), r, cycles(2, 2))
	if len(got[0].Missing) != 1 || got[0].Missing[0].ID != 2 || len(got[0].Applied) != 0 || got[0].ShiftDays != 0 {
		t.Errorf("the first order %+v", got[0])
	}
	if len(got[1].Applied) != 1 || got[1].Applied[0].ID != 1 || got[1].ShiftDays != 5 || len(got[1].Missing) != 0 {
		t.Errorf("the second order %+v", got[1])
	}
}

func TestWalkChangesNeitherContractNorRules(t *testing.T) {
	t.Parallel()
	c, r := coffee(), having(exchange(1, 10, 20, nil))
	Walk(c, r, cycles(2, 2))
	if c.Lines[0].VariantID != 10 || len(r.Used) != 0 {
		t.Errorf("the contract has %+v, and %v has acted", c.Lines, r.Used)
	}
}

func BenchmarkWalk(b *testing.B) {
	c := coffee()
	c.Discounts = []contract.Discount{{Title: "half", Percent: 50, AllLines: true, CycleLimit: 3, UsedCycles: 1}}
	for id := range int64(9) {
		c.Lines = append(c.Lines, contract.LineItem{ID: fmt.Sprint("x", id), VariantID: 200 + id, Quantity: 2, Price: usd(500)})
	}
	var rules []swap.Rule
	for id := range int64(20) {
		rules = append(rules, exchange(swap.ID(id+1), 10+id, 20+id, nil))
	}
	r, places := having(rules...), cycles(2, 1)
	for b.Loop() {
		Walk(c, r, places)
	}
}
