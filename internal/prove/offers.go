package prove

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
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
	boxed      offer = "box"         // is one price, whatever is in it, and less from two pieces on
)

// tried reports whether the offer begins with a free trial.
func (o offer) tried() bool { return o == trialDays || o == trialMonth }

var offers = []offer{cheaper, trialDays, trialMonth, forLife, inAdvance, boxed}

// What the offers are, in the oracle's terms.
const (
	atFirst, later = 10, 25 // per cent off
	cheapOrders    = 3      // that cost what the first one does
	trialLength    = 10     // days
	atOnce         = 2      // weekly deliveries of a payment in advance
	tierFrom       = 2      // pieces of a box that is
	tierOff        = 7      // per cent cheaper
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
	box := bundle.New()
	box.Line, box.Plans = shop.Subscriptions, []int64{s.offers[boxed]}
	box.Pricing = bundle.Pricing{Model: bundle.Fixed, Fixed: s.plan.boxPrice(), Volume: true, Tiers: []bundle.Tier{{MinProducts: tierFrom, Percent: tierOff}}}
	if _, err := w.nodes[0].app.Bundles.Create(context.Background(), s.id, box, activity.System); err != nil {
		return fmt.Errorf("make the box of %s: %w", s.plan.Domain, err)
	}
	return nil
}

// boxPrice is the one price of the store's boxes: half of what its first product costs.
func (s shopPlan) boxPrice() money.Amount { return off(s.Prices[0], s.Currency, 50) }

// deliveries is how many deliveries a payment of a contract is for.
func (d *deal) deliveries() int64 {
	billing, delivery := d.plan.Spec.Billing, d.plan.Spec.Delivery
	return int64(max(1, billing.IntervalCount/max(1, delivery.IntervalCount)))
}

// boxPrices holds what a box was charged against what its bundle says, when nothing else had a say in it.
// Its line is the first of an order; one beside it costs what it costs.
func (w *world) boxPrices(d *deal, has map[int]attempt) {
	if !d.touched.IsZero() || d.plan.Offer != boxed {
		return
	}
	in := d.shop.plan.Currency
	for cycle := range has {
		o := w.orders[cycleKey{d.id, cycle}]
		if o == nil {
			continue
		}
		want := money.Amount{Currency: in}
		for i, l := range o.Lines {
			cost := off(l.Price, in, 0).Times(int64(l.Quantity))
			if one := d.shop.plan.boxPrice().Times(d.deliveries()); i == 0 {
				cost.Minor = min(cost.Minor, one.Minor)
				if l.Quantity >= tierFrom {
					cost = off(cost.String(), in, tierOff)
				}
			}
			want = want.Plus(cost)
		}
		if price := d.plan.Spec.DeliveryPrice; price != "" {
			want = want.Plus(off(price, in, 0))
		}
		w.require(I19, o.Amount == want.String(), "order %s of contract %d, a box with %v, is over %s, and its bundle says %s", o.Name, d.id, o.Lines, o.Amount, want)
	}
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
