package loyalty

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
)

// Program is a store's loyalty programme.
type Program struct {
	Active    bool
	StartedAt time.Time // what happened earlier earns nothing
	Terms     Terms
	Version   int64 // 0: the store has none
}

// Terms are what a merchant chooses.
type Terms struct {
	Label       string // what points are called
	Enrol       Enrol
	Expiry      ExpiryPolicy
	PendingDays int  // between earning and being able to spend
	Approval    bool // earned points wait until somebody approves them
	Negative    bool // taking back may leave a member in debt
	Earn        []EarnRule
	Redeem      []RedeemRule
	Tiers       []Tier // from the lowest
}

// Enrol says how customers become members.
type Enrol string

// The ways to become a member.
const (
	Auto  Enrol = "AUTO"   // by the first thing that earns points
	OptIn Enrol = "OPT_IN" // by being enrolled
)

// ExpiryMode says what points expire by.
type ExpiryMode string

// The modes of expiry.
const (
	NoExpiry   ExpiryMode = "NONE"
	LotAge     ExpiryMode = "LOT_AGE"    // so many months after they could be spent
	Inactivity ExpiryMode = "INACTIVITY" // all of them, so many days after the last time that points were moved
	FixedDate  ExpiryMode = "FIXED_DATE" // on a day of every year
)

// ExpiryPolicy says when points expire: at three in the morning of a day in the
// store's zone.
type ExpiryPolicy struct {
	Mode   ExpiryMode
	Months int        // of LotAge
	Days   int        // of Inactivity
	Month  time.Month // of FixedDate
	Day    int        // of FixedDate
}

// RuleID is the number of a rule, unique among a store's rules of its kind; 0 is
// no rule.
type RuleID int64

// EarnRule gives points for an occasion.
type EarnRule struct {
	ID     RuleID
	Name   string
	For    SourceType
	Active bool
	Points Points // for the occasion, or for each unit of money when PerUnit
	// PerUnit multiplies Points by the amount in main units of the store's
	// currency.
	PerUnit  bool
	Decimals bool         // keep hundredths; otherwise the sum is rounded down to whole points
	Ladder   []CycleBonus // further points at certain cycles
	Min, Max Points       // of what the rule gives at once; Max 0: no limit
	From, To time.Time
}

// CycleBonus gives further points for the renewal of one cycle.
type CycleBonus struct {
	Cycle  int
	Points Points
}

// RedeemType says what a reward is.
type RedeemType string

// The types of rewards.
const (
	DiscountCode    RedeemType = "DISCOUNT_CODE"    // a fixed price in points
	DynamicDiscount RedeemType = "DYNAMIC_DISCOUNT" // as many points as the member likes
	StoreCredit     RedeemType = "STORE_CREDIT"
)

// RedeemRule offers a reward for points.
type RedeemRule struct {
	ID           RuleID
	Name         string
	Type         RedeemType
	Active       bool
	Points       Points // what it costs; of DynamicDiscount: what Value costs
	Value        int64  // thousandths of a main unit of the store's currency
	Percent      int    // instead of Value
	Min, Max     Points // of DynamicDiscount; Max 0: no limit
	MinPurchase  int64  // thousandths of a main unit; 0: any
	Prefix       string // of the code
	ValidDays    int    // 0: until it is used
	WithProducts bool   // can be combined with other discounts of products and shipping
}

// Tier is a level that members reach by the points they have earned, for good.
type Tier struct {
	ID     int64
	Name   string
	Points Points // earned over all time
}

// Limits of a programme.
const (
	maxRules  = 200
	maxTiers  = 20
	maxMonths = 120
	maxDays   = 3650
)

// defaultValidDays is how long a discount code can be used.
const defaultValidDays = 90

