package prepare

import (
	"context"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

func TestRuleThatIsOffChangesNoOrder(t *testing.T) {
	t.Parallel()
	c := billingtest.Monthly()
	c.Lines = []contract.LineItem{{ID: "a", VariantID: 12, Quantity: 1}}
	rule := swap.Rule{
		ID: 7, Line: c.Line, Sequence: 1, Off: true, Sources: []swap.Product{{VariantID: 12, Quantity: 1}}, Destinations: []swap.Product{{VariantID: 13, Quantity: 1}}, EveryOrder: true, FirstOrder: true,
	}
	a := billingtest.Due()
	needed := func(rules ...swap.Rule) bool {
		_, needed := OrderFor(a, c, billing.Inputs{Rules: order.RulesOf(rules, c.Line)})
		return needed
	}
	if needed(rule) {
		t.Error("a rule that is off concerns an order")
	}
	on := rule
	on.Off = false
	if got, err := (trial{stored{rule: rule}, on}).SwapRules(t.Context()); err != nil || len(got) != 1 || !needed(got...) {
		t.Errorf("a preview with the rule leaves it off: %+v, %v", got, err)
	}
	on.ID, on.Sequence = 0, 0
	if got, err := (trial{stored{rule: rule}, on}).SwapRules(t.Context()); err != nil || len(got) != 2 || got[1].ID != 0 || got[1].Sequence != 2 {
		t.Errorf("with a new rule they are %+v, %v", got, err)
	}
}

func TestSilentRuleSaysSoInItsEntry(t *testing.T) {
	t.Parallel()
	for _, silent := range []bool{true, false} {
		if c := changesOf([]swap.Rule{{ID: 7, NoEmail: silent}}); len(c) != 1 || c[0].Silent != silent {
			t.Errorf("a rule whose e-mail is off: %t: %+v", silent, c)
		}
	}
}

// stored is a store with one rule.
type stored struct {
	billing.ReadTx
	rule swap.Rule
}

func (s stored) SwapRules(context.Context) ([]swap.Rule, error) {
	return []swap.Rule{s.rule}, nil
}
