package contract

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// How many days before its date the customer is notified of an order.
const (
	notice      = 3
	shortNotice = 1 // of orders that come weekly or more often
)

// NoticeDays returns how many days before an order the customer is notified.
func (c Contract) NoticeDays() int {
	if c.Billing.Interval == cadence.Day && c.Billing.Count <= 7 || c.Billing.Interval == cadence.Week && c.Billing.Count == 1 {
		return shortNotice
	}
	return notice
}

// NotifyAt returns when the customer is notified of the next order; zero when they are
// not, because the contract does not run, has no upcoming order or is not charged
// automatically.
func (c Contract) NotifyAt() time.Time {
	if c.Status != Active || !c.AutoCharge || c.NextBillingDate.IsZero() {
		return time.Time{}
	}
	return c.NextBillingDate.Add(-time.Duration(c.NoticeDays()) * 24 * time.Hour)
}
