// Package contract is the subscription contract as Perennial stores it: what
// the platform reports and what the service computes and owns.
package contract

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/enum"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ID is the platform's id of a contract.
type ID int64

// Status is the status of a contract.
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

// Terminated reports whether the contract has ended: it is never charged again.
func (c Contract) Terminated() bool { return c.Status == Cancelled || c.Status == Expired }

// ParseStatus reads a status in any letter case.
func ParseStatus(s string) (Status, error) {
	return enum.Parse("a contract status", s, Statuses...)
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
// Its renewals form a series that begins with cycle Series.Cycle. Each falls on an
// occurrence of the billing policy counted from Series.Start, or from the start of the last
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
	Lines     []LineItem
	Discounts []Discount // in the order in which they are taken off

	// Prices by cycle, by line; see PriceAt.
	Pricing     map[string]Pricing // with the cycles, by the policies at the platform
	PlanPricing map[string]Pricing // of those without a policy: with the orders, by the plan of ours on which they came

	OriginOrderID      int64 // 0 when none
	OriginOrderName    string
	FirstAmount        money.Amount // of the lines, as they were when the contract came; no currency: not known
	FirstPaid          money.Amount // for the checkout's order, when all its products are the contract's; no currency: not known
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
	ChangingUntil      time.Time      // a caller has claimed it until then; past or zero: none has
	InFlightEdits      []InFlightEdit // edits that are being sent to the platform
	AmendAt            time.Time      // when its next scheduled change is due; zero: never
	Moving             *Move          // a status change in progress
	Pause              *Pause         // details of the pause; nil: none
	Ending             *Ending        // a scheduled cancellation
	CancelledOrderDate time.Time      // date of the next order that a cancellation removed; zero: none
	Trial              *Trial         // the trial it began with
	Lifelong           bool           // paid once for life: it has no renewals
	ExpireAt           time.Time      // when it expires, once nothing is left to be charged, or expired; zero: not yet

	// The feedback and note of the cancellation, done or scheduled.
	CancellationFeedback, CancellationNote string

	Series          Series
	LaterSeries     []Series  // series that begin with later orders, by cycle
	NextBillingDate time.Time // of the earliest attempt that is still to come; zero when none
	QueueUpdatedAt  time.Time // when its upcoming attempts were made or changed last; zero: not known
	MaxCycles       int       // orders after which it ends, in cycles; 0: no end
	PassedCycles    int       // of the platform, before Series.Cycle, that were never an order: they count towards no limit
	MinCycles       int
	AutoCharge      bool
	DeliverySet     bool // a person has set DeliveryPrice: it stays where orders go somewhere else

	Overrides []OrderOverride // of orders to come that are in no queue while the contract does not run
	Dunning   *Dunning        // the order that could not be charged and is not given up; nil: none

	OneOffs         int          // one-time products of upcoming orders
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

// OrderOverride is the note and date that people set on an upcoming order. It
// belongs to the order's cycle and stays when the order leaves the queue.
type OrderOverride struct {
	Cycle int       `json:"cycle"`
	Date  time.Time `json:"date,omitzero"` // zero: that of the calendar
	Note  string    `json:"note,omitempty"`
	Flags
}

// OverriddenOn returns the date that people set for an upcoming order; zero: none.
func (c Contract) OverriddenOn(cycle int) time.Time {
	for _, w := range c.Overrides {
		if w.Cycle == cycle {
			return w.Date
		}
	}
	return time.Time{}
}

// OverrideFor sets the date of an upcoming order, unless people set another one that is
// still to come.
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

// Dunning is the state of the contract's one order that could not be charged. The
// billing attempt has the whole case.
type Dunning struct {
	Attempt int64          `json:"attempt"`
	Cycle   int            `json:"cycle"`
	State   dunning.State  `json:"state"`
	Class   dunning.Class  `json:"class"`
	Code    string         `json:"code"` // of the last decline
	Since   time.Time      `json:"since"`
	Tries   int            `json:"tries"`
	RetryAt time.Time      `json:"retryAt,omitzero"` // when it is charged again automatically
	EndAt   time.Time      `json:"endAt,omitzero"`   // when Action is taken if nothing happens before
	Action  dunning.Action `json:"action"`           // the final action
}

// EndsAfterDunning reports whether the contract will be paused or cancelled because an
// order could not be charged.
func (c Contract) EndsAfterDunning() bool {
	return c.Dunning != nil && c.Dunning.State == dunning.Ending
}

// PendingChange is a change of a line's variant that is scheduled for the next order.
type PendingChange struct {
	Line       string        `json:"line"` // graph id
	OldVariant int64         `json:"from"`
	Variant    int64         `json:"to"`
	At         time.Time     `json:"at"`
	Price      *money.Amount `json:"price,omitempty"` // of one of the new variant, when the change was asked for; nil: not known
}

// SplitAttribute is the attribute that identifies the new contract of a split at the
// platform when its creation was not confirmed.
const SplitAttribute = "_split"

// RequestAttribute is the attribute that identifies a contract whose creation was requested, until it is known
// which contract the request has created. Its value is the request's key.
const RequestAttribute = "_request"

// RequestKey returns the key of the request whose contract this may be; empty: there is none.
func (c Contract) RequestKey() string {
	for _, a := range c.Attributes {
		if a.Key == RequestAttribute {
			return a.Value
		}
	}
	return ""
}

// claimTime is how long a request has to say which contract it has created.
const claimTime = 10 * time.Minute

// SplitOff reports whether the contract was split from another one, also when SplitFrom
// is not stored yet.
func (c Contract) SplitOff() bool {
	return c.SplitFrom != 0 || slices.ContainsFunc(c.Attributes, func(a Attribute) bool { return a.Key == SplitAttribute })
}

// SplitIntent is a split in progress: lines are being moved to a contract of their own.
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

// LineItem is a line item of a contract.
type LineItem struct {
	ID              string // graph id
	ProductID       int64
	VariantID       int64 // 0: the store no longer has it
	FormerVariantID int64 // the variant that the line had before; 0: not known
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

// Pieces returns how many pieces of products the contract's lines have together.
func (c Contract) Pieces() int {
	n := 0
	for _, l := range c.Lines {
		n += l.Quantity
	}
	return n
}

// PaidSoFar returns what was charged for the contract's orders, that of the checkout included.
// Refunds are not taken off. An order of the checkout that other products were bought with, or
// whose amount is not known, counts with the contract's products alone, and exact is
// false: it leaves out delivery, taxes and discounts.
func (c Contract) PaidSoFar() (sum money.Amount, exact bool) {
	sum = money.Amount{Minor: c.Lifetime.Minor, Currency: c.Currency}
	switch {
	case c.OriginOrderID == 0:
		return sum, true
	case c.FirstPaid.Currency != "":
		return sum.Plus(c.FirstPaid), true
	}
	return sum.Plus(c.FirstOrderAmount()), false
}

// FirstOrderAmount returns what the lines cost in the contract's first order: nothing
// with a free trial. If that is not known, it is what they cost now.
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

// PrepaidByCount is Prepaid as the interface's search defines it, which compares how
// many intervals there are and not which.
func (c Contract) PrepaidByCount() bool { return c.Billing.Count != c.Delivery.Count }

// Prepaid reports whether one payment covers several deliveries.
func (c Contract) Prepaid() bool {
	return c.Billing.Interval != c.Delivery.Interval || c.Billing.Count != c.Delivery.Count
}
