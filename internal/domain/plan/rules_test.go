package plan

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestTagsOfOrders(t *testing.T) {
	t.Parallel()
	g := Group{Terms: Terms{CustomerTag: "subscriber, box", OrderTag: "first", MemberOrderTag: "renewal,,"}}
	if got := TagsFor(g, false); !reflect.DeepEqual(got, Tags{[]string{"subscriber", "box"}, []string{"first"}}) {
		t.Errorf("first order: %+v", got)
	}
	if got := TagsFor(g, true); !reflect.DeepEqual(got, Tags{[]string{"subscriber", "box"}, []string{"renewal"}}) {
		t.Errorf("renewal: %+v", got)
	}
}

func TestDraftValidateRejects(t *testing.T) {
	t.Parallel()
	many := func(n int) (list []Option) {
		for i := range n {
			list = append(list, monthly(func(o *Option) { o.Name = fmt.Sprint("Plan ", i) }))
		}
		return list
	}
	one := func(change func(*Option)) Draft { return Draft{Terms{Name: "Group"}, []Option{monthly(change)}} }
	const first = "subscriptionPlans[0]."
	for name, test := range map[string]struct {
		draft Draft
		field string // "": it can be
	}{
		"a plain one":                          {one(func(*Option) {}), ""},
		"31 plans":                             {Draft{Terms{Name: "Group"}, many(31)}, ""},
		"32 plans":                             {Draft{Terms{Name: "Group"}, many(32)}, "subscriptionPlans"},
		"no plan":                              {Draft{Terms: Terms{Name: "Group"}}, "subscriptionPlans"},
		"no name":                              {Draft{Terms{Name: " "}, many(1)}, "groupName"},
		"two plans of one name":                {Draft{Terms{Name: "Group"}, append(many(2), many(1)...)}, "subscriptionPlans[2].frequencyName"},
		"a plan without a name":                {one(func(o *Option) { o.Name = "" }), first + "frequencyName"},
		"no frequency":                         {one(func(o *Option) { o.Delivery = Frequency{} }), first + "frequencyInterval"},
		"a count of 0":                         {one(func(o *Option) { o.Delivery.Count = 0 }), first + "frequencyCount"},
		"a count of 365":                       {one(func(o *Option) { o.Delivery, o.Billing = Frequency{cadence.Day, 365}, Frequency{cadence.Day, 365} }), ""},
		"a count of 366":                       {one(func(o *Option) { o.Delivery, o.Billing = Frequency{cadence.Day, 366}, Frequency{cadence.Day, 366} }), first + "frequencyCount"},
		"paid as you go and billed less often": {one(func(o *Option) { o.Billing.Count = 2 }), first + "billingFrequencyCount"},
		"prepaid for a multiple":               {one(func(o *Option) { o.Kind, o.Billing = Prepaid, Frequency{cadence.Year, 1} }), ""},
		"prepaid for no multiple":              {one(func(o *Option) { o.Kind, o.Billing.Count, o.Delivery.Count = Prepaid, 3, 2 }), first + "billingFrequencyCount"},
		"prepaid in units that do not compare": {one(func(o *Option) { o.Kind, o.Delivery = AdvancedPrepaid, Frequency{cadence.Week, 1} }), first + "billingFrequencyCount"},
		"a specific day":                       {one(func(o *Option) { o.Specific, o.Day, o.Cutoff = true, 31, 3 }), ""},
		"a day that no month has":              {one(func(o *Option) { o.Specific, o.Day = true, 32 }), first + "specificDayValue"},
		"no day":                               {one(func(o *Option) { o.Specific = true }), first + "specificDayValue"},
		"an eighth weekday": {one(func(o *Option) {
			o.Delivery, o.Specific, o.Day = Frequency{cadence.Week, 1}, true, 8
			o.Billing = o.Delivery
		}), first + "specificDayValue"},
		"a year's day without a month": {one(func(o *Option) {
			o.Delivery, o.Specific, o.Day = Frequency{cadence.Year, 1}, true, 8
			o.Billing = o.Delivery
		}), first + "specificMonthValue"},
		"a specific day of days": {one(func(o *Option) {
			o.Delivery, o.Specific, o.Day = Frequency{cadence.Day, 10}, true, 8
			o.Billing = o.Delivery
		}), first + "frequencyType"},
		"a cut-off without a day":    {one(func(o *Option) { o.Cutoff = 3 }), first + "cutOff"},
		"fewer orders than it takes": {one(func(o *Option) { o.MinCycles, o.MaxCycles = 3, 3 }), first + "maxCycles"},
		"lifetime in two payments":   {one(func(o *Option) { o.Lifetime, o.MaxCycles = true, 2 }), first + "maxCycles"},
		"for members and for others": {one(func(o *Option) { o.MemberOnly, o.NonMemberOnly = true, true }), first + "memberOnly"},
		"more than everything off":   {one(func(o *Option) { o.First = Discount{true, 101, Percentage, 0, false} }), first + "discountOffer"},
		"a negative discount":        {one(func(o *Option) { o.Second = Discount{false, -1, Fixed, 1, false} }), first + "discountOffer2"},
		"a discount of no kind":      {one(func(o *Option) { o.First = Discount{Enabled: true, Offer: 5} }), first + "discountType"},
		"a second discount before the first": {one(func(o *Option) {
			o.First, o.Second = Discount{true, 5, Fixed, 0, false}, Discount{true, 5, Fixed, 0, false}
		}), first + "afterCycle2"},
		"two discounts and neither at once": {one(func(o *Option) {
			o.First, o.Second = Discount{true, 5, Fixed, 1, false}, Discount{true, 5, Fixed, 2, false}
		}), first + "afterCycle1"},
		"a trial of no length": {one(func(o *Option) { o.Trial = Trial{Enabled: true, Interval: cadence.Day} }), first + "freeTrialCount"},
		"a trial with two discounts": {one(func(o *Option) {
			o.Trial, o.Second = Trial{Enabled: true, Interval: cadence.Day, Count: 7}, Discount{true, 5, Fixed, 2, false}
		}), first + "discountEnabled2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.draft.Validate()
			if test.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Invalid || f.Param != test.field || f.ErrorKey == "" {
				t.Errorf("got %v at %q, want one at %s", err, f.Param, test.field)
			}
		})
	}
}

