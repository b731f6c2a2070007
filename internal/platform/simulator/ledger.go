package simulator

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Renewal is an order that a charge made: a line of the platform's own books.
type Renewal struct {
	Shop       string         `json:"shop"`
	App        string         `json:"app"` // client id of the app that charged
	ID         int64          `json:"id"`
	Name       string         `json:"name"`
	Contract   int64          `json:"contractId"`
	Cycle      int            `json:"cycle"`
	AttemptKey string         `json:"attemptKey"`
	Amount     string         `json:"amount"` // decimal
	Currency   money.Currency `json:"currency"`
	At         time.Time      `json:"at"`
	Note       string         `json:"note"`
	Tags       []string       `json:"tags"`
	Lines      []RenewalLine  `json:"lines"`
}

// RenewalLine is a line of an order.
type RenewalLine struct {
	Variant  int64  `json:"variantId"`
	Quantity int    `json:"quantity"`
	Price    string `json:"price"` // decimal, of one, before discounts
}

// Charge is what the platform's books say of a charge, when it has begun and when
// it has ended.
type Charge struct {
	Shop     string
	App      string // client id of the app that charges
	Attempt  int64
	Contract int64
	Cycle    int
	Key      string
	State    string    // PENDING, SUCCEEDED or FAILED
	Code     string    // of a failure
	At       time.Time // of the beginning, or of the end
	Open     int       // charges of the cycle that have not ended, with this one
	Order    *Renewal  // of a success
}

// watch reports a charge that begins or ends.
func (s *Simulator) watch(a *attempt) {
	if s.opts.Watch == nil {
		return
	}
	c := Charge{
		Shop: a.Shop, App: s.clientID(a.contract.App), Attempt: a.ID, Contract: a.Contract, Cycle: a.Cycle, Key: a.Key, State: string(a.State), Code: a.ErrorCode, At: s.opts.Clock.Now(),
	}
	for _, other := range a.contract.record(a.Cycle).attempts {
		if !other.State.ended() {
			c.Open++
		}
	}
	if a.order != nil {
		r := s.renewalOf(a.order)
		c.Order = &r
	}
	s.opts.Watch(c)
}

// OrderFilter chooses renewals. Zero fields choose all.
type OrderFilter struct {
	Shop     string
	Contract int64
	Since    time.Time
}

// Orders returns the renewals, in the order in which they were made. The orders
// from which contracts came are not among them.
func (s *Simulator) Orders(f OrderFilter) []Renewal {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Renewal{}
	for _, sh := range s.state.order {
		if f.Shop != "" && sh.Domain != f.Shop {
			continue
		}
		orders := sh.orders.order
		if f.Contract != 0 {
			c, ok := sh.contracts.get(f.Contract)
			if !ok {
				continue
			}
			orders = c.orders
		}
		for _, o := range orders {
			if o.Cycle == 0 || o.CreatedAt.Before(f.Since) {
				continue
			}
			list = append(list, s.renewalOf(o))
		}
	}
	return list
}

func (s *Simulator) renewalOf(o *order) Renewal {
	lines := make([]RenewalLine, len(o.Lines))
	for i, l := range o.Lines {
		lines[i] = RenewalLine{l.Variant, l.Quantity, l.Price.String()}
	}
	return Renewal{
		Note: o.Note, Tags: append([]string{}, o.Tags...), Lines: lines,
		Shop: o.Shop, App: s.clientID(o.contract.App), ID: o.ID, Name: o.Name, Contract: o.Contract, Cycle: o.Cycle, AttemptKey: o.AttemptKey,
		Amount: o.Amount.String(), Currency: o.Amount.Currency, At: o.CreatedAt,
	}
}

// Contract is a contract as the director sees it.
type Contract struct {
	ID              int64           `json:"id"`
	Shop            string          `json:"shop"`
	App             string          `json:"app"` // client id of the app whose contract it is
	Status          string          `json:"status"`
	Revision        uint64          `json:"revisionId"`
	Customer        CustomerSpec    `json:"customer"`
	OriginOrder     int64           `json:"originOrderId,omitempty"`
	PaymentMethod   string          `json:"paymentMethodId,omitempty"` // graph id
	MethodStatus    MethodStatus    `json:"paymentMethodStatus"`
	NextBillingDate *time.Time      `json:"nextBillingDate"`
	Currency        money.Currency  `json:"currencyCode"`
	Billing         PolicySpec      `json:"billingPolicy"`
	Delivery        PolicySpec      `json:"deliveryPolicy"`
	DeliveryPrice   string          `json:"deliveryPrice"`
	Amount          string          `json:"amount"` // of one renewal
	Lines           []ContractLine  `json:"lines"`
	Discounts       []Discount      `json:"discounts"`
	Note            string          `json:"note"`
	Attributes      []AttributeSpec `json:"customAttributes"`
	LastPayment     string          `json:"lastPaymentStatus"`
	CreatedAt       time.Time       `json:"createdAt"`
	UpdatedAt       time.Time       `json:"updatedAt"`
	Attempts        []Attempt       `json:"attempts"`
}

// ContractLine is a line of a contract.
type ContractLine struct {
	ID string `json:"id"` // graph id
	LineSpec
}

// Discount is a discount of a contract as the director sees it.
type Discount struct {
	ID    string `json:"id"` // graph id
	Title string `json:"title"`
	Code  string `json:"code,omitempty"`
	Used  int    `json:"usedCycles"`
	Limit int    `json:"cycleLimit,omitempty"`
}

