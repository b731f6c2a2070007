package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/platform"
)

// Shoppers buy at the platform, so an option has its effect there.
func TestPlatformPlanHasWhatTheOptionSays(t *testing.T) {
	t.Parallel()
	weekly := func() Option {
		every := Frequency{cadence.Week, 2}
		return Option{Name: "Every two weeks", Kind: PayAsYouGo, Billing: every, Delivery: every}
	}
	policy := platform.Policy{Interval: "WEEK", Count: 2}
	want := platform.SellingPlan{Name: "Every two weeks", Option: "Every two weeks", Position: 1, Billing: policy, Delivery: policy}
	for name, test := range map[string]struct {
		set  func(*Option)
		want func(*platform.SellingPlan)
	}{
		"nothing else":                        {func(*Option) {}, func(*platform.SellingPlan) {}},
		"a description":                       {func(o *Option) { o.Description = "Fresh" }, func(p *platform.SellingPlan) { p.Description = "Fresh" }},
		"payments less often than deliveries": {func(o *Option) { o.Billing.Count = 4 }, func(p *platform.SellingPlan) { p.Billing.Count = 4 }},
		"limits":                              {func(o *Option) { o.MinCycles, o.MaxCycles = 2, 6 }, func(p *platform.SellingPlan) { p.Billing.MinCycles, p.Billing.MaxCycles = 2, 6 }},
		"a time of reservation":               {func(o *Option) { o.Reserve = OnSale }, func(p *platform.SellingPlan) { p.Reserve = "ON_SALE" }},
		"a fixed day with a cut-off": {func(o *Option) { o.Specific, o.Day, o.Cutoff = true, 3, 2 }, func(p *platform.SellingPlan) {
			day := []platform.Anchor{{Type: "WEEKDAY", Day: 3}}
			p.Billing.Anchors, p.Delivery.Anchors, p.Cutoff = day, day, 2
		}},
		"a first delivery that waits": {func(o *Option) { o.Specific, o.Day, o.Behavior = true, 3, Next }, func(p *platform.SellingPlan) {
			day := []platform.Anchor{{Type: "WEEKDAY", Day: 3}}
			p.Billing.Anchors, p.Delivery.Anchors, p.AwaitAnchor = day, day, true
		}},
		"a day of the year": {func(o *Option) {
			o.Billing, o.Delivery, o.Specific, o.Day, o.Month = Frequency{cadence.Year, 1}, Frequency{cadence.Year, 1}, true, 6, 12
		}, func(p *platform.SellingPlan) {
			yearly := platform.Policy{Interval: "YEAR", Count: 1, Anchors: []platform.Anchor{{Type: "YEARDAY", Day: 6, Month: 12}}}
			p.Billing, p.Delivery = yearly, yearly
		}},
	} {
		o, w := weekly(), want
		test.set(&o)
		test.want(&w)
		if diff := cmp.Diff(w, o.selling(1, "USD")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	d := Draft{Options: []Option{{Name: "Later", Sequence: 2}, {Name: "Earlier", Sequence: 1}}}
	d.Settle()
	if list := selling(d.Options, "USD"); list[0].Name != "Earlier" || list[0].Position != 1 || list[1].Position != 2 {
		t.Errorf("by their sequence the plans are %+v", list)
	}
}
