package contract

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// Term is what one payment of a contract covers.
type Term struct {
	Deliveries []time.Time // the first one comes with the payment
	End        time.Time   // until when it is paid
}

// Term returns what the last payment covers: the deliveries from it until the next
// payment is due, or would be due if the order had not been moved. Before any payment it
// is empty.
func (c Contract) Term(cal cadence.Calendar) Term {
	paid := c.paidAt()
	if paid.IsZero() {
		return Term{}
	}
	t := Term{End: c.PaidThrough(cal)}
	days, first := c.from(paid, c.Delivery, cal)
	for n := first; ; n++ {
		day := days.Nth(n)
		if n > first && !day.Before(t.End) {
			return t
		}
		t.Deliveries = append(t.Deliveries, day)
	}
}

// from returns the dates of one of the contract's policies from a payment on, and the
// index of the payment's date. A payment on a date of the calendar continues it: a
// contract that began on the 31st and was due on the 28th is due on the 31st again.
func (c Contract) from(paid time.Time, by Policy, cal cadence.Calendar) (cadence.Series, int) {
	day := cal.At(paid)
	cycle := c.CycleFrom(day, cal)
	if !c.DueOn(cycle, cal).Equal(day) {
		return cadence.Series{Policy: by, Calendar: cal, Start: paid}, 0
	}
	days := cadence.Series{Policy: by, Calendar: cal, Start: c.SeriesOf(cycle).Start}
	return days, days.After(day.Add(-time.Millisecond))
}

// paidAt returns when the last order was paid, at the checkout or by a renewal; zero
// when none was.
func (c Contract) paidAt() time.Time {
	if c.LastOrderAt.IsZero() && c.OriginOrderID != 0 {
		return c.CreatedAt
	}
	return c.LastOrderAt
}

// Next returns the first delivery that is still to come; zero when none is.
func (t Term) Next(now time.Time) time.Time {
	for _, d := range t.Deliveries {
		if d.After(now) {
			return d
		}
	}
	return time.Time{}
}

// Left returns how many deliveries are still to come.
func (t Term) Left(now time.Time) int {
	left := 0
	for _, d := range t.Deliveries {
		if d.After(now) {
			left++
		}
	}
	return left
}

// Last returns when the last delivery comes; zero when there is none.
func (t Term) Last() time.Time {
	if len(t.Deliveries) == 0 {
		return time.Time{}
	}
	return t.Deliveries[len(t.Deliveries)-1]
}