func (c *contract) lines(t *terms) []ContractLine {
	list := make([]ContractLine, len(t.Lines))
	for i, l := range t.Lines {
		list[i] = ContractLine{l.gid(), LineSpec{l.Variant, l.Quantity, l.Price.String(), l.SellingPlanID, l.SellingPlanName}}
	}
	return list
}

// Attempt is a charge as the director sees it.
type Attempt struct {
	ID        int64     `json:"id"`
	Key       string    `json:"key"`
	Cycle     int       `json:"cycle"`
	State     string    `json:"state"` // PENDING, SUCCEEDED, FAILED or CHALLENGED
	ErrorCode string    `json:"errorCode,omitempty"`
	Order     int64     `json:"orderId,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
}

// Contracts returns the numbers of a store's contracts, the oldest first.
func (s *Simulator) Contracts(shop string) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(shop)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(sh.contracts.order))
	for i, c := range sh.contracts.order {
		ids[i] = c.ID
	}
	return ids, nil
}

// Contract returns a contract with its attempts.
func (s *Simulator) Contract(id int64) (Contract, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.contract(id)
	if err != nil {
		return Contract{}, err
	}
	t := c.Terms
	d := Contract{
		ID: c.ID, Shop: c.Shop, App: s.clientID(c.App), Status: t.Status, Revision: c.Revision, OriginOrder: c.OriginOrder, MethodStatus: MethodNone,
		Customer: CustomerSpec{ID: c.customer.ID, Email: c.customer.Email, FirstName: c.customer.FirstName, LastName: c.customer.LastName, Phone: c.customer.Phone, Country: c.customer.Country},
		Currency: c.Currency, Billing: t.Billing.spec(), Delivery: t.Delivery.spec(), DeliveryPrice: t.Price.String(),
		Amount: t.amount(c.Currency).String(), Note: t.Note, LastPayment: c.LastPayment, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Lines: c.lines(&c.Terms), Discounts: []Discount{}, Attributes: []AttributeSpec{}, Attempts: []Attempt{},
	}
	if !t.NextBillingDate.IsZero() {
		d.NextBillingDate = &t.NextBillingDate
	}
	if m, ok := c.shop.methods[t.PaymentMethod]; ok {
		d.PaymentMethod, d.MethodStatus = m.gid(), m.Status
	}
	for _, of := range t.Discounts {
		d.Discounts = append(d.Discounts, Discount{of.gid(), of.Title, of.Code, of.Used, of.Limit})
	}
	for _, a := range t.Attributes {
		d.Attributes = append(d.Attributes, AttributeSpec(a))
	}
	for _, a := range c.attempts {
		d.Attempts = append(d.Attempts, Attempt{a.ID, a.Key, a.Cycle, string(a.State), a.ErrorCode, a.Order, a.CreatedAt})
	}
	return d, nil
}

func (p policy) spec() PolicySpec {
	d := PolicySpec{Interval: p.Interval, IntervalCount: p.Count, MinCycles: p.MinCycles, MaxCycles: p.MaxCycles}
	for _, a := range p.Anchors {
		d.Anchors = append(d.Anchors, AnchorSpec{a.Type, a.Day, a.Month, a.Cutoff})
	}
	return d
}

// Cycle is a billing cycle as the director sees it.
type Cycle struct {
	Index    int       `json:"index"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	Expected time.Time `json:"expected"`
	Billed   bool      `json:"billed"`
	Skipped  bool      `json:"skipped"`
	Edited   bool      `json:"edited"`
	Own      *Ordered  `json:"contractEdit,omitempty"` // what it orders instead of the contract's
}

// Ordered is what a cycle that was edited orders.
type Ordered struct {
	Note   string         `json:"note"`
	Amount string         `json:"amount"` // decimal
	Lines  []ContractLine `json:"lines"`
}

// upcoming is how many cycles after the current one Cycles lists.
const upcoming = 12

// Cycles returns a contract's cycles from the first to the twelfth after the
// current one, or after the last that was charged or edited.
func (s *Simulator) Cycles(contract int64) ([]Cycle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.contract(contract)
	if err != nil {
		return nil, err
	}
	last := max(c.indexAt(s.now()), 1)
	if keys := sortedKeys(c.cycles); len(keys) > 0 {
		last = max(last, slices.Max(keys))
	}
	list := make([]Cycle, 0, last+upcoming)
	for i := 1; i <= last+upcoming; i++ {
		v := c.view(i)
		shown := Cycle{Index: i, Start: v.start, End: v.end, Expected: v.expected, Billed: v.billed, Skipped: v.skipped, Edited: v.edited}
		if r, ok := c.cycles[i]; ok && r.Terms != nil {
			shown.Own = &Ordered{r.Terms.Note, r.Terms.amount(c.Currency).String(), c.lines(r.Terms)}
		}
		list = append(list, shown)
	}
	return list, nil
}

// UpdateEmail is a request, sent by the platform to a customer, to update a
// payment method.
type UpdateEmail struct {
	PaymentMethod string    `json:"paymentMethodId"` // graph id
	Customer      int64     `json:"customerId"`
	From          string    `json:"from,omitempty"`
	Bcc           []string  `json:"bcc,omitempty"`
	At            time.Time `json:"at"`
}

// UpdateEmails lists the payment-update e-mails of a store; "" means the first
// store.
func (s *Simulator) UpdateEmails(shop string) ([]UpdateEmail, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(shop)
	if err != nil {
		return nil, err
	}
	return slices.Clone(sh.Mails), nil
}
