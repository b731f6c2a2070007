package sandbox

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/web"
)

// orders answers with the platform's own books.
func (s *Sandbox) orders(r *http.Request) ([]simulator.Renewal, error) {
	f := simulator.OrderFilter{Shop: r.URL.Query().Get("shop")}
	var err error
	if _, err = s.zoneOf(r.Context(), f.Shop); err != nil {
		return nil, err
	}
	if f.Contract, err = contractParam(r); err != nil {
		return nil, err
	}
	if f.Contract != 0 {
		if _, err := s.sim.Contract(f.Contract); err != nil {
			return nil, err
		}
	}
	if since := r.URL.Query().Get("since"); since != "" {
		m, err := web.ParseMoment("since", since, time.UTC)
		if err != nil {
			return nil, err
		}
		f.Since = m.From
	}
	return s.sim.Orders(f), nil
}

func (s *Sandbox) contract(r *http.Request) (simulator.Contract, error) {
	n, err := pathID(r, "SubscriptionContract")
	if err != nil {
		return simulator.Contract{}, err
	}
	return s.sim.Contract(n)
}

func (s *Sandbox) cycles(r *http.Request) ([]simulator.Cycle, error) {
	n, err := contractParam(r)
	if err == nil && n == 0 {
		err = fault.New(fault.Invalid, "say whose cycles: /platform/cycles?contractId=9001").Field("contractId")
	}
	if err != nil {
		return nil, err
	}
	return s.sim.Cycles(n)
}

func (s *Sandbox) variants(r *http.Request) ([]simulator.Variant, error) {
	return s.sim.Variants(r.URL.Query().Get("shop"))
}

// removeVariant takes a variant off a store's shelf and answers with what is left.
func (s *Sandbox) removeVariant(r *http.Request) ([]simulator.Variant, error) {
	n, err := pathID(r, "ProductVariant")
	if err != nil {
		return nil, err
	}
	if err := s.sim.RemoveVariant(r.URL.Query().Get("shop"), n); err != nil {
		return nil, err
	}
	return s.variants(r)
}

// outcomeIn scripts how charges end.
type outcomeIn struct {
	Contract contractID `json:"contractId"`
	Cycles   []int      `json:"cycles,omitempty"` // empty: the next charge of any
	Code     string     `json:"code"`
}

func (s *Sandbox) outcome(r *http.Request) (outcomeIn, error) {
	var in outcomeIn
	if err := body(r, &in); err != nil {
		return in, err
	}
	if in.Contract == 0 {
		return in, fault.New(fault.Invalid, "say whose charge: contractId is required").Field("contractId")
	}
	for _, n := range in.Cycles {
		if n < 1 {
			return in, fault.New(fault.Invalid, "cycles are counted from 1, not %d", n).Field("cycles")
		}
	}
	return in, s.sim.Outcome(simulator.Outcome{Contract: int64(in.Contract), Cycles: in.Cycles, Code: in.Code})
}

// endIn is how a charge ends that has no end yet.
type endIn struct {
	Code string `json:"code"` // SUCCESS or an error code of billing attempts
}

func (s *Sandbox) finishAttempt(r *http.Request) (endIn, error) {
	var in endIn
	if err := body(r, &in); err != nil {
		return in, err
	}
	attempt, err := pathID(r, "SubscriptionBillingAttempt")
	if err != nil {
		return in, err
	}
	if err := s.sim.FinishAttempt(attempt, in.Code); err != nil {
		return in, err
	}
	return in, s.steps.Settle(r.Context())
}

// faultsIn is what goes wrong between service and platform.
type faultsIn struct {
	Rate  *float64              `json:"rate"` // 0 to 1
	Kinds []simulator.FaultKind `json:"kinds"`
	Seed  uint64                `json:"seed"`
	For   string                `json:"for"` // ISO 8601 duration; empty: until they are ended
}

// faultsView is what goes wrong, and how often it did.
type faultsView struct {
	Counts map[simulator.FaultKind]int `json:"counts"`
	Until  *web.Instant                `json:"until,omitempty"`
}

