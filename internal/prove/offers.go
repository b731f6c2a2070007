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
	inAdvance  offer = "in advance"  // becomes cheaper like cheaper does, and two deliveries are paid at once
)

// tried reports whether the offer begins with a free trial.
func (o offer) tried() bool { return o == trialDays || o == trialMonth }

var offers = []offer{cheaper, trialDays, trialMonth, forLife, inAdvance}

// What the offers are, in the oracle's terms.
const (
	atFirst, later = 10, 25 // per cent off
	cheapOrders    = 3      // that cost what the first one does
	trialLength    = 10     // days
	atOnce         = 2      // weekly deliveries of a payment in advance
)

func (o offer) option() offered.Option {
	monthly := offered.Frequency{Interval: cadence.Month, Count: 1}
	option := offered.Option{Name: string(o), Kind: offered.PayAsYouGo, Billing: monthly, Delivery: monthly}
	switch o {
	case cheaper, inAdvance:
		if o == inAdvance {
			option.Kind = offered.Prepaid
			option.Billing = offered.Frequency{Interval: cadence.Week, Count: atOnce}
			option.Delivery = offered.Frequency{Interval: cadence.Week, Count: 1}
		}
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

// off is a price less some per cent, in whole minor units; half a unit is taken off.
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

// price is what one unit costs in an order, counted from 1 for that of the checkout, on
// an offer that becomes cheaper; false: it does not.
func (o offer) price(price string, in money.Currency, n int) (money.Amount, bool) {
	percent, deliveries := int64(atFirst), int64(1)
	if n > cheapOrders {
		percent = later
	}
	switch o {
	case inAdvance:
		deliveries = atOnce
	case cheaper:
	default:
		return money.Amount{}, false
	}
	a := off(price, in, percent)
	a.Minor *= deliveries
	return a, true
}

// pricesByOrder holds what a contract on an offer that becomes cheaper was charged
// against what the offer says, when nothing else had a say in it.
func (w *world) pricesByOrder(d *deal, has map[int]attempt) {
	if !d.touched.IsZero() {
		return
	}
	is := I3
	if d.plan.Offer == inAdvance {
		is = I17
	}
	price, in := d.shop.plan.Prices[d.plan.Variant], d.shop.plan.Currency
	var orders []*order
	for cycle := range has {
		if o := w.orders[cycleKey{d.id, cycle}]; o != nil {
			orders = append(orders, o)
		}
	}
	// One that is paid after a decline comes after those that were made meanwhile.
	slices.SortFunc(orders, func(a, b *order) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	for i, o := range orders {
		n := i + 2 // the checkout's is the first
		want, changes := d.plan.Offer.price(price, in, n)
		if !changes {
			return
		}
		w.require(is, o.Lines[0].Price == want.String(), "order %s, the %d. of contract %d, has a line at %s, and the offer %q says %s", o.Name, n, d.id, o.Lines[0].Price, d.plan.Offer, want)
		if d.plan.Offer == inAdvance {
			want.Minor *= int64(o.Lines[0].Quantity)
			w.require(is, o.Amount == want.String(), "order %s, the %d. of contract %d, for %d deliveries, is over %s, and the offer says %s", o.Name, n, d.id, atOnce, o.Amount, want)
		}
	}
}
