package charge

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestSentLineIsStoredAtFirstSend(t *testing.T) {
	t.Parallel()
	is := contract.Contract{Revision: 7, Lines: []contract.LineItem{{Title: "of the contract"}}}
	before := []contract.LineItem{{Title: "noted before"}}
	ready := billing.Preparation{Stage: billing.Ready, Revision: 7}
	for name, test := range map[string]struct {
		a    billing.Attempt
		want string
	}{
		"an order that needed nothing has the contract's lines": {billing.Attempt{Status: billing.Queued}, "of the contract"},
		"a prepared order has its own":                          {billing.Attempt{Status: billing.Queued, Prep: ready, Lines: before}, "noted before"},
		"one that was given up may have none":                   {billing.Attempt{Status: billing.Queued, Prep: ready}, "of the contract"},
		"the contract has changed since it was prepared":        {billing.Attempt{Status: billing.Queued, Prep: billing.Preparation{Stage: billing.Ready, Revision: 6}, Lines: before}, "of the contract"},
		"a try that is sent again is what it was":               {billing.Attempt{Status: billing.Requesting, FirstSentAt: billingtest.Now.Add(-time.Hour), Lines: before}, "noted before"},
		"a new try after a decline is what the contract is":     {billing.Attempt{Status: billing.Failure, FirstSentAt: billingtest.Now.Add(-time.Hour), Lines: before}, "of the contract"},
	} {
		if keepLines(&test.a, is); test.a.Lines[0].Title != test.want {
			t.Errorf("%s: the line is %s, want %s", name, test.a.Lines[0].Title, test.want)
		}
	}
}

func TestOrderIsReadWhenItsLinesMayDiffer(t *testing.T) {
	t.Parallel()
	tea, milk := contract.LineItem{ID: "tea", VariantID: 1, Quantity: 1}, contract.LineItem{ID: "milk", VariantID: 2, Quantity: 1}
	is := contract.Contract{Lines: []contract.LineItem{tea}}
	copied := billing.Preparation{Stage: billing.Ready, Edited: true, Contract: billing.FingerprintOf(is.Lines)}
	for name, test := range map[string]struct {
		lines []contract.LineItem
		prep  billing.Preparation
		known bool
	}{
		"what the contract has":                 {is.Lines, billing.Preparation{}, true},
		"what the contract had":                 {[]contract.LineItem{milk}, billing.Preparation{}, false},
		"nothing is noted":                      {nil, billing.Preparation{}, false},
		"a copy that was made":                  {[]contract.LineItem{tea, milk}, copied, true},
		"a copy without recorded lines":         {nil, copied, false},
		"a copy that will be made again":        {is.Lines, billing.Preparation{Stage: billing.ContractDone, Edited: true}, false},
		"a copy that may have been made or not": {is.Lines, billing.Preparation{Stage: billing.Ready, Edited: true}, false},
	} {
		if a := (billing.Attempt{Lines: test.lines, Prep: test.prep}); linesKnown(a, is) != test.known {
			t.Errorf("%s: known is %t", name, !test.known)
		}
	}
}
