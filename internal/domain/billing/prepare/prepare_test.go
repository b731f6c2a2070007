package prepare

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

func placedLine(id string, variant int64, quantity int, cents int64, of billing.OneOffID) billing.OrderLine {
	return billing.OrderLine{LineItem: swap.LineItem{LineItem: contract.LineItem{ID: id, VariantID: variant, Quantity: quantity, Price: money.Amount{Minor: cents, Currency: "USD"}}}, OneOff: of}
}

// said writes edits as people would say them.
func said(list []platform.LineEdit) string {
	var texts []string
	for _, e := range list {
		text := "change " + e.Line
		switch {
		case e.Remove:
			text = "remove " + e.Line
		case e.Line == "":
			text = "add"
		}
		if e.Variant != nil {
			text += fmt.Sprintf(" v%d", *e.Variant)
		}
		if e.Quantity != nil {
			text += fmt.Sprintf(" ×%d", *e.Quantity)
		}
		if e.Price != nil {
			text += " @" + e.Price.String()
		}
		if e.Attributes != nil {
			text += fmt.Sprintf(" %v", *e.Attributes)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func TestEdits(t *testing.T) {
	t.Parallel()
	is := []billing.OrderLine{placedLine("a", 1, 2, 500, 0), placedLine("b", 9, 1, 900, 4)}
	for name, test := range map[string]struct {
		wanted []billing.OrderLine
		want   string
	}{
		"what is as it should be is left alone":       {is, ""},
		"a quantity changes alone":                    {[]billing.OrderLine{placedLine("a", 1, 3, 500, 0), is[1]}, "change a ×3"},
		"another product brings its price":            {[]billing.OrderLine{placedLine("a", 2, 2, 500, 0), is[1]}, "change a v2 @5.00"},
		"additions come before removals":              {[]billing.OrderLine{placedLine("", 3, 1, 100, 0)}, "add v3 ×1 @1.00, remove a, remove b"},
		"a one-time product is known by an attribute": {append(append([]billing.OrderLine(nil), is...), placedLine("", 3, 1, 100, 77)), "add v3 ×1 @1.00 [{_one_off 77}]"},
		"an identity is used once":                    {[]billing.OrderLine{is[0], placedLine("a", 3, 1, 100, 0), is[1]}, "add v3 ×1 @1.00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := said(edits(is, test.wanted)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestStepIsPlannedMadeAndRecorded(t *testing.T) {
	t.Parallel()
	is, wanted := []billing.OrderLine{placedLine("a", 1, 1, 100, 0)}, []billing.OrderLine{placedLine("a", 2, 1, 200, 0)}
	m := aim{is: is, wanted: wanted, rules: swap.Result{Applied: []swap.Rule{{ID: 7}}, ShiftDays: 3}}
	do, plan := m.weigh(false, nil)
	if do != commitPlan || plan.Shift != 3 || len(plan.Changes) != 1 {
		t.Fatalf("first: %d, %+v, want a plan to commit", do, plan)
	}
	if do, again := m.weigh(true, plan); do != makeChange || again != plan {
		t.Errorf("with the plan committed: %d, want the change", do)
	}
	changed := aim{is: wanted, wanted: wanted}
	if do, noted := changed.weigh(true, plan); do != settleStep || noted != plan {
		t.Errorf("when the answer was lost: %d, %+v, want the plan to be noted as done", do, noted)
	}
	elsewhere := aim{is: []billing.OrderLine{placedLine("a", 1, 5, 100, 0)}, wanted: wanted}
	if do, fresh := elsewhere.weigh(true, plan); do != commitPlan || fresh == plan {
		t.Errorf("when the order has changed: %d, want a new plan", do)
	}
	if do, _ := (aim{is: is, wanted: is}).weigh(false, nil); do != settleStep {
		t.Errorf("when nothing changes: %d", do)
	}
	note := "note"
	if do, _ := (aim{is: is, wanted: is, note: &note}).weigh(false, nil); do != commitPlan {
		t.Errorf("when only the note changes: %d", do)
	}
}

func TestWantedLinesContainEachOneOffOnce(t *testing.T) {
	t.Parallel()
	is := []billing.OrderLine{placedLine("a", 1, 1, 100, 0), placedLine("b", 9, 1, 900, 4), placedLine("c", 9, 1, 900, 4), placedLine("d", 8, 1, 800, 5)}
	kept := billing.OneOff{ID: 4, Quantity: 3, Variant: platform.Variant{ID: 9, Price: money.Amount{Minor: 900, Currency: "USD"}}}
	added := billing.OneOff{ID: 6, Quantity: 1, Variant: platform.Variant{ID: 7, Price: money.Amount{Minor: 700, Currency: "USD"}}}
	wanted := wantedLines(is, []billing.OneOff{kept, added}, plain(is))
	if got, want := said(edits(is, wanted)), "change b ×3, add v7 ×1 @7.00 [{_one_off 6}], remove c, remove d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Rules that last have acted on the contract once the order has come past them: whatever
// is prepared again afterwards, they do not act once more for the same order.
func TestRecurringRuleAppliesOncePerOrder(t *testing.T) {
	t.Parallel()
	for stage, acted := range map[billing.Stage]bool{billing.Fresh: false, billing.ContractPlanned: false, billing.ContractDone: true, billing.OrderPlanned: true, billing.Ready: true} {
		a := billing.Attempt{Status: billing.Failure, Prep: billing.Preparation{Stage: stage, Edited: true, Revision: 5}}
		for range 2 {
			a.ResetPreparation()
		}
		if want := (billing.Preparation{Edited: true, Revision: 5, Lasted: acted}); !reflect.DeepEqual(a.Prep, want) {
			t.Errorf("from %q it is prepared again as %+v, want %+v", stage, a.Prep, want)
		}
	}
}

// An order that is prepared again forgets what it would have held, but not what it was
// sent with, nor what it would have come to when it was skipped.
func TestNewPreparationKeepsOrderContents(t *testing.T) {
	t.Parallel()
	for status, stays := range map[billing.Status]bool{billing.Queued: false, billing.Requesting: false, billing.Failure: true, billing.Skipped: true} {
		a := billing.Attempt{Status: status, Lines: []contract.LineItem{{Quantity: 2}}, Prep: billing.Preparation{Stage: billing.Ready, Edited: true}}
		if a.ResetPreparation(); (len(a.Lines) == 1) != stays {
			t.Errorf("%s: got lines %+v", status, a.Lines)
		}
	}
}

func TestSentAttemptIsNotPrepared(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		attempt billing.Attempt
		prepare bool
		want    decide.Action
	}{
		"before it is sent first":             {billing.Attempt{Status: billing.Queued, Moved: true}, true, decide.Prepare},
		"when a person asked for it":          {billing.Attempt{Status: billing.Requesting, Manual: true}, true, decide.Prepare},
		"before the try after a failure":      {billing.Attempt{Status: billing.Failure, FirstSentAt: now}, true, decide.Prepare},
		"not when nothing must be done":       {billing.Attempt{Status: billing.Queued, Moved: true}, false, decide.Charge},
		"not when the charge may have landed": {billing.Attempt{Status: billing.Requesting, FirstSentAt: now.Add(-time.Hour), SentAt: now.Add(-time.Hour)}, true, decide.Charge},
		"not when the platform has it":        {billing.Attempt{Status: billing.Progress, FirstSentAt: now}, true, decide.Poll},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := decide.Inputs{Contract: contract.Contract{Status: contract.Active, AutoCharge: true}, Policy: billing.DefaultPolicy(), Prepare: test.prepare}
			g.Shop.Connected = true
			if got := decide.Due(test.attempt, g, now).Action; got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}
