package simulator

import (
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Customer is a buyer as the director sees it.
type Customer struct {
	Shop           string          `json:"shop"`
	ID             int64           `json:"id"`
	Email          string          `json:"email"`
	FirstName      string          `json:"firstName"`
	LastName       string          `json:"lastName"`
	Phone          string          `json:"phone"`
	Country        string          `json:"country"`
	Tags           []string        `json:"tags"`
	Contracts      []int64         `json:"contractIds"`
	PaymentMethods []PaymentMethod `json:"paymentMethods"`
}

// PaymentMethod is what a customer pays with.
type PaymentMethod struct {
	ID     string       `json:"id"` // graph id
	Kind   MethodKind   `json:"kind"`
	Status MethodStatus `json:"status"`
}

// MethodKind is what a payment method is made of.
type MethodKind string

// The kinds of payment methods.
const (
	Card    MethodKind = "card"
	PayPal  MethodKind = "paypal"
	ShopPay MethodKind = "shop_pay"
)

// instruments are the platform's types of the kinds.
var instruments = map[MethodKind]string{Card: "CustomerCreditCard", PayPal: "CustomerPaypalBillingAgreement", ShopPay: "CustomerShopPayAgreement"}

func (m *paymentMethod) kind() MethodKind { return or(m.Kind, Card) }

// Customer returns a customer of any store by id.
func (s *Simulator) Customer(id int64) (Customer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, c, err := s.customer(id)
	if err != nil {
		return Customer{}, err
	}
	d := Customer{
		Shop: sh.Domain, ID: c.ID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName, Phone: c.Phone, Country: c.Country,
		Tags: append([]string{}, c.Tags...), Contracts: []int64{}, PaymentMethods: []PaymentMethod{},
	}
	for _, k := range c.contracts {
		d.Contracts = append(d.Contracts, k.ID)
	}
	for _, m := range c.methods {
		d.PaymentMethods = append(d.PaymentMethods, PaymentMethod{m.gid(), m.kind(), m.Status})
	}
	return d, nil
}

func (s *Simulator) customer(id int64) (*store, *customer, error) {
	for _, sh := range s.state.order {
		if c, ok := sh.customers.get(id); ok {
			return sh, c, nil
		}
	}
	return nil, nil, fault.New(fault.NotFound, "there is no customer %d", id)
}

// AddPaymentMethod gives a customer a payment method of a kind, which can be
// charged, and returns its graph id. Contracts keep the ones that they have.
func (s *Simulator) AddPaymentMethod(customer int64, kind MethodKind) (string, error) {
	var made string
	err := s.update(func() error {
		if instruments[kind] == "" {
			return fault.New(fault.Invalid, "a payment method is a card, paypal or shop_pay").Field("kind")
		}
		sh, c, err := s.customer(customer)
		if err != nil {
			return err
		}
		made = s.newMethod(sh, c, MethodValid, kind).gid()
		return nil
	})
	return made, err
}

// Merge lets a store merge a customer with another one, who has the contracts, the orders
// and the payment methods of both from then on. The platform sends its webhooks.
func (s *Simulator) Merge(gone, into int64) error {
	return s.update(func() error {
		sh, c, err := s.customer(gone)
		if err != nil {
			return err
		}
		kept, ok := sh.customers.get(into)
		if !ok || into == gone {
			return fault.New(fault.Invalid, "%s has no other customer %d", sh.Domain, into).Field("into")
		}
		for _, m := range c.methods {
			m.Customer, m.customer = into, kept
			s.save(m)
		}
		for _, o := range c.orders {
			o.Customer, o.customer = into, kept
			s.save(o)
		}
		kept.methods, kept.orders = append(kept.methods, c.methods...), append(kept.orders, c.orders...)
		for _, k := range c.contracts {
			k.Customer, k.customer = into, kept
			kept.contracts = append(kept.contracts, k)
			s.changed(k, s.now())
		}
		kept.Tags = union(kept.Tags, c.Tags)
		s.save(kept)
		c.methods, c.orders, c.contracts = nil, nil, nil
		sh.customers.remove(gone)
		delete(sh.byEmail, strings.ToLower(c.Email))
		s.drop(c)
		s.emitMerged(sh, gone, into)
		return nil
	})
}

// Redact lets a store erase a customer's personal data. The platform reports it to the
// app's address for compliance topics.
func (s *Simulator) Redact(customer int64) error {
	return s.update(func() error {
		sh, c, err := s.customer(customer)
		if err != nil {
			return err
		}
		c.Email, c.FirstName, c.LastName, c.Phone = "", "", "", ""
		s.save(c)
		s.emitRedacted(sh, c)
		return nil
	})
}
