package platform

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Editor changes contracts. Every change goes through a draft that the platform
// takes over as a whole or not at all. What it refuses is a *Refusal whose Code
// is the platform's; see the codes below for those that callers act on.
type Editor interface {
	// Detail returns a contract with all that is shown of it, or ErrNotFound.
	Detail(ctx context.Context, shop Shop, contract int64) (Detail, error)
	// Details does the same with several contracts, at most MaxIDs, in their order.
	// Ids that the platform does not know are left out.
	Details(ctx context.Context, shop Shop, contracts []int64) ([]Detail, error)
	// EditContract changes a contract and returns it as it is then. Lines keep
	// their ids. A discount whose last line is removed is removed with it. After
	// ErrUnknown the change may have been made as a whole: read the contract.
	EditContract(ctx context.Context, shop Shop, contract int64, e Edit) (Detail, error)
	// DeliveryOptions returns how a contract's orders can be shipped to an address, and for how much;
	// known is false when the platform does not say.
	DeliveryOptions(ctx context.Context, shop Shop, contract int64, to Address) (options []DeliveryOption, known bool, err error)
	// EditCycle changes what one cycle will order, and nothing else, and
	// returns what it will order then. Policies cannot be edited for a cycle. The
	// edit's Revision is the contract's, which other edits of cycles leave alone;
	// its Was is what they do not.
	EditCycle(ctx context.Context, shop Shop, of CycleRef, e Edit) (CycleOrder, error)
	// CycleOrder returns what a cycle will order.
	CycleOrder(ctx context.Context, shop Shop, of CycleRef) (CycleOrder, error)
	// DropCycleEdit takes back what EditCycle changed. Without an edit it does
	// nothing. A skip of the cycle, and a date that it was moved to, stay, but for
	// a date that the platform does not take any more; after ErrUnknown they may be
	// gone and must be set again.
	DropCycleEdit(ctx context.Context, shop Shop, of CycleRef) error
	// CreateContract makes a contract with its lines. Of discounts it takes codes,
	// and percentages and amounts off each item for all lines; others are refused
	// with nothing done. It is not safe to repeat: after ErrUnknown, look for the
	// contract by its note or its attributes.
	CreateContract(ctx context.Context, shop Shop, c NewContract) (Detail, error)
	// SetStatus makes a contract ACTIVE, PAUSED, CANCELLED, EXPIRED or FAILED.
	// One that has the status already is left alone.
	SetStatus(ctx context.Context, shop Shop, contract int64, status string) (Detail, error)
	// SendPaymentUpdate lets the platform send the customer its own e-mail with
	// a link to change the payment method.
	SendPaymentUpdate(ctx context.Context, shop Shop, paymentMethod string) error
}

// Catalogue reads a store's products and customers, and tags customers and
// orders.
type Catalogue interface {
	// Variants returns the variants with the given ids, at most MaxIDs. Ids
	// that the platform does not know are left out.
	Variants(ctx context.Context, shop Shop, ids []int64) ([]Variant, error)
	// ProductVariants returns the variants of the products with the given ids, at most
	// MaxProducts: in the order of the ids, the first MaxProductVariants of each. Ids that the
	// platform does not know are left out.
	ProductVariants(ctx context.Context, shop Shop, products []int64) ([]Variant, error)
	// Customers returns the customers with the given ids, as Variants does variants.
	Customers(ctx context.Context, shop Shop, ids []int64) ([]Customer, error)
	// PaymentMethods returns the customer's payment methods, revoked ones too.
	PaymentMethods(ctx context.Context, shop Shop, customer int64) ([]PaymentMethod, error)
	// Tag adds and removes tags of the customer or order with the graph id.
	// Repeating it changes nothing.
	Tag(ctx context.Context, shop Shop, id string, add, remove []string) error
	// OrderLines returns what an order has of a contract, at the prices before
	// discounts. The ids of its lines are the order's own.
	OrderLines(ctx context.Context, shop Shop, order, contract int64) ([]Line, error)
	// Fulfillments returns the fulfillments of an order, at most MaxFulfillments, or
	// ErrNotFound. An order without a shipment has none.
	Fulfillments(ctx context.Context, shop Shop, order int64) ([]Fulfillment, error)
	// NoteOrder replaces an order's note.
	NoteOrder(ctx context.Context, shop Shop, order int64, note string) error
}

