package prove

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// plan is what a seed draws of a world before its time begins. It is nothing but
// values, so that two worlds can be given the same story and different fates.
type plan struct {
	Number   int // of the world
	Seed     uint64
	Start    time.Time
	Lasts    time.Duration // the storm
	Calm     time.Duration // afterwards
	Nodes    int
	UpTo     uint64        // steps; 0: to the end
	Slack    time.Duration // the longest that a task waits for a worker
	Rates    map[Kind]float64
	Switches simulator.Switches
	Shops    []shopPlan
	Deals    []dealPlan
	Acts     []act
}

// shopPlan is a store.
type shopPlan struct {
	Domain       string
	Zone         string
	Currency     money.Currency
	Hour, Minute int
	Prices       []string // of its variants
	Settings     shop.Settings
}

func (s shopPlan) token(installed int) string {
	return fmt.Sprintf("token %d of %s", installed, s.Domain)
}

// dealPlan is a contract that a buyer makes.
type dealPlan struct {
	Shop     int
	At       time.Time // of the checkout; before the start: it is there already
	Spec     simulator.ContractSpec
	Variant  int  // of the store's
	Second   bool // has a line of another one too
	Offer    offer
	Tale     tale // for which it is there
	Terms    termsPlan
	Outcomes []outcome
	Finish   string // how charges end that the platform leaves open
}

// outcome is how the charge of a cycle ends.
type outcome struct {
	Cycle int
	Code  string
}

// expected is about how many renewals the world makes: what its intervals allow.
func (p plan) expected() (renewals int) {
	end := p.Start.Add(p.Lasts)
	for _, d := range p.Deals {
		from := d.At
		if from.Before(p.Start) {
			from = p.Start
		}
		renewals += int(end.Sub(from) / (lengths[d.Spec.Billing.Interval] * time.Duration(d.Spec.Billing.IntervalCount)))
	}
	return renewals
}

// lengths are about how long intervals are.
var lengths = map[string]time.Duration{"DAY": day, "WEEK": 7 * day, "MONTH": 30 * day, "YEAR": 365 * day}

// deed is a kind of action.
type deed string

// The actions of customers and merchants, by way of the services that the web
// uses or at the platform.
const (
	skipIt       deed = "skip"
	unskipIt     deed = "unskip"
	moveIt       deed = "reschedule"
	moveAll      deed = "reschedule all"
	overtake     deed = "reschedule before an earlier order"
	chargeNow    deed = "charge now"
	pauseIt      deed = "pause"
	pauseUntil   deed = "pause until a day"
	pauseSome    deed = "pause for some orders"
	activateIt   deed = "activate"
	activateOn   deed = "activate on a day"
	cancelIt     deed = "cancel"
	cancelNow    deed = "cancel at once"
	splitIt      deed = "split"
	newLimits    deed = "new limits"
	newDelivery  deed = "new delivery price"
	newInterval  deed = "new interval"
	newQuantity  deed = "new quantity"
	newPrice     deed = "new price"
	addOnce      deed = "one-off"
	breakCard    deed = "card expires"
	mendCard     deed = "card renewed"
	uninstallApp deed = "uninstall"
	installApp   deed = "install"
)

// deeds are all of them, in the order of the report.
var deeds = []deed{
	skipIt, unskipIt, moveIt, moveAll, overtake, chargeNow, pauseIt, pauseUntil, pauseSome, activateIt, activateOn, cancelIt, cancelNow, splitIt, newLimits,
	newDelivery, newInterval, newQuantity, newPrice, addOnce, breakCard, mendCard, uninstallApp, installApp,
}

// act is one action.
type act struct {
	At   time.Time
	Deed deed
	Deal int    // or store, of the last two
	Pick uint64 // whatever else it needs
}

// size is how large the worlds of a run are.
type size struct {
	shops, contracts int
	tales            int // contracts of each tale, among them
	lasts, calm      time.Duration
	slack            time.Duration // the shortest that a task may wait for a worker at most
	busy             float64       // the share of contracts with changes, or with charges that fail
}

// Most worlds are small and full of stories, so that many seeds are seen; every
// fourth is a year of a store with a thousand contracts, in which much falls due at once
// and most customers do nothing.
var (
	small = size{shops: 3, contracts: 90, tales: 4, lasts: 150 * day, calm: 10 * day, slack: 200 * time.Millisecond, busy: 0.4}
	large = size{shops: 1, contracts: 1000, tales: 10, lasts: 365 * day, calm: 10 * day, slack: 10 * time.Second, busy: 0.05}
)

