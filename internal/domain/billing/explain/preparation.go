package explain

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
)

// PreparationState is how far an order has been made what it should be.
type PreparationState struct {
	Kind  PreparationKind
	Words []string
}

// PreparationKind is how far that is.
type PreparationKind string

// The kinds of preparation.
const (
	NotNeeded   PreparationKind = "NOT_NEEDED"
	NotPrepared PreparationKind = "WAITING"
	Preparing   PreparationKind = "UNDER_WAY"
	Prepared    PreparationKind = "DONE"
)

// PreparationKinds lists every kind.
var PreparationKinds = []PreparationKind{NotNeeded, NotPrepared, Preparing, Prepared}

func (f Facts) explainPreparation() PreparationState {
	var s PreparationState
	say := func(format string, args ...any) { s.Words = append(s.Words, fmt.Sprintf(format, args...)) }
	switch p := f.Prep; {
	case p.Stage == billing.Ready:
		s.Kind = Prepared
		say("The order has been prepared: the platform has it with the lines that are named here.")
		if p.NoteLeft {
			say("Its note could not be given to it before, and follows the order.")
		}
	case p.Stage != billing.Fresh:
		s.Kind = Preparing
		say("The order is being made what it should be before it is charged.")
		for _, c := range f.planned() {
			say("The swap rule %q is about to change it.", c.Name)
		}
	case f.Status == billing.Success:
		s.Kind = NotNeeded
		say("The order needed no preparation: it was made as the contract had it.")
	case !f.open():
		s.Kind = NotNeeded
		say("The order was not prepared.")
	case !f.Needs.Any():
		s.Kind = NotNeeded
		say("The order needs no preparation: it is made as the contract has it.")
	default:
		s.Kind = NotPrepared
		say("Before it is charged the order is prepared: %s.", strings.Join(needWords(f.Needs), "; "))
	}
	if f.Prep.Failures > 0 {
		say("The platform has not answered %s while it was prepared, since %s.", times(f.Prep.Failures), f.moment(f.Prep.Since))
	}
	return s
}

// planned returns the changes of the step under way.
func (f Facts) planned() []billing.Change {
	if f.Prep.Plan == nil {
		return nil
	}
	return f.Prep.Plan.Changes
}

// needWords says why an order is prepared.
func needWords(n prepare.Needs) []string {
	var list []string
	for _, need := range []struct {
		is    bool
		words string
	}{
		{n.Prices, "prices of its lines may change with the order"},
		{n.OneOffs > 0, fmt.Sprintf("it carries one-time products (%d)", n.OneOffs)},
		{n.Note, "it has a note of its own"},
		{n.Rules, "swap rules of the store concern it"},
		{n.Box, "its box gets another price"},
		{n.Undo, "the platform's order holds an earlier change, which is checked again"},
	} {
		if need.is {
			list = append(list, need.words)
		}
	}
	return list
}
