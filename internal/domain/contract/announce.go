package contract

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// How long before its date an order is announced.
const (
	notice      = 3 * 24 * time.Hour
	shortNotice = 24 * time.Hour // of orders that come every week, or more often
)

// AnnounceAt returns when the next order is announced; zero when it is not, because
// the contract does not run, has no order to come, or is not charged by itself.
func (c Contract) AnnounceAt() time.Time {
	if c.Status != Active || !c.AutoCharge || c.NextBillingDate.IsZero() {
		return time.Time{}
	}
	if c.Billing.Interval == cadence.Day && c.Billing.Count <= 7 || c.Billing.Interval == cadence.Week && c.Billing.Count == 1 {
		return c.NextBillingDate.Add(-shortNotice)
	}
	return c.NextBillingDate.Add(-notice)
}
