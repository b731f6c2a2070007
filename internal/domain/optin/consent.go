// Package optin keeps which customers agreed to SMS, to which phone number, when and how. It sends
// nothing; package notify asks it before it does.
package optin

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/sms"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Source is how a customer agreed.
type Source string

// The sources.
const (
	Portal Source = "CUSTOMER_PORTAL" // by ticking the box on the page or in another client of the portal
	Answer Source = "SMS"             // by an SMS, such as START, after an earlier consent
)

// End is how a consent ended; empty: it holds.
type End string

// The ends.
const (
	ByPortal      End = "CUSTOMER_PORTAL" // the customer took it back
	ByAnswer      End = "SMS"             // the customer answered STOP
	ByProvider    End = "PROVIDER"        // the provider says that the number has answered STOP
	ByReplacement End = "REPLACED"        // the customer agreed for another number, or was merged into one who had
)

// byPhone reports whether the consent was ended from the phone, so that the phone can restore it.
func (e End) byPhone() bool { return e == ByAnswer || e == ByProvider }

// Consent is the agreement of a customer to SMS to a phone number. Consents are kept when they end.
type Consent struct {
	ID       int64 // within the shop; later ones are higher
	Customer int64 // the platform's number
	Phone    string
	Source   Source
	ClientIP string // from which it was given; empty: by phone
	GivenAt  time.Time
	EndedAt  time.Time // zero: it holds
	EndedBy  End
}

// Holds reports whether SMS may be sent. The zero value does not.
func (c Consent) Holds() bool { return c.Phone != "" && c.EndedAt.IsZero() }

// ReadTx is one reading transaction on a shop's consents.
type ReadTx interface {
	// SMSConsents returns the consent of each of some customers that holds, else the last one.
	SMSConsents(ctx context.Context, customers []int64) (map[int64]Consent, error)
}

// Tx is one transaction on a shop's consents.
type Tx interface {
	ReadTx
	// ConsentsOfPhone returns the same of each customer who ever agreed for a phone number, of their
	// consents for it.
	ConsentsOfPhone(ctx context.Context, phone string) ([]Consent, error)
	// AddSMSConsent adds a consent that holds and gives it a number. None of the customer's may hold yet.
	AddSMSConsent(ctx context.Context, c *Consent) error
	// EndSMSConsent ends the consent of a customer that holds, if there is one.
	EndSMSConsent(ctx context.Context, customer int64, at time.Time, by End) error
}

// Store runs transactions.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
}

// Phones finds consents of all shops.
type Phones interface {
	// ShopsOfPhone returns the shops that have consents for a phone number, ended ones included, by
	// number.
	ShopsOfPhone(ctx context.Context, phone string) ([]shop.ID, error)
}

// Service changes consents.
type Service struct {
	Store  Store
	Phones Phones
	Clock  clock.Clock
}

// Consent returns the last consent of a customer; the zero value when there was none.
func (s *Service) Consent(ctx context.Context, of shop.ID, customer int64) (c Consent, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		last, err := tx.SMSConsents(ctx, []int64{customer})
		c = last[customer]
		return err
	})
	return c, err
}

// ParsePhone returns a phone number in E.164. It fails with Invalid; field is the parameter at fault.
func ParsePhone(field, text string) (string, error) {
	phone, ok := sms.ParsePhone(text)
	if !ok {
		return "", fault.New(fault.Invalid, "%.40q is not a phone number with its country code, such as +49 151 23456789", text).Entity("smsConsent").Code("phoneInvalid").Field(field)
	}
	return phone, nil
}

// Wish is what a customer sets in the portal.
type Wish struct {
	Phone  string // as entered; may be empty without Agreed
	Agreed bool
	Actor  activity.Actor // the customer, or a user of the dashboard who acts in their place
}

// Set gives or ends a customer's consent and returns it. Setting what is set already changes nothing:
// the first instant and source are kept. It fails with Invalid for what is no phone number, and with
// Forbidden when a user of the dashboard agrees in the customer's place.
func (s *Service) Set(ctx context.Context, of shop.ID, w Wish) (c Consent, err error) {
	phone, customer := "", w.Actor.Customer
	if w.Agreed {
		if w.Actor.Source != activity.CustomerPortal {
			return c, fault.New(fault.Forbidden, "only the customer can agree to SMS").Entity("smsConsent").Code("smsOwnOnly")
		}
		if phone, err = ParsePhone("phone", w.Phone); err != nil {
			return c, err
		}
	}
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		last, err := tx.SMSConsents(ctx, []int64{customer})
		if err != nil {
			return err
		}
		c = last[customer]
		now := s.Clock.Now()
		switch {
		case !w.Agreed && !c.Holds() || c.Holds() && c.Phone == phone:
			return nil
		case !w.Agreed:
			c.EndedAt, c.EndedBy = now, ByPortal
			return tx.EndSMSConsent(ctx, customer, now, ByPortal)
		}
		if err := tx.EndSMSConsent(ctx, customer, now, ByReplacement); err != nil {
			return err
		}
		c = Consent{Customer: customer, Phone: phone, Source: Portal, ClientIP: w.Actor.ClientIP, GivenAt: now}
		return tx.AddSMSConsent(ctx, &c)
	})
	return c, err
}

// Owner is a customer of a shop.
type Owner struct {
	Shop     shop.ID
	Customer int64
}

// Answered carries out what a person answered to an SMS, in every shop that has a consent for the
// phone number: they share the number that was answered. It returns the customers whose consents were
// for it, ended ones included, the last first. Repeating it changes nothing.
func (s *Service) Answered(ctx context.Context, phone string, word Word) ([]Owner, error) {
	shops, err := s.Phones.ShopsOfPhone(ctx, phone)
	if err != nil {
		return nil, err
	}
	var owners []Owner
	given := map[Owner]time.Time{}
	for _, of := range shops {
		err := s.Store.Update(ctx, of, func(tx Tx) error {
			list, err := tx.ConsentsOfPhone(ctx, phone)
			if err != nil {
				return err
			}
			for _, c := range list {
				if err := s.answer(ctx, tx, c, word); err != nil {
					return err
				}
				given[Owner{of, c.Customer}] = c.GivenAt
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for o := range given {
		owners = append(owners, o)
	}
	slices.SortFunc(owners, func(a, b Owner) int {
		if c := given[b].Compare(given[a]); c != 0 {
			return c
		}
		return int(a.Shop - b.Shop)
	})
	return owners, nil
}

// answer carries an answer out for the last consent of a customer for the phone.
func (s *Service) answer(ctx context.Context, tx Tx, c Consent, word Word) error {
	now := s.Clock.Now()
	switch {
	case word == Stop && c.Holds():
		return tx.EndSMSConsent(ctx, c.Customer, now, ByAnswer)
	case word == Start && !c.Holds() && c.EndedBy.byPhone():
		last, err := tx.SMSConsents(ctx, []int64{c.Customer})
		if err != nil || last[c.Customer].Holds() { // for another number
			return err
		}
		return tx.AddSMSConsent(ctx, &Consent{Customer: c.Customer, Phone: c.Phone, Source: Answer, GivenAt: now})
	}
	return nil
}
