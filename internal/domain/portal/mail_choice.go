package portal

import (
	"context"
	"maps"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// CustomerRef names a customer who has contracts of a line.
type CustomerRef struct {
	Line     shop.Line
	Customer int64
}

func (r CustomerRef) check(ctx context.Context, tx ReadTx) error {
	_, err := tx.SubscriberByID(ctx, r.Line, r.Customer)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.NotFound, "customer %d has no subscription", r.Customer).Entity("customerPreferences").Code("customerNotFound").Field("customerId")
	}
	return err
}

// MailChoice says which e-mails a customer wants.
type MailChoice struct {
	CustomerRef

	Wanted  map[notify.Kind]bool // kinds that are left out stay as they are
	Version int64                // of the preferences that the caller has seen; 0: not compared
}

// PreferencesOf returns a customer's preferences for the store; the default ones when the customer has
// set none.
func (s *Service) PreferencesOf(ctx context.Context, of shop.ID, who CustomerRef) (p Preferences, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		if err := who.check(ctx, tx); err != nil {
			return err
		}
		p, err = tx.PortalPreferences(ctx, who.Customer)
		return err
	})
	return p, err
}

// ChooseMails changes which e-mails a customer wants, for the store.
func (s *Service) ChooseMails(ctx context.Context, of shop.ID, c MailChoice) (p Preferences, err error) {
	if err := (Preferences{Off: slices.Sorted(maps.Keys(c.Wanted))}).check(); err != nil {
		return p, err
	}
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		if err := c.check(ctx, tx); err != nil {
			return err
		}
		if p, err = tx.PortalPreferences(ctx, c.Customer); err != nil {
			return err
		}
		if err := p.seen(c.Version); err != nil {
			return err
		}
		p.Off = slices.DeleteFunc(p.Off, func(k notify.Kind) bool { return c.Wanted[k] })
		for k, wanted := range c.Wanted {
			if !wanted && !slices.Contains(p.Off, k) {
				p.Off = append(p.Off, k)
			}
		}
		slices.Sort(p.Off)
		p.UpdatedAt = s.Clock.Now()
		return tx.PutPortalPreferences(ctx, &p)
	})
	return p, err
}
