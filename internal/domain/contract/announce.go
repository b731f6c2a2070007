package contract

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// How many days before its date an order is announced.
const (
	notice      = 3
	shortNotice = 1 // of orders that come every week, or more often
)

// NoticeDays returns how many days before their dates the orders are announced.
func (c Contract) NoticeDays() int {
	if c.Billing.Interval == cadence.Day && c.Billing.Count <= 7 || c.Billing.Interval == cadence.Week && c.Billing.Count == 1 {
		return shortNotice
	}
	return notice
}

// NotifyAt returns when the next order is announced; zero when it is not, because
// the contract does not run, has no order to come, or is not charged by itself.
func (c Contract) NotifyAt() time.Time {
	if c.Status != Active || !c.AutoCharge || c.NextBillingDate.IsZero() {
		return time.Time{}
	}
	return c.NextBillingDate.Add(-time.Duration(c.NoticeDays()) * 24 * time.Hour)
}
