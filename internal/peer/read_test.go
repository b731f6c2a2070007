package peer

import (
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Where a service does not say which cycle comes next, all orders count: none is charged beyond the limit.
func TestCyclesDoneAreThoseThatTheServiceSays(t *testing.T) {
	t.Parallel()
	const path = "/api/external/v2/subscription-contract-details/current-cycle/9"
	for name, row := range map[string]struct {
		status int
		body   string
		want   int
	}{
		"it says":             {http.StatusOK, "4", 3},
		"the first":           {http.StatusOK, "1", 0},
		"what is no number":   {http.StatusOK, `{"cycle":4}`, 7},
		"it has no operation": {http.StatusNotImplemented, "", 7},
	} {
		c := moving.Contract{ID: 9, Orders: 7, MaxCycles: 12}
		if err := answering(t, row.status, map[string]string{path: row.body}).cyclesDone(t.Context(), shop.Subscriptions, &c); err != nil || c.CyclesDone != row.want {
			t.Errorf("%s: %d cycles are done, %v, want %d", name, c.CyclesDone, err, row.want)
		}
	}
}
