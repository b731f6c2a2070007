package demo

import (
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// product is something on sale. Its variants are priced in US cents.
type product struct {
	title, vendor, kind string
	collections         []string
	digital             bool
	variants            []variant
}

type variant struct {
	title, sku string
	cents      int64
}

// Kinds of products that contracts choose from by name.
const (
	kindMembership = "Membership"
	kindBox        = "Box"
)

// Numbers of articles that have a part to play elsewhere.
const (
	TeaTin    = "TEA-EG-125"
	TeaRefill = "TEA-EG-250"
)

func products() []product {
	return []product{
		{title: "House Blend Coffee", vendor: "Harbour Roasters", kind: "Coffee", collections: []string{"Coffee", "Bestsellers"}, variants: []variant{
			{"Whole bean, 340 g", "COF-HB-340-B", 1600}, {"Ground, 340 g", "COF-HB-340-G", 1600}, {"Whole bean, 1 kg", "COF-HB-1000-B", 3900},
		}},
		{title: "Ethiopia Guji Single Origin", vendor: "Harbour Roasters", kind: "Coffee", collections: []string{"Coffee"}, variants: []variant{
			{"Whole bean, 250 g", "COF-EG-250-B", 1850}, {"Ground, 250 g", "COF-EG-250-G", 1850},
		}},
		{title: "Mountain Water Decaf", vendor: "Harbour Roasters", kind: "Coffee", collections: []string{"Coffee"}, variants: []variant{
			{"Whole bean, 340 g", "COF-DC-340-B", 1700}, {"Capsules, 30", "COF-DC-30-C", 1495},
		}},
		{title: "Earl Grey Loose Leaf", vendor: "Kettle & Leaf", kind: "Tea", collections: []string{"Tea", "Bestsellers"}, variants: []variant{
			{"Tin, 125 g", TeaTin, 1250}, {"Refill, 250 g", TeaRefill, 2100},
		}},
		{title: "Sencha Green Tea", vendor: "Kettle & Leaf", kind: "Tea", collections: []string{"Tea"}, variants: []variant{
			{"Pouch, 100 g", "TEA-SE-100", 1400},
		}},
		{title: "Barista Oat Drink", vendor: "Northfield", kind: "Pantry", collections: []string{"Pantry"}, variants: []variant{
			{"Case of 6", "OAT-6", 2340}, {"Case of 12", "OAT-12", 4440},
		}},
		{title: "Salmon and Sweet Potato Kibble", vendor: "Good Dog", kind: "Pet food", collections: []string{"Pets", "Bestsellers"}, variants: []variant{
			{"2 kg", "DOG-SSP-2", 2499}, {"6 kg", "DOG-SSP-6", 5999}, {"12 kg", "DOG-SSP-12", 9999},
		}},
		{title: "Clumping Cat Litter", vendor: "Good Cat", kind: "Pet care", collections: []string{"Pets"}, variants: []variant{
			{"10 litres", "CAT-LIT-10", 1380},
		}},
		{title: "Five-Blade Razor Cartridges", vendor: "Plain Shave", kind: "Shaving", collections: []string{"Bathroom"}, variants: []variant{
			{"Pack of 4", "RAZ-5-4", 1199}, {"Pack of 8", "RAZ-5-8", 2149},
		}},
		{title: "Unscented Shaving Cream", vendor: "Plain Shave", kind: "Shaving", collections: []string{"Bathroom"}, variants: []variant{
			{"150 ml", "SHV-150", 850},
		}},
		{title: "Daily Multivitamin", vendor: "Evenwell", kind: "Vitamins", collections: []string{"Health"}, variants: []variant{
			{"60 tablets", "VIT-60", 1890}, {"180 tablets", "VIT-180", 4890},
		}},
		{title: "Dishwasher Tablets", vendor: "Clearwater", kind: "Household", collections: []string{"Household"}, variants: []variant{
			{"40 tablets", "DSH-40", 1290}, {"100 tablets", "DSH-100", 2790},
		}},
		{title: "Roaster's Choice Box", vendor: "Harbour Roasters", kind: kindBox, collections: []string{"Coffee", "Gifts"}, variants: []variant{
			{"Two bags", "BOX-2", 3200}, {"Four bags", "BOX-4", 5900},
		}},
		{title: "Pantry Club Membership", vendor: "Demo Pantry", kind: kindMembership, collections: []string{"Memberships"}, digital: true, variants: []variant{
			{"Member", "CLUB-M", 900}, {"Patron", "CLUB-P", 2500},
		}},
	}
}

// rates are how many minor units of a currency stand for one US cent. They are
// made up, and round.
var rates = map[money.Currency]float64{"CAD": 1.4, "EUR": 0.9, "GBP": 0.8, "AUD": 1.5, "NZD": 1.7, "JPY": 1.5, "KWD": 3}

// price turns US cents into an amount of another currency, rounded down.
func price(cents int64, c money.Currency) money.Amount {
	rate, ok := rates[c]
	if !ok {
		rate = 1
	}
	return money.Amount{Minor: int64(float64(cents) * rate), Currency: c}
}

// Plan is a selling plan: how often a product comes again, and for how much
// less than it costs once.
type Plan struct {
	ID         int64
	Name       string
	Billing    simulator.PolicySpec
	Delivery   simulator.PolicySpec // zero: as billing
	PercentOff int64
	Membership bool
}

// Tags that the groups of a store give to customers who subscribe.
const (
	subscriberTag = "subscriber"
	memberTag     = "pantry-club"
)

// CustomerTag returns the tag that customers have while they subscribe to a plan of a
// line.
func CustomerTag(membership bool) string {
	if membership {
		return memberTag
	}
	return subscriberTag
}

// deliveries returns how many deliveries one payment covers.
func (p Plan) deliveries() int64 {
	if p.Delivery.IntervalCount == 0 {
		return 1
	}
	return int64(p.Billing.IntervalCount / p.Delivery.IntervalCount)
}

// Ids of selling plans that have a part to play elsewhere.
const (
	firstPlan     = 6001
	EveryMonth    = 6003
	memberMonthly = 6101
)

// Plans lists the selling plans of every store.
func Plans() []Plan {
	every := func(interval string, n int, anchors ...simulator.AnchorSpec) simulator.PolicySpec {
		return simulator.PolicySpec{Interval: interval, IntervalCount: n, Anchors: anchors}
	}
	return []Plan{
		{ID: 6001, Name: "Every week", Billing: every("WEEK", 1), PercentOff: 15},
		{ID: 6002, Name: "Every 2 weeks", Billing: every("WEEK", 2), PercentOff: 12},
		{ID: EveryMonth, Name: "Every month", Billing: every("MONTH", 1), PercentOff: 10},
		{ID: 6004, Name: "Every 2 months", Billing: every("MONTH", 2), PercentOff: 10},
		{ID: 6005, Name: "Every 3 months", Billing: every("MONTH", 3), PercentOff: 5},
		{ID: 6006, Name: "Every year", Billing: every("YEAR", 1), PercentOff: 5},
		{ID: 6007, Name: "Every 10 days", Billing: every("DAY", 10), PercentOff: 12},
		{ID: 6008, Name: "Every 45 days", Billing: every("DAY", 45), PercentOff: 8},
		{ID: 6009, Name: "3 months prepaid, delivered every month", Billing: every("MONTH", 3), Delivery: every("MONTH", 1), PercentOff: 15},
		{ID: 6010, Name: "On the 1st of every month", Billing: every("MONTH", 1, simulator.AnchorSpec{Type: "MONTHDAY", Day: 1}), PercentOff: 10},
		{ID: 6011, Name: "On the 15th of every month", Billing: every("MONTH", 1, simulator.AnchorSpec{Type: "MONTHDAY", Day: 15}), PercentOff: 10},
		{ID: 6012, Name: "Every second Monday", Billing: every("WEEK", 2, simulator.AnchorSpec{Type: "WEEKDAY", Day: 1}), PercentOff: 12},
		{ID: 6013, Name: "Every 1 December", Billing: every("YEAR", 1, simulator.AnchorSpec{Type: "YEARDAY", Day: 1, Month: 12}), PercentOff: 5},
		{ID: 6014, Name: "6 months prepaid, delivered every 2 months", Billing: every("MONTH", 6), Delivery: every("MONTH", 2), PercentOff: 20},
		{ID: memberMonthly, Name: "Pantry Club, monthly", Billing: every("MONTH", 1), Membership: true},
		{ID: 6102, Name: "Pantry Club, yearly", Billing: every("YEAR", 1), PercentOff: 15, Membership: true},
	}
}

// PlanByID returns a selling plan.
func PlanByID(id int64) (Plan, bool) {
	for _, p := range Plans() {
		if p.ID == id {
			return p, true
		}
	}
	return Plan{}, false
}

// MembershipPlans returns the ids of the selling plans whose contracts are
// memberships.
func MembershipPlans() []int64 {
	var ids []int64
	for _, p := range Plans() {
		if p.Membership {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// PlansFor lists the plans on which a variant can be subscribed to.
func PlansFor(v simulator.Variant) []Plan {
	membership := slices.ContainsFunc(products(), func(p product) bool { return p.title == v.ProductTitle && p.kind == kindMembership })
	return slices.DeleteFunc(Plans(), func(p Plan) bool { return p.Membership != membership })
}

// Price returns what one unit costs on the plan for each payment, given what it
// costs once: half a minor unit of each delivery is the buyer's.
func (p Plan) Price(once money.Amount) money.Amount {
	return once.PercentOff(float64(p.PercentOff)).Times(p.deliveries())
}
