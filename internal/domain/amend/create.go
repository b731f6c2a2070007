package amend

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
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Params is a contract to be made.
type Params struct {
	Customer        int64
	NextBillingDate time.Time // the first order is charged then; zero: when the free trial of its plan is over
	Status          contract.Status
	Billing         Frequency
	Delivery        Frequency
	Cycles          Cycles // what is nil is as the first plan says on which a line is
	Method          contract.DeliveryMethod
	DeliveryPrice   *money.Amount
	PaymentMethod   string // graph id; empty: the customer's newest one that is not revoked
	NoPaymentMethod bool   // it is made without a payment method, even if the customer has one; its orders fail until it is given one
	Lines           []NewLine
	Note            string
	Attributes      []contract.Attribute
	ImportedID      string // in the system that it comes from; empty: it is not imported
	RequestKey      string // the caller's own name of the request; one that comes again finds the contract; empty: none

	trial *contract.Trial // with which it begins; nil: without one
}

// creationSlack is how far the platform's clock may lag behind ours.
const creationSlack = time.Minute

// Create makes a contract at the platform and takes it over.
func (s *Service) Create(ctx context.Context, of shop.ID, line shop.Line, by activity.Actor, n Params) (contract.Detail, error) {
	ctx = platform.Interactive(ctx)
	begun, err := s.begun(ctx, of, n.RequestKey)
	if err != nil {
		return contract.Detail{}, err
	}
	if err := n.check(cmp.Or(begun.At, s.Clock.Now())); err != nil {
		return contract.Detail{}, err
	}
	store, err := s.store(ctx, of)
	if err != nil {
		return contract.Detail{}, err
	}
	if begun.Contract != 0 {
		return s.noted(ctx, store, Command{Line: line, Contract: begun.Contract, Actor: by})
	}
	trial, err := s.trial(ctx, store, line, n)
	if err != nil {
		return contract.Detail{}, err
	}
	if trial != nil {
		n.NextBillingDate, n.trial = trial.ChargeAt, trial
	}
	made, err := s.draft(ctx, store, line, n)
	if err != nil {
		return contract.Detail{}, err
	}
	if n.RequestKey == "" {
		return s.create(ctx, store, by, made)
	}
	return s.createOnce(ctx, store, line, by, made, begun)
}

// creation is a contract that is being made: what the platform is told, and what only
// the service keeps.
type creation struct {
	platform.NewContract
	trial    *contract.Trial    // nil: it begins without one
	imported string             // id in the system that it comes from; empty: it is not imported
	of       *contract.Contract // the one that it restarts; nil: none
}

// trial returns the free trial with which a contract begins of which nobody says when
// it is charged first: that of the first line's plan that has one of ours, as at a
// checkout.
func (s *Service) trial(ctx context.Context, store shop.Shop, line shop.Line, n Params) (*contract.Trial, error) {
	if !n.NextBillingDate.IsZero() {
		return nil, nil
	}
	cal, err := store.Calendar()
	if err != nil {
		return nil, err
	}
	for _, l := range n.Lines {
		offer, ours, err := s.offer(ctx, store.ID, line, l.SellingPlan)
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
		Entity(entity).Code("contractInvalid").Field("nextBillingDate")
}

// create makes the contract and takes it over with its entry.
func (s *Service) create(ctx context.Context, store shop.Shop, by activity.Actor, n creation) (contract.Detail, error) {
	made, err := s.ask(ctx, store, n.NewContract)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.takeOver(ctx, store, by, n, made)
}

// ask has the platform make the contract. A lost answer is looked for among the
// contracts that are new.
func (s *Service) ask(ctx context.Context, store shop.Shop, n platform.NewContract) (platform.Detail, error) {
	since := s.Clock.Now().Add(-creationSlack)
	made, err := s.Platform.CreateContract(ctx, store.At(), n)
	if errors.Is(err, platform.ErrUnknown) {
		return s.created(ctx, store, n, since)
	}
	if err != nil {
		return platform.Detail{}, unanswered(err)
	}
	return made, nil
}

// takeOver adopts the contract that was made, with the entry of who made it.
func (s *Service) takeOver(ctx context.Context, store shop.Shop, by activity.Actor, n creation, made platform.Detail) (contract.Detail, error) {
	said := madeNote{Status: n.Status}
	if n.of != nil {
		said.From = int64(n.of.ID)
	}
	return s.adopt(ctx, store, Command{Contract: contract.ID(made.ID), Actor: by}, made, change{
		edit: n.Edit, entries: []note{{activity.ContractCreated, said}}, also: n.own,
	}.priced())
}

// own sets what only the service keeps of a contract that was made.
func (n creation) own(c *contract.Contract) {
	c.Trial = n.trial
	if n.imported != "" {
		c.ImportedID, c.Origin = n.imported, contract.Imported
	}
	if n.of != nil {
		c.SplitFrom, c.EarlierOrders = n.of.ID, n.of.NextOrder()-1
	}
}

// madeNote is the information of an entry about a contract that was made.
type madeNote struct {
	Status string `json:"to"`
	From   int64  `json:"fromContractId,omitempty"` // the one that it restarts
}

// created looks for the contract of which the making was not answered.
func (s *Service) created(ctx context.Context, store shop.Shop, n platform.NewContract, since time.Time) (platform.Detail, error) {
	made, err := s.find(ctx, store, since, func(d platform.Detail) bool { return isThe(n, d) })
	if err != nil {
		err = fault.Because(fault.Unavailable, err, "the platform does not say whether the subscription contract was made: look for it before you try again").
			Entity(entity).Code(fault.InDoubt)
	}
	return made, err
}

// isThe reports whether a contract is the one that was to be made.
func isThe(n platform.NewContract, d platform.Detail) bool {
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
		return fault.New(fault.Invalid, format, args...).Entity(entity).Code("contractInvalid").Field(param)
	}
	switch {
	case n.Customer == 0:
		return bad("customerId", "customerId is required")
	case len(n.Lines) == 0 || len(n.Lines) > MaxLines:
		return bad("lines", "give 1 to %d lines", MaxLines)
	case !n.NextBillingDate.IsZero() && n.NextBillingDate.Before(now.Add(-billing.PastTolerance)):
		return bad("nextBillingDate", "nextBillingDate %s is in the past", n.NextBillingDate.UTC().Format(time.RFC3339))
	case n.Status != contract.Active && n.Status != contract.Paused:
		return bad("status", "a new contract is ACTIVE or PAUSED, not %s", n.Status)
	case !inRange(n.Cycles.Max):
		return bad("maxCycles", "maxCycles must be from 0 to %d", MaxCycleLimit)
	case !inRange(n.Cycles.Min):
		return bad("minCycles", "minCycles must be from 0 to %d", MaxCycleLimit)
	case n.DeliveryPrice != nil && n.DeliveryPrice.Minor < 0:
		return bad("deliveryPriceAmount", "deliveryPriceAmount cannot be negative")
	case n.NoPaymentMethod && n.PaymentMethod != "":
		return bad("paymentMethodId", "createWithoutPaymentMethod is true and paymentMethodId is given: leave one of them out")
	}
	for i, l := range n.Lines {
		if l.Variant == 0 {
			return bad(fmt.Sprintf("lines[%d].variantId", i), "lines[%d].variantId is required", i)
		}
		if err := checkLine(l.Quantity, l.Price); err != nil {
			return err
		}
		if err := CheckAttributes(l.Attributes); err != nil {
			return err
		}
		if err := checkPricing(l.Pricing); err != nil {
			return err
		}
	}
	if err := multiple(n.Billing, n.Delivery); err != nil {
		return err
	}
	if err := billing.CheckNote(n.Note); err != nil {
		return err
	}
	return CheckAttributes(n.Attributes)
}