func sizeOf(number int) size {
	if number%4 == 0 {
		return large
	}
	return small
}

const day = 24 * time.Hour

var zones = []string{
	"America/New_York", "America/Los_Angeles", "America/Sao_Paulo", "America/St_Johns", "America/Santiago", "America/Havana", "Europe/Berlin", "Europe/London",
	"Europe/Dublin", "Africa/Casablanca", "Africa/Cairo", "Asia/Kathmandu", "Asia/Tokyo", "Asia/Kolkata", "Asia/Beirut", "Asia/Tehran", "Australia/Lord_Howe",
	"Australia/Sydney", "Australia/Adelaide", "Pacific/Apia", "Pacific/Auckland", "Pacific/Chatham", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/Nuuk",
	"America/Asuncion", "UTC",
}

var currencies = []money.Currency{"USD", "EUR", "JPY", "KWD", "GBP", "AUD", "CHF", "KRW", "TND"}

// declines has every class of them that ends without staff.
var declines = []string{
	"INSUFFICIENT_FUNDS", "CARD_DECLINED", "EXPIRED_PAYMENT_METHOD", "PAYMENT_PROVIDER_ERROR", "FRAUD_SUSPECTED", "UNEXPECTED_ERROR", "INVALID_PAYMENT_METHOD", "DO_NOT_HONOR",
	"INSUFFICIENT_INVENTORY", "AUTHENTICATION_ERROR", "INVALID_SHIPPING_ADDRESS", "CUSTOMER_INVALID",
}

// drawer draws from a seed.
type drawer struct{ *rand.Rand }

func newDrawer(seed uint64, number int) drawer {
	return drawer{rand.New(rand.NewPCG(seed, uint64(number)+1))} //nolint:gosec // the seed must say everything
}

func pick[T any](d drawer, from []T) T { return from[d.IntN(len(from))] }

func (d drawer) chance(p float64) bool { return d.Float64() < p }

func (d drawer) within(t time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(t))).Truncate(time.Second)
}

// spread draws between two durations, each magnitude as likely.
func (d drawer) spread(least, most time.Duration) time.Duration {
	ratio := float64(most) / float64(least)
	return time.Duration(float64(least) * math.Pow(ratio, d.Float64())).Truncate(time.Millisecond)
}

// drawPlan draws the world of a number.
func drawPlan(seed uint64, number int, z size) plan {
	d := newDrawer(seed, number)
	p := plan{
		Number: number, Seed: d.Uint64(), Lasts: z.lasts, Calm: z.calm, Nodes: 1 + d.IntN(3), Slack: d.spread(z.slack, time.Minute),
		Start:    time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(d.within(4 * 365 * day)),
		Switches: simulator.Switches{KeyLifetime: 24 * time.Hour, OriginOrderBillsFirstCycle: d.chance(0.3), RefuseBilledCycle: d.chance(0.2)},
		Rates:    d.rates(),
	}
	for i := range z.shops {
		p.Shops = append(p.Shops, d.shop(i))
	}
	for i := range z.contracts {
		deal := d.deal(p, z.busy)
		if i < z.tales*len(tales) {
			deal = d.tale(p, tales[i%len(tales)], deal)
		}
		p.Deals = append(p.Deals, deal)
	}
	slices.SortStableFunc(p.Deals, func(a, b dealPlan) int { return a.At.Compare(b.At) })
	for i, deal := range p.Deals {
		switch {
		case deal.Tale != "":
			p.Acts = append(p.Acts, d.actsOf(p, i)...)
		case d.chance(z.busy):
			p.Acts = append(p.Acts, d.acts(p, i)...)
		}
	}
	if d.chance(0.5) {
		shop, at := d.IntN(z.shops), p.Start.Add(z.lasts/4+d.within(z.lasts/2))
		p.Acts = append(p.Acts, act{at, uninstallApp, shop, 0}, act{at.Add(d.spread(time.Hour, 6*day)), installApp, shop, 0})
	}
	slices.SortStableFunc(p.Acts, func(a, b act) int { return a.At.Compare(b.At) })
	return p
}

