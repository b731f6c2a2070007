package portal

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Preferences are what a subscriber has set about the portal and about e-mails.
type Preferences struct {
	Customer  int64
	Language  string        // BCP 47; empty: the store's
	Off       []notify.Kind // optional e-mails that the subscriber does not want
	UpdatedAt time.Time
	Version   int64
}

// language is what a language tag looks like.
var language = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)

// check refuses preferences that cannot be.
func (p Preferences) check() error {
	bad := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity("customerPreferences").Code("bodyField").Field(field)
	}
	if p.Language != "" && !language.MatchString(p.Language) {
		return bad("language", "language %q is no language tag, such as en or pt-BR", p.Language)
	}
	for _, k := range p.Off {
		if !slices.Contains(notify.OptionalKinds, k) {
			return bad("emails", "e-mails of the kind %q cannot be switched off", k)
		}
	}
	return nil
}

// Preferences returns the caller's preferences.
func (s *Service) Preferences(ctx context.Context, who Caller) (Preferences, error) {
	return s.preferences(ctx, who.Shop.ID, who.Actor.Customer)
}

func (s *Service) preferences(ctx context.Context, of shop.ID, customer int64) (p Preferences, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		p, err = tx.PortalPreferences(ctx, customer)
		return err
	})
	return p, err
}

// Language returns the language that a customer has asked for; empty: none.
func (s *Service) Language(ctx context.Context, of shop.ID, customer int64) (tag string, err error) {
	p, err := s.preferences(ctx, of, customer)
	return p.Language, err
}

// SetPreferences replaces the caller's preferences. Version 0 is not compared.
func (s *Service) SetPreferences(ctx context.Context, who Caller, want Preferences) (p Preferences, err error) {
	want.Customer = who.Actor.Customer
	if err := want.check(); err != nil {
		return p, err
	}
	slices.Sort(want.Off)
	want.Off = slices.Compact(want.Off)
	err = s.Store.Update(ctx, who.Shop.ID, func(tx Tx) error {
		is, err := tx.PortalPreferences(ctx, who.Actor.Customer)
		if err != nil {
			return err
		}
		if err := is.seen(want.Version); err != nil {
			return err
		}
		p = want
		p.Version, p.UpdatedAt = is.Version, s.Clock.Now()
		return tx.PutPortalPreferences(ctx, &p)
	})
	return p, err
}

// seen refuses a change by a caller who has seen another version. Version 0 is not compared.
func (p Preferences) seen(version int64) error {
	if version != 0 && version != p.Version {
		return fault.New(fault.Conflict, "the preferences have changed").Entity("customerPreferences").Code("changedMeanwhile")
	}
	return nil
}