// faults returns what goes wrong from now on.
func (in faultsIn) faults(now time.Time) (simulator.Faults, error) {
	if in.Rate == nil {
		return simulator.Faults{}, missing("rate")
	}
	f := simulator.Faults{Rate: *in.Rate, Kinds: in.Kinds, Seed: in.Seed}
	if in.For != "" {
		by, err := parseSpan(in.For)
		if err != nil {
			return f, err
		}
		f.Until = by.after(now)
	}
	return f, nil
}

func (s *Sandbox) setFaults(r *http.Request) (faultsView, error) {
	var in faultsIn
	if err := body(r, &in); err != nil {
		return faultsView{}, err
	}
	f, err := in.faults(s.clock.Now())
	if err != nil {
		return faultsView{}, err
	}
	if err := s.sim.SetFaults(f); err != nil {
		return faultsView{}, err
	}
	return faultsView{s.sim.FaultCounts(), web.At(f.Until)}, nil
}

func (s *Sandbox) faultCounts(*http.Request) (faultsView, error) {
	return faultsView{Counts: s.sim.FaultCounts()}, nil
}

func (s *Sandbox) clearFaults(r *http.Request) (faultsView, error) {
	if err := s.sim.ClearFaults(); err != nil {
		return faultsView{}, err
	}
	return s.faultCounts(r)
}

// policyIn is how often something recurs.
type policyIn struct {
	Interval      string                 `json:"interval"`
	IntervalCount *int                   `json:"intervalCount"` // nil: 1
	Anchors       []simulator.AnchorSpec `json:"anchors"`
	MinCycles     int                    `json:"minCycles"`
	MaxCycles     int                    `json:"maxCycles"`
}

// contractIn is a checkout.
type contractIn struct {
	Shop            string                    `json:"shop"`
	Customer        customerIn                `json:"customer"`
	Currency        money.Currency            `json:"currencyCode"`
	NextBillingDate *moment                   `json:"nextBillingDate"`
	Billing         *policyIn                 `json:"billingPolicy"`
	Delivery        *policyIn                 `json:"deliveryPolicy"`
	DeliveryPrice   decimal                   `json:"deliveryPrice"`
	Lines           []lineIn                  `json:"lines"`
	PaymentMethod   simulator.MethodStatus    `json:"paymentMethod"`
	Note            string                    `json:"note"`
	Attributes      []simulator.AttributeSpec `json:"customAttributes"`
	DiscountCodes   []string                  `json:"discountCodes"`
	App             string                    `json:"app"` // client id
}

// customerIn is a buyer.
type customerIn struct {
	ID customerID `json:"id"`
	simulator.CustomerSpec
}

type lineIn struct {
	Variant         variantID `json:"variantId"`
	Quantity        *int      `json:"quantity"` // nil: 1
	Price           decimal   `json:"currentPrice"`
	SellingPlanID   planID    `json:"sellingPlanId"`
	SellingPlanName string    `json:"sellingPlanName"`
}

func (s *Sandbox) checkout(r *http.Request) (simulator.Made, error) {
	var in contractIn
	if err := body(r, &in); err != nil {
		return simulator.Made{}, err
	}
	zone, err := s.zoneOf(r.Context(), in.Shop)
	if err != nil {
		return simulator.Made{}, err
	}
	spec, err := in.spec(zone)
	if err != nil {
		return simulator.Made{}, err
	}
	made, err := s.sim.Checkout(spec)
	if err != nil {
		return simulator.Made{}, err
	}
	return made, s.steps.Settle(r.Context())
}

// zoneOf returns the zone of a store; the main one's when none is named.
func (s *Sandbox) zoneOf(ctx context.Context, domain string) (*time.Location, error) {
	if domain == "" {
		domain = demo.Main
	}
	found, err := s.front.running().Store.Shops().ShopByDomain(ctx, domain)
	if err != nil {
		return nil, err
	}
	calendar, err := found.Calendar()
	return calendar.Zone, err
}

func missing(field string) error {
	return fault.New(fault.Invalid, "%s is required", field).Code("fieldMissing").Field(field)
}

// orOne returns a number that is at least 1, and 1 when there is none.
func orOne(field string, n *int) (int, error) {
	switch {
	case n == nil:
		return 1, nil
	case *n < 1:
		return 0, fault.New(fault.Invalid, "%s is %d: it is at least 1", field, *n).Field(field)
	}
	return *n, nil
}

