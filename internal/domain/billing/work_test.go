package billing

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestALineIsNotedWhenItIsSentFirst(t *testing.T) {
	t.Parallel()
	is := contract.Contract{Revision: 7, Lines: []contract.Line{{Title: "of the contract"}}}
	before := []contract.Line{{Title: "noted before"}}
	ready := Preparation{Stage: Ready, Revision: 7}
	for name, test := range map[string]struct {
		a    Attempt
		want string
	}{
		"an order that needed nothing has the contract's lines": {Attempt{Status: Queued}, "of the contract"},
		"a prepared order has its own":                          {Attempt{Status: Queued, Prep: ready, Lines: before}, "noted before"},
		"one that was given up may have none":                   {Attempt{Status: Queued, Prep: ready}, "of the contract"},
		"the contract has changed since it was prepared":        {Attempt{Status: Queued, Prep: Preparation{Stage: Ready, Revision: 6}, Lines: before}, "of the contract"},
		"a try that is sent again is what it was":               {Attempt{Status: Requesting, FirstSentAt: now.Add(-time.Hour), Lines: before}, "noted before"},
		"a new try after a decline is what the contract is":     {Attempt{Status: Failure, FirstSentAt: now.Add(-time.Hour), Lines: before}, "of the contract"},
	} {
		if test.a.holdLines(is); test.a.Lines[0].Title != test.want {
			t.Errorf("%s: the line is %s, want %s", name, test.a.Lines[0].Title, test.want)
		}
	}
}

func TestAnOrderIsAskedForLinesThatMayNotBeThoseThatAreNoted(t *testing.T) {
	t.Parallel()
	tea, milk := contract.Line{ID: "tea", VariantID: 1, Quantity: 1}, contract.Line{ID: "milk", VariantID: 2, Quantity: 1}
	is := contract.Contract{Lines: []contract.Line{tea}}
	copied := Preparation{Stage: Ready, Edited: true, Contract: fingerprintOf(is.Lines)}
	for name, test := range map[string]struct {
		lines []contract.Line
		prep  Preparation
		known bool
	}{
		"what the contract has":                 {is.Lines, Preparation{}, true},
		"what the contract had":                 {[]contract.Line{milk}, Preparation{}, false},
		"nothing is noted":                      {nil, Preparation{}, false},
		"a copy that was made":                  {[]contract.Line{tea, milk}, copied, true},
		"a copy of which nothing is noted":      {nil, copied, false},
		"a copy that is to be made anew":        {is.Lines, Preparation{Stage: ContractDone, Edited: true}, false},
		"a copy that may have been made or not": {is.Lines, Preparation{Stage: Ready, Edited: true}, false},
	} {
		if a := (Attempt{Lines: test.lines, Prep: test.prep}); a.linesKnown(is) != test.known {
			t.Errorf("%s: known is %t", name, !test.known)
		}
	}
}
