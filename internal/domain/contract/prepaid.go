package contract

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// Term is what one payment of a contract covers.
type Term struct {
	Deliveries []time.Time // the first one comes with the payment
	End        time.Time   // when the next payment would be due
}

// Term returns what the last payment covers: the deliveries that follow it by the
// delivery policy until the next payment is due. Before any payment it is empty.
// The end of a contract that has no next order is reckoned from the payment.
func (c Contract) Term(cal cadence.Calendar) Term {
	paid := c.LastOrderAt
	if paid.IsZero() && c.OriginOrderID != 0 {
		paid = c.CreatedAt
	}
	if paid.IsZero() {
		return Term{}
	}
	usual := cadence.Series{Policy: c.Billing, Calendar: cal, Start: paid}.Nth(1)
	t := Term{End: c.NextBillingDate}
	if t.End.IsZero() {
		t.End = usual
	}
	last := t.End
	if usual.Before(last) {
		last = usual // a payment that was put off brings no more deliveries
	}
	days := cadence.Series{Policy: c.Delivery, Calendar: cal, Start: paid}
	for n := 0; ; n++ {
		day := days.Nth(n)
		if n > 0 && !day.Before(last) {
			return t
		}
		t.Deliveries = append(t.Deliveries, day)
	}
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
