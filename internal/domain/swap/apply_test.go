package swap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

// shelf sells variants 1 to 9, variant n for n dollars; 7 is gone.
func shelf() Catalogue {
	c := Catalogue{Variants: make(map[int64]platform.Variant)}
	for id := int64(1); id < 10; id++ {
		if id != 7 {
			c.Variants[id] = platform.Variant{ID: id, ProductID: id * 10, ProductTitle: fmt.Sprintf("Product %d", id), Title: "Small", Price: usd(id * 100)}
		}
	}
	return c
}

// item is a line with the identity "a", "b", … of its place.
func items(list ...[3]int64) []LineItem {
	lines := make([]LineItem, len(list))
	for i, l := range list {
		lines[i].LineItem = contract.LineItem{ID: string(rune('a' + i)), VariantID: l[0], Quantity: int(l[1]), Price: usd(l[2]), SellingPlanID: 77}
	}
	return lines
}

func words(lines []LineItem) string {
	var texts []string
	for _, l := range lines {
		id := l.ID
		if id == "" {
			id = "new"
		}
		texts = append(texts, fmt.Sprintf("%s:%d×%d@%s", id, l.VariantID, l.Quantity, l.Price))
	}
	return strings.Join(texts, " ")
}

func of(id int64, quantity int) Product { return Product{VariantID: id, Quantity: quantity} }

func rule(id ID, from, to []Product, change ...func(*Rule)) Rule {
	r := Rule{ID: id, Sources: from, Destinations: to, Sequence: int(id)}
	for _, c := range change {
		c(&r)
	}
	return r
}

