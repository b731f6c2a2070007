package prove

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// tale is what a contract is there for. Nothing else happens to one that has a tale, so
// that the oracle can say all of what becomes of it; none: whatever comes.
type tale string

// The tales. Every world has some.
const (
	expires  tale = "expires"  // prepaid, with an end: it is over with its last delivery
	leaves   tale = "leaves"   // prepaid: it is cancelled once, and over with what is paid
	overtook tale = "overtook" // a later order is moved before an earlier one
	pursued  tale = "pursued"  // one order is declined however often it is tried
	stepped  tale = "stepped"  // prepaid, on an offer that becomes cheaper with the orders
)

var tales = []tale{expires, leaves, overtook, pursued, stepped}

// mostDeclines is more than any plan tries an order.
const mostDeclines = 12

// tale makes a contract one that has a tale.
func (d drawer) tale(p plan, t tale, from dealPlan) dealPlan {
	from.Tale, from.Offer, from.Second, from.Outcomes = t, "", false, nil
	from.At = p.Start.Add(d.within(p.Lasts / 6))
	spec := &from.Spec
	spec.Customer.Email = fmt.Sprintf("%s%d@%s.example.com", t, d.Uint64(), spec.Shop) // of one customer
	spec.CreatedAt, spec.NextBillingDate = from.At, from.At.Add(3*day+d.within(18*day))
	delivery := simulator.PolicySpec{Interval: "WEEK", IntervalCount: 1}
	billing := delivery
	switch t {
	case expires, leaves:
		if d.chance(0.3) {
			delivery.Interval = "MONTH"
		}
		billing = delivery
		billing.IntervalCount = 2 + d.IntN(2)
		if t == expires {
			billing.MaxCycles = 2 + d.IntN(2)
		}
	case overtook:
		billing.IntervalCount = 2 + d.IntN(2)
		delivery = billing
	case pursued:
		billing.IntervalCount = 3 + d.IntN(2)
		delivery = billing
		code := pick(d, declines)
		for range mostDeclines {
			from.Outcomes = append(from.Outcomes, outcome{2, code})
		}
	case stepped:
		billing.IntervalCount = atOnce
		from.Offer, spec.DeliveryPrice = inAdvance, ""
	}
	spec.Billing, spec.Delivery = billing, delivery
	return from
}

// actsOf draws what people do about a contract that has a tale.
func (d drawer) actsOf(p plan, deal int) (list []act) {
	at := p.Deals[deal].At
	left := p.Start.Add(p.Lasts).Sub(at)
	do := func(what deed, within time.Duration) {
		list = append(list, act{at.Add(4*day + d.within(within)), what, deal, d.Uint64()})
	}
	switch p.Deals[deal].Tale {
	case leaves:
		do(cancelIt, left/2)
	case overtook:
		do(overtake, left/3)
		do(overtake, left/2)
	}
	return list
}

// calendar is the oracle's of a store.
func (s *merchant) calendar() oracle.Calendar {
	return oracle.Calendar{Zone: s.zone, Hour: s.plan.Hour, Minute: s.plan.Minute}
}

// waiting is an upcoming order, as a list shows it.
type waiting struct {
	id    billing.AttemptID
	cycle int
	date  time.Time
}

// overtake moves the order after the next one of a contract before that, or to its day.
func (w *world) overtake(ctx context.Context, a *app.App, what act, d *deal, by activity.Actor) error {
	next, err := w.nextTwo(d)
	if err != nil {
		return err
	}
	if len(next) < 2 || next[0].date.Before(w.now.Add(2*day)) {
		return fmt.Errorf("contract %d has no two orders that can change places", d.id)
	}
	earlier, later := next[0], next[1]
	days := func(n int) time.Time {
		if n == 0 {
			return earlier.date
		}
		return oracle.Owed(oracle.Policy{Interval: "DAY", IntervalCount: n}, earlier.date, earlier.date.AddDate(0, 0, n+1), d.shop.calendar())[1]
	}
	put := func(o waiting, n int) error {
		if to := days(n); !to.Equal(o.date) {
			adrift := d.adrift
			d.adrift = true // until it is known what became of it
			if _, err := a.Command.Reschedule(ctx, d.shop.id, command.Reschedule{Line: shop.Subscriptions, Attempt: o.id, BillingDate: to, Actor: by}); err != nil {
				d.adrift = adrift || !definite(err)
				return err
			}
			d.adrift, d.moved[o.cycle] = adrift, to
		}
		return nil
	}
	off := int(what.Pick % 4) // the earlier order is put off by so many days
	if off > 0 {
		if err := put(earlier, off); err != nil {
			return err
		}
	}
	return put(later, int(what.Pick>>8%4)%max(off, 1))
}

// nextTwo returns the next two orders of a contract.
func (w *world) nextTwo(d *deal) (list []waiting, err error) {
	rows, err := w.books.QueryContext(context.Background(),
		"SELECT id, cycle, billing_date FROM attempts WHERE shop_id = $1 AND contract_id = $2 AND status = 'QUEUED' ORDER BY billing_date, id LIMIT 2", int64(d.shop.id), d.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o waiting
		var date int64
		if err := rows.Scan(&o.id, &o.cycle, &date); err != nil {
			return nil, err
		}
		o.date = time.UnixMilli(date).UTC()
		list = append(list, o)
	}
	return list, rows.Err()
}
