package contractedit

import (
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestRemovedLinesTakeTheirOwnDiscounts(t *testing.T) {
	t.Parallel()
	d := contract.Detail{Contract: contract.Contract{Discounts: []contract.Discount{
		{ID: "one", Lines: []string{"l1"}}, {ID: "both", Lines: []string{"l1", "l2"}}, {ID: "other", Lines: []string{"l2"}}, {ID: "all", AllLines: true}, {ID: "shipping"},
	}}}
	var gone []string
	for _, e := range orphans(d, []string{"l1"}) {
		gone = append(gone, e.Remove)
	}
	if !slices.Equal(gone, []string{"one"}) {
		t.Errorf("removed %v", gone)
	}
}