// DefaultTerms returns the terms of a new programme: a point for each unit of
// money on first orders and renewals, nothing pending, no expiry. The other
// rules are there to be switched on.
func DefaultTerms() Terms {
	t := Terms{Label: "Points", Enrol: Auto, Expiry: ExpiryPolicy{Mode: NoExpiry}, Negative: true}
	add := func(name string, on SourceType, p Points, perUnit, active bool) {
		t.Earn = append(t.Earn, EarnRule{ID: RuleID(len(t.Earn) + 1), Name: name, For: on, Active: active, Points: p, PerUnit: perUnit})
	}
	add("Place an order", Purchase, One, true, true)
	add("Renew a subscription", Renewal, One, true, true)
	add("Start a subscription", Start, 100*One, false, false)
	add("Create an account", CreateAccount, 50*One, false, false)
	add("Subscribe to the newsletter", NewsLetter, 25*One, false, false)
	add("Subscribe to text messages", SMS, 25*One, false, false)
	add("Like us on Facebook", Facebook, 10*One, false, false)
	add("Follow us on Instagram", Instagram, 10*One, false, false)
	add("Follow us on X", Twitter, 10*One, false, false)
	add("Follow us on Pinterest", Pinterest, 10*One, false, false)
	add("Subscribe to us on YouTube", YouTube, 10*One, false, false)
	add("Follow us on TikTok", TikTok, 10*One, false, false)
	add("Share us on Facebook", ShareFacebook, 10*One, false, false)
	add("Share us on X", ShareX, 10*One, false, false)
	add("Refer a friend", Referral, 200*One, false, false)
	t.Redeem = []RedeemRule{
		{ID: 1, Name: "5 off an order", Type: DiscountCode, Active: true, Points: 500 * One, Value: 5000, Prefix: "LOYAL", ValidDays: defaultValidDays},
		{ID: 2, Name: "10 % off an order", Type: DiscountCode, Active: true, Points: 1000 * One, Percent: 10, Prefix: "LOYAL", ValidDays: defaultValidDays},
		{ID: 3, Name: "As much as you like off an order", Type: DynamicDiscount, Active: true, Points: 100 * One, Value: 1000, Min: 100 * One, Prefix: "LOYAL", ValidDays: defaultValidDays},
		{ID: 4, Name: "5 in store credit", Type: StoreCredit, Active: true, Points: 500 * One, Value: 5000},
	}
	return t
}

// Validate says what is wrong with the terms.
func (t Terms) Validate() error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity("loyaltyProgram").Code("loyaltyTerms")
	}
	if t.Enrol != Auto && t.Enrol != OptIn {
		return bad("members enrol by AUTO or OPT_IN, not by %q", t.Enrol)
	}
	if t.PendingDays < 0 || t.PendingDays > maxDays {
		return bad("points can be pending for at most %d days", maxDays)
	}
	if err := t.Expiry.validate(bad); err != nil {
		return err
	}
	if len(t.Earn) > maxRules || len(t.Redeem) > maxRules || len(t.Tiers) > maxTiers {
		return bad("a programme has at most %d rules of each kind and %d tiers", maxRules, maxTiers)
	}
	seen := make(map[RuleID]bool)
	for _, r := range t.Earn {
		if r.ID < 1 || seen[r.ID] || !slices.Contains(EarnSources, r.For) || r.Points < 0 || r.Points > MaxPoints || r.Min < 0 || r.Max < 0 {
			return bad("earn rule %d is not valid: ids are unique, its occasion is known and its points are not negative", r.ID)
		}
		seen[r.ID] = true
	}
	clear(seen)
	for _, r := range t.Redeem {
		if r.ID < 1 || seen[r.ID] || r.Points <= 0 || r.Points > MaxPoints || r.Percent < 0 || r.Percent > 100 || (r.Value > 0) == (r.Percent > 0) {
			return bad("redeem rule %d is not valid: ids are unique, it costs points, and it gives either a value or a percentage", r.ID)
		}
		if r.Percent > 0 && r.Type != DiscountCode {
			return bad("redeem rule %d is not valid: only discount codes give a percentage", r.ID)
		}
		seen[r.ID] = true
	}
	for i, tier := range t.Tiers {
		if tier.Points < 0 || i > 0 && tier.Points <= t.Tiers[i-1].Points {
			return bad("tiers must rise: each needs more points than the one before it")
		}
	}
	return nil
}

