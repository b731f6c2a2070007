package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// kind is a kind of subscriber: what makes a contract different from a plain
// one.
type kind struct {
	plan     int64
	card     simulator.MethodStatus // default valid
	status   string                 // default ACTIVE
	currency money.Currency         // default the store's
	on       string                 // local day of the first renewal, as 2006-01-02; default: any within one interval
	cycles   int                    // the contract ends after so many; 0: never
	least    int                    // the contract runs at least so many; 0: any
}

// showcase is what the first contracts of a store are, so that even a small
// store has one of everything. The first is as plain as can be.
func showcase() []kind {
	return []kind{
		{plan: EveryMonth, on: "2026-11-15"},
		{plan: 6009},
		{plan: memberMonthly},
		{plan: 6001},
		{plan: EveryMonth, on: "2026-12-31"},
		{plan: EveryMonth, card: simulator.MethodExpired},
		{plan: 6002, status: "PAUSED"},
		{plan: EveryMonth, currency: "CAD"},
		{plan: 6010},
		{plan: 6006, on: "2027-01-30"},
		{plan: EveryMonth, status: "CANCELLED"},
		{plan: EveryMonth, on: "2026-11-30"},
		{plan: EveryMonth, card: simulator.MethodNone},
		{plan: 6012},
		{plan: EveryMonth, cycles: 3},
		{plan: 6004, on: "2026-12-31"},
		{plan: 6007},
		{plan: EveryMonth, on: "2026-11-29"},
		{plan: 6102, least: 3},
		{plan: 6014},
		{plan: 6005, on: "2027-01-31"},
		{plan: 6013},
		{plan: 6008, least: 2},
		{plan: EveryMonth, status: "EXPIRED"},
	}
}

// ShowcaseSize is the number of contracts in the showcase.
func ShowcaseSize() int { return len(showcase()) }

// share is how often a plan is chosen, in percent of the contracts that are not
// in the showcase.
type share struct {
	plan int64
	of   int
}

func shares() []share {
	return []share{
		{EveryMonth, 36}, {6004, 10}, {memberMonthly, 9}, {6002, 8}, {6005, 8}, {6001, 5}, {6008, 5}, {6010, 4}, {6011, 4},
		{6009, 3}, {6006, 2}, {6102, 2}, {6012, 2}, {6007, 1}, {6014, 1},
	}
}

// Shares of contracts that are not plain, one in so many.
const (
	onePausedIn    = 25
	oneCancelledIn = 25
	oneExpiredIn   = 25 // the card
	oneWithoutIn   = 60 // a card
	oneEndingIn    = 30
	oneForeignIn   = 12 // another currency
	oneRegularIn   = 8  // a customer who has a contract already
)

// checkouts makes one contract after the other.
type checkouts struct {
	store  Store
	zone   *time.Location
	now    time.Time
	shelf  shelf
	chance *rand.Rand

	buyers []simulator.CustomerSpec
}

// next returns the k-th checkout, from 0.
func (c *checkouts) next(k int) simulator.ContractSpec {
	s := c.kind(k)
	plan, _ := PlanByID(s.plan)
	currency := s.currency
	if currency == "" || c.store.Domain != Main {
		currency = c.store.Currency
	}
	first := c.firstRenewal(plan, s.on)
	spec := simulator.ContractSpec{
		Shop: c.store.Domain, Customer: c.buyer(k), Currency: currency, Billing: plan.Billing, Delivery: plan.Delivery,
		NextBillingDate: first, CreatedAt: c.madeOn(plan.Billing, first), PaymentMethod: s.card, Status: s.status,
		Lines: c.lines(plan, currency),
	}
	if s.status == "" { // as if the store's groups had been there when they subscribed
		spec.Customer.Tags = []string{CustomerTag(plan.Membership)}
	}
	spec.Billing.MinCycles, spec.Billing.MaxCycles = s.least, s.cycles
	if !plan.Membership {
		spec.DeliveryPrice = price(490, currency).String()
		spec.Note = pick(c.chance, notes())
	}
	if c.chance.IntN(10) == 0 {
		spec.Attributes = []simulator.AttributeSpec{{Key: "gift", Value: "yes"}}
	}
	return spec
}

