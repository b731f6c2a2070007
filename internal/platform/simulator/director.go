package simulator

import (
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
)

// ContractSpec is a checkout: who buys what, and when it comes again.
type ContractSpec struct {
	Shop            string // default: the first store
	Customer        CustomerSpec
	Currency        money.Currency // default: the store's
	NextBillingDate time.Time
	Billing         PolicySpec
	Delivery        PolicySpec // default: the billing policy's rhythm
	DeliveryPrice   string     // decimal; default 0
	Lines           []LineSpec
	PaymentMethod   MethodStatus // default valid
	Note            string
	Attributes      []AttributeSpec
	CreatedAt       time.Time // default: now
	Status          string    // default ACTIVE
	OriginOrderName string    // default: the next one, such as "#1001"
	DiscountCodes   []string  // that the buyer enters: the first order uses them
	App             string    // client id of the app whose contract it is; default: the app that sells on the plan, else the first
}

// CustomerSpec is a buyer. An id or e-mail address that the store knows means
// the customer who has it.
type CustomerSpec struct {
	ID        int64  `json:"id,omitempty"`
	Email     string `json:"email"`
	FirstName string `json:"firstName,omitempty"`
	LastName  string `json:"lastName,omitempty"`
	Phone     string `json:"phone,omitempty"`
	Country   string `json:"country,omitempty"` // two letters; default: the store's

	Tags []string `json:"-"` // added to those that the customer has
}

// PolicySpec is how often something recurs.
type PolicySpec struct {
	Interval      string       `json:"interval"` // DAY, WEEK, MONTH or YEAR
	IntervalCount int          `json:"intervalCount"`
	Anchors       []AnchorSpec `json:"anchors,omitempty"`
	MinCycles     int          `json:"minCycles,omitempty"`
	MaxCycles     int          `json:"maxCycles,omitempty"`
}

// AnchorSpec is a fixed day of a policy.
type AnchorSpec struct {
	Type      string `json:"type"` // WEEKDAY, MONTHDAY or YEARDAY
	Day       int    `json:"day"`
	Month     int    `json:"month,omitempty"`
	CutoffDay int    `json:"cutoffDay,omitempty"`
}

// LineSpec is a line item.
type LineSpec struct {
	VariantID       int64  `json:"variantId"`
	Quantity        int    `json:"quantity"`               // default 1
	CurrentPrice    string `json:"currentPrice,omitempty"` // decimal; default: the variant's price
	SellingPlanID   int64  `json:"sellingPlanId,omitempty"`
	SellingPlanName string `json:"sellingPlanName,omitempty"`
}

// AttributeSpec is a custom key and value.
type AttributeSpec struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Made names what a checkout made.
type Made struct {
	Contract      int64    `json:"id"`
	Customer      int64    `json:"customerId"`
	Order         int64    `json:"orderId"`
	OrderName     string   `json:"orderName"`
	PaymentMethod string   `json:"paymentMethodId,omitempty"` // graph id
	Lines         []string `json:"lines"`                     // graph ids
}

// Checkout makes a customer where needed, a payment method, an order and a
// contract, as a buyer's checkout does. The webhooks are due at once. What is
// wrong with the specification is an Invalid fault.
func (s *Simulator) Checkout(spec ContractSpec) (Made, error) {
	var made Made
	err := s.update(func() (err error) {
		made, err = s.checkout(spec)
		return err
	})
	return made, err
}

