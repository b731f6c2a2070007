package amend

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
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

func TestAppliedComparesContractWithEdit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		edit   platform.Edit
		change []func(*platform.Detail)
		want   bool
	}{
		{"nothing moved", platform.Edit{Note: new("")}, nil, false},
		{"another author changed something else", platform.Edit{Note: new("")}, []func(*platform.Detail){later}, false},
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
			if got := applied(box(), box(row.change...), row.edit); got != row.want {
				t.Errorf("landed: %t, want %t", got, row.want)
			}
		})
	}
}
