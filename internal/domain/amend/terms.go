package amend

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// termsNote is the information of an entry about a contract's terms.
type termsNote struct {
	Field  string   `json:"field,omitempty"`
	Fields []string `json:"fields,omitempty"`
	From   string   `json:"from,omitempty"`
	To     string   `json:"to,omitempty"`
}

// SetNote replaces the note that is attached to every future order. An empty
// note clears it.
func (s *Service) SetNote(ctx context.Context, of shop.ID, cmd Command, text string) (contract.Detail, error) {
	if err := billing.CheckNote(text); err != nil {
		return contract.Detail{}, err
	}
	return s.amend(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil || d.Note == text {
			return change{}, err
		}
		return change{edit: platform.Edit{Note: &text}, entries: []note{{activity.SubscriptionContractUpdated, termsNote{Field: "orderNote"}}}}, nil
	})
}

// SetAttributes replaces the contract's attributes, or lays new ones over those
// it has. Keys are unique.
func (s *Service) SetAttributes(ctx context.Context, of shop.ID, cmd Command, list []contract.Attribute, overwrite bool) (contract.Detail, error) {
	if err := CheckAttributes(list); err != nil {
		return contract.Detail{}, err
	}
	return s.amend(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		wanted := list
		if !overwrite {
			wanted = merged(d.Attributes, list)
			if err := CheckAttributes(wanted); err != nil {
				return change{}, err
			}
		}
		if slices.Equal(wanted, d.Attributes) {
			return change{}, nil
		}
		return change{
			edit:    platform.Edit{Attributes: new(attributes(wanted))},
			entries: []note{{activity.SubscriptionContractUpdated, termsNote{Field: "customAttributes"}}},
		}, nil
	})
}

// merged lays attributes over others. Those that are there keep their place.
func merged(is, over []contract.Attribute) []contract.Attribute {
	list := slices.Clone(is)
	for _, a := range over {
		if i := slices.IndexFunc(list, func(b contract.Attribute) bool { return a.Key == b.Key }); i >= 0 {
			list[i] = a
		} else {
			list = append(list, a)
		}
	}
	return list
}

// Frequency is how often something recurs.
type Frequency struct {
	Interval cadence.Interval
	Count    int
}

func (r Frequency) of(p contract.Policy) bool { return p.Interval == r.Interval && p.Count == r.Count }

func (r Frequency) policy() cadence.Policy {
	return cadence.Policy{Interval: r.Interval, Count: r.Count}
}

func (r Frequency) String() string { return fmt.Sprintf("%d %s", r.Count, r.Interval) }

func rhythm(p contract.Policy) Frequency { return Frequency{p.Interval, p.Count} }

// SetBillingInterval changes how often orders are charged. A contract that is
// not prepaid is delivered as often as it is charged, so that its delivery
// follows. The interval it has already is refused.
func (s *Service) SetBillingInterval(ctx context.Context, of shop.ID, cmd Command, r Frequency) (contract.Detail, error) {
	return s.rhythms(ctx, of, cmd, func(c contract.Contract) (billing, delivery Frequency, err error) {
		if r.of(c.Billing) {
			return r, r, fault.New(fault.FailedPrecondition, "subscription contract %d is billed every %s already", c.ID, r).Entity(entity).Code("sameInterval")
		}
		if c.Prepaid() {
			return r, rhythm(c.Delivery), nil
		}
		return r, r, nil
	})
}

// SetDeliveryInterval changes how often a prepaid contract is delivered; what it
// charges stays. Where each delivery is paid by itself it is refused, for it would
// change how often people are charged, or make them pay ahead at the price of one
// delivery. The interval that a contract has already is refused too.
func (s *Service) SetDeliveryInterval(ctx context.Context, of shop.ID, cmd Command, r Frequency) (contract.Detail, error) {
	return s.rhythms(ctx, of, cmd, func(c contract.Contract) (billing, delivery Frequency, err error) {
		if r.of(c.Delivery) {
			return r, r, fault.New(fault.FailedPrecondition, "subscription contract %d is delivered every %s already", c.ID, r).Entity(entity).Code("sameInterval")
		}
		if !c.Prepaid() {
			return r, r, fault.New(fault.FailedPrecondition, "subscription contract %d is not prepaid: each delivery is charged, every %s. Change both with the billing interval", c.ID, rhythm(c.Billing)).
				Entity(entity).Code("notPrepaid").Field("interval")
		}
		return rhythm(c.Billing), r, nil
	})
}

