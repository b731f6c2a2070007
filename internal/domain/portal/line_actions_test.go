package portal

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestRemovalIsReversibleWhenAddingTheProductRestoresAll(t *testing.T) {
	t.Parallel()
	line := func(id string, plan int64) contract.LineItem { return contract.LineItem{ID: id, SellingPlanID: plan} }
	engraved := []contract.LineDetail{{}, {Attributes: []platform.Attribute{{Key: "engraving", Value: "Maya"}}}}
	for name, c := range map[string]struct {
		plan      int64 // of the line that goes
		details   []contract.LineDetail
		discounts []contract.Discount
		want      bool
	}{
		"plain":                     {plan: 7, want: true},
		"discount of all lines":     {plan: 7, discounts: []contract.Discount{{AllLines: true}}, want: true},
		"discount of the other":     {plan: 7, discounts: []contract.Discount{{Lines: []string{"1"}}}, want: true},
		"details without attribute": {plan: 7, details: make([]contract.LineDetail, 2), want: true},
		"another plan":              {plan: 8},
		"attributes":                {plan: 7, details: engraved},
		"discount of its own":       {plan: 7, discounts: []contract.Discount{{Lines: []string{"2"}}}},
		"discount with the other":   {plan: 7, discounts: []contract.Discount{{Lines: []string{"1", "2"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := contract.Detail{Contract: contract.Contract{Lines: []contract.LineItem{line("1", 7), line("2", c.plan)}, Discounts: c.discounts}, LineDetails: c.details}
			after := contract.Detail{Contract: contract.Contract{Lines: before.Lines[:1]}}
			if got := reversible(before, after, before.Lines[1]); got != c.want {
				t.Errorf("reversible: %t, want %t", got, c.want)
			}
		})
	}
}
