package analytics

import (
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// Result is how an order ended.
type Result string

// The results. The zero Result is none yet.
const (
	Paid    Result = "PAID"
	Lost    Result = "LOST"    // given up after declines
	Skipped Result = "SKIPPED" // by a person, or by the service
)

// Outcome is what became of an order that was paid, declined or skipped.
type Outcome struct {
	Attempt  int64
	Contract int64
	Cycle    int64 // at most LastCycle
	Dimension
	Cohort Month // of the subscriber; 0: none

	FailedDay    Day   // of the first decline; 0: none
	FailedAmount int64 // that was expected then
	Class        dunning.Class
	Retried      bool // charged again after it
	Mailed       bool // the customer got an e-mail about it
	Renewed      bool // the payment method changed after it

	PaidDay    Day // 0: it is not
	PaidAmount int64
	Try        int64 // that was paid

	Result    Result
	ResultDay Day
}

// Next returns the outcome after the attempt was written as it is now, which was on a day.
func (o Outcome) Next(a billing.Attempt, on Day) Outcome {
	if o.FailedDay == 0 && a.HadCase() {
		class, _ := dunning.ClassOf(a.Dunning.FirstCode)
		o.FailedDay, o.FailedAmount, o.Class = on, a.Expected, class
	}
	if o.FailedDay != 0 {
		o.Retried = o.Retried || a.Try > 1
		o.Mailed = o.Mailed || a.Dunning.Mailed()
		o.Renewed = o.Renewed || a.Dunning.Renewed()
	}
	if o.PaidDay == 0 && a.Status == billing.Success && a.OrderID != 0 {
		o.PaidDay, o.PaidAmount, o.Try = on, a.Amount.Minor, int64(a.Try)
	}
	if result := resultOf(a); result != o.Result {
		o.Result, o.ResultDay = result, on
	}
	return o
}

func resultOf(a billing.Attempt) Result {
	switch {
	case a.Status == billing.Success:
		return Paid
	case a.Status == billing.SkippedDunning, a.Dunning.State == dunning.Lost:
		return Lost
	case a.Status == billing.Skipped:
		return Skipped
	}
	return ""
}

// Order adds an order's step from one outcome to the next. The zero outcome is the one
// before the first.
func (b *Book) Order(before, after Outcome) {
	if after.FailedDay != 0 && before.FailedDay == 0 {
		d := b.orderDay(after.FailedDay, after.Dimension)
		d.Failed++
		d.FailedAmount += after.FailedAmount
		f := b.failure(after.FailedDay, after.Currency, after.Class, 0)
		f.Failed++
		f.FailedAmount += after.FailedAmount
	}
	if was, is := before.stages(), after.stages(); was != is {
		f := b.failure(after.FailedDay, after.Currency, after.Class, 0)
		f.Stages = f.Stages.plus(is).minus(was)
	}
	if after.PaidDay != 0 && before.PaidDay == 0 {
		b.paid(after)
	}
	if before.Result != "" && (before.Result != after.Result || before.ResultDay != after.ResultDay) {
		*b.resultOf(before)--
	}
	if after.Result != "" && (before.Result != after.Result || before.ResultDay != after.ResultDay) {
		*b.resultOf(after)++
	}
}

func (b *Book) paid(o Outcome) {
	d := b.orderDay(o.PaidDay, o.Dimension)
	d.Orders++
	d.Revenue += o.PaidAmount
	if o.FailedDay != 0 {
		d.Recovered++
		d.RecoveredAmount += o.FailedAmount
		f := b.failure(o.FailedDay, o.Currency, o.Class, o.Try)
		f.Recovered++
		f.RecoveredAmount += o.FailedAmount
	}
	if o.Cohort != 0 {
		b.cohortMonth(o.Cohort, o.PaidDay.Month(), o.Currency).Revenue += o.PaidAmount
	}
}

func (b *Book) resultOf(o Outcome) *int64 {
	row := b.cycle(o.ResultDay, o.Cycle)
	switch o.Result {
	case Paid:
		return &row.Paid
	case Lost:
		return &row.Lost
	default:
		return &row.Skipped
	}
}
