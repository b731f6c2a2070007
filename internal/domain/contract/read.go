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

// Change is what a fresh reading of a contract altered.
type Change struct {
	Created  bool
	Status   bool // the status changed
	Billing  bool // the billing policy changed
	Delivery bool // the delivery policy changed
	Limits   bool // how many cycles there are at most changed
	Payment  bool // what it is paid with changed, or whether that can be charged
	Card     bool // the card behind the payment method is another one, or was not known
	Terms    bool // anything else that people see of it
	Cost     bool // its discounts, how often they were used, or its prices by cycle
	Revision bool // it was read at another revision
}

// Any reports whether anything changed.
func (c Change) Any() bool {
	return c.Created || c.Status || c.Billing || c.Delivery || c.Limits || c.Payment || c.Card || c.Terms || c.Cost || c.Revision
}

// Logged reports whether the activity log tells of what changed.
func (c Change) Logged() bool {
	return c.Created || c.Status || c.Billing || c.Delivery || c.Payment || c.Terms
}

// Replans reports whether the queue of upcoming attempts must be made anew.
func (c Change) Replans() bool { return c.Created || c.Status || c.Billing }

// Read takes over what the platform holds of a contract. The old contract is
// nil when it is new here. What the service owns is left alone.
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
	if c.stand(status, now); old == nil && status == Expired {
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
		c.Card = c.Card.after(old.Card, c.PaymentUsable && !old.PaymentUsable, now)
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

// sameCost compares what orders cost besides their lines.
func sameCost(a, b Contract) bool {
	same := func(a, b Pricing) bool { return a.Base == b.Base && slices.Equal(a.Cycles, b.Cycles) }
	return slices.EqualFunc(a.Discounts, b.Discounts, func(a, b Discount) bool { return reflect.DeepEqual(a, b) }) &&
		a.Priced == b.Priced && maps.EqualFunc(a.Pricing, b.Pricing, same) && maps.EqualFunc(a.PlanPricing, b.PlanPricing, same)
}

// samePayment compares what two readings of a contract say of what it is paid with.
func samePayment(a, b Contract) bool {
	return a.PaymentMethod == b.PaymentMethod && a.PaymentUsable == b.PaymentUsable && a.BillingCountry == b.BillingCountry
}

// sameTerms compares what people see of two readings of a contract, save its
// status, its policies, its discounts, what it is paid with and how its last payment
// went.
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

// stand sets the status and the date on which it was reached. What was waiting in
// the status before does not outlive it, save a cancellation: it outlives a pause that
// was to end by itself, for nobody has taken it back.
func (c *Contract) stand(s Status, now time.Time) {
	if c.Status == s {
		return
	}
	next := c.comes()
	c.Status, c.Pause, c.CancelledOrderDate = s, nil, time.Time{}
	if s != Expired {
		c.ExpireAt = time.Time{}
	} else if c.ExpireAt.IsZero() || c.ExpireAt.After(now) {
		c.ExpireAt = now
	}
	if s != Paused && !(s == Active && c.Moving.byItself()) {
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

// LineOf tells memberships from subscriptions by the selling plans of the store
// that are membership plans.
func LineOf(lines []Line, settings shop.Settings) shop.Line {
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

// NewLine returns a line as the platform holds it.
func NewLine(l platform.Line) Line {
	return Line{
		ID: l.ID, ProductID: l.ProductID, VariantID: l.VariantID, SKU: l.SKU, Title: l.Title, VariantTitle: l.VariantTitle, Image: l.Image,
		Quantity: l.Quantity, Price: l.Price, SellingPlanID: l.SellingPlanID, SellingPlanName: l.SellingPlanName, Taxable: l.Taxable,
	}
}

// after returns the line with what it was before, among the lines that the contract had.
func (l Line) after(had []Line) Line {
	if i := slices.IndexFunc(had, func(old Line) bool { return old.ID == l.ID }); i >= 0 && l.VariantID == 0 {
		l.FormerVariantID = cmp.Or(had[i].VariantID, had[i].FormerVariantID)
	}
	return l
}

// LostVariants returns the lines as they were whose variants the store has no more.
func (c Contract) LostVariants(old []Line) []Line {
	return slices.DeleteFunc(slices.Clone(old), func(o Line) bool {
		return o.VariantID == 0 || !slices.ContainsFunc(c.Lines, func(l Line) bool { return l.ID == o.ID && l.VariantID == 0 })
	})
}
