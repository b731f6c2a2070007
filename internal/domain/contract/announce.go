package contract

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// How many days before its date an order is announced to webhook endpoints.
const (
	notice      = 3
	shortNotice = 1 // of orders that come weekly or more often
)

// NoticeDays returns how many days before an order webhook endpoints are notified.
func (c Contract) NoticeDays() int {
	if oftenBilled(c.Billing) {
		return shortNotice
	}
	return notice
}

func oftenBilled(p Policy) bool {
	return p.Interval == cadence.Day && p.Count <= 7 || p.Interval == cadence.Week && p.Count == 1
}

// ReminderDays returns how many days before an order its customer is reminded, the most first.
// Orders of a year are announced twice: several laws ask for a notice 15 to 45 days before a long
// term is renewed, such as section 17602 of California's Business and Professions Code.
func ReminderDays(line shop.Line, billing Policy) []int {
	months := 0 // that one payment is for
	switch billing.Interval {
	case cadence.Month:
		months = billing.Count
	case cadence.Year:
		months = 12 * billing.Count
	}
	switch {
	case months >= 12:
		return []int{21, 7}
	case line == shop.Memberships && months >= 1:
		return []int{7}
	case oftenBilled(billing):
		return []int{shortNotice}
	}
	return []int{notice}
}

// ReminderDays does the same for the contract's orders.
func (c Contract) ReminderDays() []int { return ReminderDays(c.Line, c.Billing) }

// charged reports whether the contract is charged automatically, and for something to come.
func (c Contract) charged() bool {
	return c.Status == Active && c.AutoCharge && !c.NextBillingDate.IsZero()
}

// NotifyAt returns when webhook endpoints are notified of the next order; zero when they are
// not, because the contract does not run, has no upcoming order or is not charged
// automatically.
func (c Contract) NotifyAt() time.Time {
	if !c.charged() {
		return time.Time{}
	}
	return c.NextBillingDate.Add(-Days(c.NoticeDays()))
}

// RemindAt returns when the customer is first reminded of the next order; zero as for NotifyAt.
func (c Contract) RemindAt() time.Time {
	if !c.charged() {
		return time.Time{}
	}
	return c.NextBillingDate.Add(-Days(c.ReminderDays()[0]))
}

// CardReminderDays are how many days before a card expires its customer is notified, the most first.
var CardReminderDays = []int{30, 7}

// CardRemindAt returns when the customer is first notified that the card expires; zero when it is not
// known to expire. A contract that ends has orders after that only when its next one is.
func (c Contract) CardRemindAt() time.Time {
	ends := c.Card.Ends()
	if !c.charged() || !c.PaymentUsable || ends.IsZero() {
		return time.Time{}
	}
	if _, limited := c.LastCycle(); limited && c.NextBillingDate.Before(ends) {
		return time.Time{}
	}
	return ends.Add(-Days(CardReminderDays[0]))
}

// Days returns so many days of 24 hours.
func Days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