func (s *Simulator) checkout(spec ContractSpec) (Made, error) {
	sh, err := s.store(spec.Shop)
	if err != nil {
		return Made{}, err
	}
	currency := or(spec.Currency, sh.Currency)
	t, err := sh.termsOf(spec, currency)
	if err != nil {
		return Made{}, err
	}
	created := spec.CreatedAt
	if created.IsZero() {
		created = s.now()
	}
	created = created.UTC().Truncate(time.Second)
	if !t.NextBillingDate.After(created) {
		return Made{}, fault.New(fault.Invalid, "the next billing date must be after the contract's creation").Field("nextBillingDate")
	}
	t.Shipping = &shipping{Code: "Standard", Title: "Standard", Label: "Standard"}
	if refused := s.checkTerms(sh, t); refused != nil {
		return Made{}, fault.New(fault.Invalid, "%s", refused.Message).Code(refused.Code)
	}
	owner, err := s.ownerOf(sh, spec.App, t.Lines)
	if err != nil {
		return Made{}, err
	}
	cust, err := s.buyer(sh, spec.Customer)
	if err != nil {
		return Made{}, err
	}
	t.Shipping.Address = addressOf(cust)
	method := s.wallet(sh, cust, or(spec.PaymentMethod, MethodValid))
	if method != nil {
		t.PaymentMethod = method.ID
	}
	if t.Discounts, err = s.enter(sh, cust, spec.DiscountCodes); err != nil {
		return Made{}, err
	}
	o := s.newOrder(sh, cust, &t, currency, created)
	if spec.OriginOrderName != "" {
		o.Name = spec.OriginOrderName
	}
	c := s.newContract(sh, cust, currency, t, created)
	c.App, c.OriginOrder, o.Contract, o.contract = owner, o.ID, c.ID, c
	c.orders = append(c.orders, o)
	s.redeemed(sh, t.Discounts)
	s.useDiscounts(c, &c.Terms)
	s.billFirstCycle(c)
	s.save(o)
	s.emitContract(c, "SUBSCRIPTION_CONTRACTS_CREATE", s.now())
	made := Made{Contract: c.ID, Customer: cust.ID, Order: o.ID, OrderName: o.Name}
	if method != nil {
		made.PaymentMethod = method.gid()
	}
	for _, l := range c.Terms.Lines {
		made.Lines = append(made.Lines, l.gid())
	}
	return made, nil
}

// termsOf turns a specification into a contract's terms.
func (sh *store) termsOf(spec ContractSpec, currency money.Currency) (terms, error) {
	t := terms{
		Status: or(spec.Status, statusActive), Billing: spec.Billing.policy(), Delivery: spec.Delivery.policy(),
		NextBillingDate: spec.NextBillingDate.UTC().Truncate(time.Second), Note: spec.Note,
	}
	if spec.Delivery.Interval == "" {
		t.Delivery = policy{Interval: t.Billing.Interval, Count: t.Billing.Count, Anchors: t.Billing.Anchors}
	}
	for _, p := range []policy{t.Billing, t.Delivery} {
		if !slices.Contains([]string{"DAY", "WEEK", "MONTH", "YEAR"}, p.Interval) {
			return t, fault.New(fault.Invalid, "%q is not an interval: use DAY, WEEK, MONTH or YEAR", p.Interval).Field("interval")
		}
		if p.MinCycles < 0 || p.MaxCycles < 0 {
			return t, fault.New(fault.Invalid, "minCycles and maxCycles are at least 1, or left out").Field("billingPolicy")
		}
	}
	if !slices.Contains([]string{statusActive, statusPaused, statusCancelled, statusExpired, statusFailed}, t.Status) {
		return t, fault.New(fault.Invalid, "%q is not a contract status", spec.Status).Field("status")
	}
	var err error
	if t.Price, err = askedPrice(or(spec.DeliveryPrice, "0"), currency, "deliveryPrice"); err != nil {
		return t, err
	}
	for _, a := range spec.Attributes {
		t.Attributes = append(t.Attributes, attribute(a))
	}
	for _, l := range spec.Lines {
		v, ok := sh.variants.get(l.VariantID)
		if !ok {
			return t, fault.New(fault.Invalid, "%s has no variant %d", sh.Domain, l.VariantID).Field("lines.variantId")
		}
		nl := line{Variant: v.ID, Quantity: or(l.Quantity, 1), SellingPlanID: l.SellingPlanID, SellingPlanName: or(l.SellingPlanName, sh.planName(l.SellingPlanID))}
		if nl.Quantity < 1 {
			return t, fault.New(fault.Invalid, "a line's quantity is at least 1").Field("lines.quantity")
		}
		if l.CurrentPrice == "" {
			nl.Price, err = money.Parse(v.Price.String(), currency)
		} else {
			nl.Price, err = askedPrice(l.CurrentPrice, currency, "lines.currentPrice")
		}
		if err != nil {
			return t, err
		}
		t.Lines = append(t.Lines, nl)
	}
	return t, nil
}

