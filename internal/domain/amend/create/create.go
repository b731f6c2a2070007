package create

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Params is a contract to create.
type Params struct {
	Customer        int64
	NextBillingDate time.Time // date of the first order; zero: the end of the plan's free trial
	Status          contract.Status
	Billing         terms.Frequency
	Delivery        terms.Frequency
	Cycles          terms.Cycles // nil: those of the first line's selling plan
	Method          contract.DeliveryMethod
	DeliveryPrice   *money.Amount
	PaymentMethod   string // graph id; empty: the customer's newest that is not revoked
	NoPaymentMethod bool   // created without a payment method, even if the customer has one; its orders fail until it gets one
	Lines           []terms.NewLine
	Note            string
	Attributes      []contract.Attribute
	ImportedID      string // id in the system it is imported from; empty: it is not imported
	RequestKey      string // identifies a request that may be repeated: a repetition finds the contract; empty: none

	trial *contract.Trial // nil: none
}

// Create creates a contract at the platform and stores it.
func (s *Service) Create(ctx context.Context, of shop.ID, line shop.Line, by activity.Actor, n Params) (contract.Detail, error) {
	ctx = platform.Interactive(ctx)
	begun, err := s.recorded(ctx, of, n.RequestKey)
	if err != nil {
		return contract.Detail{}, err
	}
	if err := n.check(cmp.Or(begun.At, s.Clock.Now())); err != nil {
		return contract.Detail{}, err
	}
	store, err := s.ConnectedShop(ctx, of)
	if err != nil {
		return contract.Detail{}, err
	}
	if begun.Contract != 0 {
		return s.showCreated(ctx, store, amend.Command{Line: line, Contract: begun.Contract, Actor: by})
	}
	trial, err := s.trial(ctx, store, line, n)
	if err != nil {
		return contract.Detail{}, err
	}
	if trial != nil {
		n.NextBillingDate, n.trial = trial.ChargeAt, trial
	}
	made, err := s.newContract(ctx, store, line, n)
	if err != nil {
		return contract.Detail{}, err
	}
	if _, err := s.CheckLines(ctx, store, contract.Detail{Contract: contract.Contract{Line: line}}, made.Lines); err != nil {
		return contract.Detail{}, err
	}
	if n.RequestKey == "" {
		return s.create(ctx, store, by, made)
	}
	return s.createOnce(ctx, store, line, by, made, begun)
}

// creation is a contract that is being created: the platform's part and what only
// Perennial stores.
type creation struct {
	platform.NewContract
	trial    *contract.Trial    // nil: none
	imported string             // id in the system it is imported from; empty: it is not imported
	moved    *Moved             // the contract that another service had; nil: none
	restarts *contract.Contract // the contract that it restarts; nil: none
}

// trial returns the free trial of a contract that is created without a date for its
// first order: that of the first line's selling plan, as at a checkout.
func (s *Service) trial(ctx context.Context, store shop.Shop, line shop.Line, n Params) (*contract.Trial, error) {
	if !n.NextBillingDate.IsZero() {
		return nil, nil
	}
	cal, err := store.Calendar()
	if err != nil {
		return nil, err
	}
	for _, l := range n.Lines {
		offer, ours, err := s.Offer(ctx, store.ID, line, l.SellingPlan)
		if err != nil {
			return nil, err
		}
		if !ours {
			continue
		}
		if !offer.Trial.Enabled {
			break
		}
		now := s.Clock.Now()
		c := contract.Contract{CreatedAt: now, Billing: contract.Policy{Interval: n.Billing.Interval, Count: n.Billing.Count}}
		c.NextBillingDate = cadence.Series{Policy: c.Billing, Calendar: cal, Start: now}.Nth(1)
		return intake.TrialOf(c, offer.Option, cal), nil
	}
	return nil, fault.New(fault.Invalid, "nextBillingDate is required: no line is on a plan with a free trial").
		Entity(amend.Entity).Code("contractInvalid").Field("nextBillingDate")
}

// create creates the contract and stores it with its entry.
func (s *Service) create(ctx context.Context, store shop.Shop, by activity.Actor, n creation) (contract.Detail, error) {
	made, err := s.createAtPlatform(ctx, store, n.NewContract)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.adoptCreated(ctx, store, by, n, made)
}

// createAtPlatform creates the contract. After a lost answer it looks among the new
// contracts.
func (s *Service) createAtPlatform(ctx context.Context, store shop.Shop, n platform.NewContract) (platform.Detail, error) {
	since := s.Clock.Now().Add(-amend.ClockSlack)
	made, err := s.Platform.CreateContract(ctx, store.At(), n)
	if errors.Is(err, platform.ErrUnknown) {
		return s.findCreated(ctx, store, n, since)
	}
	if err != nil {
		return platform.Detail{}, amend.PlatformError(err)
	}
	return made, nil
}