// rates draws which kinds of faults are on, and how often each happens.
func (d drawer) rates() map[Kind]float64 {
	rates := make(map[Kind]float64)
	for _, k := range slices.SortedFunc(maps.Keys(kinds), cmp.Compare) {
		if d.chance(0.5) {
			rates[k] = kinds[k] * pick(d, []float64{0.1, 1, 1, 4})
		}
	}
	return rates
}

func (d drawer) shop(i int) shopPlan {
	s := shopPlan{
		Domain: fmt.Sprintf("shop-%d.myshopify.com", i), Zone: pick(d, zones), Currency: pick(d, currencies), Hour: d.IntN(24), Minute: pick(d, []int{0, 0, 15, 30, 59}),
	}
	if d.chance(0.4) {
		s.Hour = d.IntN(4) // where clocks are set
	}
	s.Settings = shop.Settings{ImmediateOrders: true, FreezeUntilMinCycles: d.chance(0.3), Dunning: d.dunning()}
	for range 3 {
		s.Prices = append(s.Prices, money.Amount{Minor: 1 + d.Int64N(100_000), Currency: s.Currency}.String())
	}
	return s
}

// dunning draws what a store does about declines.
func (d drawer) dunning() dunning.Settings {
	var s dunning.Settings
	if d.chance(0.3) {
		s.Mode, s.Retries, s.EveryDays = dunning.Simple, d.IntN(7), 1+d.IntN(5)
	}
	s.Then = pick(d, []dunning.Action{dunning.Pause, dunning.Pause, dunning.Cancel, dunning.Skip})
	if d.chance(0.3) {
		s.OutOfStock = &dunning.StockPolicy{Retries: d.IntN(7), EveryDays: 1 + d.IntN(3), Then: pick(d, []dunning.Action{dunning.Pause, dunning.Cancel, dunning.Skip})}
	}
	return s
}

func (d drawer) deal(p plan, busy float64) dealPlan {
	n := d.IntN(len(p.Shops))
	s := p.Shops[n]
	billing := d.policy()
	delivery := simulator.PolicySpec{Interval: billing.Interval, IntervalCount: billing.IntervalCount, Anchors: billing.Anchors}
	if len(billing.Anchors) == 0 && d.chance(0.15) { // prepaid
		billing.IntervalCount *= 2 + d.IntN(2)
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		panic(err) // zones are known
	}
	at := p.Start.Add(-d.within(60 * day))
	if d.chance(busy) {
		at = p.Start.Add(d.within(p.Lasts * 2 / 3))
	}
	next := d.first(at, p.Start, billing, zone)
	deal := dealPlan{
		Shop: n, At: at, Variant: d.IntN(len(s.Prices)), Second: d.chance(busy), Finish: pick(d, []string{simulator.Succeed, "INSUFFICIENT_FUNDS"}),
		Spec: simulator.ContractSpec{
			Shop: s.Domain, Customer: simulator.CustomerSpec{Email: fmt.Sprintf("c%d@%s.example.com", d.IntN(1_000_000), s.Domain)},
			NextBillingDate: next, CreatedAt: at, Billing: billing, Delivery: delivery, Note: pick(d, []string{"", "", "by the door"}),
			DeliveryPrice: pick(d, []string{"", "", money.Amount{Minor: d.Int64N(2000), Currency: s.Currency}.String()}),
			Lines:         []simulator.LineSpec{{Quantity: 1 + d.IntN(3)}},
		},
	}
	if !at.Before(p.Start) && len(billing.Anchors) == 0 && d.chance(0.6) {
		sold := []offer{cheaper, boxed, trialDays, trialMonth, forLife}
		if billing.Interval == "DAY" || billing.Interval == "WEEK" { // a trial ends within a later cycle of the platform, and which dates it takes depends on that
			sold = []offer{cheaper, boxed, boxed, forLife}
		}
		deal.Offer = pick(d, sold)
		if deal.Offer.tried() { // the checkout has set an ordinary date
			dates := oracle.Owed(policyOf(billing), at, at.AddDate(3, 0, 0), oracle.Calendar{Zone: zone, Hour: at.In(zone).Hour(), Minute: at.In(zone).Minute()})
			deal.Spec.NextBillingDate = dates[1]
		}
	}
	if d.chance(busy) {
		for cycle := 1; cycle < 40; cycle++ {
			switch {
			case d.chance(0.12):
				deal.Outcomes = append(deal.Outcomes, outcome{cycle, pick(d, declines)})
			case d.chance(0.03):
				deal.Outcomes = append(deal.Outcomes, outcome{cycle, pick(d, []string{simulator.Challenge, simulator.Never})})
			}
		}
	}
	return deal
}

