// Package analytics counts what became of a store's contracts and orders: a history of each
// contract, sums by day, and the figures that the dashboard shows. It follows what other
// features write and changes nothing of theirs.
package analytics

import (
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// Flow is how much MRR moved, by movement, in minor units. Movements that take away are
// negative.
type Flow map[Movement]int64

// Sum returns the change of MRR that the movements make together.
func (f Flow) Sum() (sum int64) {
	for _, n := range f {
		sum += n
	}
	return sum
}

// DayFigures is what happened on a day, of one dimension, and where it ended. Days without
// a change have none: the last one before stands. Amounts are minor units of the currency.
type DayFigures struct {
	Day Day
	Dimension

	// At the end of the day.
	MRR         int64
	Contracts   int64 // ACTIVE
	Subscribers int64 // with at least one of these contracts
	Trials      int64 // of the contracts, that are free until their first order is paid
	Lifelong    int64 // of the contracts, that are paid for life

	Moved Flow

	// Renewals.
	Orders, Revenue            int64 // paid
	Failed, FailedAmount       int64 // declined for the first time
	Recovered, RecoveredAmount int64 // paid after a decline on this day or earlier; the amount that had failed
}

// SubscriberFigures is how many subscribers a store had at the end of a day, and how many
// came and went.
type SubscriberFigures struct {
	Day         Day
	Subscribers int64 // customers with at least one ACTIVE contract
	Opening     int64 // that the store had already when it was connected
	Gained      int64
	Lost        int64 // no ACTIVE contract is left, by their own choice
	LostDecline int64 // because a payment failed for good
	Merged      int64 // contracts that went to another customer: what that adds
}

// ChurnMonth is how many of the subscribers at the start of a month have no ACTIVE contract
// at its end or, of the present month, now.
type ChurnMonth struct {
	Month           Month
	Voluntary       int64
	ByFailedPayment int64
}

// CohortMonth is what happened in a month to those whose first contract began in another.
// Without a currency it is of all; with one it is of those who have, or had, a contract in it.
type CohortMonth struct {
	Cohort, Month Month
	Currency      money.Currency
	Joined        int64 // were a subscriber for the first time, or the first time in the currency
	Change        int64 // of the number of subscribers; 0 of a currency
	Revenue       int64 // of their renewals in the currency
}

// FailureFigures is what became of the orders whose first decline fell on a day.
type FailureFigures struct {
	Day      Day
	Currency money.Currency
	Class    dunning.Class // of the first decline
	Try      int64         // that was paid; 0: of the failures themselves

	Failed, FailedAmount       int64
	Recovered, RecoveredAmount int64 // RecoveredAmount is of what had failed
	Stages                           // of the failures themselves
}

// CycleFigures is what became of orders, by the number of their cycle up to LastCycle. They
// are of the day on which it was decided.
type CycleFigures struct {
	Day                 Day
	Cycle               int64
	Paid, Lost, Skipped int64
}

// LastCycle stands for all later cycles in CycleFigures.
const LastCycle = 13

// Subscriber is what is kept of a customer to count subscribers.
type Subscriber struct {
	Customer  int64
	Contracts int64 // ACTIVE
	Cohort    Month // of the first contract; 0: before the store's figures began
	Since     Day   // began to be a subscriber, the last time
	Until     Day   // ceased to be one, the last time; 0: never
	Declined  bool  // that was because a payment failed for good
	Counted   Month // in which churn counts, or counted, the customer; 0: none
}

// Holding is how many ACTIVE contracts a customer has in a dimension.
type Holding struct {
	Customer int64
	Dimension
	Contracts int64
}

// Tables is rows to write. Days, Subscriber days, subscribers and holdings are whole rows;
// the numbers of the others are added to what is stored.
type Tables struct {
	Days           []DayFigures
	SubscriberDays []SubscriberFigures
	Subscribers    []Subscriber
	Holdings       []Holding

	Churn    []ChurnMonth
	Cohorts  []CohortMonth
	Failures []FailureFigures
	Cycles   []CycleFigures
	Queue    []QueueFigures
}

// sorted returns the values of a map in an order that does not change.
func sorted[K comparable, V any](rows map[K]*V, compare func(a, b V) int) []V {
	list := make([]V, 0, len(rows))
	for _, r := range rows {
		list = append(list, *r)
	}
	slices.SortFunc(list, compare)
	return list
}