func TestApply(t *testing.T) {
	t.Parallel()
	one := func(id int64) []Product { return []Product{of(id, 1)} }
	for name, test := range map[string]struct {
		rules   []Rule
		order   Order
		want    string
		applied int
		missing int
		shift   int
	}{
		"a line that is used up passes its identity on": {
			[]Rule{rule(1, one(1), one(2))}, Order{Lines: items([3]int64{1, 1, 100})}, "a:2×1@2.00", 1, 0, 0,
		},
		"the sources are swapped as often as they are there": {
			[]Rule{rule(1, []Product{of(1, 2)}, one(2))}, Order{Lines: items([3]int64{1, 5, 100})}, "new:2×2@2.00 a:1×1@1.00", 1, 0, 0,
		},
		"all sources must be there in their quantities": {
			[]Rule{rule(1, []Product{of(1, 1), of(3, 2)}, one(2))}, Order{Lines: items([3]int64{1, 1, 100}, [3]int64{3, 1, 300})}, "a:1×1@1.00 b:3×1@3.00", 0, 0, 0,
		},
		"several sources become several destinations, and what is left over goes": {
			[]Rule{rule(1, []Product{of(1, 1), of(3, 1), of(4, 1)}, []Product{of(2, 1), of(5, 3)})},
			Order{Lines: items([3]int64{1, 1, 100}, [3]int64{9, 1, 900}, [3]int64{3, 1, 300}, [3]int64{4, 1, 400})}, "a:2×1@2.00 c:5×3@5.00 b:9×1@9.00", 1, 0, 0,
		},
		"a source may lie on several lines": {
			[]Rule{rule(1, []Product{of(1, 3)}, one(2))}, Order{Lines: items([3]int64{1, 2, 100}, [3]int64{1, 2, 100})}, "a:2×1@2.00 b:1×1@1.00", 1, 0, 0,
		},
		"rules build on one another": {
			[]Rule{rule(1, one(1), one(2)), rule(2, one(2), one(3))}, Order{Lines: items([3]int64{1, 1, 100})}, "a:3×1@3.00", 2, 0, 0,
		},
		"rules never turn in a circle": {
			[]Rule{rule(1, one(1), one(2)), rule(2, one(2), one(3)), rule(3, one(3), one(1))}, Order{Lines: items([3]int64{1, 1, 100})}, "a:3×1@3.00", 2, 0, 0,
		},
		"a rule does not come back in one order": {
			[]Rule{rule(1, one(2), one(3)), rule(2, one(1), one(2))}, Order{Lines: items([3]int64{1, 1, 100})}, "a:2×1@2.00", 1, 0, 0,
		},
		"a product that is gone leaves the order as it is": {
			[]Rule{rule(1, one(1), one(7))}, Order{Lines: items([3]int64{1, 1, 100})}, "a:1×1@1.00", 0, 1, 0,
		},
		"a rule for one cycle acts in that cycle": {
			[]Rule{rule(1, one(1), one(2), func(r *Rule) { r.Cycle = 3 })}, Order{Cycle: 3, Lines: items([3]int64{1, 1, 100})}, "a:2×1@2.00", 1, 0, 0,
		},
		"and in no other": {
			[]Rule{rule(1, one(1), one(2), func(r *Rule) { r.Cycle = 3 })}, Order{Cycle: 4, Lines: items([3]int64{1, 1, 100})}, "a:1×1@1.00", 0, 0, 0,
		},
		"from a cycle on it acts in every one": {
			[]Rule{rule(1, one(1), one(2), func(r *Rule) { r.Cycle, r.EveryOrder = 3, true })}, Order{Cycle: 4, Lines: items([3]int64{1, 1, 100})}, "a:2×1@2.00", 1, 0, 0,
		},
		"but not before": {
			[]Rule{rule(1, one(1), one(2), func(r *Rule) { r.Cycle, r.EveryOrder = 3, true })}, Order{Cycle: 2, Lines: items([3]int64{1, 1, 100})}, "a:1×1@1.00", 0, 0, 0,
		},
		"a rule that has acted for the contract is done": {
			[]Rule{rule(1, one(1), one(2))}, Order{Used: map[ID]bool{1: true}, Lines: items([3]int64{1, 1, 100})}, "a:1×1@1.00", 0, 0, 0,
		},
		"unless it is for every order": {
			[]Rule{rule(1, one(1), one(2), func(r *Rule) { r.EveryOrder = true })}, Order{Used: map[ID]bool{1: true}, Lines: items([3]int64{1, 1, 100})}, "a:2×1@2.00", 1, 0, 0,
		},
		"the very first order is left alone": {
			[]Rule{rule(1, one(1), one(2))}, Order{First: true, Lines: items([3]int64{1, 1, 100})}, "a:1×1@1.00", 0, 0, 0,
		},
		"unless the rule says otherwise": {
			[]Rule{rule(1, one(1), one(2), func(r *Rule) { r.FirstOrder = true })}, Order{First: true, Lines: items([3]int64{1, 1, 100})}, "a:2×1@2.00", 1, 0, 0,
		},
		"shifts add up": {
			[]Rule{
				rule(1, one(1), one(2), func(r *Rule) { r.ShiftDays = new(7) }), rule(2, one(2), one(3), func(r *Rule) { r.ShiftDays = new(-2) }),
				rule(3, one(4), one(5), func(r *Rule) { r.ShiftDays = new(90) }),
			}, Order{Lines: items([3]int64{1, 1, 100})}, "a:3×1@3.00", 2, 0, 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := words(test.order.Lines)
			got := Apply(test.rules, test.order, shelf())
			if words(got.Lines) != test.want || len(got.Applied) != test.applied || len(got.Missing) != test.missing || got.ShiftDays != test.shift {
				t.Errorf("got %s, %d applied, %d missing, shift %d; want %s, %d, %d, %d",
					words(got.Lines), len(got.Applied), len(got.Missing), got.ShiftDays, test.want, test.applied, test.missing, test.shift)
			}
			if after := words(test.order.Lines); after != before {
				t.Errorf("the order that was given changed to %s", after)
			}
		})
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	plan := func(contract.LineItem, platform.Variant) (money.Amount, *platform.Pricing, bool) {
		return usd(160), nil, true
	}
	none := func(contract.LineItem, platform.Variant) (money.Amount, *platform.Pricing, bool) {
		return money.Amount{}, nil, false
	}
	for name, test := range map[string]struct {
		discount DiscountMode
		carry    bool
		paid     int64 // for variant 3, which costs 3.00
		plan     func(contract.LineItem, platform.Variant) (money.Amount, *platform.Pricing, bool)
		want     string // of variant 2, which costs 2.00
	}{
		"without a discount the catalogue's price counts":      {None, false, 270, plan, "2.00"},
		"the existing plan's ten per cent stay ten per cent":   {ExistingPlan, false, 270, plan, "1.80"},
		"carryDiscountForward says the same in short":          {"", true, 270, plan, "1.80"},
		"and yields to the field that says more":               {ProductPlan, true, 270, plan, "1.60"},
		"thirds are rounded to the nearest":                    {ExistingPlan, false, 100, nil, "0.67"},
		"the price is at most the catalogue's":                 {ExistingPlan, false, 900, nil, "2.00"},
		"what was free stays free":                             {ExistingPlan, false, 0, nil, "0.00"},
		"the product's plan has its own price":                 {ProductPlan, false, 270, plan, "1.60"},
		"without a plan for the product the catalogue's price": {ProductPlan, false, 270, none, "2.00"},
		"the product's plan comes before the existing one":     {ProductThenExisting, false, 270, plan, "1.60"},
		"without a plan for the product the existing one":      {ProductThenExisting, false, 270, none, "1.80"},
		"without known plans the existing discount is kept":    {ProductThenExisting, false, 270, nil, "1.80"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := shelf()
			c.PlanPrice = test.plan
			r := rule(1, []Product{of(3, 1)}, []Product{of(2, 1)}, func(r *Rule) { r.Discount, r.CarryDiscount = test.discount, test.carry })
			if got := Apply([]Rule{r}, Order{Lines: items([3]int64{3, 1, test.paid})}, c).Lines[0].Price.String(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	t.Run("in a foreign currency the catalogue's proportion is kept", func(t *testing.T) {
		t.Parallel()
		lines := items([3]int64{3, 2, 0})
		lines[0].Price = money.Amount{Minor: 900, Currency: "JPY"}
		got := Apply([]Rule{rule(1, []Product{of(3, 1)}, []Product{of(2, 1)})}, Order{Lines: lines}, shelf()).Lines[0]
		if got.Price != (money.Amount{Minor: 600, Currency: "JPY"}) || got.Quantity != 2 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestDiscountedPriceKeepsSteps(t *testing.T) {
	t.Parallel()
	percents := func(base int64, list ...float64) *platform.Pricing {
		p := platform.Pricing{}
		for i, percent := range list {
			p.Cycles = append(p.Cycles, platform.CyclePrice{After: i, Kind: platform.PercentOff, Percent: percent})
		}
		on := p.On(usd(base))
		return &on
	}
	fixed := platform.Pricing{Cycles: []platform.CyclePrice{{Kind: platform.AmountOff, Amount: usd(100)}, {After: 2, Kind: platform.FixedPrice, Amount: usd(50)}}}.On(usd(300))
	yen := platform.Pricing{Cycles: []platform.CyclePrice{{Kind: platform.PercentOff, Percent: 10}}}.On(money.Amount{Minor: 900, Currency: "JPY"})
	abroad := items([3]int64{3, 1, 0})
	abroad[0].Price, abroad[0].Pricing = money.Amount{Minor: 810, Currency: "JPY"}, &yen
	with := func(line LineItem, p *platform.Pricing) LineItem { line.Pricing = p; return line }
	two := items([3]int64{3, 1, 240}, [3]int64{4, 1, 320})
	for name, test := range map[string]struct {
		old  []LineItem
		want string // of variant 2, which costs 2.00
	}{
		"off the new product's price":              {[]LineItem{with(two[0], percents(300, 20, 50))}, "1.60 2.00: 1.60 1.00"},
		"at the step that the line has reached":    {[]LineItem{with(items([3]int64{3, 1, 150})[0], percents(300, 20, 50))}, "1.00 2.00: 1.60 1.00"},
		"or before the first":                      {[]LineItem{with(items([3]int64{3, 1, 300})[0], percents(300, 20, 50))}, "2.00 2.00: 1.60 1.00"},
		"a base that is not the catalogue's goes":  {[]LineItem{with(items([3]int64{3, 1, 400})[0], percents(500, 20))}, "1.60 2.00: 1.60"},
		"an amount off and a price stay":           {[]LineItem{with(items([3]int64{3, 1, 200})[0], &fixed)}, "1.00 2.00: 1.00 0.50"},
		"a price set by hand keeps its proportion": {[]LineItem{with(items([3]int64{3, 1, 150})[0], percents(300, 20))}, "1.00"},
		"two lines with the same steps":            {[]LineItem{with(two[0], percents(300, 20)), with(two[1], percents(400, 20))}, "1.60 2.00: 1.60"},
		"two lines with other steps":               {[]LineItem{with(two[0], percents(300, 20)), with(two[1], percents(400, 20, 50))}, "1.60"},
		"two lines, one without steps":             {[]LineItem{with(two[0], percents(300, 20)), two[1]}, "1.60"},
		"in a foreign currency":                    {abroad, "540 600: 540"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shelf := shelf()
			price, p := DiscountedPrice(test.old, shelf.Variants[2], shelf.Variants)
			got := price.String()
			if p != nil {
				got += " " + p.Base.String() + ":"
				for _, step := range p.Cycles {
					got += " " + step.Computed.String()
				}
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := rule(1, []Product{of(1, 1)}, []Product{of(2, 1)})
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Rule){
		"no sources":                 func(r *Rule) { r.Sources = nil },
		"no destinations":            func(r *Rule) { r.Destinations = nil },
		"a source without a variant": func(r *Rule) { r.Sources = []Product{of(0, 1)} },
		"a source twice":             func(r *Rule) { r.Sources = []Product{of(1, 1), of(1, 2)} },
		"none of a source":           func(r *Rule) { r.Sources = []Product{of(1, 0)} },
		"too many of a destination":  func(r *Rule) { r.Destinations = []Product{of(2, 10_000)} },
		"the same products":          func(r *Rule) { r.Destinations = []Product{of(1, 1)} },
		"a long name":                func(r *Rule) { r.Name = strings.Repeat("ä", 256) },
		"a cycle before the first":   func(r *Rule) { r.Cycle = -1 },
		"a negative sequence":        func(r *Rule) { r.Sequence = -1 },
		"a shift beyond a year":      func(r *Rule) { r.ShiftDays = new(366) },
		"a shift back beyond a year": func(r *Rule) { r.ShiftDays = new(-366) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := good
			change(&r)
			if err := r.Check(); err == nil {
				t.Error("it is allowed")
			}
		})
	}
}