// spec returns the policy that a field holds.
func (in policyIn) spec(field string) (simulator.PolicySpec, error) {
	count, err := orOne(field+".intervalCount", in.IntervalCount)
	return simulator.PolicySpec{Interval: in.Interval, IntervalCount: count, Anchors: in.Anchors, MinCycles: in.MinCycles, MaxCycles: in.MaxCycles}, err
}

func (in contractIn) spec(zone *time.Location) (simulator.ContractSpec, error) {
	switch {
	case in.NextBillingDate == nil:
		return simulator.ContractSpec{}, missing("nextBillingDate")
	case in.Billing == nil:
		return simulator.ContractSpec{}, missing("billingPolicy")
	case len(in.Lines) == 0:
		return simulator.ContractSpec{}, missing("lines")
	}
	switch in.PaymentMethod {
	case "", simulator.MethodValid, simulator.MethodExpired, simulator.MethodNone:
	default:
		return simulator.ContractSpec{}, fault.New(fault.Invalid, "paymentMethod is %q: use valid, expired or none", in.PaymentMethod).Field("paymentMethod")
	}
	next, err := in.NextBillingDate.in(zone)
	if err != nil {
		return simulator.ContractSpec{}, err
	}
	currency, err := inCapitals(in.Currency)
	if err != nil {
		return simulator.ContractSpec{}, err
	}
	spec := simulator.ContractSpec{
		Shop: in.Shop, Customer: in.Customer.CustomerSpec, Currency: currency, NextBillingDate: next,
		DeliveryPrice: string(in.DeliveryPrice), PaymentMethod: in.PaymentMethod,
		Note: in.Note, Attributes: in.Attributes, DiscountCodes: in.DiscountCodes, App: in.App,
	}
	spec.Customer.ID = int64(in.Customer.ID)
	if spec.Billing, err = in.Billing.spec("billingPolicy"); err != nil {
		return simulator.ContractSpec{}, err
	}
	if in.Delivery != nil {
		if spec.Delivery, err = in.Delivery.spec("deliveryPolicy"); err != nil {
			return simulator.ContractSpec{}, err
		}
	}
	for _, l := range in.Lines {
		if l.Variant == 0 {
			return simulator.ContractSpec{}, missing("lines.variantId")
		}
		quantity, err := orOne("lines.quantity", l.Quantity)
		if err != nil {
			return simulator.ContractSpec{}, err
		}
		spec.Lines = append(spec.Lines, simulator.LineSpec{
			VariantID: int64(l.Variant), Quantity: quantity, CurrentPrice: string(l.Price),
			SellingPlanID: int64(l.SellingPlanID), SellingPlanName: l.SellingPlanName,
		})
	}
	return spec, nil
}

// methodIn is whether a payment method can be charged.
type methodIn struct {
	Status  simulator.MethodStatus `json:"status,omitempty"`
	Expires string                 `json:"expires,omitempty"` // a month, 2006-01
}

func (s *Sandbox) fulfill(r *http.Request) (simulator.FulfillmentSpec, error) {
	var in simulator.FulfillmentSpec
	if err := body(r, &in); err != nil {
		return in, err
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return in, fault.New(fault.NotFound, "there is no order %s", r.PathValue("id"))
	}
	return in, s.sim.Fulfill(id, in)
}

func (s *Sandbox) setPaymentMethod(r *http.Request) (methodIn, error) {
	var in methodIn
	if err := body(r, &in); err != nil {
		return in, err
	}
	if in.Status != "" || in.Expires == "" {
		if err := s.sim.SetPaymentMethodStatus(r.PathValue("id"), in.Status); err != nil {
			return in, err
		}
	}
	if in.Expires != "" {
		month, err := time.Parse("2006-01", in.Expires)
		if err != nil {
			return in, fault.New(fault.Invalid, "expires is a month such as 2027-02, and not %q", in.Expires).Field("expires")
		}
		if err := s.sim.SetPaymentMethodExpiry(r.PathValue("id"), month); err != nil {
			return in, err
		}
	}
	return in, s.steps.Settle(r.Context())
}