// MaxFulfillments is how many fulfillments of an order are read.
const MaxFulfillments = 50

// Fulfillment is a parcel, or another part of an order that was sent.
type Fulfillment struct {
	ID            string // graph id
	Status        string // CANCELLED, ERROR, FAILURE or SUCCESS
	DisplayStatus string // such as IN_TRANSIT or DELIVERED; empty when not known
	CreatedAt     time.Time
	EstimatedAt   time.Time // when it is expected to arrive; zero when not known
	DeliveredAt   time.Time // zero until then
	Tracking      []Tracking
	Lines         []FulfilledLine
}

// Tracking is where a fulfillment can be followed. Any of it may be empty.
type Tracking struct{ Company, Number, URL string }

// FulfilledLine is what a fulfillment has of a line of the order.
type FulfilledLine struct {
	ID       string // graph id
	Quantity int
	Line     string // graph id of the order's line
	Title    string
	SKU      string
}

// Codes of refusals that callers act on.
const (
	// CodeStale says that the contract changed after the revision that the edit
	// is of, or while it was edited: read it again and retry.
	CodeStale = "STALE_CONTRACT"
	// CodeFutureEdits says that an upcoming cycle of the contract has an edit of its
	// own, which must be deleted before the contract can be changed.
	CodeFutureEdits = "HAS_FUTURE_EDITS"
	// CodeCharging says that a charge of a cycle has not ended, before which what was
	// edited of it cannot be taken back.
	CodeCharging = "INCOMPLETE_BILLING_ATTEMPTS"
	// CodeTerminated says that the contract is cancelled or expired for good.
	CodeTerminated = "CONTRACT_TERMINATED"
)

// Detail is a contract with all that is shown of it.
type Detail struct {
	Contract
	LineDetails []LineDetail   // of the lines, in their order
	Method      DeliveryMethod // zero when nothing is delivered
	Instrument  Instrument     // of the payment method
	Attempts    []Attempt      // the latest ones, newest first
	Fulfilments []string       // graph ids of the origin order's fulfilment orders
}

// LineDetail is a line with what is shown of it in addition to what is charged.
type LineDetail struct {
	Attributes  []Attribute
	Discounted  money.Amount // price of the whole line after its discounts
	Pricing     *Pricing     // prices by cycle; nil when there are none
	Allocations []Allocation
}

// Allocation is a discount's share on a line.
type Allocation struct {
	Discount string // graph id
	Amount   money.Amount
}

// Pricing is how a unit price changes with the cycles.
type Pricing struct {
	Base   money.Amount
	Cycles []CyclePrice // by After, at most MaxCyclePrices
}

// At returns the unit price that a policy has for a cycle; false when it says
// nothing of the cycle, or the price as it is was not made by it.
func (p Pricing) At(is money.Amount, cycle int) (price money.Amount, ok bool) {
	step, ok := p.Step(cycle)
	return step.Computed, ok && p.Made(is)
}

// Forward is At of prices that go by orders, which never go back: a line that
// came at a later price, as imported ones do, does not get an earlier one. It is false
// also when the price is what it was.
func (p Pricing) Forward(is money.Amount, order int) (price money.Amount, ok bool) {
	has, due := -1, -1
	for i, step := range p.Cycles {
		if is == step.Computed {
			has = i
		}
		if step.After < order {
			due = i
		}
	}
	if due <= has || has < 0 && is != p.Base {
		return money.Amount{}, false
	}
	return p.Cycles[due].Computed, true
}

// Changes reports whether the price is not the same in all orders.
func (p Pricing) Changes() bool {
	return len(p.Cycles) > 1 || len(p.Cycles) == 1 && p.Cycles[0].After > 0
}

// Step returns what a policy says of a cycle; false when it says nothing.
func (p Pricing) Step(cycle int) (step CyclePrice, ok bool) {
	for _, s := range p.Cycles {
		if s.After < cycle {
			step, ok = s, true
		}
	}
	return step, ok
}

// Made reports whether a price is one of the policy's.
func (p Pricing) Made(price money.Amount) bool {
	return price == p.Base || slices.ContainsFunc(p.Cycles, func(s CyclePrice) bool { return price == s.Computed })
}

// On returns a policy with the same steps off another base price.
func (p Pricing) On(base money.Amount) Pricing {
	on := Pricing{Base: base}
	for _, s := range p.Cycles {
		s.Computed = s.Of(base)
		on.Cycles = append(on.Cycles, s)
	}
	return on
}