// askedPrice reads a price of a request. A negative price, or one with more decimals than
// the currency has, is Invalid.
func askedPrice(decimal string, currency money.Currency, field string) (money.Amount, error) {
	a, err := money.ParseExact(decimal, currency)
	if err != nil || a.Minor < 0 {
		return a, fault.New(fault.Invalid, "%q is no price in %s", decimal, currency).Field(field)
	}
	return a, nil
}

func (p PolicySpec) policy() policy {
	q := policy{Interval: strings.ToUpper(p.Interval), Count: or(p.IntervalCount, 1), MinCycles: p.MinCycles, MaxCycles: p.MaxCycles}
	for _, a := range p.Anchors {
		q.Anchors = append(q.Anchors, anchor{strings.ToUpper(a.Type), a.Day, a.Month, a.CutoffDay})
	}
	return q
}

// buyer returns the customer who is meant, new when the store does not know the
// e-mail address.
func (s *Simulator) buyer(sh *store, spec CustomerSpec) (*customer, error) {
	if spec.ID != 0 {
		if c, ok := sh.customers.get(spec.ID); ok {
			return c, nil
		}
		return nil, fault.New(fault.Invalid, "%s has no customer %d", sh.Domain, spec.ID).Field("customer.id")
	}
	if c, ok := sh.byEmail[strings.ToLower(spec.Email)]; ok {
		c.Tags = union(c.Tags, spec.Tags)
		s.save(c)
		return c, nil
	}
	if !strings.Contains(spec.Email, "@") {
		return nil, fault.New(fault.Invalid, "a customer needs an id or an e-mail address").Field("customer.email")
	}
	c := &customer{
		Shop: sh.Domain, ID: take(&sh.next.Customer), Email: spec.Email, FirstName: spec.FirstName, LastName: spec.LastName,
		Phone: spec.Phone, Country: or(spec.Country, sh.Country), Tags: spec.Tags, CreatedAt: s.now(), UpdatedAt: s.now(),
	}
	sh.addCustomer(c)
	s.save(&sh.next)
	s.save(c)
	return c, nil
}

// wallet returns the customer's newest payment method of a status, new when
// there is none; nil for MethodNone.
func (s *Simulator) wallet(sh *store, cust *customer, status MethodStatus) *paymentMethod {
	if status == MethodNone {
		return nil
	}
	for _, m := range slices.Backward(cust.methods) {
		if m.Status == status {
			return m
		}
	}
	return s.newMethod(sh, cust, status, Card)
}

func (s *Simulator) newMethod(sh *store, cust *customer, status MethodStatus, kind MethodKind) *paymentMethod {
	n := take(&sh.next.Method)
	now := s.now()
	m := &paymentMethod{
		Shop: sh.Domain, ID: hexOf("method", sh.Domain, n, 0), Number: n, Customer: cust.ID, Brand: "visa",
		LastDigits: "4242", CreatedAt: now,
	}
	if kind != Card {
		m.Kind, m.Brand = kind, ""
	}
	m.become(status, now)
	sh.addMethod(m)
	s.save(&sh.next)
	s.save(m)
	s.emitMethod(m, "CUSTOMER_PAYMENT_METHODS_CREATE")
	return m
}

// expired reports whether a card has expired. One that ends is valid to the end of its month.
func (m *paymentMethod) expired(now time.Time) bool {
	end := time.Date(m.ExpiryYear, time.Month(m.ExpiryMonth)+1, 1, 0, 0, 0, 0, time.UTC)
	return m.Status == MethodExpired || m.Ends && !now.Before(end)
}

// become sets what a status means for the card's date.
func (m *paymentMethod) become(status MethodStatus, now time.Time) {
	m.Status, m.RevokedAt, m.Ends = status, time.Time{}, false
	m.ExpiryMonth, m.ExpiryYear = 12, now.Year()+3
	switch status {
	case MethodExpired:
		last := now.AddDate(0, -1, 1-now.Day())
		m.ExpiryMonth, m.ExpiryYear = int(last.Month()), last.Year()
	case MethodRevoked:
		m.RevokedAt = now
	}
}

func addressOf(c *customer) address {
	return address{FirstName: c.FirstName, LastName: c.LastName, Address1: "1 Main Street", City: "Springfield", Zip: "10001", Country: c.Country, Phone: c.Phone}
}