// SetSellingPlan puts every line that is on a selling plan on another one, and takes
// over how often and on which fixed days it bills and delivers, and what it asks. The
// price of a product stays that the store does not sell in the contract's currency.
func (s *Service) SetSellingPlan(ctx context.Context, of shop.ID, cmd Command, sellingPlan int64) (contract.Detail, error) {
	terms, err := s.option(ctx, of, cmd.Line, sellingPlan)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		c, err := s.putOn(ctx, store, d, terms)
		if err != nil {
			return change{}, err
		}
		billed, delivered := Frequency(terms.Billing), Frequency(terms.Delivery)
		days := terms.Anchors()
		if !billed.of(d.Contract.Billing) || !fallsOn(d.Contract.Billing, days) {
			c.edit.Billing = &platform.Policy{Interval: billed.Interval.String(), Count: billed.Count, Anchors: days, MinCycles: d.MinCycles, MaxCycles: d.MaxCycles}
			c.entries = append(c.entries, note{activity.BillingIntervalChange, termsNote{From: words(policy(rhythm(d.Billing), d.Billing, 0, 0)), To: words(*c.edit.Billing)}})
		}
		if !delivered.of(d.Contract.Delivery) || !fallsOn(d.Contract.Delivery, days) {
			c.edit.Delivery = &platform.Policy{Interval: delivered.Interval.String(), Count: delivered.Count, Anchors: days}
			c.entries = append(c.entries, note{activity.DeliveryIntervalChange, termsNote{From: words(policy(rhythm(d.Delivery), d.Delivery, 0, 0)), To: words(*c.edit.Delivery)}})
		}
		return c, nil
	})
}

// putOn is the change by which every line comes to be on a plan, at its price. One that is
// on it already keeps its price, unless a payment is to cover more or fewer deliveries.
func (s *Service) putOn(ctx context.Context, store shop.Shop, d contract.Detail, terms plan.Offer) (change, error) {
	var c change
	sold, err := s.soldNow(ctx, store, d.Lines)
	if err != nil {
		return change{}, err
	}
	cycles, err := s.cyclesBefore(ctx, store.ID, d.Contract)
	if err != nil {
		return change{}, err
	}
	next := plan.Place{Order: d.NextOrder(), Cycle: cycles + 1, Deliveries: terms.Deliveries()}
	for at, l := range d.Lines {
		there := l.SellingPlanID == terms.ID
		if there && d.Deliveries() == terms.Deliveries() {
			continue
		}
		edit := platform.LineEdit{Line: l.ID, SellingPlanID: &terms.ID, SellingPlanName: &terms.Name}
		about := lineNote{Line: l.ID, Title: l.Title, Variant: l.VariantID}
		if v, known := sold[l.VariantID]; known && v.Price.Currency == d.Currency {
			price, pricing := terms.Sells(v.Price, next)
			edit.Pricing = inPlace(pricing, policyOf(d, at), price)
			if price != l.Price {
				edit.Price, about.Price, about.OldPrice = &price, price.String(), l.Price.String()
			}
		}
		event := activity.ProductSellingPlanChange
		if there {
			if edit.Price == nil {
				continue
			}
			event = activity.ProductPriceChange
		}
		c.edit.Lines = append(c.edit.Lines, edit)
		c.entries = append(c.entries, note{event, about})
	}
	return c, nil
}

// words says how often something recurs, and on which fixed days.
func words(p platform.Policy) string {
	text := fmt.Sprintf("%d %s", p.Count, p.Interval)
	for _, a := range p.Anchors {
		if text += fmt.Sprintf(" on %s %d", a.Type, a.Day); a.Type == anchorTypes[cadence.YearDay] {
			text += fmt.Sprintf(" of month %d", a.Month)
		}
	}
	return text
}

// fallsOn reports whether a policy has just these fixed days.
func fallsOn(p contract.Policy, days []platform.Anchor) bool {
	return slices.EqualFunc(p.Anchors, days, func(is cadence.Anchor, day platform.Anchor) bool {
		return anchorTypes[is.Kind] == day.Type && is.Day == day.Day && (is.Kind != cadence.YearDay || is.Month == day.Month)
	})
}

// SetBillingDate moves the contract's next order, and those after it with it when
// future says so.
func (s *Service) SetBillingDate(ctx context.Context, of shop.ID, cmd Command, date time.Time, future bool) (contract.Detail, error) {
	_, err := s.Orders.Reschedule(ctx, of, command.Reschedule{Line: cmd.Line, Contract: cmd.Contract, BillingDate: date, Future: future, Actor: cmd.Actor})
	if err != nil {
		return contract.Detail{}, err
	}
	return s.shown(ctx, of, cmd)
}

