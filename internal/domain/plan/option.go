package plan

import (
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/platform"
)

// Option is one way of subscribing: how often, for how long, for how much less.
// Numbers that are 0 are not set.
type Option struct {
	ID          int64     `json:"id,omitempty"` // the platform's selling plan; 0 until it is made
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Kind        Kind      `json:"kind"`
	Billing     Frequency `json:"billing"`
	Delivery    Frequency `json:"delivery"`

	Specific bool     `json:"specific,omitempty"` // falls on a fixed day
	Day      int      `json:"day,omitempty"`      // WEEK: 1 (Monday) to 7; otherwise day of the month
	Month    int      `json:"month,omitempty"`    // YEAR only
	Cutoff   int      `json:"cutoff,omitempty"`   // whole days before the fixed day from which an order misses it
	Behavior Behavior `json:"behavior,omitempty"`
	Reserve  Reserve  `json:"reserve,omitempty"` // when stock is set aside; empty: as the platform does

	MinCycles int `json:"minCycles,omitempty"`
	MaxCycles int `json:"maxCycles,omitempty"`

	First  Discount `json:"first,omitzero"`
	Second Discount `json:"second,omitzero"`
	Trial  Trial    `json:"trial,omitzero"`

	MemberOnly    bool   `json:"memberOnly,omitempty"`
	NonMemberOnly bool   `json:"nonMemberOnly,omitempty"`
	InclusiveTags string `json:"inclusiveTags,omitempty"` // comma-separated
	ExclusiveTags string `json:"exclusiveTags,omitempty"`
	Lifetime      bool   `json:"lifetime,omitempty"` // one payment for good
	Exchange      bool   `json:"exchange,omitempty"` // may be chosen in an upgrade or downgrade
	RulesJSON     string `json:"rules,omitempty"`    // means nothing here; new ones are refused
	Sequence      int    `json:"sequence,omitempty"` // where it is shown; equal ones keep their order
}

// Frequency is a number of intervals.
type Frequency struct {
	Interval cadence.Interval `json:"interval"`
	Count    int              `json:"count"`
}

// Kind says when a delivery is paid for.
type Kind string

// The kinds of option.
const (
	PayAsYouGo      Kind = "PAY_AS_YOU_GO"
	Prepaid         Kind = "PREPAID"
	AdvancedPrepaid Kind = "ADVANCED_PREPAID"
)

// Kinds lists the kinds of option.
var Kinds = []Kind{PayAsYouGo, Prepaid, AdvancedPrepaid}

// Reserve says when stock is set aside for an order, in the platform's words.
type Reserve string

// The times at which stock is set aside.
const (
	OnFulfillment Reserve = "ON_FULFILLMENT"
	OnSale        Reserve = "ON_SALE"
)

// Reserves lists the times at which stock is set aside.
var Reserves = []Reserve{OnFulfillment, OnSale}

// Behavior says what happens before the first fixed day.
type Behavior string

// The behaviours. Another word of the platform's counts as unknown.
const (
	ASAP    Behavior = "ASAP" // something is delivered at once
	Next    Behavior = "NEXT" // the first delivery waits
	Unknown Behavior = "$UNKNOWN"
)

// Behaviors lists the behaviours.
var Behaviors = []Behavior{ASAP, Next, Unknown}

// Discount makes orders cheaper once After of them have been paid for. Offer is a
// percentage, an amount off, or the price, in main units of the store's currency.
type Discount struct {
	Enabled bool         `json:"enabled,omitempty"`
	Offer   float64      `json:"offer,omitempty"`
	Kind    DiscountKind `json:"kind,omitempty"`
	After   int          `json:"after,omitempty"`
	Masked  bool         `json:"masked,omitempty"` // how the merchant's storefront shows it; means nothing here
}

// DiscountKind says what an offer is.
type DiscountKind string

// The kinds of discount.
const (
	Percentage DiscountKind = "PERCENTAGE"
	Fixed      DiscountKind = "FIXED"
	Price      DiscountKind = "PRICE"
)

// DiscountKinds lists the kinds of discount.
var DiscountKinds = []DiscountKind{Percentage, Fixed, Price}

// adjustments are the platform's words for them.
var adjustments = map[DiscountKind]platform.Adjustment{Percentage: platform.PercentOff, Fixed: platform.AmountOff, Price: platform.FixedPrice}

// Trial lets the first order cost nothing.
type Trial struct {
	Enabled  bool             `json:"enabled,omitempty"`
	Interval cadence.Interval `json:"interval,omitempty"`
	Count    int              `json:"count,omitempty"`
	KeepDate bool             `json:"keepDate,omitempty"` // the next order stays where it would be without a trial
}

// Deliveries returns how many deliveries one payment covers.
func (o Option) Deliveries() int64 { return int64(max(o.covers(), 1)) }

// covers returns 0 when a payment does not cover whole deliveries.
func (o Option) covers() int {
	return cadence.Policy{Interval: o.Billing.Interval, Count: o.Billing.Count}.Covers(cadence.Policy{Interval: o.Delivery.Interval, Count: o.Delivery.Count})
}

// Policy returns how often something comes on the option, with its fixed day.
func (o Option) Policy(f Frequency) cadence.Policy {
	p := cadence.Policy{Interval: f.Interval, Count: f.Count}
	if !o.Specific {
		return p
	}
	kind := cadence.YearDay
	switch o.Delivery.Interval {
	case cadence.Week:
		kind = cadence.Weekday
	case cadence.Month:
		kind = cadence.MonthDay
	}
	p.Anchors = []cadence.Anchor{{Kind: kind, Day: o.Day}}
	if kind == cadence.YearDay {
		p.Anchors[0].Month = o.Month
	}
	return p
}

// Anchors returns the fixed day, if there is one, as the platform counts it.
func (o Option) Anchors() []platform.Anchor {
	var days []platform.Anchor
	for _, a := range o.Policy(o.Delivery).Anchors {
		days = append(days, platform.Anchor{Type: a.Kind.String(), Day: a.Day, Month: a.Month})
	}
	return days
}
