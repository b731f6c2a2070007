package flow

import (
	"errors"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestDefaultFlowIsValidAndHasItsReasonsInEightLanguages(t *testing.T) {
	t.Parallel()
	f := Default("EUR")
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Reasons {
		for _, tag := range []string{"en", "de", "fr", "es", "it", "nl", "pt-BR", "ja"} {
			if r.Label[tag] == "" {
				t.Errorf("reason %s has no label for %s", r.Key, tag)
			}
		}
	}
	if f.Budget != 0 || f.HoldBack != 0 {
		t.Errorf("a fresh store gives discounts of %d and holds back %d percent", f.Budget, f.HoldBack)
	}
	if first := f.Reasons[0].Offers[0]; len(f.Reasons) != 9 || first.Kind != Skip || first.Orders != 2 {
		t.Errorf("%d reasons, the first offer is %+v", len(f.Reasons), first)
	}
}

func TestLabelFallsBackToLanguageThenEnglish(t *testing.T) {
	t.Parallel()
	r := Reason{Key: "k", Label: map[string]string{"en": "one", "de": "eins", "pt-BR": "um"}}
	for tag, want := range map[string]string{"de": "eins", "de-AT": "eins", "pt-BR": "um", "pt": "one", "fr": "one", "": "one"} {
		if got := r.LabelIn(tag); got != want {
			t.Errorf("in %q it is %q, want %q", tag, got, want)
		}
	}
}

func TestInvalidFlowIsRefusedAtItsField(t *testing.T) {
	t.Parallel()
	label := map[string]string{"en": "Why"}
	with := func(o ...Offer) func(*Flow) {
		return func(f *Flow) { f.Reasons = []Reason{{Key: "a", Label: label, Offers: o}} }
	}
	for name, row := range map[string]struct {
		change func(*Flow)
		field  string
	}{
		"an unknown mode":                    {func(f *Flow) { f.Mode = "LATER" }, "mode"},
		"instructions that are missing":      {func(f *Flow) { f.Mode = Instructions }, "instructions"},
		"instructions that are too long":     {func(f *Flow) { f.Instructions = strings.Repeat("ü", MaxInstructions+1) }, "instructions"},
		"more held back than half":           {func(f *Flow) { f.HoldBack = 51 }, "holdBack"},
		"a negative budget":                  {func(f *Flow) { f.Budget = -1 }, "budget"},
		"no reasons":                         {func(f *Flow) { f.Reasons = nil }, "reasons"},
		"too many reasons":                   {func(f *Flow) { f.Reasons = make([]Reason, MaxReasons+1) }, "reasons"},
		"reasons for some plan groups alone": {func(f *Flow) { f.Reasons = []Reason{{Key: "a", Label: label, PlanGroups: []int64{1}}} }, "reasons"},
		"two reasons of one key":             {func(f *Flow) { f.Reasons = append(f.Reasons, f.Reasons[0]) }, "reasons"},
		"a key with a blank":                 {func(f *Flow) { f.Reasons[0].Key = "too much" }, "key"},
		"a reason without English":           {func(f *Flow) { f.Reasons[0].Label = map[string]string{"de": "Warum"} }, "label"},
		"a label that is too long":           {func(f *Flow) { f.Reasons[0].Label = map[string]string{"en": strings.Repeat("x", MaxLabel+1)} }, "label"},
		"a label in no language":             {func(f *Flow) { f.Reasons[0].Label = map[string]string{"en": "x", "English": "x"} }, "label"},
		"support that cannot be reached":     {func(f *Flow) { f.Support = "http://store.example" }, "support"},
		"an offer of no kind":                {with(Offer{Kind: "GIFT"}), "offers"},
		"two offers of one kind":             {with(Offer{Kind: Quantity}, Offer{Kind: Quantity}), "offers"},
		"a skip of no orders":                {with(Offer{Kind: Skip}), "orders"},
		"a skip of too many orders":          {with(Offer{Kind: Skip, Orders: 7}), "orders"},
		"a pause without end":                {with(Offer{Kind: Pause}), "months"},
		"a discount of nothing":              {with(Offer{Kind: Discount, Orders: 1}), "percent"},
		"a discount of both":                 {with(Offer{Kind: Discount, Orders: 1, Percent: 5, Amount: money.Amount{Minor: 5, Currency: "EUR"}}), "percent"},
		"a discount of more than all":        {with(Offer{Kind: Discount, Orders: 1, Percent: 101}), "percent"},
		"a discount in another currency":     {with(Offer{Kind: Discount, Orders: 1, Amount: money.Amount{Minor: 5, Currency: "USD"}}), "amount"},
		"a discount for no orders":           {with(Offer{Kind: Discount, Percent: 5}), "orders"},
		"a swap to nothing":                  {with(Offer{Kind: Swap}), "variants"},
		"a swap to one product twice":        {with(Offer{Kind: Swap, Variants: []int64{7, 7}}), "variants"},
		"two samples":                        {with(Offer{Kind: Sample, Variants: []int64{7, 8}}), "variants"},
		"a frequency in no direction":        {with(Offer{Kind: Frequency}), "direction"},
		"a move by no days":                  {with(Offer{Kind: Reschedule}), "days"},
		"support without a contact":          {with(Offer{Kind: Support}), "support"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := Default("EUR")
			row.change(&f)
			err := f.Check()
			if e, ok := errors.AsType[*fault.Error](err); !ok || e.Kind != fault.Invalid || e.Param != row.field {
				t.Errorf("got %v, want it refused at %s", err, row.field)
			}
		})
	}
}

func TestReasonsOfOtherPlanGroupsAreLeftOut(t *testing.T) {
	t.Parallel()
	f := Flow{Reasons: []Reason{{Key: "all"}, {Key: "one", PlanGroups: []int64{1}}, {Key: "two", PlanGroups: []int64{2, 3}}}}
	for name, row := range map[string]struct {
		groups []int64
		want   string
	}{"of no group": {nil, "all"}, "of the first": {[]int64{1}, "all one"}, "of the third": {[]int64{3, 9}, "all two"}} {
		var keys []string
		for _, r := range f.ReasonsFor(row.groups) {
			keys = append(keys, r.Key)
		}
		if got := strings.Join(keys, " "); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

func TestHeldBackShareIsAsSetStableAndDrawnAnewForEachVersion(t *testing.T) {
	t.Parallel()
	const customers = 20_000
	for _, percent := range []int{0, 10, 50} {
		f, other := Flow{Version: 3, HoldBack: percent}, Flow{Version: 4, HoldBack: percent}
		held, both := 0, 0
		for c := range int64(customers) {
			if is := f.HoldsBack(shop.ID(7), c); is != f.HoldsBack(shop.ID(7), c) {
				t.Fatal("a customer is treated differently the second time")
			} else if is {
				held++
				if other.HoldsBack(shop.ID(7), c) {
					both++
				}
			}
		}
		// Four standard deviations of a share of 20 000 customers are 1.5 percent at most.
		if got := float64(held) / customers * 100; got < float64(percent)-1.5 || got > float64(percent)+1.5 {
			t.Errorf("%.1f of 100 are held back, want %d", got, percent)
		}
		if held > 0 && float64(both)/float64(held) > float64(percent)/100+0.05 {
			t.Errorf("%d of %d are held back by the next version too", both, held)
		}
	}
}
