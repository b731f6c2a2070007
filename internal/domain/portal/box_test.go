package portal

import (
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// A box is filled by the actions that the merchant can switch off: no way round them leads through it.
func TestBoxNeedsTheActionsOfItsChange(t *testing.T) {
	t.Parallel()
	b := Box{Bundle: bundle.Settings{Plans: []int64{7}}}
	b.State.Contract.Lines = []contract.LineItem{{ID: "a", VariantID: 1, Quantity: 2, SellingPlanID: 7}, {ID: "b", VariantID: 2, Quantity: 1, SellingPlanID: 7}}
	for name, row := range map[string]struct {
		want  []contractedit.BoxItem
		needs []Action
	}{
		"nothing":                        {[]contractedit.BoxItem{{Variant: 1, Quantity: 2}, {Variant: 2, Quantity: 1}}, nil},
		"quantity":                       {[]contractedit.BoxItem{{Variant: 1, Quantity: 1}, {Variant: 2, Quantity: 1}}, []Action{ChangeQuantity}},
		"exchange":                       {[]contractedit.BoxItem{{Variant: 1, Quantity: 2}, {Variant: 3, Quantity: 1}}, []Action{Swap}},
		"exchange with another quantity": {[]contractedit.BoxItem{{Variant: 1, Quantity: 2}, {Variant: 3, Quantity: 9}}, []Action{ChangeQuantity, Swap}},
		"more":                           {[]contractedit.BoxItem{{Variant: 1, Quantity: 2}, {Variant: 2, Quantity: 1}, {Variant: 3, Quantity: 1}}, []Action{AddProduct}},
		"less":                           {[]contractedit.BoxItem{{Variant: 1, Quantity: 2}}, []Action{RemoveProduct}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, needs := b.fill(row.want); !slices.Equal(needs, row.needs) {
				t.Errorf("it needs %v, want %v", needs, row.needs)
			}
		})
	}
}
