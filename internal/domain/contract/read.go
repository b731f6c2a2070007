package contract

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Change is what a reading changed of a contract.
type Change struct {
	Created  bool
	Status   bool // the status changed
	Billing  bool // the billing policy changed
	Delivery bool // the delivery policy changed
	Limits   bool // the maximum number of cycles changed
	Payment  bool // the payment method changed, or whether it can be charged
	Card     bool // the card behind the payment method changed, or was not known
	Terms    bool // anything else that is shown of it
	Cost     bool // discounts, their usage or prices by cycle changed
	Revision bool // the revision changed
}

// Any reports whether anything changed.
func (c Change) Any() bool {
	return c.Created || c.Status || c.Billing || c.Delivery || c.Limits || c.Payment || c.Card || c.Terms || c.Cost || c.Revision
}

// Logged reports whether the activity log records the change.
func (c Change) Logged() bool {
	return c.Created || c.Status || c.Billing || c.Delivery || c.Payment || c.Terms
}

// Replans reports whether the queue of upcoming attempts must be rebuilt.
func (c Change) Replans() bool { return c.Created || c.Status || c.Billing }

// Read returns the contract as the platform reports it. The old contract is nil when it
// is new here. Fields that the service owns stay.
func Read(old *Contract, p platform.Contract, settings shop.Settings, now time.Time) (Contract, Change, error) {
	billing, err := policy(p.Billing)
	if err != nil {
		return Contract{}, Change{}, err
	}
	delivery, err := policy(p.Delivery)
	if err != nil {
		return Contract{}, Change{}, err
	}
	status, err := ParseStatus(p.Status)
	if err != nil {
		return Contract{}, Change{}, err
	}
	c := Contract{AutoCharge: true, Origin: Storefront, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
	change := Change{Created: old == nil}
	if old != nil {
		c = *old
		change = Change{
			Status:   old.Status != status,
			Billing:  !samePolicy(old.Billing, billing),
			Delivery: !samePolicy(old.Delivery, delivery),
			Limits:   old.MaxCycles != p.Billing.MaxCycles,
			Revision: old.Revision != p.Revision,
		}
	}
	if c.setStatus(status, now); old == nil && status == Expired {
		c.ExpireAt = p.UpdatedAt
	}
	c.ID, c.Revision, c.Currency = ID(p.ID), p.Revision, p.Currency
	c.Lifetime.Currency = p.Currency
	c.Billing, c.Delivery = billing, delivery
	c.MinCycles, c.MaxCycles = p.Billing.MinCycles, p.Billing.MaxCycles
	c.Customer = Customer{
		ID: p.Customer.ID, Email: p.Customer.Email, FirstName: p.Customer.FirstName, LastName: p.Customer.LastName,
		Name: p.Customer.DisplayName, Phone: p.Customer.Phone,
	}
	c.OriginOrderID, c.OriginOrderName = p.OriginOrder.ID, p.OriginOrder.Name
	c.PaymentMethod = p.PaymentMethod.ID
	c.PaymentUsable = p.PaymentMethod.ID != "" && !p.PaymentMethod.Revoked
	if c.Card = cardOf(p.PaymentMethod); old != nil && old.PaymentMethod == c.PaymentMethod {
		c.Card = c.Card.following(old.Card, c.PaymentUsable && !old.PaymentUsable, now)
	}
	c.BillingCountry, c.DeliveryCountry = p.PaymentMethod.BillingCountry, p.DeliveryCountry
	c.DeliveryPrice = p.DeliveryPrice
	c.Note = p.Note
	c.Attributes = make([]Attribute, len(p.Attributes))
	for i, a := range p.Attributes {
		c.Attributes[i] = Attribute(a)
	}
	if c = c.WithReading(p); old == nil {
		c.FirstAmount = c.Amount()
		if p.OriginOrder.Pieces == c.Pieces() && p.OriginOrder.Total.Currency == c.Currency {
			c.FirstPaid = p.OriginOrder.Total
		}
		c.ResetAmendAt()
	}
	c.Discounts = p.Discounts
	if p.LastPayment != "" {
		c.LastPayment = p.LastPayment
	}
	c.Line = LineOf(c.Lines, settings)
	if old != nil {
		change.Payment = !samePayment(*old, c)
		change.Card = old.Card != c.Card
		change.Terms = !sameTerms(*old, c)
		change.Cost = !sameCost(*old, c)
	}
	return c, change, nil
}

// sameCost compares what affects the cost of orders, apart from the lines.
func sameCost(a, b Contract) bool {
	same := func(a, b Pricing) bool { return a.Base == b.Base && slices.Equal(a.Cycles, b.Cycles) }
	return slices.EqualFunc(a.Discounts, b.Discounts, func(a, b Discount) bool { return reflect.DeepEqual(a, b) }) &&
		a.Priced == b.Priced && maps.EqualFunc(a.Pricing, b.Pricing, same) && maps.EqualFunc(a.PlanPricing, b.PlanPricing, same)
}

// samePayment compares the payment methods of two readings.
func samePayment(a, b Contract) bool {
	return a.PaymentMethod == b.PaymentMethod && a.PaymentUsable == b.PaymentUsable && a.BillingCountry == b.BillingCountry
}

// sameTerms compares what people see of two readings, apart from status, policies,
// discounts, payment method and last payment.
func sameTerms(a, b Contract) bool {
	b.PaymentMethod, b.PaymentUsable, b.BillingCountry, b.Card = a.PaymentMethod, a.PaymentUsable, a.BillingCountry, a.Card
	b.Revision, b.LastPayment = a.Revision, a.LastPayment
	b.Priced, b.Pricing, b.PlanPricing, b.Discounts = a.Priced, a.Pricing, a.PlanPricing, a.Discounts
	b.Status, b.ActivatedAt, b.PausedAt, b.CancelledAt = a.Status, a.ActivatedAt, a.PausedAt, a.CancelledAt
	b.Pause, b.Ending, b.CancelledOrderDate, b.ExpireAt, b.AmendAt = a.Pause, a.Ending, a.CancelledOrderDate, a.ExpireAt, a.AmendAt
	b.CancellationFeedback, b.CancellationNote = a.CancellationFeedback, a.CancellationNote
	b.Billing, b.Delivery = a.Billing, a.Delivery
	same := slices.Equal(a.Lines, b.Lines) && slices.Equal(a.Attributes, b.Attributes)
	a.Lines, b.Lines, a.Attributes, b.Attributes = nil, nil, nil, nil
	return same && reflect.DeepEqual(a, b)
}

// setStatus sets the status and its date. Scheduled changes of the old status are
// dropped, except a cancellation when a pause ends automatically: it was not undone.
func (c *Contract) setStatus(s Status, now time.Time) {
	if c.Status == s {
		return
	}
	next := c.nextOrderDate()
	c.Status, c.Pause, c.CancelledOrderDate = s, nil, time.Time{}
	if s != Expired {
		c.ExpireAt = time.Time{}
	} else if c.ExpireAt.IsZero() || c.ExpireAt.After(now) {
		c.ExpireAt = now
	}
	if s != Paused && !(s == Active && c.Moving.automatic()) {
		c.Ending = nil
	}
	switch s {
	case Active:
		c.ActivatedAt, c.PausedAt, c.CancelledAt = now, time.Time{}, time.Time{}
		if c.Ending == nil {
			c.CancellationFeedback, c.CancellationNote = "", ""
		}
	case Paused:
		c.PausedAt = now
	case Cancelled:
		c.CancelledAt, c.CancelledOrderDate = now, next
	}
	c.ResetAmendAt()
}

// LineOf returns the line of business by the selling plans that the store has as
// membership plans.
func LineOf(lines []LineItem, settings shop.Settings) shop.Line {
	for _, l := range lines {
		for _, plan := range settings.Memberships {
			if l.SellingPlanID == plan {
				return shop.Memberships
			}
		}
	}
	return shop.Subscriptions
}

func policy(p platform.Policy) (Policy, error) {
	interval, err := cadence.ParseInterval(p.Interval)
	if err != nil {
		return Policy{}, err
	}
	made := Policy{Interval: interval, Count: p.Count}
	for _, a := range p.Anchors {
		made.Anchors = append(made.Anchors, cadence.Anchor{Kind: anchorKinds[strings.ToUpper(a.Type)], Day: a.Day, Month: a.Month, CutoffDay: a.CutoffDay})
	}
	return made, made.Validate()
}

var anchorKinds = map[string]cadence.AnchorKind{
	"WEEKDAY": cadence.Weekday, "MONTHDAY": cadence.MonthDay, "YEARDAY": cadence.YearDay,
}

func samePolicy(a, b Policy) bool {
	return a.Interval == b.Interval && a.Count == b.Count && slices.Equal(a.Anchors, b.Anchors)
}

// NewLine converts a line of the platform.
func NewLine(l platform.Line) LineItem {
	return LineItem{
		ID: l.ID, ProductID: l.ProductID, VariantID: l.VariantID, SKU: l.SKU, Title: l.Title, VariantTitle: l.VariantTitle, Image: l.Image,
		Quantity: l.Quantity, Price: l.Price, SellingPlanID: l.SellingPlanID, SellingPlanName: l.SellingPlanName, Taxable: l.Taxable,
	}
}

// withFormerVariant returns the line with the variant that it had before, if it has
// none.
func (l LineItem) withFormerVariant(had []LineItem) LineItem {
	if i := slices.IndexFunc(had, func(old LineItem) bool { return old.ID == l.ID }); i >= 0 && l.VariantID == 0 {
		l.FormerVariantID = cmp.Or(had[i].VariantID, had[i].FormerVariantID)
	}
	return l
}

// LostVariants returns the old lines whose variants the store no longer has.
func (c Contract) LostVariants(old []LineItem) []LineItem {
	return slices.DeleteFunc(slices.Clone(old), func(o LineItem) bool {
		return o.VariantID == 0 || !slices.ContainsFunc(c.Lines, func(l LineItem) bool { return l.ID == o.ID && l.VariantID == 0 })
	})
}