// rhythms changes both policies of a contract. Anchors do not outlive a change
// of the interval they belong to.
func (s *Service) rhythms(ctx context.Context, of shop.ID, cmd Command, want func(contract.Contract) (billing, delivery Frequency, err error)) (contract.Detail, error) {
	return s.amend(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		billed, delivered, err := want(d.Contract)
		if err != nil {
			return change{}, err
		}
		if err := multiple(billed, delivered); err != nil {
			return change{}, err
		}
		var c change
		if !billed.of(d.Billing) {
			c.edit.Billing = new(policy(billed, d.Billing, d.MinCycles, d.MaxCycles))
			c.entries = append(c.entries, note{activity.BillingIntervalChange, termsNote{From: rhythm(d.Billing).String(), To: billed.String()}})
		}
		if !delivered.of(d.Delivery) {
			c.edit.Delivery = new(policy(delivered, d.Delivery, 0, 0))
			c.entries = append(c.entries, note{activity.DeliveryIntervalChange, termsNote{From: rhythm(d.Delivery).String(), To: delivered.String()}})
		}
		return c, nil
	})
}

// multiple refuses a charge that does not cover whole deliveries.
func multiple(billed, delivered Frequency) error {
	if billed.policy().Covers(delivered.policy()) == 0 {
		return fault.New(fault.FailedPrecondition, "billing every %s does not cover whole deliveries every %s: the billing interval must be a multiple of the delivery interval", billed, delivered).
			Entity(entity).Code("intervalMismatch")
	}
	return nil
}

func policy(r Frequency, was contract.Policy, minCycles, maxCycles int) platform.Policy {
	p := platform.Policy{Interval: r.Interval.String(), Count: r.Count, MinCycles: minCycles, MaxCycles: maxCycles}
	if was.Interval == r.Interval {
		for _, a := range was.Anchors {
			p.Anchors = append(p.Anchors, platform.Anchor{Type: anchorTypes[a.Kind], Day: a.Day, Month: a.Month, CutoffDay: a.CutoffDay})
		}
	}
	return p
}

var anchorTypes = map[cadence.AnchorKind]string{cadence.Weekday: "WEEKDAY", cadence.MonthDay: "MONTHDAY", cadence.YearDay: "YEARDAY"}

// Cycles are limits of how many cycles a contract has. What is nil stays; 0 is
// no limit.
type Cycles struct{ Min, Max *int }

// MaxCycleLimit is the largest number of cycles that can be asked for.
const MaxCycleLimit = 9999

// SetCycles changes how many cycles a contract has at least or at most.
func (s *Service) SetCycles(ctx context.Context, of shop.ID, cmd Command, want Cycles) (contract.Detail, error) {
	return s.amend(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		least, most := d.MinCycles, d.MaxCycles
		var c change
		for _, limit := range []struct {
			want  *int
			is    *int
			field string
		}{{want.Min, &least, "minCycles"}, {want.Max, &most, "maxCycles"}} {
			if limit.want == nil || *limit.want == *limit.is {
				continue
			}
			c.entries = append(c.entries, note{activity.SubscriptionContractUpdated, termsNote{
				Field: limit.field, From: fmt.Sprint(*limit.is), To: fmt.Sprint(*limit.want),
			}})
			*limit.is = *limit.want
		}
		if most > 0 && most < least {
			return change{}, fault.New(fault.FailedPrecondition, "maxCycles %d is less than minCycles %d", most, least).Entity(entity).Code("cycleLimits")
		}
		if want.Max != nil && most > 0 && most < d.Orders {
			return change{}, fault.New(fault.FailedPrecondition, "subscription contract %d has had %d orders: maxCycles cannot be less", d.ID, d.Orders).
				Entity(entity).Code("cycleLimits").Field("maxCycles")
		}
		c.edit.Billing = new(policy(rhythm(d.Billing), d.Billing, least, most))
		return c, nil
	})
}

// SetDeliveryPrice changes what the delivery of each order costs.
func (s *Service) SetDeliveryPrice(ctx context.Context, of shop.ID, cmd Command, price money.Amount) (contract.Detail, error) {
	if err := CheckPrice("deliveryPrice", &price); err != nil {
		return contract.Detail{}, err
	}
	return s.amend(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil || d.DeliveryPrice == price {
			return change{}, err
		}
		return change{
			edit:    platform.Edit{DeliveryPrice: &price},
			entries: []note{{activity.ManualDeliveryPriceUpdated, termsNote{From: d.DeliveryPrice.String(), To: price.String()}}},
		}, nil
	})
}

