package intake

import (
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// entryDetails is the details of an entry that intake writes.
type entryDetails struct {
	Reason string `json:"reason,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Cycle  int    `json:"cycle,omitempty"`
	Passed []int  `json:"passedCycles,omitempty"`
}

func describePolicy(p contract.Policy) string { return fmt.Sprintf("%d %s", p.Count, p.Interval) }
