package billing

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// ChargeLead is how long before the expected date of a cycle the platform accepts its
// charge, less a minute for clocks that differ.
const ChargeLead = 24*time.Hour - time.Minute

// ChargeableFrom returns when the platform begins to accept charges of a cycle. A cycle that
// was moved before all of its contract was postponed keeps its date and opens with it.
func ChargeableFrom(y platform.Cycle) time.Time {
	if y.Expected.Before(y.Start) {
		return y.Expected.Add(-ChargeLead)
	}
	return y.Start.Add(-ChargeLead)
}

// TooEarlyReason says that the platform does not accept a charge yet.
func TooEarlyReason(a Attempt, opens time.Time) string {
	return fmt.Sprintf("the platform takes no charge for cycle %d of contract %d before %s", a.Cycle, a.Contract, opens.UTC().Format(time.RFC3339))
}
