package prepare

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
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
	p := Inputs{rules: []swap.Rule{rule}}
	if _, needed := p.OrderFor(a, c); needed {
		t.Error("a rule that is off concerns an order")
	}
	if _, needed := p.with(rule).OrderFor(a, c); !needed || !p.rules[0].Off {
		t.Error("a preview with the rule leaves it off, or switches the stored one on")
	}
	added := rule
	added.ID, added.Sequence = 0, 0
	if got := p.with(added).rules; len(got) != 2 || got[1].ID != 0 || got[1].Sequence != 2 {
		t.Errorf("with a new rule they are %+v", got)
	}
}
