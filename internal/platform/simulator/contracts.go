package simulator

import (
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

// The statuses of a contract.
const (
	statusActive    = "ACTIVE"
	statusPaused    = "PAUSED"
	statusCancelled = "CANCELLED"
	statusExpired   = "EXPIRED"
	statusFailed    = "FAILED"
)

// terms are what a draft can change of a contract.
type terms struct {
	Status          string
	Billing         policy
	Delivery        policy
	Price           money.Amount // of delivery
	Shipping        *shipping    `json:",omitempty"`
	PaymentMethod   string       // tail of the graph id; empty: none
	NextBillingDate time.Time    `json:",omitzero"`
	Note            string
	Attributes      []attribute `json:",omitempty"`
	Lines           []line
	Discounts       []discount `json:",omitempty"`
}

// clone returns terms whose lists can be changed without changing t's.
func (t terms) clone() terms {
	t.Attributes = slices.Clone(t.Attributes)
	t.Lines = slices.Clone(t.Lines)
	t.Discounts = slices.Clone(t.Discounts)
	t.Billing.Anchors = slices.Clone(t.Billing.Anchors)
	t.Delivery.Anchors = slices.Clone(t.Delivery.Anchors)
	return t
}

type policy struct {
	Interval             string
	Count                int
	Anchors              []anchor `json:",omitempty"`
	MinCycles, MaxCycles int      `json:",omitempty"`
	Overflow             bool     `json:",omitempty"` // days that a month lacks fall into the next
}

// recurs reports whether two policies have the same dates.
func (p policy) recurs(q policy) bool {
	return p.Interval == q.Interval && p.Count == q.Count && slices.Equal(p.Anchors, q.Anchors)
}

type anchor struct {
	Type       string // WEEKDAY, MONTHDAY or YEARDAY
	Day, Month int
	Cutoff     int
}

// shipping is where and how a contract's orders are sent.
type shipping struct {
	Kind               methodKind `json:",omitempty"` // empty: by a carrier
	Address            address
	Code, Title, Label string
	Phone              string `json:",omitempty"` // for local delivery
	Instructions       string `json:",omitempty"` // for local delivery
	Location           int64  `json:",omitempty"` // where orders are picked up
}

// methodKind is a way in which orders reach their customer beside carriers.
type methodKind string

const (
	localDelivery methodKind = "local"
	pickup        methodKind = "pickup"
)

type address struct {
	FirstName, LastName, Company, Address1, Address2, City, Zip, Province, Country, Phone string
}

type line struct {
	ID              string // tail of the graph id
	Variant         int64
	Quantity        int
	Price           money.Amount
	SellingPlanID   int64
	SellingPlanName string
	Attributes      []attribute `json:",omitempty"`
	Pricing         *pricing    `json:",omitempty"`
	Removed         bool        `json:",omitempty"` // in a draft only
	Added           bool        `json:",omitempty"` // in a draft only
}

func (l line) gid() string { return "gid://shopify/SubscriptionLine/" + l.ID }

// pricing is an agreed price history. The platform shows it and never applies it.
type pricing struct {
	Base   money.Amount
	Cycles []priceStep
}

type priceStep struct {
	Type       string // FIXED_AMOUNT, PERCENTAGE or PRICE
	Percentage float64
	Fixed      money.Amount
	AfterCycle int
	Computed   money.Amount
}

type contract struct {
	Shop          string
	ID            int64
	App           string `json:",omitempty"` // owner
	Currency      money.Currency
	Customer      int64
	OriginOrder   int64 // 0: none
	Revision      uint64
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Terms         terms
	Segments      []segment
	BilledAtStart bool // cycles are expected at their start
	LastPayment   string
	LastError     string
	Attempts      int64     // made so far
	Lines         int64     // made so far
	Events        int64     // sent so far
	Script        []Outcome `json:",omitempty"`

	shop     *store
	customer *customer
	cycles   map[int]*cycle
	attempts []*attempt
	orders   []*order
}

func (c *contract) key() rowKey { return number("contract", c.Shop, c.ID) }
func (c *contract) gid() string { return gid.Of("SubscriptionContract", c.ID) }

// settled returns the terms of a draft without what only a draft has. Discounts
// keep how often they were used by then.
func (t terms) settled(now *terms) terms {
	t = t.clone()
	t.Lines = slices.DeleteFunc(t.Lines, func(l line) bool { return l.Removed })
	for i := range t.Lines {
		t.Lines[i].Added = false
	}
	t.Discounts = slices.DeleteFunc(t.Discounts, func(d discount) bool { return d.Removed })
	for i := range t.Discounts {
		d := &t.Discounts[i]
		d.Added, d.Updated = false, false
		if now == nil {
			continue
		}
		for _, have := range now.Discounts {
			if have.ID == d.ID {
				d.Used = have.Used
			}
		}
	}
	return t
}

// amount is what one cycle costs.
func (t *terms) amount(c money.Currency) money.Amount {
	if len(t.Discounts) > 0 {
		return t.bill(c).total
	}
	sum := money.Amount{Currency: c}.Plus(t.Price)
	for _, l := range t.Lines {
		if !l.Removed {
			sum = sum.Plus(l.Price.Times(int64(l.Quantity)))
		}
	}
	return sum
}

func (c *contract) terminated() bool {
	return c.Terms.Status == statusCancelled || c.Terms.Status == statusExpired
}

// touch marks a change of a contract: its revision grows.
func (s *Simulator) touch(c *contract, at time.Time) {
	c.Revision++
	c.UpdatedAt = at
	s.save(c)
}

// changed marks a change and tells the subscribers.
func (s *Simulator) changed(c *contract, at time.Time) {
	s.touch(c, at)
	s.emitContract(c, "SUBSCRIPTION_CONTRACTS_UPDATE", at)
}

// statusTopics are the topics of each status, beside the one of every change.
var statusTopics = map[string]string{
	statusActive: "SUBSCRIPTION_CONTRACTS_ACTIVATE", statusPaused: "SUBSCRIPTION_CONTRACTS_PAUSE",
	statusCancelled: "SUBSCRIPTION_CONTRACTS_CANCEL", statusExpired: "SUBSCRIPTION_CONTRACTS_EXPIRE",
	statusFailed: "SUBSCRIPTION_CONTRACTS_FAIL",
}

// setStatus moves a contract to a status. A contract that has it already is
// left as it is.
func (s *Simulator) setStatus(c *contract, to string) *userError {
	if c.Terms.Status == to {
		return nil
	}
	if c.terminated() {
		return &userError{Code: "CONTRACT_TERMINATED", Field: []string{"subscriptionContractId"}, Message: "Subscription contract status cannot be changed once terminated."}
	}
	now := s.now()
	c.Terms.Status = to
	s.changed(c, now)
	s.emitContract(c, statusTopics[to], now)
	return nil
}

// newLineID returns the tail of a graph id for a line that is added.
func (s *Simulator) newLineID(c *contract) string {
	c.Lines++
	return uuidOf("line", c.Shop, c.ID, c.Lines)
}

// checkTerms returns what the platform would refuse of a contract's terms.
func (s *Simulator) checkTerms(sh *store, t terms) *userError {
	if e := t.Billing.check("billingPolicy"); e != nil {
		return e
	}
	if e := t.Delivery.check("deliveryPolicy"); e != nil {
		return e
	}
	if !t.Billing.multipleOf(t.Delivery) {
		return draftError("DELIVERY_MUST_BE_MULTIPLE_OF_BILLING", "The delivery policy interval must be a multiple of the billing policy interval.", "deliveryPolicy")
	}
	if len([]rune(t.Note)) > maxNote {
		return draftError("INVALID_NOTE_LENGTH", "Note length is too long.", "note")
	}
	shipped := false
	live := 0
	for _, l := range t.Lines {
		if l.Removed {
			continue
		}
		live++
		if v, ok := sh.variants.get(l.Variant); ok && v.RequiresShipping {
			shipped = true
		}
	}
	if live == 0 {
		return draftError("INVALID_LINES", "Must have at least one line.")
	}
	if most := s.opts.Switches.MaxLines; most > 0 && live > most {
		return draftError("TOO_MANY_LINES", "Cannot have more lines.")
	}
	if shipped && t.Shipping == nil {
		return draftError("DELIVERY_METHOD_REQUIRED", "The delivery method can't be blank if any lines require shipping.", "deliveryMethod")
	}
	return s.checkDiscounts(sh, &t)
}

// maxNote is the longest note, in characters. The platform's own limit is not
// published.
const maxNote = 5000

func (p policy) check(field string) *userError {
	if p.Count < 1 {
		return draftError("GREATER_THAN", "Interval count must be greater than 0.", field, "intervalCount")
	}
	if p.MaxCycles > 0 && p.MinCycles > 0 && p.MaxCycles <= p.MinCycles {
		return draftError("SELLING_PLAN_MAX_CYCLES_MUST_BE_GREATER_THAN_MIN_CYCLES", "The maximum number of cycles must be greater than the minimum.", field, "maxCycles")
	}
	for i, a := range p.Anchors {
		if !a.fits(p.Interval) {
			return draftError("INVALID", fmt.Sprintf("Anchor %d is invalid for the interval.", i), field, "anchors")
		}
	}
	return nil
}

func (a anchor) fits(interval string) bool {
	switch a.Type {
	case "WEEKDAY":
		return interval == "WEEK" && a.Day >= 1 && a.Day <= 7
	case "MONTHDAY":
		return interval == "MONTH" && a.Day >= 1 && a.Day <= 31
	case "YEARDAY":
		return interval == "YEAR" && a.Month >= 1 && a.Month <= 12 && a.Day >= 1 && a.Day <= 31
	}
	return false
}

// multipleOf reports whether p is a whole number of q's.
func (p policy) multipleOf(q policy) bool {
	unit := func(p policy) (kind byte, n int) {
		switch p.Interval {
		case "WEEK":
			return 'd', 7 * p.Count
		case "MONTH":
			return 'm', p.Count
		case "YEAR":
			return 'm', 12 * p.Count
		}
		return 'd', p.Count
	}
	pk, pn := unit(p)
	qk, qn := unit(q)
	return qn > 0 && pk == qk && pn%qn == 0
}

func draftError(code, message string, path ...string) *userError {
	return &userError{Code: code, Field: append([]string{"input"}, path...), Message: message}
}
