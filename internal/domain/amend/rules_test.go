package amend

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

// box is a contract at revision 3 with two lines and a discount.
func box(change ...func(*platform.Detail)) platform.Detail {
	d := platform.Detail{
		Contract: platform.Contract{
			ID: 9001, Revision: 3, Note: "ring twice", Billing: platform.Policy{Interval: "MONTH", Count: 1},
			Lines:     []platform.Line{{ID: "l1", VariantID: 41, Quantity: 1, Price: usd(1000)}, {ID: "l2", VariantID: 42, Quantity: 2, Price: usd(500)}},
			Discounts: []platform.Discount{{ID: "d1", Title: "Welcome"}},
		},
	}
	for _, f := range change {
		f(&d)
	}
	return d
}

func later(d *platform.Detail) { d.Revision++ }

func TestWhetherAnEditLandedIsReadFromTheContract(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		edit   platform.Edit
		change []func(*platform.Detail)
		want   bool
	}{
		{"nothing moved", platform.Edit{Note: new("")}, nil, false},
		{"somebody else changed something else", platform.Edit{Note: new("")}, []func(*platform.Detail){later}, false},
		{"the note is what was asked for", platform.Edit{Note: new("x")}, []func(*platform.Detail){later, func(d *platform.Detail) { d.Note = "x" }}, true},
		{"a line has another quantity", platform.Edit{Lines: []platform.LineEdit{{Line: "l1", Quantity: new(3)}}}, []func(*platform.Detail){later}, false},
		{"a line has the quantity", platform.Edit{Lines: []platform.LineEdit{{Line: "l1", Quantity: new(3)}}}, []func(*platform.Detail){later, func(d *platform.Detail) { d.Lines[0].Quantity = 3 }}, true},
		{"a line that was to go is there", platform.Edit{Lines: []platform.LineEdit{{Line: "l2", Remove: true}}}, []func(*platform.Detail){later}, false},
		{"a line that was to go is gone", platform.Edit{Lines: []platform.LineEdit{{Line: "l2", Remove: true}}}, []func(*platform.Detail){later, func(d *platform.Detail) { d.Lines = d.Lines[:1] }}, true},
		{"a variant that was there before is no new line", platform.Edit{Lines: []platform.LineEdit{{Variant: new(int64(42)), Quantity: new(2)}}}, []func(*platform.Detail){later}, false},
		{"a new line has come", platform.Edit{Lines: []platform.LineEdit{{Variant: new(int64(42)), Quantity: new(2)}}}, []func(*platform.Detail){later, func(d *platform.Detail) {
			d.Lines = append(d.Lines, platform.Line{ID: "l3", VariantID: 42, Quantity: 2})
		}}, true},
		{"a discount of that title was there before", platform.Edit{Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "Welcome"}}}}, []func(*platform.Detail){later}, false},
		{"a second discount of that title has come", platform.Edit{Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "Welcome"}}}}, []func(*platform.Detail){later, func(d *platform.Detail) {
			d.Discounts = append(d.Discounts, platform.Discount{ID: "d2", Title: "Welcome"})
		}}, true},
		{"a discount that was to go is there", platform.Edit{Discounts: []platform.DiscountEdit{{Remove: "d1"}}}, []func(*platform.Detail){later}, false},
		{"a code was redeemed", platform.Edit{Discounts: []platform.DiscountEdit{{Code: "TEN"}}}, []func(*platform.Detail){later, func(d *platform.Detail) {
			d.Discounts = append(d.Discounts, platform.Discount{ID: "d2", Code: "TEN"})
		}}, true},
		{"the interval is the old one", platform.Edit{Billing: &platform.Policy{Interval: "MONTH", Count: 2}}, []func(*platform.Detail){later}, false},
		{"the interval is the new one", platform.Edit{Billing: &platform.Policy{Interval: "MONTH", Count: 2}}, []func(*platform.Detail){later, func(d *platform.Detail) { d.Billing.Count = 2 }}, true},
		{"the date is another", platform.Edit{NextBillingDate: new(time.Unix(9, 0))}, []func(*platform.Detail){later}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := landed(box(), box(row.change...), row.edit); got != row.want {
				t.Errorf("landed: %t, want %t", got, row.want)
			}
		})
	}
}

