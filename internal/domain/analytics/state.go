package analytics

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// Dimension is by what amounts and contracts are counted apart.
type Dimension struct {
	Currency money.Currency
	Group    int64 // plan group; 0: none of the store's
}

// State is what the figures need to know of a contract.
type State struct {
	Dimension
	Status   contract.Status
	MRR      int64 // minor units; 0 unless the contract counts
	Customer int64
	Trial    bool // free, until its first order is paid
	Lifelong bool // paid once for life
}

// Active reports whether the contract is ACTIVE. One in dunning is.
func (s State) Active() bool { return s.Status == contract.Active }

// StateOf returns the state of a contract of a plan group.
func StateOf(c contract.Contract, group int64) State {
	s := State{
		Dimension: Dimension{Currency: c.Currency, Group: group}, Status: c.Status, Customer: c.Customer.ID,
		Trial: c.Trial != nil && c.Orders == 0, Lifelong: c.Lifelong,
	}
	if s.Active() && !s.Trial && !s.Lifelong {
		s.MRR = Monthly(RecurringAmount(c), c.Billing).Minor
	}
	return s
}

// RecurringAmount returns what a contract brings with each order: what its next one costs before
// tax, without delivery, one-time products and the effect of swap rules, after the discounts that
// no number of orders ends.
func RecurringAmount(c contract.Contract) money.Amount {
	c.DeliveryPrice.Minor = 0
	c.Discounts = slices.DeleteFunc(slices.Clone(c.Discounts), func(d contract.Discount) bool {
		return d.CycleLimit > 0 || d.FreeShipping || d.TargetIsOrder
	})
	return c.Cost(c.Lines, c.NextCycle(), 0)
}

// Monthly returns the part of an amount for one billing interval that belongs to a month,
// rounded half away from zero to whole minor units. A month has 30.4375 days (365.25 ÷ 12)
// and so 30.4375 ÷ 7 weeks.
func Monthly(amount money.Amount, every cadence.Policy) money.Amount {
	factor := factors[every.Interval]
	if factor[0] == 0 || every.Count < 1 {
		return money.Amount{Currency: amount.Currency}
	}
	return amount.Ratio(factor[0], factor[1]*int64(every.Count))
}

// factors are the monthly factors of one interval, as fractions.
var factors = map[cadence.Interval][2]int64{
	cadence.Day: {487, 16}, cadence.Week: {487, 112}, cadence.Month: {1, 1}, cadence.Year: {1, 12},
}

// Reason is why a contract changed, where the state does not say it.
type Reason string

// The reasons.
const (
	ByDunning Reason = "DUNNING" // a payment failed for good
	BySplit   Reason = "SPLIT"   // lines moved between contracts of the same subscriber
	Restarts  Reason = "RESTART" // the contract continues one that had ended
	Existed   Reason = "EXISTED" // the contract is older than what the service knows of it
)

// Version is a contract's state from one change to the next: a row of its history. Rows are
// never altered, save that the next one sets ValidTo.
type Version struct {
	Number    int64 // position in the history of the store, from 1
	Contract  int64
	Day       Day // of ValidFrom in the store's zone of then; never before the day of an earlier row
	ValidFrom time.Time
	ValidTo   time.Time // zero: it is current
	State
	Reason  Reason
	Counted bool  // it or an earlier version has an MRR
	Cohort  Month // in which the contract began; 0: older than the store's figures
}

// lateAfter is how many days after its creation a contract is still counted as new.
const lateAfter = 7

// firstReason returns the reason of a contract's first version.
func firstReason(c contract.Contract, today Day, zone *time.Location) Reason {
	switch {
	case today-DayOf(c.CreatedAt, zone) > lateAfter:
		return Existed
	case c.Origin == contract.Split || c.Origin == contract.SplitAttempt:
		return BySplit
	case c.SplitFrom != 0:
		return Restarts
	}
	return ""
}