func inRange(limit *int) bool { return limit == nil || *limit >= 0 && *limit <= MaxCycleLimit }

// limits returns how many orders a new contract has at least and at most; 0 is no
// limit.
func (s *Service) limits(ctx context.Context, of shop.ID, line shop.Line, n Params) (least, most int, err error) {
	at := slices.IndexFunc(n.Lines, func(l NewLine) bool { return l.SellingPlan != 0 })
	if at >= 0 && (n.Cycles.Min == nil || n.Cycles.Max == nil) {
		offer, _, err := s.offer(ctx, of, line, n.Lines[at].SellingPlan)
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
		err = fault.New(fault.Invalid, "maxCycles %d is less than minCycles %d", most, least).Entity(entity).Code("contractInvalid").Field("maxCycles")
	}
	return least, most, err
}

// store reads the store and refuses one of which the connection is gone.
func (s *Service) store(ctx context.Context, of shop.ID) (shop.Shop, error) {
	var store shop.Shop
	err := s.Store.Update(ctx, of, func(tx intake.Tx) (err error) {
		store, err = tx.Shop(ctx)
		return err
	})
	if err == nil && !store.Connected {
		err = fault.New(fault.FailedPrecondition, "the store's connection to the platform is gone").Entity(entity).Code("connectionGone")
	}
	return store, err
}

// draft prices the lines and chooses the payment method.
func (s *Service) draft(ctx context.Context, store shop.Shop, line shop.Line, n Params) (creation, error) {
	people, err := s.Platform.Customers(ctx, store.At(), []int64{n.Customer})
	if err != nil {
		return creation{}, unanswered(err)
	}
	if len(people) == 0 {
		return creation{}, fault.New(fault.NotFound, "the store has no customer %d", n.Customer).Entity("customer").Code("customerNotFound").Field("customerId")
	}
	least, most, err := s.limits(ctx, store.ID, line, n)
	if err != nil {
		return creation{}, err
	}
	method, err := s.payment(ctx, store, n)
	if err != nil {
		return creation{}, err
	}
	cal, err := store.Calendar()
	if err != nil {
		return creation{}, err
	}
	billed, delivered := policy(n.Billing, contract.Policy{}, least, most), policy(n.Delivery, contract.Policy{}, 0, 0)
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
		made.Attributes = new(attributes(n.Attributes))
	}
	sold, err := s.variants(ctx, store, variantsOf(n.Lines))
	if err != nil {
		return creation{}, err
	}
	blank := contract.Detail{Contract: contract.Contract{Line: line, Currency: store.Currency, Billing: n.Billing.policy(), Delivery: n.Delivery.policy(), Trial: n.trial}}
	for _, l := range n.Lines {
		edit, err := s.lineEdit(ctx, store, blank, sold[l.Variant], l)
		if err != nil {
			return creation{}, err
		}
		made.Lines = append(made.Lines, edit)
	}
	if becomes := contract.LineOf(linesAfter(nil, made.Lines), store.Settings); becomes != line {
		return creation{}, fault.New(fault.NotFound, "lines on these selling plans make a %s contract, which is made on the other host", becomes).
			Entity("sellingPlan").Code("sellingPlanNotFound").Field("sellingPlanId")
	}
	return creation{NewContract: made, trial: n.trial, imported: n.ImportedID}, nil
}

// payment returns the payment method of a new contract.
func (s *Service) payment(ctx context.Context, store shop.Shop, n Params) (string, error) {
	if n.NoPaymentMethod && n.PaymentMethod == "" {
		return "", nil
	}
	methods, err := s.Platform.PaymentMethods(ctx, store.At(), n.Customer)
	if err != nil {
		return "", unanswered(err)
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