// adoptCreated stores the created contract with an entry about its author.
func (s *Service) adoptCreated(ctx context.Context, store shop.Shop, by activity.Actor, n creation, made platform.Detail) (contract.Detail, error) {
	details := createdDetails{Status: n.Status}
	if n.restarts != nil {
		details.From = int64(n.restarts.ID)
	}
	if n.moved != nil {
		details.Moved = n.imported
	}
	return s.Adopt(ctx, store, amend.Command{Contract: contract.ID(made.ID), Actor: by}, made, amend.Change{
		Edit: n.Edit, Entries: []amend.Note{{Event: activity.ContractCreated, Details: details}}, Update: n.setFields,
	}.Priced())
}

// setFields sets what only Perennial stores of a created contract.
func (n creation) setFields(c *contract.Contract) {
	c.Trial = n.trial
	if n.imported != "" {
		c.ImportedID, c.Origin = n.imported, contract.Imported
	}
	if n.moved != nil {
		n.moved.setFields(c)
	}
	if n.restarts != nil {
		c.SplitFrom, c.EarlierOrders = n.restarts.ID, n.restarts.NextOrder()-1
	}
}

// createdDetails is the details of an entry about a created contract.
type createdDetails struct {
	Status string `json:"to"`
	From   int64  `json:"fromContractId,omitempty"`  // the one that it restarts
	Moved  string `json:"movedContractId,omitempty"` // the one that another service had
}

// findCreated looks for a contract whose creation was not confirmed.
func (s *Service) findCreated(ctx context.Context, store shop.Shop, n platform.NewContract, since time.Time) (platform.Detail, error) {
	made, err := s.FindCreated(ctx, store, n.Customer, since, func(d platform.Detail) bool { return matches(n, d) })
	if err != nil {
		err = fault.Because(fault.Unavailable, err, "the platform did not confirm whether the subscription contract was created: look for it before you try again").
			Entity(amend.Entity).Code(fault.InDoubt)
	}
	return made, err
}

// matches reports whether a contract is the one that was created.
func matches(n platform.NewContract, d platform.Detail) bool {
	if d.Customer.ID != n.Customer || d.Currency != n.Currency || len(d.Lines) != len(n.Lines) || !d.NextBillingDate.Equal(n.NextBillingDate) {
		return false
	}
	for i, l := range n.Lines {
		if d.Lines[i].VariantID != *l.Variant || d.Lines[i].Quantity != *l.Quantity {
			return false
		}
	}
	return n.Attributes == nil || !slices.ContainsFunc(*n.Attributes, func(a platform.Attribute) bool { return !slices.Contains(d.Attributes, a) })
}

func (n Params) check(now time.Time) error {
	bad := func(param, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(amend.Entity).Code("contractInvalid").Field(param)
	}
	switch {
	case n.Customer == 0:
		return bad("customerId", "customerId is required")
	case len(n.Lines) == 0 || len(n.Lines) > terms.MaxLines:
		return bad("lines", "give 1 to %d lines", terms.MaxLines)
	case !n.NextBillingDate.IsZero() && n.NextBillingDate.Before(now.Add(-billing.PastTolerance)):
		return bad("nextBillingDate", "nextBillingDate %s is in the past", n.NextBillingDate.UTC().Format(time.RFC3339))
	case n.Status != contract.Active && n.Status != contract.Paused:
		return bad("status", "a new contract is ACTIVE or PAUSED, not %s", n.Status)
	case !terms.CycleLimitInRange(n.Cycles.Max):
		return bad("maxCycles", "maxCycles must be from 0 to %d", terms.MaxCycleLimit)
	case !terms.CycleLimitInRange(n.Cycles.Min):
		return bad("minCycles", "minCycles must be from 0 to %d", terms.MaxCycleLimit)
	case n.DeliveryPrice != nil && n.DeliveryPrice.Minor < 0:
		return bad("deliveryPriceAmount", "deliveryPriceAmount cannot be negative")
	case n.NoPaymentMethod && n.PaymentMethod != "":
		return bad("paymentMethodId", "createWithoutPaymentMethod is true and paymentMethodId is given: leave one of them out")
	}
	for i, l := range n.Lines {
		if l.Variant == 0 {
			return bad(fmt.Sprintf("lines[%d].variantId", i), "lines[%d].variantId is required", i)
		}
		if err := terms.CheckLine(l.Quantity, l.Price); err != nil {
			return err
		}
		if err := terms.CheckAttributes(l.Attributes); err != nil {
			return err
		}
		if err := terms.CheckPricing(l.Pricing); err != nil {
			return err
		}
	}
	if err := terms.CheckMultiple(n.Billing, n.Delivery); err != nil {
		return err
	}
	if err := billing.CheckNote(n.Note); err != nil {
		return err
	}
	return terms.CheckAttributes(n.Attributes)
}