// From returns the policy as it goes on when a cycle is counted as the first one. One
// before the first puts its later steps off.
func (p Pricing) From(cycle int) Pricing {
	from := Pricing{Base: p.Base}
	for _, s := range p.Cycles {
		if s.After > 0 {
			s.After = max(0, s.After-(cycle-1))
		}
		if n := len(from.Cycles); n > 0 && s.After == 0 { // it began before, and replaced what came before it
			from.Cycles = nil
		}
		from.Cycles = append(from.Cycles, s)
	}
	return from
}

// Moved is On, with the price that takes the place of one which the policy made;
// false when the policy did not make it.
func (p Pricing) Moved(is, base money.Amount) (on Pricing, price money.Amount, ok bool) {
	if !p.Made(is) {
		return Pricing{}, money.Amount{}, false
	}
	on = p.On(base)
	if i := slices.IndexFunc(p.Cycles, func(s CyclePrice) bool { return s.Computed == is }); i >= 0 {
		return on, on.Cycles[i].Computed, true
	}
	return on, base, true
}

// SameSteps reports whether two policies change their prices alike.
func (p Pricing) SameSteps(as Pricing) bool {
	return slices.EqualFunc(p.Cycles, as.Cycles, func(a, b CyclePrice) bool {
		a.Computed, b.Computed = money.Amount{}, money.Amount{}
		return a == b
	})
}

// MaxCyclePrices is how many price changes a line can have.
const MaxCyclePrices = 2

// CyclePrice is a price that applies once After cycles have been billed.
type CyclePrice struct {
	After    int
	Kind     Adjustment
	Percent  float64      // of PERCENTAGE, off the base price
	Amount   money.Amount // of FIXED_AMOUNT (off the base price) and PRICE
	Computed money.Amount // the unit price that results
}

// Of returns the unit price that a step makes of a base price.
func (s CyclePrice) Of(base money.Amount) money.Amount {
	switch s.Kind {
	case PercentOff:
		return base.PercentOff(s.Percent)
	case AmountOff:
		return money.Amount{Minor: max(0, base.Minor-s.Amount.Minor), Currency: base.Currency}
	default:
		return s.Amount
	}
}

// Adjustment is how a price is changed.
type Adjustment string

// The adjustments.
const (
	PercentOff Adjustment = "PERCENTAGE"
	AmountOff  Adjustment = "FIXED_AMOUNT"
	FixedPrice Adjustment = "PRICE"
)

// Discount is a discount of a contract.
type Discount struct {
	ID            string // graph id
	Title         string
	Code          string // of a code that was redeemed; empty for one made by hand
	Percent       int    // off, or
	Amount        money.Amount
	EachItem      bool // Amount is off every item, not once off all the lines
	FreeShipping  bool
	CycleLimit    int // how many cycles it lasts; 0: no end
	UsedCycles    int
	AllLines      bool
	Lines         []string // graph ids of the lines it is for, unless AllLines
	RejectedWhy   string   // the platform's reason for not applying it; empty: it applies
	TargetIsOrder bool     // it is off shipping, not off lines
}

// Entitles reports whether a discount is for a line. One that is for all lines is
// also for those that are added later.
func (d Discount) Entitles(line string) bool { return d.AllLines || slices.Contains(d.Lines, line) }

// The kinds of delivery methods.
const (
	MethodShipping = "SHIPPING"
	MethodLocal    = "LOCAL"
	MethodPickUp   = "PICK_UP"
)

// DeliveryMethod is how an order reaches the customer.
type DeliveryMethod struct {
	Kind         string // MethodShipping, MethodLocal or MethodPickUp; empty: none
	Address      Address
	Code         string // of the service
	Title        string
	Phone        string // for local delivery
	Instructions string
	Location     string // graph id of the place to pick up at
}

// DeliveryOption is a way of shipping.
type DeliveryOption struct {
	Code, Title string
	Price       money.Amount // of an order
}

// Address is a postal address.
type Address struct {
	FirstName, LastName, Company, Address1, Address2, City string
	Province, ProvinceCode, Country, CountryCode           string
	Zip, Phone                                             string
}

