package billing

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

func placedLine(id string, variant int64, quantity int, cents int64, of OneOffID) placed {
	return placed{Line: swap.Line{Line: contract.Line{ID: id, VariantID: variant, Quantity: quantity, Price: money.Amount{Minor: cents, Currency: "USD"}}}, oneOff: of}
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
	is := []placed{placedLine("a", 1, 2, 500, 0), placedLine("b", 9, 1, 900, 4)}
	for name, test := range map[string]struct {
		wanted []placed
		want   string
	}{
		"what is as it should be is left alone":       {is, ""},
		"a quantity changes alone":                    {[]placed{placedLine("a", 1, 3, 500, 0), is[1]}, "change a ×3"},
		"another product brings its price":            {[]placed{placedLine("a", 2, 2, 500, 0), is[1]}, "change a v2 @5.00"},
		"additions come before removals":              {[]placed{placedLine("", 3, 1, 100, 0)}, "add v3 ×1 @1.00, remove a, remove b"},
		"a one-time product is known by an attribute": {append(append([]placed(nil), is...), placedLine("", 3, 1, 100, 77)), "add v3 ×1 @1.00 [{_one_off 77}]"},
		"an identity is used once":                    {[]placed{is[0], placedLine("a", 3, 1, 100, 0), is[1]}, "add v3 ×1 @1.00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := said(edits(is, test.wanted)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAStepIsPlannedMadeAndNoted(t *testing.T) {
	t.Parallel()
	is, wanted := []placed{placedLine("a", 1, 1, 100, 0)}, []placed{placedLine("a", 2, 1, 200, 0)}
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
	elsewhere := aim{is: []placed{placedLine("a", 1, 5, 100, 0)}, wanted: wanted}
	if do, fresh := elsewhere.weigh(true, plan); do != commitPlan || fresh == plan {
		t.Errorf("when somebody changed the order: %d, want a new plan", do)
	}
	if do, _ := (aim{is: is, wanted: is}).weigh(false, nil); do != settleStep {
		t.Errorf("when nothing is to be changed: %d", do)
	}
	note := "note"
	if do, _ := (aim{is: is, wanted: is, note: &note}).weigh(false, nil); do != commitPlan {
		t.Errorf("when only the note is to be changed: %d", do)
	}
}

func TestWantedLinesHoldEachOneTimeProductOnce(t *testing.T) {
	t.Parallel()
	is := []placed{placedLine("a", 1, 1, 100, 0), placedLine("b", 9, 1, 900, 4), placedLine("c", 9, 1, 900, 4), placedLine("d", 8, 1, 800, 5)}
	kept := OneOff{ID: 4, Quantity: 3, Variant: platform.Variant{ID: 9, Price: money.Amount{Minor: 900, Currency: "USD"}}}
	added := OneOff{ID: 6, Quantity: 1, Variant: platform.Variant{ID: 7, Price: money.Amount{Minor: 700, Currency: "USD"}}}
	wanted := wantedLines(is, []OneOff{kept, added}, plain(is))
	if got, want := said(edits(is, wanted)), "change b ×3, add v7 ×1 @7.00 [{_one_off 6}], remove c, remove d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func inDunning(a Attempt) Attempt {
	a.Dunning.State = dunning.Open
	return a
}

// Rules that last have acted on the contract once the order has come past them: whatever
// is prepared anew afterwards, they do not act once more for the same order.
func TestRulesThatLastActOnceForAnOrder(t *testing.T) {
	t.Parallel()
	for stage, acted := range map[Stage]bool{Fresh: false, ContractPlanned: false, ContractDone: true, OrderPlanned: true, Ready: true} {
		a := Attempt{Status: Failure, Prep: Preparation{Stage: stage, Edited: true, Revision: 5}}
		for range 2 {
			a.unready()
		}
		if want := (Preparation{Edited: true, Revision: 5, Lasted: acted}); !reflect.DeepEqual(a.Prep, want) {
			t.Errorf("from %q it is prepared anew as %+v, want %+v", stage, a.Prep, want)
		}
	}
}

// An order that is prepared anew forgets what it would have held, but not what it was
// sent with, nor what it would have come to when it was skipped.
func TestWhatAnOrderWasStaysWhenItIsPreparedAnew(t *testing.T) {
	t.Parallel()
	for status, stays := range map[Status]bool{Queued: false, Requesting: false, Failure: true, Skipped: true} {
		a := Attempt{Status: status, Lines: []contract.Line{{Quantity: 2}}, Prep: Preparation{Stage: Ready, Edited: true}}
		if a.unready(); (len(a.Lines) == 1) != stays {
			t.Errorf("%s: got lines %+v", status, a.Lines)
		}
	}
}

func TestOneTimeProductsFollowTheQueue(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)
	attempt := func(cycle int, s Status) Attempt { return Attempt{ID: AttemptID(100 + cycle), Cycle: cycle, Status: s} }
	one := func(id OneOffID, cycle int, variant int64, quantity int) OneOff {
		return OneOff{ID: id, Cycle: cycle, Quantity: quantity, Variant: platform.Variant{ID: variant}}
	}
	for name, test := range map[string]struct {
		contract contract.Status
		attempts []Attempt
		waiting  []OneOff
		left     int
		put      string // "id: cycle ×quantity done"
		drop     []OneOffID
		entries  int
	}{
		"an order that is made is done":                     {contract.Active, []Attempt{attempt(1, Success), attempt(2, Queued)}, []OneOff{one(1, 1, 7, 2)}, 0, "1: 1 ×2 true", nil, 0},
		"what waits stays":                                  {contract.Active, []Attempt{attempt(1, Queued)}, []OneOff{one(1, 1, 7, 2)}, 1, "", nil, 0},
		"what failed and is tried again stays":              {contract.Active, []Attempt{inDunning(attempt(1, Failure)), attempt(2, Queued)}, []OneOff{one(1, 1, 7, 2)}, 1, "", nil, 0},
		"what failed and is tried no more moves on":         {contract.Active, []Attempt{attempt(1, Failure), attempt(2, Queued)}, []OneOff{one(1, 1, 7, 2)}, 1, "1: 2 ×2 false", nil, 1},
		"not while the contract stands still":               {contract.Paused, []Attempt{attempt(1, Failure), attempt(2, Queued)}, []OneOff{one(1, 1, 7, 2)}, 1, "", nil, 0},
		"a skipped order's products move on":                {contract.Active, []Attempt{attempt(1, Skipped), attempt(2, Queued)}, []OneOff{one(1, 1, 7, 2)}, 1, "1: 2 ×2 false", nil, 1},
		"those of an order that dunning gave up too":        {contract.Active, []Attempt{attempt(1, SkippedDunning), attempt(2, Skipped), attempt(3, Queued)}, []OneOff{one(1, 1, 7, 2)}, 1, "1: 3 ×2 false", nil, 1},
		"two of one variant become one":                     {contract.Active, []Attempt{attempt(1, Skipped), attempt(2, Queued)}, []OneOff{one(1, 1, 7, 2), one(2, 2, 7, 998)}, 1, "2: 2 ×1000 false", []OneOffID{1}, 1},
		"two skipped orders meet":                           {contract.Active, []Attempt{attempt(1, Skipped), attempt(2, Skipped), attempt(3, Queued)}, []OneOff{one(1, 1, 7, 2), one(2, 2, 7, 3)}, 1, "1: 3 ×5 false", []OneOffID{2}, 2},
		"without an order to come they wait":                {contract.Paused, nil, []OneOff{one(1, 1, 7, 2)}, 1, "", nil, 0},
		"a cycle that is gone gives to the next":            {contract.Active, []Attempt{attempt(4, Queued)}, []OneOff{one(1, 1, 7, 2)}, 1, "1: 4 ×2 false", nil, 1},
		"those of a contract that has ended are dropped":    {contract.Cancelled, []Attempt{attempt(1, Queued)}, []OneOff{one(1, 1, 7, 2)}, 0, "", []OneOffID{1}, 1},
		"those of a contract that has expired are, as well": {contract.Expired, nil, []OneOff{one(1, 1, 7, 2)}, 0, "", []OneOffID{1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := moving{now: now, put: make(map[OneOffID]OneOff), touched: make(map[int]bool)}
			left := m.contract(contract.Contract{ID: 5, Status: test.contract}, test.waiting, test.attempts, 0)
			var put []string
			for _, id := range sortedIDs(m.put) {
				o := m.put[id]
				put = append(put, fmt.Sprintf("%d: %d ×%d %t", id, o.Cycle, o.Quantity, o.Done))
			}
			if got := strings.Join(put, ", "); left != test.left || got != test.put || !reflect.DeepEqual(m.drop, test.drop) || len(m.entries) != test.entries {
				t.Errorf("left %d, put %q, dropped %v, %d entries; want %d, %q, %v, %d", left, got, m.drop, len(m.entries), test.left, test.put, test.drop, test.entries)
			}
			for i, a := range test.attempts {
				if m.touched[i] && (a.PublishAt.IsZero() || a.Status == Queued && !a.Prep.Edited) {
					t.Errorf("the platform does not hear of cycle %d: %+v", a.Cycle, a)
				}
			}
		})
	}
}

func TestOnlyAnUnsentTryIsPrepared(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		attempt Attempt
		prepare bool
		want    action
	}{
		"before it is sent first":             {Attempt{Status: Queued, Moved: true}, true, prepare},
		"when a person asked for it":          {Attempt{Status: Requesting, Manual: true}, true, prepare},
		"before the try after a failure":      {Attempt{Status: Failure, FirstSentAt: now}, true, prepare},
		"not when nothing is to be done":      {Attempt{Status: Queued, Moved: true}, false, charge},
		"not when the charge may have landed": {Attempt{Status: Requesting, FirstSentAt: now.Add(-time.Hour), SentAt: now.Add(-time.Hour)}, true, charge},
		"not when the platform has it":        {Attempt{Status: Progress, FirstSentAt: now}, true, poll},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := inputs{contract: contract.Contract{Status: contract.Active, AutoCharge: true}, policy: DefaultPolicy(), prepare: test.prepare}
			g.shop.Connected = true
			if got := decide(test.attempt, g, now).action; got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}