func (c *checkouts) kind(k int) kind {
	if first := showcase(); k < len(first) {
		return first[k]
	}
	var s kind
	roll := c.chance.IntN(100)
	for _, o := range shares() {
		if roll -= o.of; roll < 0 {
			s.plan = o.plan
			break
		}
	}
	one := func(in int) bool { return c.chance.IntN(in) == 0 }
	switch {
	case one(onePausedIn):
		s.status = "PAUSED"
	case one(oneCancelledIn):
		s.status = "CANCELLED"
	case one(oneExpiredIn):
		s.card = simulator.MethodExpired
	case one(oneWithoutIn):
		s.card = simulator.MethodNone
	case one(oneEndingIn):
		s.cycles = 2 + c.chance.IntN(6)
	}
	if one(oneForeignIn) {
		s.currency = "CAD"
	}
	return s
}

// buyer returns a customer: mostly a new one.
func (c *checkouts) buyer(k int) simulator.CustomerSpec {
	if k > 5 && c.chance.IntN(oneRegularIn) == 0 {
		return c.buyers[1+c.chance.IntN(len(c.buyers)-1)]
	}
	first, last := pick(c.chance, firstNames()), pick(c.chance, lastNames())
	who := simulator.CustomerSpec{
		FirstName: first, LastName: last,
		Email: strings.ToLower(fmt.Sprintf("%s.%s.%d@shopper.example", first, last, k+1)),
	}
	c.buyers = append(c.buyers, who)
	return who
}

// firstRenewal returns the instant of the first renewal: at the store's order
// time, on a day within one interval from now that the plan allows.
func (c *checkouts) firstRenewal(p Plan, on string) time.Time {
	if day, err := time.ParseInLocation(time.DateOnly, on, c.zone); err == nil {
		if at := c.store.at(day); at.After(c.now) {
			return at
		}
	}
	today := c.store.at(c.now.In(c.zone))
	days := int(advance(p.Billing, today).Sub(today).Hours()/24 + 0.5)
	return c.store.onAnchor(p, today.In(c.zone).AddDate(0, 0, 1+c.chance.IntN(days)))
}

// FirstRenewal returns when something bought now comes again: after one interval
// of the plan, or on the next of its days, at the store's order time. A zone
// that this machine does not know counts as UTC.
func (s Store) FirstRenewal(p Plan, now time.Time) time.Time {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	day := now.In(zone)
	if len(p.Billing.Anchors) > 0 {
		return s.onAnchor(p, day.AddDate(0, 0, 1))
	}
	return s.at(advance(p.Billing, day))
}

// onAnchor returns the order time of the first day from the given one on that
// the plan allows.
func (s Store) onAnchor(p Plan, day time.Time) time.Time {
	for !anchored(p.Billing.Anchors, day) {
		day = day.AddDate(0, 0, 1)
	}
	return s.at(day)
}

// at returns the order time of a local day.
func (s Store) at(day time.Time) time.Time {
	y, m, d := day.Date()
	return time.Date(y, m, d, s.Hour, s.Minute, 0, 0, day.Location()).UTC()
}

// anchored reports whether a day is one of the anchors, if there are any.
func anchored(anchors []simulator.AnchorSpec, day time.Time) bool {
	return len(anchors) == 0 || slices.ContainsFunc(anchors, func(a simulator.AnchorSpec) bool {
		switch a.Type {
		case "WEEKDAY":
			return int(day.Weekday()) == a.Day%7
		case "MONTHDAY":
			return day.Day() == a.Day
		default:
			return day.Day() == a.Day && int(day.Month()) == a.Month
		}
	})
}