func TestAChargeCoversWholeDeliveries(t *testing.T) {
	t.Parallel()
	every := func(n int, i cadence.Interval) Frequency { return Frequency{Interval: i, Count: n} }
	for _, row := range []struct {
		name              string
		billed, delivered Frequency
		ok                bool
	}{
		{"the same", every(1, cadence.Month), every(1, cadence.Month), true},
		{"three deliveries at once", every(3, cadence.Month), every(1, cadence.Month), true},
		{"a year of months", every(1, cadence.Year), every(1, cadence.Month), true},
		{"four weeks of fortnights", every(28, cadence.Day), every(2, cadence.Week), true},
		{"one and a half", every(3, cadence.Month), every(2, cadence.Month), false},
		{"less than one", every(1, cadence.Month), every(2, cadence.Month), false},
		{"months are no number of weeks", every(1, cadence.Month), every(1, cadence.Week), false},
	} {
		if err := multiple(row.billed, row.delivered); (err == nil) != row.ok {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestAttributesAreLaidOverThoseThatAreThere(t *testing.T) {
	t.Parallel()
	is := []contract.Attribute{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}}
	got := merged(is, []contract.Attribute{{Key: "c", Value: "3"}, {Key: "a", Value: "9"}})
	want := []contract.Attribute{{Key: "a", Value: "9"}, {Key: "b", Value: "2"}, {Key: "c", Value: "3"}}
	if !slices.Equal(got, want) || is[0].Value != "1" {
		t.Errorf("merged: %v (was %v)", got, is)
	}
}

func TestAttributesHaveLimits(t *testing.T) {
	t.Parallel()
	many := make([]contract.Attribute, MaxAttributes+1)
	for i := range many {
		many[i].Key = strings.Repeat("k", i+1)
	}
	for _, row := range []struct {
		name string
		list []contract.Attribute
		ok   bool
	}{
		{"as many as there may be", many[:MaxAttributes], true},
		{"one too many", many, false},
		{"the longest key and value", []contract.Attribute{{Key: strings.Repeat("é", MaxAttributeKey), Value: strings.Repeat("é", MaxAttributeValue)}}, true},
		{"a key that is too long", []contract.Attribute{{Key: strings.Repeat("k", MaxAttributeKey+1)}}, false},
		{"a value that is too long", []contract.Attribute{{Key: "k", Value: strings.Repeat("v", MaxAttributeValue+1)}}, false},
		{"an empty key", []contract.Attribute{{Value: "v"}}, false},
		{"a key twice", []contract.Attribute{{Key: "k"}, {Key: "k"}}, false},
	} {
		if err := CheckAttributes(row.list); (err == nil) != row.ok || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestPricesByCycleAreComputed(t *testing.T) {
	t.Parallel()
	p := pricingOf(usd(1099), []contract.CyclePrice{{After: 0, Kind: platform.PercentOff, Percent: 12.5}, {After: 3, Kind: platform.AmountOff, Amount: usd(2000)}})
	if p.Cycles[0].Computed != usd(962) || p.Cycles[1].Computed != usd(0) || p.Base != usd(1099) {
		t.Errorf("prices %+v", p)
	}
	for name, steps := range map[string][]contract.CyclePrice{
		"three steps":          {{After: 0}, {After: 1}, {After: 2}},
		"steps in wrong order": {{After: 2}, {After: 1}},
		"a step twice":         {{After: 1}, {After: 1}},
		"a negative step":      {{After: -1}},
		"more than all off":    {{Kind: platform.PercentOff, Percent: 101}},
		"a negative price":     {{Kind: platform.FixedPrice, Amount: usd(-1)}},
		"a price of a million": {{Kind: platform.FixedPrice, Amount: usd(1_000_000_00)}},
	} {
		if err := checkPricing(steps); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDiscountsGoWithTheLinesThatTheyAreFor(t *testing.T) {
	t.Parallel()
	d := contract.Detail{Contract: contract.Contract{Discounts: []contract.Discount{
		{ID: "one", Lines: []string{"l1"}}, {ID: "both", Lines: []string{"l1", "l2"}}, {ID: "other", Lines: []string{"l2"}}, {ID: "all", AllLines: true}, {ID: "shipping"},
	}}}
	var gone []string
	for _, e := range orphans(d, []string{"l1"}) {
		gone = append(gone, e.Remove)
	}
	if !slices.Equal(gone, []string{"one"}) {
		t.Errorf("removed %v", gone)
	}
}

func TestAContractIsSplitOffWithAllThatItsLinesHave(t *testing.T) {
	t.Parallel()
	is := box(func(d *platform.Detail) {
		d.LineDetails = []platform.LineDetail{{}, {Attributes: []platform.Attribute{{Key: "size", Value: "L"}}}}
		d.PaymentMethod.ID, d.Billing.MaxCycles = "card", 12
	})
	known := contract.Contract{ID: 9001, Status: contract.Active, NextBillingDate: time.Unix(1e9, 0)}
	n, err := splitOff(known, is, contract.SplitIntent{Lines: []string{"l2"}, Once: true, Token: "t"}, map[string]going{"l2": {usd(500), &platform.Pricing{Base: usd(500)}}})
	if err != nil {
		t.Fatal(err)
	}
	l := n.Lines[0]
	if len(n.Lines) != 1 || *l.Variant != 42 || *l.Quantity != 2 || *l.Price != usd(500) || l.Pricing == nil || (*l.Attributes)[0].Value != "L" ||
		*n.PaymentMethod != "card" || *n.Note != "ring twice" || n.Status != "PAUSED" || n.Billing.MaxCycles != 1 || (*n.Attributes)[0] != (platform.Attribute{Key: "_split", Value: "t"}) || !n.NextBillingDate.Equal(known.NextBillingDate) {
		t.Errorf("split off %+v", n)
	}
	for name, row := range map[string]struct {
		lines  []string
		status contract.Status
		kind   fault.Kind
	}{
		"a line it has not": {[]string{"l9"}, contract.Active, fault.Invalid},
		"every line":        {[]string{"l1", "l2"}, contract.Active, fault.FailedPrecondition},
		"one that ended":    {[]string{"l1"}, contract.Cancelled, fault.FailedPrecondition},
	} {
		if _, err := splitOff(contract.Contract{Status: row.status}, is, contract.SplitIntent{Lines: row.lines}, nil); !fault.Is(err, row.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhichDiscountsAContractThatIsSplitOffGets(t *testing.T) {
	t.Parallel()
	both := []string{"l1", "l2"}
	for name, row := range map[string]struct {
		discount contract.Discount
		want     *contract.Discount // that the contract of l2 gets
	}{
		"a percentage":                           {contract.Discount{Title: "a", Percent: 10, AllLines: true}, &contract.Discount{Title: "a", Percent: 10, AllLines: true}},
		"what is left of it":                     {contract.Discount{Percent: 10, AllLines: true, CycleLimit: 3, UsedCycles: 1}, &contract.Discount{Percent: 10, AllLines: true, CycleLimit: 2}},
		"nothing when it is used up":             {contract.Discount{Percent: 10, AllLines: true, CycleLimit: 3, UsedCycles: 3}, nil},
		"nothing of one that is rejected":        {contract.Discount{Percent: 10, AllLines: true, RejectedWhy: "NOT_FOUND"}, nil},
		"a percentage of its line":               {contract.Discount{Percent: 10, Lines: both}, &contract.Discount{Percent: 10, Lines: []string{"l2"}}},
		"not one of another line":                {contract.Discount{Percent: 10, Lines: []string{"l1"}}, nil},
		"an amount off each item":                {contract.Discount{Amount: usd(100), EachItem: true, AllLines: true}, &contract.Discount{Amount: usd(100), EachItem: true, AllLines: true}},
		"an amount off each item of a line":      {contract.Discount{Amount: usd(100), EachItem: true, Lines: both}, &contract.Discount{Amount: usd(100), EachItem: true, Lines: []string{"l2"}}},
		"no amount off the order":                {contract.Discount{Amount: usd(100), AllLines: true}, nil},
		"none off some lines of which one stays": {contract.Discount{Amount: usd(100), Lines: both}, nil},
		"one that is off its lines alone":        {contract.Discount{Amount: usd(100), Lines: []string{"l2"}}, &contract.Discount{Amount: usd(100), Lines: []string{"l2"}}},
		"a code's percentage by hand":            {contract.Discount{Code: "TEN", Percent: 10, AllLines: true}, &contract.Discount{Title: "TEN", Percent: 10, AllLines: true}},
		"nothing of a code that tells nothing":   {contract.Discount{Code: "TEN", AllLines: true}, nil},
		"free delivery":                          {contract.Discount{Percent: 100, FreeShipping: true, TargetIsOrder: true, CycleLimit: 1}, &contract.Discount{Percent: 100, FreeShipping: true, CycleLimit: 1}},
		"no part of the delivery":                {contract.Discount{Percent: 50, TargetIsOrder: true}, nil},
	} {
		got := handedOn(box(func(d *platform.Detail) { d.Discounts = []contract.Discount{row.discount} }), []string{"l2"})
		switch {
		case row.want == nil && len(got) > 0, row.want != nil && (len(got) != 1 || !reflect.DeepEqual(got[0], *row.want)):
			t.Errorf("%s: got %+v", name, got)
		}
	}
	made := platform.Detail{Contract: platform.Contract{Lines: []platform.Line{{ID: "n1"}, {ID: "n2"}}}}
	for name, row := range map[string]struct{ lines, want []string }{
		"of one": {[]string{"l4"}, []string{"n2"}}, "of both": {[]string{"l4", "l2"}, []string{"n1", "n2"}}, "of all": {nil, nil},
	} {
		edits := discountsOf(contract.SplitIntent{Lines: []string{"l2", "l4"}, Discounts: []contract.Discount{{Lines: row.lines}}}, made)
		if got := edits[0].Add.Lines; !slices.Equal(got, row.want) {
			t.Errorf("a discount %s is for %v", name, got)
		}
	}
}

func TestWhatMakesLessOfACommitment(t *testing.T) {
	t.Parallel()
	month := &platform.Policy{Interval: "MONTH", Count: 1}
	for _, row := range []struct {
		name string
		edit platform.Edit
		want bool
	}{
		{"a note", platform.Edit{Note: new("x")}, false},
		{"another interval of charges", platform.Edit{Billing: month}, true},
		{"another interval of deliveries", platform.Edit{Delivery: month}, true},
		{"a line goes", platform.Edit{Lines: []platform.LineEdit{{Line: "l1", Remove: true}}}, true},
		{"fewer pieces", platform.Edit{Lines: []platform.LineEdit{{Line: "l2", Quantity: new(1)}}}, true},
		{"more pieces", platform.Edit{Lines: []platform.LineEdit{{Line: "l2", Quantity: new(3)}}}, false},
		{"another variant", platform.Edit{Lines: []platform.LineEdit{{Line: "l2", Variant: new(int64(43))}}}, false},
		{"a line more", platform.Edit{Lines: []platform.LineEdit{{Variant: new(int64(43)), Quantity: new(1)}}}, false},
	} {
		if got := lessens(box().Contract, row.edit); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}

func TestAContractThatIsSplitOffHasTheOrdersThatAreLeft(t *testing.T) {
	t.Parallel()
	terms := func(least, most int) platform.Policy { return platform.Policy{MinCycles: least, MaxCycles: most} }
	for _, row := range []struct {
		name     string
		is, want platform.Policy
		of       contract.Contract
		cycle    int
	}{
		{"no limits", terms(0, 0), terms(0, 0), contract.Contract{Orders: 3}, 4},
		{"five of twelve were made", terms(0, 12), terms(0, 7), contract.Contract{Orders: 5}, 6},
		{"cycles that were no orders do not count", terms(0, 12), terms(0, 7), contract.Contract{Orders: 5, PassedCycles: 2}, 8},
		{"the last one is being charged", terms(0, 3), terms(0, 1), contract.Contract{Orders: 2}, 4},
		{"what was committed to and had is not owed again", terms(6, 0), terms(2, 0), contract.Contract{Orders: 3, OriginOrderID: 1, MinCycles: 6}, 4},
		{"all that was committed to is had", terms(2, 0), terms(0, 0), contract.Contract{Orders: 3, MinCycles: 2}, 4},
		{"no more is owed than there are orders", terms(6, 7), terms(1, 2), contract.Contract{Orders: 0, MinCycles: 6}, 6},
	} {
		if got := limitsLeft(row.is, row.of, row.cycle); got.MinCycles != row.want.MinCycles || got.MaxCycles != row.want.MaxCycles {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}

func TestPricesByCycleGoOnFromAnyCycle(t *testing.T) {
	t.Parallel()
	step := func(after int, cents int64) platform.CyclePrice {
		return platform.CyclePrice{After: after, Kind: platform.FixedPrice, Computed: usd(cents)}
	}
	rule := platform.Pricing{Base: usd(1000), Cycles: []platform.CyclePrice{step(0, 900), step(3, 700)}}
	late := platform.Pricing{Base: usd(1000), Cycles: []platform.CyclePrice{step(2, 800), step(5, 600)}}
	for _, from := range []platform.Pricing{rule, late} {
		for first := 1; first < 9; first++ {
			on := from.From(first)
			for n := 1; n < 9; n++ {
				got, said := on.Step(n)
				want, says := from.Step(first + n - 1)
				if said != says || got.Computed != want.Computed {
					t.Errorf("from cycle %d on the order %d costs %v, want %v", first, n, got.Computed, want.Computed)
				}
			}
			for i := 1; i < len(on.Cycles); i++ {
				if on.Cycles[i].After <= on.Cycles[i-1].After {
					t.Errorf("from cycle %d on the steps are %+v", first, on.Cycles)
				}
			}
		}
	}
}

func TestTheFirstOrderOfAContractThatHasNotRunIsThatOfItsFirstCycle(t *testing.T) {
	t.Parallel()
	if got := nextCycle(contract.Contract{}, nil, time.Now()); got != 1 {
		t.Errorf("it is that of cycle %d", got)
	}
}