// cycleLimits returns the minimum and maximum number of orders of a new contract; 0 is
// no limit.
func (s *Service) cycleLimits(ctx context.Context, of shop.ID, line shop.Line, n Params) (least, most int, err error) {
	at := slices.IndexFunc(n.Lines, func(l terms.NewLine) bool { return l.SellingPlan != 0 })
	if at >= 0 && (n.Cycles.Min == nil || n.Cycles.Max == nil) {
		offer, _, err := s.Offer(ctx, of, line, n.Lines[at].SellingPlan)
		if err != nil {
			return 0, 0, err
		}
		least, most = offer.MinCycles, offer.MaxCycles
	}
	if n.Cycles.Min != nil {
		least = *n.Cycles.Min
	}
	if n.Cycles.Max != nil {
		most = *n.Cycles.Max
	}
	if most > 0 && most < least {
		err = fault.New(fault.Invalid, "maxCycles %d is less than minCycles %d", most, least).Entity(amend.Entity).Code("contractInvalid").Field("maxCycles")
	}
	return least, most, err
}

// newContract prices the lines and chooses the payment method.
func (s *Service) newContract(ctx context.Context, store shop.Shop, line shop.Line, n Params) (creation, error) {
	people, err := s.Platform.Customers(ctx, store.At(), []int64{n.Customer})
	if err != nil {
		return creation{}, amend.PlatformError(err)
	}
	if len(people) == 0 {
		return creation{}, fault.New(fault.NotFound, "the store has no customer %d", n.Customer).Entity("customer").Code("customerNotFound").Field("customerId")
	}
	least, most, err := s.cycleLimits(ctx, store.ID, line, n)
	if err != nil {
		return creation{}, err
	}
	method, err := s.paymentMethod(ctx, store, n)
	if err != nil {
		return creation{}, err
	}
	cal, err := store.Calendar()
	if err != nil {
		return creation{}, err
	}
	billed, delivered := terms.PlatformPolicy(n.Billing, contract.Policy{}, least, most), terms.PlatformPolicy(n.Delivery, contract.Policy{}, 0, 0)
	made := platform.NewContract{
		Customer: n.Customer, Currency: store.Currency, NextBillingDate: billing.OrderAt(n.NextBillingDate, s.Clock.Now(), cal), Status: string(n.Status),
		Edit: platform.Edit{Billing: &billed, Delivery: &delivered, DeliveryPrice: n.DeliveryPrice},
	}
	if method != "" {
		made.PaymentMethod = &method
	}
	if n.Method.Kind != "" {
		made.Method = &n.Method
	}
	if n.Note != "" {
		made.Note = &n.Note
	}
	if len(n.Attributes) > 0 {
		made.Attributes = new(terms.PlatformAttributes(n.Attributes))
	}
	sold, err := s.Variants(ctx, store, terms.VariantIDs(n.Lines))
	if err != nil {
		return creation{}, err
	}
	blank := contract.Detail{Contract: contract.Contract{Line: line, Currency: store.Currency, Billing: n.Billing.Policy(), Delivery: n.Delivery.Policy(), Trial: n.trial}}
	for _, l := range n.Lines {
		edit, err := s.NewLineEdit(ctx, store, blank, sold[l.Variant], l)
		if err != nil {
			return creation{}, err
		}
		made.Lines = append(made.Lines, edit)
	}
	if becomes := contract.LineOf(amend.LinesAfter(nil, made.Lines), store.Settings); becomes != line {
		return creation{}, fault.New(fault.NotFound, "lines on these selling plans make a %s contract, which is created on the other host", becomes).
			Entity("sellingPlan").Code("sellingPlanNotFound").Field("sellingPlanId")
	}
	return creation{NewContract: made, trial: n.trial, imported: n.ImportedID}, nil
}

// paymentMethod returns the payment method of a new contract.
func (s *Service) paymentMethod(ctx context.Context, store shop.Shop, n Params) (string, error) {
	if n.NoPaymentMethod && n.PaymentMethod == "" {
		return "", nil
	}
	methods, err := s.Platform.PaymentMethods(ctx, store.At(), n.Customer)
	if err != nil {
		return "", amend.PlatformError(err)
	}
	methods = slices.DeleteFunc(methods, func(m platform.PaymentMethod) bool {
		return m.Revoked || n.PaymentMethod != "" && m.ID != n.PaymentMethod
	})
	switch {
	case len(methods) > 0:
		return methods[len(methods)-1].ID, nil
	case n.PaymentMethod != "":
		return "", fault.New(fault.NotFound, "the customer has no usable payment method %s", n.PaymentMethod).
			Entity("customerPaymentMethod").Code("paymentMethodNotFound").Field("paymentMethodId")
	}
	return "", fault.New(fault.FailedPrecondition, "customer %d has no usable payment method: add one, or send createWithoutPaymentMethod=true", n.Customer).
		Entity("customerPaymentMethod").Code("paymentMethodMissing").Field("paymentMethodId")
}