// policy draws a rhythm.
func (d drawer) policy() simulator.PolicySpec {
	p := simulator.PolicySpec{IntervalCount: 1}
	switch d.IntN(10) {
	case 0:
		p.Interval, p.IntervalCount = "DAY", 2+d.IntN(20)
	case 1, 2, 3:
		p.Interval, p.IntervalCount = "WEEK", 1+d.IntN(4)
	case 4:
		p.Interval = "YEAR"
	default:
		p.Interval, p.IntervalCount = "MONTH", pick(d, []int{1, 1, 1, 2, 3, 6})
	}
	if d.chance(0.25) {
		switch p.Interval {
		case "WEEK":
			p.Anchors = []simulator.AnchorSpec{{Type: "WEEKDAY", Day: 1 + d.IntN(7)}}
		case "MONTH":
			p.Anchors = []simulator.AnchorSpec{{Type: "MONTHDAY", Day: 1 + d.IntN(31)}}
		case "YEAR":
			p.Anchors = []simulator.AnchorSpec{{Type: "YEARDAY", Day: 1 + d.IntN(28), Month: 1 + d.IntN(12)}}
		}
	}
	if d.chance(0.12) {
		p.MaxCycles = 3 + d.IntN(8)
	}
	if d.chance(0.15) {
		p.MinCycles = 2 // fewer than there are at most
	}
	return p
}

// first draws when the first renewal is due: often at a month's end, and on an
// anchor when there is one.
func (d drawer) first(made, start time.Time, p simulator.PolicySpec, zone *time.Location) time.Time {
	from := made
	if from.Before(start) {
		from = start
	}
	next := from.Add(3*time.Hour + d.within(35*day))
	if d.chance(0.3) { // the last days of a month
		l, before := next.In(zone), d.IntN(3)
		end := func(month time.Month) time.Time {
			return time.Date(l.Year(), month+1, -before, l.Hour(), l.Minute(), 0, 0, zone)
		}
		if next = end(l.Month()); !next.After(made) { // it was made on the days after
			next = end(l.Month() + 1)
		}
	}
	if len(p.Anchors) > 0 {
		days := oracle.Owed(policyOf(p), next, next.AddDate(p.IntervalCount+1, 0, 0), oracle.Calendar{Zone: zone, Hour: next.In(zone).Hour()})
		for _, day := range days[1:] {
			if day.After(next) {
				return day
			}
		}
	}
	return next.UTC()
}

func policyOf(p simulator.PolicySpec) oracle.Policy {
	o := oracle.Policy{Interval: p.Interval, IntervalCount: p.IntervalCount, MaxCycles: p.MaxCycles}
	for _, a := range p.Anchors {
		o.Anchors = append(o.Anchors, oracle.Anchor{Type: a.Type, Day: a.Day, Month: a.Month})
	}
	return o
}

// acts draws what people do about one contract.
func (d drawer) acts(p plan, deal int) []act {
	var list []act
	at := p.Deals[deal].At
	if at.Before(p.Start) {
		at = p.Start
	}
	for end := p.Start.Add(p.Lasts - 2*day); ; {
		at = at.Add(time.Hour + d.within(60*day))
		if !at.Before(end) {
			return list
		}
		do := pick(d, []deed{
			skipIt, skipIt, skipIt, unskipIt, moveIt, moveIt, moveIt, moveAll, chargeNow, chargeNow, chargeNow, pauseIt, pauseUntil, pauseSome, activateIt,
			newInterval, newQuantity, newPrice, newDelivery, newLimits, splitIt, addOnce, addOnce, breakCard, mendCard,
		})
		if d.chance(0.04) {
			do = pick(d, []deed{cancelIt, cancelIt, cancelNow})
		}
		list = append(list, act{at, do, deal, d.Uint64()})
		if do == pauseIt {
			list = append(list, act{at.Add(d.within(30 * day)), pick(d, []deed{activateIt, activateIt, activateOn}), deal, d.Uint64()})
		}
		if do == breakCard {
			list = append(list, act{at.Add(d.within(40 * day)), mendCard, deal, 0})
		}
	}
}
