package prove

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	offered "github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// offer is a plan option on which a buyer subscribes; none: no plan is known.
type offer string

// The offers of every store.
const (
	cheaper    offer = "cheaper"     // from the first order on, and more so from the fourth
	trialDays  offer = "trial"       // some days, then the first order
	trialMonth offer = "trial month" // and then the first order on the date that the checkout had set
	forLife    offer = "for life"    // is paid for once
)

// tried reports whether the offer begins with a free trial.
func (o offer) tried() bool { return o == trialDays || o == trialMonth }

var offers = []offer{cheaper, trialDays, trialMonth, forLife}

// What the offers are, in the oracle's terms.
const (
	atFirst, later = 10, 25 // per cent off
	cheapOrders    = 3      // that cost what the first one does
	trialLength    = 10     // days
)

func (o offer) option() offered.Option {
	monthly := offered.Frequency{Interval: cadence.Month, Count: 1}
	option := offered.Option{Name: string(o), Kind: offered.PayAsYouGo, Billing: monthly, Delivery: monthly}
	switch o {
	case cheaper:
		option.First = offered.Discount{Enabled: true, Offer: atFirst, Kind: offered.Percentage}
		option.Second = offered.Discount{Enabled: true, Offer: later, Kind: offered.Percentage, After: cheapOrders}
	case trialDays:
		option.Trial = offered.Trial{Enabled: true, Interval: cadence.Day, Count: trialLength}
	case trialMonth:
		option.Trial = offered.Trial{Enabled: true, Interval: cadence.Month, Count: 1, KeepDate: true}
	case forLife:
		option.Lifetime = true
	}
	return option
}

// sell makes a store's offers.
func (w *world) sell(s *merchant) error {
	var draft offered.Draft
	draft.Name = "Subscribe"
	for _, o := range offers {
		draft.Options = append(draft.Options, o.option())
	}
	group, err := w.nodes[0].app.Plans.Create(context.Background(), s.id, offered.CreateCommand{
		Line: shop.Subscriptions, Draft: draft, Sold: platform.Assigned{Variants: s.variants}, Actor: activity.System,
	})
	if err != nil {
		return fmt.Errorf("make the offers of %s: %w", s.plan.Domain, err)
	}
	s.offers = make(map[offer]int64, len(offers))
	for i, o := range offers {
		s.offers[o] = group.Options[i].ID
	}
	return nil
}

// off is a price less some per cent, in whole minor units, of which half of one is
// taken off.
func off(price string, in money.Currency, percent int64) money.Amount {
	a, err := money.Parse(price, in)
	if err != nil {
		panic(err) // prices are drawn
	}
	a.Minor -= (a.Minor*percent + 50) / 100
	return a
}

// firstDue is the date of a contract's first renewal, by the oracle.
func (w *world) firstDue(d *deal, cal oracle.Calendar) time.Time {
	next, made := d.plan.Spec.NextBillingDate, d.plan.At
	due := next
	switch d.plan.Offer {
	case trialDays:
		due = oracle.Owed(oracle.Policy{Interval: "DAY", IntervalCount: trialLength}, made, made.AddDate(0, 0, 2*trialLength), cal)[1]
	case trialMonth:
		over := oracle.Owed(oracle.Policy{Interval: "MONTH", IntervalCount: 1}, made, made.AddDate(0, 3, 0), cal)[1]
		dates := oracle.Owed(policyOf(d.plan.Spec.Billing), next, next.AddDate(3, 0, 0), cal)
		due = dates[slices.IndexFunc(dates, func(t time.Time) bool { return !t.Before(over) })]
	}
	if w.plan.Switches.OriginOrderBillsFirstCycle && due.Before(next) { // what the checkout has paid for is not charged again
		return next
	}
	return due
}

// pricesByOrder holds what a contract on the offer that becomes cheaper was charged
// against what the offer says, when nothing else had a say in it.
func (w *world) pricesByOrder(d *deal, has map[int]attempt) {
	if d.plan.Offer != cheaper || !d.touched.IsZero() {
		return
	}
	price := d.shop.plan.Prices[d.plan.Variant]
	var orders []*order
	for cycle := range has {
		if o := w.orders[cycleKey{d.id, cycle}]; o != nil {
			orders = append(orders, o)
		}
	}
	// One that is paid after a decline comes after those that were made meanwhile.
	slices.SortFunc(orders, func(a, b *order) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	for i, o := range orders {
		n, percent := i+2, int64(atFirst) // the checkout's is the first
		if n > cheapOrders {
			percent = later
		}
		want := off(price, d.shop.plan.Currency, percent).String()
		w.require(I3, o.Lines[0].Price == want, "order %s, the %d. of contract %d, has a line at %s, and the offer says %s", o.Name, n, d.id, o.Lines[0].Price, want)
	}
}
