package contractedit

import (
	"fmt"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestPlanOfBoxExchangesWhatGoesForWhatComes(t *testing.T) {
	t.Parallel()
	line := func(id string, variant int64, n int, plan int64) contract.LineItem {
		return contract.LineItem{ID: id, VariantID: variant, Quantity: n, SellingPlanID: plan}
	}
	lines := []contract.LineItem{line("a", 1, 2, 7), line("beside", 9, 1, 8), line("b", 2, 1, 7), line("c", 3, 1, 7)}
	for name, row := range map[string]struct {
		lines []contract.LineItem
		want  []BoxItem
		plan  string // quantities, exchanged, added, removed
	}{
		"as it is":            {lines, []BoxItem{{3, 1}, {1, 2}, {2, 1}}, "map[] map[] [] []"},
		"another quantity":    {lines, []BoxItem{{1, 5}, {2, 1}, {3, 1}}, "map[a:5] map[] [] []"},
		"exchange":            {lines, []BoxItem{{1, 2}, {4, 3}, {3, 1}}, "map[] map[b:{4 3}] [] []"},
		"two for one":         {lines, []BoxItem{{1, 2}, {4, 1}, {5, 1}, {3, 1}}, "map[] map[b:{4 1}] [{5 1}] []"},
		"one for two":         {lines, []BoxItem{{1, 2}, {4, 1}}, "map[] map[b:{4 1}] [] [c]"},
		"beside the box":      {lines, []BoxItem{{1, 2}, {2, 1}, {3, 1}, {9, 1}}, "map[] map[] [{9 1}] []"},
		"two lines of one":    {append(lines[:4:4], line("d", 1, 1, 7)), []BoxItem{{1, 3}, {2, 1}, {3, 1}}, "map[a:3] map[] [] [d]"},
		"all products others": {lines[:1], []BoxItem{{5, 1}}, "map[] map[a:{5 1}] [] []"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := PlanBox(row.lines, []int64{7}, row.want)
			if got := fmt.Sprint(p.Quantities, p.Exchanged, p.Added, p.Removed); got != row.plan {
				t.Errorf("%s, want %s", got, row.plan)
			}
		})
	}
}
