package explain

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Facts are what an explanation of an attempt is computed from.
type Facts struct {
	Now            time.Time
	Shop           shop.Shop
	Calendar       cadence.Calendar
	Policy         billing.Policy
	billing.Record                   // the attempt, its contract, and one-time products that wait for the order
	Others         []billing.Attempt // the contract's attempts that are in flight, or QUEUED and due
	Needs          prepare.Needs     // what keeps the order from being charged as the contract has it
	Terms          *Terms            // the contract as the platform has it now; nil: it was not asked, or did not answer
	Silent         bool              // it was asked and did not answer
	Entries        []activity.Entry  // about the attempt, oldest first
	Earlier        int               // entries before those

	CardTries []time.Time // that count against the contract's payment method; only of an attempt that failed
}

// Terms are what the platform keeps of a contract and the service does not.
type Terms struct {
	Lines     []contract.LineItem
	Details   []contract.LineDetail
	Discounts []contract.Discount
	Plans     map[string]contract.Pricing // what plans of ours say of lines that have no policy at the platform, by line
}

// answer returns what was said of the last failure.
func (f Facts) answer() string { return answered(f.ErrorCode, f.ErrorMessage) }

// moment returns an instant as the store's clocks show it, and in UTC.
func (f Facts) moment(at time.Time) string {
	if at.IsZero() {
		return "an unknown time"
	}
	layout := "2006-01-02 15:04"
	if at.Second() != 0 {
		layout = time.DateTime
	}
	utc := at.UTC().Format(layout) + " UTC"
	if zone := f.Calendar.Zone; zone != nil && zone != time.UTC {
		return fmt.Sprintf("%s %s (%s)", at.In(zone).Format(layout), zone, utc)
	}
	return utc
}

// open reports whether the attempt may still end in a charge, automatically or by a person.
func (f Facts) open() bool {
	return f.Status == billing.Queued || f.Status == billing.Failure || f.Status.InFlight()
}
