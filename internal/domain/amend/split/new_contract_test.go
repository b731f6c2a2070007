package split

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
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

func TestSplitCopiesLinesAndTerms(t *testing.T) {
	t.Parallel()
	is := box(func(d *platform.Detail) {
		d.LineDetails = []platform.LineDetail{{}, {Attributes: []platform.Attribute{{Key: "size", Value: "L"}}}}
		d.PaymentMethod.ID, d.Billing.MaxCycles = "card", 12
	})
	known := contract.Contract{ID: 9001, Status: contract.Active, NextBillingDate: time.Unix(1e9, 0)}
	n, err := newContractOf(known, is, contract.SplitIntent{Lines: []string{"l2"}, Once: true, Token: "t"}, map[string]terms.LinePrice{"l2": {Price: usd(500), Pricing: &platform.Pricing{Base: usd(500)}}})
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
		if _, err := newContractOf(contract.Contract{Status: row.status}, is, contract.SplitIntent{Lines: row.lines}, nil); !fault.Is(err, row.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSplitCopiesDiscounts(t *testing.T) {
	t.Parallel()
	both := []string{"l1", "l2"}
	for name, row := range map[string]struct {
		discount contract.Discount
		want     *contract.Discount // that the contract of l2 gets
	}{
		"a percentage":                          {contract.Discount{Title: "a", Percent: 10, AllLines: true}, &contract.Discount{Title: "a", Percent: 10, AllLines: true}},
		"what is left of it":                    {contract.Discount{Percent: 10, AllLines: true, CycleLimit: 3, UsedCycles: 1}, &contract.Discount{Percent: 10, AllLines: true, CycleLimit: 2}},
		"nothing when it is used up":            {contract.Discount{Percent: 10, AllLines: true, CycleLimit: 3, UsedCycles: 3}, nil},
		"nothing of one that is rejected":       {contract.Discount{Percent: 10, AllLines: true, RejectedWhy: "NOT_FOUND"}, nil},
		"a percentage of its line":              {contract.Discount{Percent: 10, Lines: both}, &contract.Discount{Percent: 10, Lines: []string{"l2"}}},
		"not one of another line":               {contract.Discount{Percent: 10, Lines: []string{"l1"}}, nil},
		"an amount off each item":               {contract.Discount{Amount: usd(100), EachItem: true, AllLines: true}, &contract.Discount{Amount: usd(100), EachItem: true, AllLines: true}},
		"an amount off each item of a line":     {contract.Discount{Amount: usd(100), EachItem: true, Lines: both}, &contract.Discount{Amount: usd(100), EachItem: true, Lines: []string{"l2"}}},
		"no amount off the order":               {contract.Discount{Amount: usd(100), AllLines: true}, nil},
		"none off lines when one of them stays": {contract.Discount{Amount: usd(100), Lines: both}, nil},
		"one that is off its lines alone":       {contract.Discount{Amount: usd(100), Lines: []string{"l2"}}, &contract.Discount{Amount: usd(100), Lines: []string{"l2"}}},
		"a code's percentage by hand":           {contract.Discount{Code: "TEN", Percent: 10, AllLines: true}, &contract.Discount{Title: "TEN", Percent: 10, AllLines: true}},
		"nothing of a code that tells nothing":  {contract.Discount{Code: "TEN", AllLines: true}, nil},
		"free delivery":                         {contract.Discount{Percent: 100, FreeShipping: true, TargetIsOrder: true, CycleLimit: 1}, &contract.Discount{Percent: 100, FreeShipping: true, CycleLimit: 1}},
		"no part of the delivery":               {contract.Discount{Percent: 50, TargetIsOrder: true}, nil},
	} {
		got := discountsFor(box(func(d *platform.Detail) { d.Discounts = []contract.Discount{row.discount} }), []string{"l2"})
		switch {
		case row.want == nil && len(got) > 0, row.want != nil && (len(got) != 1 || !reflect.DeepEqual(got[0], *row.want)):
			t.Errorf("%s: got %+v", name, got)
		}
	}
	made := platform.Detail{Contract: platform.Contract{Lines: []platform.Line{{ID: "n1"}, {ID: "n2"}}}}
	for name, row := range map[string]struct{ lines, want []string }{
		"of one": {[]string{"l4"}, []string{"n2"}}, "of both": {[]string{"l4", "l2"}, []string{"n1", "n2"}}, "of all": {nil, nil},
	} {
		edits := discountEdits(contract.SplitIntent{Lines: []string{"l2", "l4"}, Discounts: []contract.Discount{{Lines: row.lines}}}, made)
		if got := edits[0].Add.Lines; !slices.Equal(got, row.want) {
			t.Errorf("a discount %s is for %v", name, got)
		}
	}
}
