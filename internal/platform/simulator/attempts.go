package simulator

import (
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

// attemptState is how far a billing attempt is.
type attemptState string

const (
	attemptPending    attemptState = "PENDING"
	attemptSucceeded  attemptState = "SUCCEEDED"
	attemptFailed     attemptState = "FAILED"
	attemptChallenged attemptState = "CHALLENGED" // the buyer has to act
)

func (s attemptState) ended() bool { return s == attemptSucceeded || s == attemptFailed }

// Codes of Outcome that are not error codes.
const (
	Succeed   = "SUCCESS"
	Challenge = "CHALLENGE" // the buyer has to act; FinishAttempt says how it ends
	Never     = "NEVER"     // the attempt stays pending; FinishAttempt ends it
)

// Codes that a payment method's state leads to.
const (
	codeExpired  = "EXPIRED_PAYMENT_METHOD"
	codeRevoked  = "PAYMENT_METHOD_NOT_FOUND"
	codeNone     = "PAYMENT_METHOD_NOT_SPECIFIED"
	codeStock    = "INSUFFICIENT_INVENTORY"
	errorsEnum   = "SubscriptionBillingAttemptErrorCode"
	generalEnum  = "SubscriptionBillingAttemptGeneralErrorCode"
	stockEnum    = "SubscriptionBillingAttemptInventoryErrorCode"
	paymentsEnum = "SubscriptionBillingAttemptPaymentErrorCode"
)

// Outcome scripts how charges of a contract end: each is used once, by the next
// charge, or by the next charge of each of the cycles when any are given.
type Outcome struct {
	Contract int64
	Cycles   []int
	Code     string // Succeed, Challenge, Never or an error code of billing attempts
}

// attempt is a charge.
type attempt struct {
	Shop        string
	ID          int64
	Key         string
	Contract    int64
	Cycle       int
	State       attemptState
	Script      string `json:",omitempty"`
	ErrorCode   string `json:",omitempty"`
	NextAction  string `json:",omitempty"`
	Order       int64  `json:",omitempty"`
	Amount      money.Amount
	OriginTime  time.Time `json:",omitzero"`
	Oversell    bool      // charge although there is no stock
	SkipPayment bool      // create an unpaid order
	CreatedAt   time.Time
	CompletedAt time.Time `json:",omitzero"`
	contract    *contract
	order       *order
}

func (a *attempt) key() rowKey { return number("attempt", a.Shop, a.ID) }
func (a *attempt) gid() string { return gid.Of("SubscriptionBillingAttempt", a.ID) }

// attemptKey is an idempotency key of an app.
type attemptKey struct{ owner, key string }

// attemptsPerContract spaces the ids of attempts, which are the contract's id
// and the number of the attempt: the same charges get the same ids in whatever
// order contracts are charged.
const attemptsPerContract = 100_000

// chargeInput is a request for a charge.
type chargeInput struct {
	contract    *contract
	key         string // empty: made up, never repeated
	selector    selector
	selected    bool // selector is set; otherwise the current cycle is meant
	originTime  time.Time
	oversell    bool
	skipPayment bool
	force       bool // a foreign actor that heeds no cycle's state
}

func chargeError(code, message string, field ...string) *userError {
	return &userError{Code: code, Field: field, Message: message}
}

// charge begins a charge, or returns the one that the key began.
func (s *Simulator) charge(in chargeInput) (*attempt, *userError) {
	c, now := in.contract, s.now()
	if a, ok := c.shop.byKey[attemptKey{c.App, in.key}]; ok && in.key != "" {
		if life := s.opts.Switches.KeyLifetime; life <= 0 || now.Before(a.CreatedAt.Add(life)) {
			return a, nil
		}
	}
	switch {
	case c.terminated():
		return nil, chargeError("CONTRACT_TERMINATED", "Subscription contract cannot be billed once terminated.")
	case c.Terms.Status == statusPaused && !s.opts.Switches.PausedAttemptGoesThrough:
		return nil, chargeError("CONTRACT_PAUSED", "Subscription contract cannot be billed if paused.")
	}
	if !in.selected {
		in.selector = selector{index: max(c.indexAt(now), 1)}
	}
	index, code := s.choose(c, in.selector)
	if code != "" {
		return nil, chargeError(code, "Billing cycle selector cannot select this billing cycle.", "subscriptionBillingAttemptInput", "billingCycleSelector")
	}
	v := c.view(index)
	switch {
	case in.force:
	case v.skipped:
		return nil, chargeError("BILLING_CYCLE_SKIPPED", "Billing cycle must not be skipped.")
	case s.opts.Clock.Now().Before(v.expected.Add(-earliestCharge)):
		return nil, chargeError("BILLING_CYCLE_CHARGE_BEFORE_EXPECTED_DATE", "Billing cycle charge attempt made more than 24 hours before the billing cycle `billingAttemptExpectedDate`.")
	case v.billed && s.opts.Switches.RefuseBilledCycle:
		return nil, chargeError("INVALID", "Billing cycle has already been billed.")
	case !in.originTime.IsZero() && in.originTime.Before(c.CreatedAt):
		return nil, chargeError("ORIGIN_TIME_BEFORE_CONTRACT_CREATION", "Origin time cannot be before the contract creation time.", "subscriptionBillingAttemptInput", "originTime")
	case !in.originTime.IsZero() && (in.originTime.Before(v.start) || in.originTime.After(v.end)):
		return nil, chargeError("ORIGIN_TIME_OUT_OF_RANGE", "Origin time needs to be within the selected billing cycle's start and end at date.", "subscriptionBillingAttemptInput", "originTime")
	}
	c.Attempts++
	a := &attempt{
		Shop: c.Shop, ID: c.ID*attemptsPerContract + c.Attempts, Key: in.key, Contract: c.ID, Cycle: index,
		State: attemptPending, Script: c.scripted(index), OriginTime: in.originTime,
		Oversell: in.oversell, SkipPayment: in.skipPayment, CreatedAt: now,
	}
	if a.Key == "" {
		a.Key = uuidOf("key", c.Shop, a.ID, 0)
	}
	s.save(c)
	s.index(a)
	s.save(a)
	s.watch(a)
	if a.Script != Never {
		s.schedule(item{At: s.opts.Clock.Now().Add(s.opts.CompletionDelay), Rank: c.ID, Complete: a.ID, Shop: c.Shop})
	}
	return a, nil
}

// scripted takes the outcome that was scripted for the next charge of a cycle.
func (c *contract) scripted(index int) string {
	for i := range c.Script {
		o := &c.Script[i]
		code := o.Code
		if len(o.Cycles) == 0 {
			c.Script = slices.Delete(c.Script, i, i+1)
			return code
		}
		if at := slices.Index(o.Cycles, index); at >= 0 {
			if o.Cycles = slices.Delete(slices.Clone(o.Cycles), at, at+1); len(o.Cycles) == 0 {
				c.Script = slices.Delete(c.Script, i, i+1)
			}
			return code
		}
	}
	return ""
}

// complete ends a pending charge as its script, its payment method and the
// stock have it.
func (s *Simulator) complete(a *attempt, at time.Time) {
	if a.State != attemptPending {
		return
	}
	at = at.UTC().Truncate(time.Second)
	code := a.Script
	if code == "" {
		code = s.naturalOutcome(a)
	}
	if code == Challenge {
		a.State = attemptChallenged
		a.NextAction = "https://" + a.Shop + "/subscriptions/challenges/" + uuidOf("challenge", a.Shop, a.ID, 0)
		s.save(a)
		s.emitAttempt(a, "SUBSCRIPTION_BILLING_ATTEMPTS_CHALLENGED", at)
		return
	}
	s.end(a, code, at)
}

// end settles a charge with SUCCESS or an error code.
func (s *Simulator) end(a *attempt, code string, at time.Time) {
	c := a.contract
	a.CompletedAt, a.NextAction = at, ""
	status, kind, topic := "SUCCEEDED", "", "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS"
	if code == Succeed {
		a.State = attemptSucceeded
		o := s.renewal(a, at)
		a.order, a.Order, a.Amount = o, o.ID, o.Amount
		r := c.record(a.Cycle)
		r.Billed = true
		s.save(r)
	} else {
		a.State, a.ErrorCode = attemptFailed, code
		status, kind, topic = "FAILED", s.errorKind(code), "SUBSCRIPTION_BILLING_ATTEMPTS_FAILURE"
	}
	s.save(a)
	s.watch(a)
	s.emitAttempt(a, topic, at)
	if c.LastPayment != status || c.LastError != kind {
		c.LastPayment, c.LastError = status, kind
		s.changed(c, at)
	}
}

func (s *Simulator) naturalOutcome(a *attempt) string {
	c := a.contract
	t := c.ordered(a.Cycle)
	if !a.Oversell {
		for _, l := range t.Lines {
			if v, ok := c.shop.variants.get(l.Variant); ok && v.Tracked && v.Deny && v.Quantity < l.Quantity {
				return codeStock
			}
		}
	}
	if a.SkipPayment {
		return Succeed
	}
	m, ok := c.shop.methods[t.PaymentMethod]
	switch {
	case t.PaymentMethod == "":
		return codeNone
	case !ok || m.Status == MethodRevoked:
		return codeRevoked
	case m.expired(s.now()):
		return codeExpired
	}
	return Succeed
}

// errorKind is the contract's word for the kind of an error code.
func (s *Simulator) errorKind(code string) string {
	switch {
	case s.inEnum(stockEnum, code):
		return "INVENTORY_ERROR"
	case strings.HasPrefix(code, "CUSTOMER_"):
		return "CUSTOMER_ERROR"
	case s.inEnum(paymentsEnum, code) || strings.HasPrefix(code, "PAYMENT_"):
		return "PAYMENT_ERROR"
	}
	return "OTHER"
}

func (s *Simulator) inEnum(enum, value string) bool {
	d := s.schema.Types[enum]
	return d != nil && d.EnumValues.ForName(value) != nil
}

// renewal makes the order of a successful charge.
func (s *Simulator) renewal(a *attempt, at time.Time) *order {
	c := a.contract
	sh := c.shop
	t := c.ordered(a.Cycle)
	o := s.newOrder(sh, c.customer, t, c.Currency, at)
	o.Contract, o.contract, o.Cycle, o.AttemptKey, o.Paid = c.ID, c, a.Cycle, a.Key, !a.SkipPayment
	for _, l := range t.Lines {
		if v, ok := sh.variants.get(l.Variant); ok && v.Tracked {
			v.Quantity -= l.Quantity
			s.save(v)
		}
	}
	if len(t.Discounts) > 0 {
		s.useDiscounts(c, t)
	}
	c.orders = append(c.orders, o)
	s.save(o)
	return o
}

// newOrder makes an order of the lines of a contract's terms.
func (s *Simulator) newOrder(sh *store, cust *customer, t *terms, cur money.Currency, at time.Time) *order {
	n := take(&sh.next.OrderName)
	o := &order{
		Shop: sh.Domain, ID: take(&sh.next.Order), Name: "#" + itoa(n), Number: n, Customer: cust.ID,
		Amount: t.amount(cur), Shipping: money.Amount{Currency: cur}.Plus(t.Price), Paid: true, Note: t.Note,
		Attributes: slices.Clone(t.Attributes), CreatedAt: at, Country: cust.Country, customer: cust,
	}
	if t.Shipping != nil && t.Shipping.Kind != pickup && t.Shipping.Address != addressOf(cust) {
		o.Address = &t.Shipping.Address
	}
	var b bill
	if len(t.Discounts) > 0 {
		b = t.bill(cur)
		o.Shipping, o.Discount = b.shipping, b.off
		for i := range t.Discounts {
			if d := &t.Discounts[i]; d.Code != "" && d.applies() {
				o.Codes = append(o.Codes, d.Code)
			}
		}
	}
	for i, l := range t.Lines {
		if l.Removed {
			continue
		}
		ol := orderLine{
			ID: take(&sh.next.LineItem), Variant: l.Variant, Quantity: l.Quantity, Price: l.Price,
			SellingPlanID: l.SellingPlanID, SellingPlanName: l.SellingPlanName, Attributes: l.Attributes,
		}
		if len(t.Discounts) > 0 {
			ol.Discount = money.Amount{Minor: l.Price.Minor*int64(l.Quantity) - b.lines[i], Currency: cur}
		}
		if v, ok := sh.variants.get(l.Variant); ok {
			ol.Product, ol.SKU, ol.VariantTitle, ol.Taxable = v.Product, v.SKU, v.Title, v.Taxable
			ol.Title, ol.Image = v.product.Title, v.product.Image
		}
		o.Lines = append(o.Lines, ol)
	}
	sh.orders.add(o.ID, o)
	cust.orders = append(cust.orders, o)
	s.save(&sh.next)
	s.save(o)
	return o
}

// index makes an attempt findable.
func (s *Simulator) index(a *attempt) {
	sh := s.state.shops[a.Shop]
	c, ok := sh.contracts.get(a.Contract)
	if !ok {
		return
	}
	a.contract = c
	sh.attempts.add(a.ID, a)
	sh.byKey[attemptKey{c.App, a.Key}] = a
	c.attempts = append(c.attempts, a)
	r := c.record(a.Cycle)
	r.attempts = append(r.attempts, a)
}

// FinishAttempt ends an attempt that is pending or challenged, as its buyer or
// the payment provider would: with Succeed or an error code. An attempt that
// has ended is Refused.
func (s *Simulator) FinishAttempt(id int64, code string) error {
	return s.update(func() error {
		if code != Succeed && !s.inEnum(errorsEnum, code) {
			return fault.New(fault.Invalid, "%q is neither SUCCESS nor an error code of billing attempts", code)
		}
		for _, sh := range s.state.order {
			a, ok := sh.attempts.get(id)
			if !ok {
				continue
			}
			if a.State.ended() {
				return fault.New(fault.FailedPrecondition, "billing attempt %d has ended already", id)
			}
			s.end(a, code, s.now())
			return nil
		}
		return fault.New(fault.NotFound, "there is no billing attempt %d", id)
	})
}
