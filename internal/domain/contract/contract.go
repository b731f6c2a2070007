// Package contract is the subscription contract as the service keeps it: what
// the platform holds of it, and what the service computes and owns.
package contract

import (
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ID is the platform's number of a contract.
type ID int64

// Status is where a contract stands.
type Status string

// The contract statuses.
const (
	Active    Status = "ACTIVE"
	Paused    Status = "PAUSED"
	Cancelled Status = "CANCELLED"
	Expired   Status = "EXPIRED"
	Failed    Status = "FAILED"
)

// Statuses lists every status.
var Statuses = []Status{Active, Paused, Cancelled, Expired, Failed}

// Terminated reports whether the contract has ended for good: it is never charged again.
func (c Contract) Terminated() bool { return c.Status == Cancelled || c.Status == Expired }

// ParseStatus reads a status in any letter case.
func ParseStatus(s string) (Status, error) {
	for _, known := range Statuses {
		if strings.EqualFold(s, string(known)) {
			return known, nil
		}
	}
	return "", fault.New(fault.Invalid, "%q is not a contract status: use ACTIVE, PAUSED, CANCELLED, EXPIRED or FAILED", s)
}

// Origin is where a contract came from.
type Origin string

// The origins.
const (
	Storefront   Origin = "STORE_FRONT"
	Imported     Origin = "IMPORTED"
	SplitAttempt Origin = "SPLIT_ATTEMPT_BILLING" // split off for one order
	Split        Origin = "SPLIT_CONTRACT"
)

// Contract is a subscription contract.
//
// Its renewals form a series: they begin with cycle Series.Cycle, and each falls on an
// occurrence of the billing policy counted from Series.Start, or from the last of the
// LaterSeries before it.
type Contract struct {
	ID       ID
	Line     shop.Line
	Revision uint64 // the platform's, of what was read last
	Status   Status
	Currency money.Currency

	Customer  Customer
	Billing   Policy
	Delivery  Policy
	Lines     []Line
	Discounts []Discount // in the order in which they are taken off

	// How the prices of lines change, by line; see PriceAt.
	Pricing     map[string]Pricing // with the cycles, by the policies at the platform
	PlanPricing map[string]Pricing // of those without a policy: with the orders, by the plan of ours on which they came

	OriginOrderID      int64 // 0 when none
	OriginOrderName    string
	FirstAmount        money.Amount // of the lines, as they were when the contract came; no currency: not known
	PaymentMethod      string       // graph id, empty when none
	PaymentUsable      bool         // there is a payment method and it is not revoked
	Card               Card         // behind the payment method
	BillingCountry     string
	DeliveryCountry    string
	DeliveryPrice      money.Amount
	Note               string // attached to every future order
	Attributes         []Attribute
	ImportedID         string // set when the contract was imported, else empty
	LastPayment        string // SUCCEEDED, FAILED or empty
	Origin             Origin
	SplitFrom          ID           // the contract that this one was split from, or that it restarts; 0: none
	EarlierOrders      int          // orders, by the count of plans' prices, of what it was split from
	Split              *SplitIntent // under way
	Pending            *PendingChange
	Priced             bool           // prices of its lines change with the orders
	ChangingUntil      time.Time      // somebody changes it until then, alone; past or zero: nobody
	InFlightEdits      []InFlightEdit // changes that are on their way to the platform
	AmendAt            time.Time      // when what it waits for must be done; zero: nothing
	Moving             *Move          // a change of status that is under way
	Pause              *Pause         // while it is paused, if more was said than that
	Ending             *Ending        // a cancellation that waits
	CancelledOrderDate time.Time      // when the order was to come that a cancellation took away; zero: none
	Trial              *Trial         // with which it began
	Lifelong           bool           // one payment was for good: there is no renewal
	ExpireAt           time.Time      // when it expires, once nothing is left to be charged, or expired; zero: not yet

	// What was said when it was cancelled, or is to be; empty when nothing was.
	CancellationFeedback, CancellationNote string

	Series          Series
	LaterSeries     []Series  // with which later orders begin it anew, in the order of their cycles
	NextBillingDate time.Time // of the earliest attempt that is still to come; zero when none
	QueueUpdatedAt  time.Time // when its upcoming attempts were made or changed last; zero: not known
	MaxCycles       int       // orders after which it ends, in cycles; 0: no end
	PassedCycles    int       // of the platform, before Series.Cycle, that were never an order: they count towards no limit
	MinCycles       int
	AutoCharge      bool

	Overrides []OrderOverride // of orders to come that are in no queue while the contract does not run
	Dunning   *Dunning        // the order that could not be charged and has not been given up; nil: none

	OneOffs         int          // one-time products that wait for an order
	Orders          int          // successful renewal orders so far
	Lifetime        money.Amount // sum of those orders
	LastOrderID     int64
	LastOrder       string // name
	LastOrderAt     time.Time
	LastOrderAmount money.Amount // what was charged for it

	CreatedAt   time.Time
	UpdatedAt   time.Time
	ActivatedAt time.Time
	PausedAt    time.Time
	CancelledAt time.Time
	Version     int64
}

// OrderOverride is what people have written on one order to come, and when they want it. It
// belongs to the order's cycle, and outlives the order's place in the queue.
type OrderOverride struct {
	Cycle int       `json:"cycle"`
	Date  time.Time `json:"date,omitzero"` // zero: that of the calendar
	Note  string    `json:"note,omitempty"`
	Flags
}

// OverriddenOn returns when people want an order to come; zero: they have not said so.
func (c Contract) OverriddenOn(cycle int) time.Time {
	for _, w := range c.Overrides {
		if w.Cycle == cycle {
			return w.Date
		}
	}
	return time.Time{}
}

// OverrideFor notes when people want an order to come, unless they want it on another day
// that is still to come.
func (c *Contract) OverrideFor(cycle int, date, now time.Time) {
	c.Overrides = slices.Clone(c.Overrides)
	at := slices.IndexFunc(c.Overrides, func(w OrderOverride) bool { return w.Cycle == cycle })
	switch {
	case at < 0:
		c.Overrides = append(c.Overrides, OrderOverride{Cycle: cycle, Date: date})
	case !c.Overrides[at].Date.After(now):
		c.Overrides[at].Date = date
	}
}

// Flags are marks that an integrator keeps on an order. The service does not act
// on them. Once a charge was declined it is not the mark that says whether the
// order is charged again.
type Flags struct {
	RetryingNeeded          bool `json:"retryingNeeded,omitempty"`
	ApplyUsageCharge        bool `json:"applyUsageCharge,omitempty"`
	UpgradeDowngradeBilling bool `json:"upgradeDowngradeBilling,omitempty"`
}

// Dunning is what a contract knows of its one order that could not be charged.
// The billing attempt has the whole case.
type Dunning struct {
	Attempt int64          `json:"attempt"`
	Cycle   int            `json:"cycle"`
	State   dunning.State  `json:"state"`
	Class   dunning.Class  `json:"class"`
	Code    string         `json:"code"` // of the last decline
	Since   time.Time      `json:"since"`
	Tries   int            `json:"tries"`
	RetryAt time.Time      `json:"retryAt,omitzero"` // when it is charged again by itself
	EndAt   time.Time      `json:"endAt,omitzero"`   // when Action is taken, if nothing happens before
	Action  dunning.Action `json:"action"`           // what is done in the end
}

// EndsAfterDunning reports whether the contract is to be paused or cancelled because an order
// of it could not be charged.
func (c Contract) EndsAfterDunning() bool {
	return c.Dunning != nil && c.Dunning.State == dunning.Ending
}

// PendingChange is a change of a line's variant that waits for its day.
type PendingChange struct {
	Line       string        `json:"line"` // graph id
	OldVariant int64         `json:"from"`
	Variant    int64         `json:"to"`
	At         time.Time     `json:"at"`
	Price      *money.Amount `json:"price,omitempty"` // of one of the new variant, when the change was asked for; nil: not known
}

// SplitAttribute is the attribute by which a contract that is being split off is found at the
// platform when the answer to its making was lost.
const SplitAttribute = "_split"

// SplitOff reports whether the contract was split from another one, which nobody has noted
// yet of one that a webhook found first.
func (c Contract) SplitOff() bool {
	return c.SplitFrom != 0 || slices.ContainsFunc(c.Attributes, func(a Attribute) bool { return a.Key == SplitAttribute })
}

// SplitIntent is a split that was begun: lines are on their way into a contract
// of their own.
type SplitIntent struct {
	Token     string         `json:"token"`               // marks the new contract at the platform
	Lines     []string       `json:"lines"`               // graph ids, in the order of the contract
	Discounts []Discount     `json:"discounts,omitempty"` // that the new contract gets
	Cycle     int            `json:"cycle"`               // of the old contract, that is the first of the new one
	Once      bool           `json:"once,omitempty"`
	Now       bool           `json:"now,omitempty"`
	New       ID             `json:"new,omitempty"` // the new contract; 0 until it is known
	Actor     activity.Actor `json:"actor"`
	At        time.Time      `json:"at"`
}

// Customer is who pays.
type Customer struct {
	ID                         int64
	Email, FirstName, LastName string
	Name                       string // as shown
	Phone                      string
}

// Policy is how often orders are billed or delivered.
type Policy = cadence.Policy

// Attribute is a custom key and value.
type Attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Line is a line item.
type Line struct {
	ID              string // graph id
	ProductID       int64
	VariantID       int64 // 0: the store has it no more
	FormerVariantID int64 // the variant that the line had, when it has none; 0: not known
	SKU             string
	Title           string
	VariantTitle    string
	Image           string
	Quantity        int
	Price           money.Amount // unit price
	SellingPlanID   int64
	SellingPlanName string
	Taxable         bool
}

// Amount returns the sum of quantity times unit price of the lines.
func (c Contract) Amount() money.Amount {
	sum := money.Amount{Currency: c.Currency}
	for _, l := range c.Lines {
		sum = sum.Plus(l.Price.Times(int64(l.Quantity)))
	}
	return sum
}

// FirstOrderAmount returns what the lines cost in the order that the contract began with, whatever
// became of them: nothing where a free trial began with it. Of a contract of which that
// is not known it is what they cost now.
func (c Contract) FirstOrderAmount() money.Amount {
	switch {
	case c.Trial != nil:
		return money.Amount{Currency: c.Currency}
	case c.FirstAmount.Currency == "":
		return c.Amount()
	}
	return c.FirstAmount
}

// Deliveries returns how many deliveries one payment covers; 1 when that is no whole
// number.
func (c Contract) Deliveries() int64 { return int64(max(c.Billing.Covers(c.Delivery), 1)) }

// PrepaidByCount is Prepaid as the interface's search understands it, which compares how
// many intervals there are and not which.
func (c Contract) PrepaidByCount() bool { return c.Billing.Count != c.Delivery.Count }

// Prepaid reports whether one payment covers several deliveries.
func (c Contract) Prepaid() bool {
	return c.Billing.Interval != c.Delivery.Interval || c.Billing.Count != c.Delivery.Count
}