// SetDelivery changes how orders reach the customer, as a function of how they
// do now.
func (s *Service) SetDelivery(ctx context.Context, of shop.ID, cmd Command, event activity.EventType, want func(contract.DeliveryMethod) contract.DeliveryMethod) (contract.Detail, error) {
	return s.amend(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil {
			return change{}, err
		}
		method := want(d.Method)
		told := redelivered(d.Method, method)
		if len(told.Fields) == 0 {
			return change{}, nil
		}
		return change{edit: platform.Edit{Method: &method}, entries: []note{{event, told}}}, nil
	})
}

// redelivered tells what differs between two ways to reach a customer. Of an address
// it names the fields alone: their values are nobody's business who reads the log.
// The platform finds the names of provinces and countries itself where only their
// codes are given.
func redelivered(was, is contract.DeliveryMethod) termsNote {
	var told termsNote
	switch {
	case was.Kind != is.Kind:
		told.From, told.To = was.Kind, is.Kind
	case was.Title != is.Title:
		told.From, told.To = was.Title, is.Title
	}
	for _, f := range []struct{ name, was, is string }{
		{"methodType", was.Kind, is.Kind}, {"code", was.Code, is.Code}, {"title", was.Title, is.Title},
		{"firstName", was.Address.FirstName, is.Address.FirstName}, {"lastName", was.Address.LastName, is.Address.LastName},
		{"company", was.Address.Company, is.Address.Company}, {"address1", was.Address.Address1, is.Address.Address1},
		{"address2", was.Address.Address2, is.Address.Address2}, {"city", was.Address.City, is.Address.City},
		{"province", was.Address.Province, cmp.Or(is.Address.Province, was.Address.Province)}, {"provinceCode", was.Address.ProvinceCode, is.Address.ProvinceCode},
		{"country", was.Address.Country, cmp.Or(is.Address.Country, was.Address.Country)}, {"countryCode", was.Address.CountryCode, is.Address.CountryCode},
		{"zip", was.Address.Zip, is.Address.Zip}, {"phone", was.Address.Phone + was.Phone, is.Address.Phone + is.Phone},
		{"instructions", was.Instructions, is.Instructions}, {"locationId", was.Location, is.Location},
	} {
		if f.was != f.is {
			told.Fields = append(told.Fields, f.name)
		}
	}
	return told
}

// SetPaymentMethod makes the contract pay with another of the customer's payment
// methods.
func (s *Service) SetPaymentMethod(ctx context.Context, of shop.ID, cmd Command, id string) (contract.Detail, error) {
	return s.amend(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (change, error) {
		if err := changeable(d.Contract); err != nil || d.PaymentMethod == id {
			return change{}, err
		}
		methods, err := s.Platform.PaymentMethods(ctx, store.At(), d.Customer.ID)
		if err != nil {
			return change{}, unanswered(err)
		}
		i := slices.IndexFunc(methods, func(m platform.PaymentMethod) bool { return m.ID == id })
		if i < 0 {
			return change{}, fault.New(fault.NotFound, "the customer has no payment method %s", id).Entity("customerPaymentMethod").Code("paymentMethodNotFound").Field("paymentMethodId")
		}
		if methods[i].Revoked {
			return change{}, fault.New(fault.FailedPrecondition, "payment method %s was revoked", id).Entity("customerPaymentMethod").Code("paymentMethodRevoked").Field("paymentMethodId")
		}
		return change{edit: platform.Edit{PaymentMethod: &id}, entries: []note{{activity.SwitchPaymentMethods, termsNote{From: d.PaymentMethod, To: id}}}}, nil
	})
}

// SendPaymentUpdate lets the platform send the customer a link to change the payment
// method.
func (s *Service) SendPaymentUpdate(ctx context.Context, of shop.ID, cmd Command) error {
	ctx = platform.Interactive(ctx)
	store, c, err := s.known(ctx, of, cmd)
	if err != nil {
		return err
	}
	if c.PaymentMethod == "" {
		return fault.New(fault.FailedPrecondition, "subscription contract %d has no payment method that could be updated", c.ID).Entity(entity).Code("paymentMethodMissing")
	}
	if err := s.Platform.SendPaymentUpdate(ctx, store.At(), c.PaymentMethod); err != nil {
		return unanswered(err)
	}
	return s.Store.Update(ctx, of, func(tx intake.Tx) error {
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.InformationalEvent, Status: activity.Success,
			Actor: cmd.Actor, At: s.Clock.Now(), Info: activity.Details(termsNote{Field: "paymentMethod", To: "the platform was asked to send the customer a link"}),
		})
	})
}

// PaymentMethodID returns the graph id of a payment method, which callers may
// write without its type.
func PaymentMethodID(s string) string {
	if len(s) > 0 && gid.Number(s) == 0 && !slices.Contains([]byte(s), '/') {
		return "gid://shopify/CustomerPaymentMethod/" + s
	}
	return s
}
