package swap

import (
	"fmt"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// A rule whose products cost more than those that they replace keeps the old price until the
// subscriber was notified of the new one for long enough.
func TestRulesKeepPricesUntilTheirNoticeIsOver(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	notice := func(variant, price int64, days int) Notice {
		return Notice{Rule: 1, Variant: variant, Price: usd(price), From: due.AddDate(0, 0, days)}
	}
	one, two := []Product{of(1, 1)}, []Product{of(3, 2), of(4, 1)}
	for name, row := range map[string]struct {
		rule    Rule
		notices []Notice
		lines   []LineItem
		want    string
		rises   string
	}{
		"a cheaper product costs what it does":    {rule(1, []Product{of(5, 1)}, one), nil, items([3]int64{5, 2, 500}), "a:1×2@1.00", ""},
		"a dearer one costs what the old one did": {rule(1, one, []Product{of(3, 1)}), nil, items([3]int64{1, 2, 80}), "a:3×2@0.80", "3: 3.00, kept 0.80"},
		"more pieces cost no more together, and no fraction of a cent is asked": {
			rule(1, one, []Product{of(3, 3)}), nil, items([3]int64{1, 1, 100}), "a:3×3@0.33", "3: 3.00, kept 0.33",
		},
		"several products share the old price as they share the new one": {
			rule(1, []Product{of(5, 1)}, two), nil, items([3]int64{5, 1, 500}), "a:3×2@1.50 new:4×1@2.00", "3: 3.00, kept 1.50; 4: 4.00, kept 2.00",
		},
		"a notice that is over counts": {rule(1, one, []Product{of(3, 1)}), []Notice{notice(3, 300, 0)}, items([3]int64{1, 2, 80}), "a:3×2@3.00", ""},
		"one that is not does not":     {rule(1, one, []Product{of(3, 1)}), []Notice{notice(3, 300, 1)}, items([3]int64{1, 2, 80}), "a:3×2@0.80", "3: 3.00, kept 0.80"},
		"what costs more than its notice says costs what it says": {
			rule(1, one, []Product{of(3, 1)}), []Notice{notice(3, 250, -9), notice(3, 200, -20)}, items([3]int64{1, 2, 80}), "a:3×2@2.50", "3: 3.00, kept 2.50",
		},
		"a notice of one product of two is none": {
			rule(1, []Product{of(5, 1)}, two), []Notice{notice(3, 300, -1)}, items([3]int64{5, 1, 500}), "a:3×2@1.50 new:4×1@2.00", "3: 3.00, kept 1.50; 4: 4.00, kept 2.00",
		},
		"a notice of another rule is none": {rule(2, one, []Product{of(3, 1)}), []Notice{notice(3, 300, -1)}, items([3]int64{1, 2, 80}), "a:3×2@0.80", "3: 3.00, kept 0.80"},
	} {
		r := Apply([]Rule{row.rule}, Order{Date: due, Notices: row.notices, Lines: row.lines}, shelf())
		rises := ""
		for i, is := range r.Rises {
			if i > 0 {
				rises += "; "
			}
			rises += fmt.Sprintf("%d: %s, kept %s", is.Variant, is.Price, is.Kept)
		}
		if got := words(r.Lines); got != row.want || rises != row.rises {
			t.Errorf("%s: %s (%s), want %s (%s)", name, got, rises, row.want, row.rises)
		}
	}
}

// A price that a rule kept in the contract becomes that of the subscriber's notice, with its prices by
// cycle, and no other price does.
func TestKeptPricesRiseWhenTheirNoticeIsOver(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	steps := &platform.Pricing{Base: usd(300)}
	o := Order{Date: due, Notices: []Notice{{Rule: 1, Variant: 3, Price: usd(300), From: due, Kept: usd(80), Pricing: steps}, {Rule: 2, Variant: 4, Price: usd(400), From: due}}}
	lines := items([3]int64{3, 1, 80}, [3]int64{3, 1, 90}, [3]int64{4, 1, 80})
	raised, at := o.Raised(lines)
	if got := words(raised); got != "a:3×1@3.00 b:3×1@0.90 c:4×1@0.80" || len(at) != 1 || raised[0].Pricing != steps || lines[0].Price != usd(80) {
		t.Errorf("raised %s at %v, with %+v", got, at, raised[0].Pricing)
	}
	o.Date = due.Add(-time.Second)
	if raised, at := o.Raised(lines); len(at) > 0 || words(raised) != words(lines) {
		t.Errorf("raised %s before its time", words(raised))
	}
}