// SetPaymentMethodStatus changes whether a payment method, named by its graph
// id, can be charged, and tells the subscribers.
func (s *Simulator) SetPaymentMethodStatus(graphID string, status MethodStatus) error {
	return s.update(func() error {
		if status != MethodValid && status != MethodExpired && status != MethodRevoked {
			return fault.New(fault.Invalid, "a payment method is valid, expired or revoked").Field("status")
		}
		sh, m, err := s.methodOf(graphID)
		if err == nil {
			s.setMethodStatus(sh, m, status)
		}
		return err
	})
}

// SetPaymentMethodExpiry has a card, named by its graph id, expire at the end of a month of UTC, and
// tells the subscribers.
func (s *Simulator) SetPaymentMethodExpiry(graphID string, month time.Time) error {
	return s.update(func() error {
		_, m, err := s.methodOf(graphID)
		if err != nil {
			return err
		}
		m.ExpiryMonth, m.ExpiryYear, m.Ends = int(month.Month()), month.Year(), true
		s.save(m)
		s.emitMethod(m, "CUSTOMER_PAYMENT_METHODS_UPDATE")
		return nil
	})
}

func (s *Simulator) methodOf(graphID string) (*store, *paymentMethod, error) {
	_, tail, _ := strings.Cut(graphID, "CustomerPaymentMethod/")
	for _, sh := range s.state.order {
		if m, ok := sh.methods[or(tail, graphID)]; ok {
			return sh, m, nil
		}
	}
	return nil, nil, fault.New(fault.NotFound, "there is no payment method %s", graphID)
}

func (s *Simulator) setMethodStatus(sh *store, m *paymentMethod, status MethodStatus) {
	m.become(status, s.now())
	s.save(m)
	topic := "CUSTOMER_PAYMENT_METHODS_UPDATE"
	if status == MethodRevoked {
		topic = "CUSTOMER_PAYMENT_METHODS_REVOKE"
	}
	s.emitMethod(m, topic)
	if status == MethodValid && s.opts.Switches.PaymentUpdateOpensNewCycle {
		for _, c := range m.customer.contracts {
			if c.Terms.PaymentMethod == m.ID {
				s.openCycle(c, s.now())
			}
		}
	}
}

// Outcome scripts how coming charges of a contract end. Outcomes are used in the
// order in which they were given.
func (s *Simulator) Outcome(o Outcome) error {
	return s.update(func() error {
		if o.Code != Succeed && o.Code != Challenge && o.Code != Never && !s.inEnum(errorsEnum, o.Code) {
			return fault.New(fault.Invalid, "%q is neither SUCCESS, CHALLENGE, NEVER nor an error code of billing attempts", o.Code).Field("code")
		}
		c, err := s.contract(o.Contract)
		if err != nil {
			return err
		}
		o.Cycles = slices.Clone(o.Cycles)
		c.Script = append(c.Script, o)
		s.save(c)
		return nil
	})
}

// BulkCharge is another app that charges all active contracts whose unbilled
// cycle is expected between two instants; it returns how many attempts it made.
func (s *Simulator) BulkCharge(shop string, from, to time.Time) (int, error) {
	n := 0
	err := s.updateStore(shop, func(sh *store) error {
		for _, c := range sh.contracts.order {
			if c.Terms.Status != statusActive {
				continue
			}
			for i := max(c.indexAt(from)-1, 1); !c.start(i).After(to); i++ {
				v := c.view(i)
				if v.expected.Before(from) || v.expected.After(to) || v.skipped || (v.billed && !s.opts.Switches.BulkChargeIgnoresBilled) {
					continue
				}
				if _, refused := s.charge(chargeInput{contract: c, selector: selector{index: i}, selected: true, force: true}); refused == nil {
					n++
				}
			}
		}
		return nil
	})
	return n, err
}

// contract returns a contract of any store by its id.
func (s *Simulator) contract(id int64) (*contract, error) {
	for _, sh := range s.state.order {
		if c, ok := sh.contracts.get(id); ok {
			return c, nil
		}
	}
	return nil, fault.New(fault.NotFound, "there is no contract %d", id).Field("contractId")
}