// madeOn returns when the contract was made: about one interval before its first
// renewal, in the past.
func (c *checkouts) madeOn(p simulator.PolicySpec, first time.Time) time.Time {
	back := p
	back.IntervalCount = -p.IntervalCount
	made := advance(back, first).Add(time.Duration(c.chance.IntN(8*60)) * time.Minute)
	for !made.Before(c.now) {
		made = made.AddDate(0, 0, -1)
	}
	return made
}

func advance(p simulator.PolicySpec, t time.Time) time.Time {
	switch p.Interval {
	case "DAY":
		return t.AddDate(0, 0, p.IntervalCount)
	case "WEEK":
		return t.AddDate(0, 0, 7*p.IntervalCount)
	case "MONTH":
		return t.AddDate(0, p.IntervalCount, 0)
	default:
		return t.AddDate(p.IntervalCount, 0, 0)
	}
}

// lines returns one to three things that the plan sells.
func (c *checkouts) lines(p Plan, currency money.Currency) []simulator.LineSpec {
	choice, n := c.shelf.goods, 1
	switch {
	case p.Membership:
		choice = c.shelf.memberships
	case p.deliveries() > 1:
		choice = c.shelf.boxes
	default:
		n += max(c.chance.IntN(5)-2, 0)
	}
	var lines []simulator.LineSpec
	for range n {
		v := pick(c.chance, choice)
		if slices.ContainsFunc(lines, func(l simulator.LineSpec) bool { return l.VariantID == v.ID }) {
			continue
		}
		quantity := 1
		if !p.Membership {
			quantity += max(c.chance.IntN(6)-3, 0)
		}
		once, err := money.Parse(v.Price, c.store.Currency)
		if err != nil {
			panic(err) // the platform wrote it
		}
		if currency != c.store.Currency {
			once = price(once.Minor, currency)
		}
		lines = append(lines, simulator.LineSpec{
			VariantID: v.ID, Quantity: quantity, CurrentPrice: p.Price(once).String(), SellingPlanID: p.ID, SellingPlanName: p.Name,
		})
	}
	return lines
}

// shelf is what a store sells, by how it is sold.
type shelf struct{ goods, boxes, memberships []simulator.Variant }

func shelve(variants []simulator.Variant) shelf {
	kinds := map[string]string{}
	for _, p := range products() {
		kinds[p.title] = p.kind
	}
	var s shelf
	for _, v := range variants {
		switch kinds[v.ProductTitle] {
		case kindMembership:
			s.memberships = append(s.memberships, v)
		case kindBox:
			s.boxes = append(s.boxes, v)
		default:
			s.goods = append(s.goods, v)
		}
	}
	return s
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func notes() []string {
	return []string{"", "", "", "", "", "", "Please leave it at the side door.", "Ring twice.", "No plastic, please 🌱"}
}

func firstNames() []string {
	return strings.Fields("Ada Amir Anika Bo Carmen Chidi Clara Dana Diego Elif Emeka Farah Finn Grace Hana Hugo Imani Ines Ivan Jonas Juna Kenji Kofi Lena Leo Lina Luca Mara Mei Milan Mina Nadia Noor Olga Omar Paula Petra Quinn Rafael Rosa Sami Sana Sofia Tariq Tess Theo Uma Vera Wanda Xenia Yara Yusuf Zoe")
}

func lastNames() []string {
	return strings.Fields("Abara Adler Bianchi Brandt Castillo Chen Dahl Demir Diallo Ekman Ferrari Fischer Garcia Haddad Hansen Ibrahim Ito Jansen Jimenez Kaya Keller Khan Kowalski Larsen Lopez Maier Mbeki Moreau Nakamura Novak Okafor Olsen Park Patel Pereira Quist Ramos Rossi Sato Schmidt Silva Singh Suzuki Tanaka Torres Ueda Vargas Virtanen Wagner Weber Wong Yilmaz Zhang")
}