func (e ExpiryPolicy) validate(bad func(string, ...any) error) error {
	switch e.Mode {
	case NoExpiry:
		return nil
	case LotAge:
		if e.Months < 1 || e.Months > maxMonths {
			return bad("points expire after 1 to %d months", maxMonths)
		}
	case Inactivity:
		if e.Days < 1 || e.Days > maxDays {
			return bad("points expire after 1 to %d days without activity", maxDays)
		}
	case FixedDate:
		if e.Month < time.January || e.Month > time.December || e.Day < 1 || e.Day > 31 {
			return bad("points expire on a day of the year: give its month and day")
		}
	default:
		return bad("points expire by NONE, LOT_AGE, INACTIVITY or FIXED_DATE, not by %q", e.Mode)
	}
	return nil
}

// Gives returns the points that a rule gives for a fact.
func (r EarnRule) Gives(f Fact) Points {
	if !r.Active || r.For != f.Type || !r.From.IsZero() && f.At.Before(r.From) || !r.To.IsZero() && !f.At.Before(r.To) {
		return 0
	}
	p := r.Points
	if r.PerUnit {
		p = times(r.Points, max(f.Amount.Milli(), 0))
	}
	for _, rung := range r.Ladder {
		if rung.Cycle == f.Cycle && f.Cycle > 0 {
			p += rung.Points
		}
	}
	if !r.Decimals {
		p = p.whole()
	}
	p = max(p, r.Min)
	if r.Max > 0 {
		p = min(p, r.Max)
	}
	return min(p, MaxPoints)
}

// times multiplies points by thousandths, rounding down.
func times(p Points, milli int64) Points {
	whole, rest := milli/1000, milli%1000
	if whole > int64(MaxPoints)/max(int64(p), 1) {
		return MaxPoints
	}
	return p*Points(whole) + p*Points(rest)/1000
}

// Fact is something that happened for which rules may give points.
type Fact struct {
	Source
	At        time.Time
	Customer  Person
	Order     int64 // 0: none
	OrderName string
	Amount    money.Amount
	Cycle     int // of a renewal
	// With are what else is of the same order: a checkout makes a contract of each of
	// its plans.
	With []Part
}

// Part is another fact of the same order.
type Part struct {
	Source
	Amount money.Amount
}

// wholeOrder returns the fact as that of its whole order.
func (f Fact) wholeOrder() Fact {
	for _, p := range f.With {
		if p.Amount.Currency == f.Amount.Currency {
			f.Amount = f.Amount.Plus(p.Amount)
		}
	}
	return f
}

// inCurrency returns the fact with its amount in a store's currency. What was paid in
// another one is worth nothing: a unit of it is not a unit of the store's, which
// is what rewards are paid in, and the service knows no rates of exchange.
func (f Fact) inCurrency(store money.Currency) Fact {
	if f.Amount.Currency != store {
		f.Amount = money.Amount{Currency: store}
	}
	return f
}

// Person is who a customer is, as far as a member's record shows it.
type Person struct {
	Customer                   int64
	Email, FirstName, LastName string
}

// earnRule returns a rule by its number.
func (t Terms) earnRule(id RuleID) (EarnRule, bool) {
	i := slices.IndexFunc(t.Earn, func(r EarnRule) bool { return r.ID == id })
	if i < 0 {
		return EarnRule{}, false
	}
	return t.Earn[i], true
}

func (t Terms) redeemRule(id RuleID) (RedeemRule, bool) {
	i := slices.IndexFunc(t.Redeem, func(r RedeemRule) bool { return r.ID == id })
	if i < 0 {
		return RedeemRule{}, false
	}
	return t.Redeem[i], true
}

// ruleFor returns the active rule that so many points are for: one that costs
// exactly as many, or else one that lets the member choose.
func (t Terms) ruleFor(points Points) (RedeemRule, bool) {
	for _, chosen := range []bool{false, true} {
		for _, r := range t.Redeem {
			if r.Active && (r.Type == DynamicDiscount) == chosen && (r.Points == points || chosen && points >= r.Min && (r.Max == 0 || points <= r.Max)) {
				return r, true
			}
		}
	}
	return RedeemRule{}, false
}

// TiersOf returns the tier that so many earned points have reached and the next
// one; nil when there is none.
func (t Terms) TiersOf(earned Points) (reached, next *Tier) {
	for i := range t.Tiers {
		if t.Tiers[i].Points > earned {
			return reached, &t.Tiers[i]
		}
		reached = &t.Tiers[i]
	}
	return reached, nil
}