// Instrument is what a payment method is made of.
type Instrument struct {
	Kind        string // the platform's type name, such as CustomerCreditCard
	Brand       string
	LastDigits  string
	Masked      string
	ExpiryMonth int
	ExpiryYear  int
	ExpiresSoon bool
	Name        string // of the holder; the e-mail address of a PayPal account
	RevokedAt   time.Time
	RevokedWhy  string
}

// Edit is a change of a contract or of one of its cycles. What is nil or empty
// stays as it is.
type Edit struct {
	// Revision is the contract's when it was read: the edit is refused with
	// CodeStale when the contract has changed since. 0: whatever the contract is
	// like when the edit begins. New contracts have none.
	Revision uint64
	// Was is what a cycle ordered when it was read: the edit is refused with
	// CodeStale when it orders other lines. nil: whatever it orders when the edit
	// begins. Edits of contracts have none.
	Was             []Line
	Lines           []LineEdit
	Discounts       []DiscountEdit
	Billing         *Policy
	Delivery        *Policy
	NextBillingDate *time.Time
	Note            *string
	Attributes      *[]Attribute // replaces all
	PaymentMethod   *string      // graph id
	Method          *DeliveryMethod
	DeliveryPrice   *money.Amount
}

// Empty reports whether the edit changes nothing.
func (e Edit) Empty() bool {
	return len(e.Lines) == 0 && len(e.Discounts) == 0 && e.Billing == nil && e.Delivery == nil && e.NextBillingDate == nil && e.Note == nil &&
		e.Attributes == nil && e.PaymentMethod == nil && e.Method == nil && e.DeliveryPrice == nil
}

// LineEdit changes, adds or removes a line.
type LineEdit struct {
	Line            string // graph id; empty: a new line
	Remove          bool
	Variant         *int64 // required for a new line
	Quantity        *int   // required for a new line
	Price           *money.Amount
	Attributes      *[]Attribute
	Pricing         *Pricing
	SellingPlanID   *int64
	SellingPlanName *string
}

// DiscountEdit adds or removes one discount: exactly one field is set. A code
// that the platform does not take is refused with its reason as the code, such
// as NOT_FOUND.
type DiscountEdit struct {
	Remove string // graph id
	Code   string
	Add    *Discount // Title, Percent or Amount, EachItem, FreeShipping, CycleLimit, AllLines or Lines
}

// NewContract is a contract to be made.
type NewContract struct {
	Customer        int64
	Currency        money.Currency
	NextBillingDate time.Time
	Status          string // ACTIVE or PAUSED
	Edit                   // Billing, Delivery and at least one line are required
}

// CycleOrder is what one cycle will order.
type CycleOrder struct {
	CycleRef
	Edited        bool   // it is a copy of the contract with changes, which what becomes of the contract leaves as it is
	Revision      uint64 // of the contract when this was read; EditCycle does not return it
	Lines         []Line
	LineDetails   []LineDetail
	Discounts     []Discount
	Note          string
	Attributes    []Attribute
	DeliveryPrice money.Amount
}

// OnlyVariant is the title of the variant of a product that has no others.
const OnlyVariant = "Default Title"

// Variant is what a store sells.
type Variant struct {
	ID, ProductID       int64
	Title, ProductTitle string
	SKU, Image, Handle  string // the handle is the product's
	Vendor, ProductType string
	Price               money.Amount
	Available           bool
	Taxable             bool
	RequiresShipping    bool
	OnlyOnPlans         bool // it is sold on selling plans only
}

// Name returns what tells the variant from others of its product; "" when there are none.
func (v Variant) Name() string {
	if v.Title == OnlyVariant {
		return ""
	}
	return v.Title
}

// Finder finds what files name, many at once.
type Finder interface {
	// CustomersByEmail returns the customers with the given e-mail addresses, at most MaxIDs, in no
	// particular order. Addresses that no customer has are left out.
	CustomersByEmail(ctx context.Context, shop Shop, emails []string) ([]Customer, error)
	// VariantsBySKU returns the variants with the given SKUs, at most MaxIDs, in no particular
	// order. Several may have the same one.
	VariantsBySKU(ctx context.Context, shop Shop, skus []string) ([]Variant, error)
	// UsablePaymentMethods returns the graph ids of the payment methods that can be charged, of at
	// most MaxIDs customers, at most MaxMethods of each. Customers that do not exist have no entry.
	UsablePaymentMethods(ctx context.Context, shop Shop, customers []int64) (map[int64][]string, error)
}
