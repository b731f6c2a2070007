package platformtest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// discounting are the promises of platform.Editor about discounts.
var discounting = []promise{
	{"a discount is taken off as many orders as it is for", func(t *testing.T, w World) {
		k := due(w, Contract{Lines: 2})
		d := edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "half", Percent: 50, CycleLimit: 1, AllLines: true}}}})
		if got := one(t, d); got.Title != "half" || got.Percent != 50 || got.CycleLimit != 1 || got.UsedCycles != 0 || !got.AllLines || got.Code != "" || got.RejectedWhy != "" {
			t.Errorf("discount %+v", got)
		}
		for i, l := range d.LineDetails {
			if l.Discounted != *usd(625) || len(l.Allocations) != 1 || l.Allocations[0].Amount != *usd(625) || l.Allocations[0].Discount != d.Discounts[0].ID {
				t.Errorf("line %d: %+v", i, l)
			}
		}
		wantNextOrder(t, w, first(k), 1250, "")
		d = detail(t, w, k)
		if d.Discounts[0].UsedCycles != 1 || d.LineDetails[0].Discounted != *usd(1250) || len(d.LineDetails[0].Allocations) != 0 {
			t.Errorf("after the order: %+v, %+v", d.Discounts, d.LineDetails)
		}
		second := platform.CycleRef{Contract: k, Index: 2}
		untilCycle(t, w, second)
		wantNextOrder(t, w, second, 2500, "")
	}},
	{"an order of an edited cycle counts too", func(t *testing.T, w World) {
		k := due(w, Contract{})
		edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "half", Percent: 50, CycleLimit: 1, AllLines: true}}}})
		second := platform.CycleRef{Contract: k, Index: 2}
		for _, ref := range []platform.CycleRef{first(k), second} {
			editCycle(t, w, ref, platform.Edit{Note: new("for one")})
		}
		wantNextOrder(t, w, first(k), 625, "for one")
		untilCycle(t, w, second)
		wantNextOrder(t, w, second, 1250, "for one")
	}},
	{"after an order of an edited cycle the others have the rest of a discount", func(t *testing.T, w World) {
		k := due(w, Contract{})
		edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "half", Percent: 50, CycleLimit: 1, AllLines: true}}}})
		editCycle(t, w, first(k), platform.Edit{Note: new("for one")})
		wantNextOrder(t, w, first(k), 625, "for one")
		second := platform.CycleRef{Contract: k, Index: 2}
		untilCycle(t, w, second)
		wantNextOrder(t, w, second, 1250, "")
	}},
	{"an amount is taken off each item, or once off the lines", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour), Lines: 2})
		line := detail(t, w, k).Lines[0].ID
		d := edit(t, w, k, platform.Edit{
			Lines: []platform.LineEdit{{Line: line, Quantity: new(3)}},
			Discounts: []platform.DiscountEdit{
				{Add: &platform.Discount{Title: "each", Amount: *usd(100), EachItem: true, Lines: []string{line}}},
				{Add: &platform.Discount{Title: "once", Amount: *usd(101), AllLines: true}},
			},
		})
		// The second takes 101 off 3450 and 1250.
		if got := []int64{d.LineDetails[0].Discounted.Minor, d.LineDetails[1].Discounted.Minor}; !slices.Equal(got, []int64{3750 - 300 - 75, 1250 - 26}) {
			t.Errorf("left of the lines: %v", got)
		}
		if a, b := d.Discounts[0], d.Discounts[1]; !a.EachItem || a.Amount != *usd(100) || !slices.Equal(a.Lines, []string{line}) || a.AllLines || b.EachItem || b.Amount != *usd(101) {
			t.Errorf("discounts %+v", d.Discounts)
		}
	}},
	{"contracts that are read together have their discounts and prices by cycle", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour), Lines: 2})
		lines := detail(t, w, k).Lines
		edit(t, w, k, platform.Edit{
			Lines: []platform.LineEdit{{Line: lines[1].ID, Pricing: &platform.Pricing{Base: *usd(1250), Cycles: []platform.CyclePrice{
				{After: 0, Kind: platform.PercentOff, Percent: 20, Computed: *usd(1000)}, {After: 3, Kind: platform.FixedPrice, Amount: *usd(900), Computed: *usd(900)},
			}}}},
			Discounts: []platform.DiscountEdit{
				{Add: &platform.Discount{Title: "each", Amount: *usd(100), EachItem: true, Lines: []string{lines[0].ID}}},
				{Add: &platform.Discount{Title: "half", Percent: 50, AllLines: true, CycleLimit: 2}}, {Code: w.Code()},
			},
		})
		d := detail(t, w, k)
		list, err := w.Platform().Contracts(t.Context(), w.Shop(), []int64{k})
		if err != nil || len(list) != 1 {
			t.Fatalf("read %+v, %v", list, err)
		}
		want := map[string]platform.Pricing{lines[1].ID: {Base: *usd(1250), Cycles: []platform.CyclePrice{
			{After: 0, Kind: platform.PercentOff, Percent: 20, Computed: *usd(1000)}, {After: 3, Kind: platform.FixedPrice, Amount: *usd(900), Computed: *usd(900)},
		}}}
		if got := list[0]; !reflect.DeepEqual(got.Pricing, want) || !reflect.DeepEqual(d.Pricing, want) {
			t.Errorf("prices %+v together and %+v alone, want %+v", got.Pricing, d.Pricing, want)
		}
		if got := list[0]; len(got.Discounts) != 3 || !reflect.DeepEqual(got.Discounts, d.Discounts) {
			t.Errorf("discounts %+v together and %+v alone", got.Discounts, d.Discounts)
		}
	}},
	{"free shipping takes off the delivery price", func(t *testing.T, w World) {
		k := due(w, Contract{})
		d := edit(t, w, k, platform.Edit{DeliveryPrice: usd(700), Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "free", FreeShipping: true, CycleLimit: 1}}}})
		if got := one(t, d); !got.FreeShipping || !got.TargetIsOrder || got.CycleLimit != 1 || d.DeliveryPrice != *usd(700) {
			t.Errorf("discount %+v, delivery %v", got, d.DeliveryPrice)
		}
		wantNextOrder(t, w, first(k), 1250, "")
		second := platform.CycleRef{Contract: k, Index: 2}
		untilCycle(t, w, second)
		wantNextOrder(t, w, second, 1950, "")
	}},
	{"a discount is removed", func(t *testing.T, w World) {
		k := due(w, Contract{})
		d := edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "half", Percent: 50, AllLines: true}}}})
		d = edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Remove: d.Discounts[0].ID}, {Add: &platform.Discount{Title: "tenth", Percent: 10, AllLines: true}}}})
		if got := one(t, d); got.Title != "tenth" {
			t.Errorf("discount %+v", got)
		}
		wantNextOrder(t, w, first(k), 1125, "")
	}},
	{"a discount goes with the last line that it was for", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour), Lines: 2})
		lines := detail(t, w, k).Lines
		edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{
			{Add: &platform.Discount{Title: "its own", Percent: 50, Lines: []string{lines[0].ID}}},
			{Add: &platform.Discount{Title: "of both", Percent: 50, Lines: []string{lines[0].ID, lines[1].ID}}},
		}})
		d := edit(t, w, k, platform.Edit{Lines: []platform.LineEdit{{Line: lines[0].ID, Remove: true}}})
		if got := one(t, d); got.Title != "of both" || !slices.Equal(got.Lines, []string{lines[1].ID}) {
			t.Errorf("discount %+v", got)
		}
	}},
	{"a code is redeemed once for a contract", func(t *testing.T, w World) {
		k := due(w, Contract{})
		d := edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Code: w.Code()}}})
		if got := one(t, d); got.Code != w.Code() || got.Percent != 10 || got.CycleLimit != 2 || got.ID == "" {
			t.Errorf("discount %+v", got)
		}
		_, err := w.Platform().EditContract(t.Context(), w.Shop(), k, platform.Edit{Discounts: []platform.DiscountEdit{{Code: w.Code()}}})
		wantRefusal(t, err, "INVALID")
		wantNextOrder(t, w, first(k), 1125, "")
		d = edit(t, w, k, platform.Edit{Discounts: []platform.DiscountEdit{{Remove: d.Discounts[0].ID}}})
		if len(d.Discounts) != 0 {
			t.Errorf("discounts %+v", d.Discounts)
		}
	}},
}

// one returns the only discount of a contract.
func one(t *testing.T, d platform.Detail) platform.Discount {
	t.Helper()
	if len(d.Discounts) != 1 {
		t.Fatalf("discounts %+v, want one", d.Discounts)
	}
	return d.Discounts[0]
}