func TestDraftDefaults(t *testing.T) {
	t.Parallel()
	d := Draft{Options: []Option{
		{Name: "c", Delivery: Frequency{cadence.Month, 1}, Sequence: 3, Lifetime: true},
		{Name: "a", Billing: Frequency{cadence.Month, 3}, Delivery: Frequency{cadence.Month, 1}, Sequence: 1},
		{Name: "b", Billing: Frequency{cadence.Week, 2}, Sequence: 1},
	}}
	d.Settle()
	a, b, c := d.Options[0], d.Options[1], d.Options[2]
	if a.Name != "a" || a.Kind != Prepaid || b.Name != "b" || b.Delivery != b.Billing || b.Kind != PayAsYouGo || c.Billing != c.Delivery || c.MaxCycles != 1 {
		t.Errorf("got %+v", d.Options)
	}
}

func TestAssignmentChanges(t *testing.T) {
	t.Parallel()
	have := platform.Assigned{Products: []int64{1, 2, 3}}
	for name, test := range map[string]struct {
		a           Assignment
		add, remove []int64
	}{
		"nothing":                      {Assignment{}, nil, nil},
		"more, once each":              {Assignment{Add: platform.Assigned{Products: []int64{3, 4, 4}}}, []int64{4}, nil},
		"less, and what is not there":  {Assignment{Remove: platform.Assigned{Products: []int64{2, 9}}}, nil, []int64{2}},
		"other ones":                   {Assignment{Products: &[]int64{5, 1}}, []int64{5}, []int64{2, 3}},
		"none":                         {Assignment{Products: &[]int64{}}, nil, []int64{1, 2, 3}},
		"all gone, whatever else":      {Assignment{RemoveAll: true, Add: platform.Assigned{Products: []int64{4}}}, nil, []int64{1, 2, 3}},
		"what is added and removed":    {Assignment{Add: platform.Assigned{Products: []int64{4, 5}}, Remove: platform.Assigned{Products: []int64{4, 1}}}, []int64{5}, []int64{1}},
		"variants leave products be":   {Assignment{Variants: &[]int64{}}, nil, nil},
		"a replacement and then fewer": {Assignment{Products: &[]int64{5, 6}, Remove: platform.Assigned{Products: []int64{6}}}, []int64{5}, []int64{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			add, remove := test.a.delta(have)
			if !slices.Equal(add.Products, test.add) || !slices.Equal(remove.Products, test.remove) {
				t.Errorf("adds %v and removes %v, want %v and %v", add.Products, remove.Products, test.add, test.remove)
			}
		})
	}
}
