package prove

import (
	"time"

	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// inTheirTurn checks a contract whose later orders were moved before earlier ones: each
// order was made once, on its last planned date.
func (w *world) inTheirTurn(d *deal, has map[int]attempt, log journal) {
	if d.plan.Tale != overtook || d.adrift {
		return
	}
	dates := oracle.Owed(policyOf(d.plan.Spec.Billing), d.plan.Spec.NextBillingDate, w.now, d.shop.calendar())
	for i, date := range dates {
		cycle := d.first + i
		if to, moved := d.moved[cycle]; moved {
			date = to
		}
		if date.After(w.cutoff()) {
			continue
		}
		latest := date.Add(longestDelay + day) // a day lies between it and the order before, unless a request set the date
		o := w.orders[cycleKey{d.id, cycle}]
		if o == nil {
			w.require(I14, w.halted(date, latest), "cycle %d of contract %d, planned for %s, has no order%s", cycle, d.id, date, historyOf(has, log.ofAttempt))
			continue
		}
		w.require(I14, has[cycle].date.Equal(date), "cycle %d of contract %d is due %s, and a request moved it to %s", cycle, d.id, has[cycle].date, date)
		w.require(I14, !o.At.Before(date.Add(-w.ahead())) && (o.At.Before(latest) || w.halted(date, o.At)), "cycle %d of contract %d, planned for %s, was charged on %s%s",
			cycle, d.id, date.Format(time.RFC3339), o.At.Format(time.RFC3339), historyOf(has, log.ofAttempt))
	}
}
