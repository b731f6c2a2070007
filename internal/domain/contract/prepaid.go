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

// Term returns what the last payment covers: the deliveries that follow it by the
// delivery policy until the next payment is due, or would be if nobody had put it
// off. Before any payment it is empty.
func (c Contract) Term(cal cadence.Calendar) Term {
	paid := c.paidAt()
	if paid.IsZero() {
		return Term{}
	}
	t := Term{End: c.PaidThrough(cal)}
	days := cadence.Series{Policy: c.Delivery, Calendar: cal, Start: paid}
	for n := 0; ; n++ {
		day := days.Nth(n)
		if n > 0 && !day.Before(t.End) {
			return t
		}
		t.Deliveries = append(t.Deliveries, day)
	}
}

// paidAt returns when the last order was paid, by the checkout or by a renewal; zero
// when none was.
func (c Contract) paidAt() time.Time {
	if c.LastOrderAt.IsZero() && c.OriginOrderID != 0 {
		return c.CreatedAt
	}
	return c.LastOrderAt
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
