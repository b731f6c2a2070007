package login

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Service issues links and tokens and authenticates subscribers.
type Service struct {
	Store Store
	Clock clock.Clock
	// PublicURL is the address under which subscribers reach the portal; empty:
	// no links can be made.
	PublicURL string
	// Accounts signs customers in at the platform; nil: they cannot.
	Accounts platform.Accounts
}

// address returns the address of a page of a store's portal.
func (s *Service) address(store shop.Shop, path string) string {
	return strings.TrimSuffix(s.PublicURL, "/") + "/p/" + Handle(store.Domain) + path
}

// CustomerRef names a customer of a line: by number or by address. When both are given
// they must be one customer's.
type CustomerRef struct {
	Line     shop.Line // empty: of any
	Customer int64     // 0: not given
	Email    string    // empty: not given
}

// Check fails when neither an id nor an address is given.
func (w CustomerRef) Check() error {
	if w.Email == "" {
		return nil
	}
	return notify.CheckAddress("email", w.Email)
}

// find returns the customer. An unknown id is NotFound, an unknown address is only
// Invalid.
func (w CustomerRef) find(ctx context.Context, tx Tx) (Subscriber, error) {
	if w.Customer != 0 {
		found, err := tx.SubscriberByID(ctx, w.Line, w.Customer)
		if fault.Is(err, fault.NotFound) {
			return found, fault.New(fault.NotFound, "customer %d has no subscription", w.Customer).Entity(entity).Code("customerNotFound").Field("customerId")
		}
		if err == nil && w.Email != "" && !strings.EqualFold(found.Customer.Email, w.Email) {
			return found, fault.New(fault.Invalid, "customer %d has another e-mail address than %q", w.Customer, w.Email).Entity(entity).Code("emailMismatch").Field("email")
		}
		return found, err
	}
	found, err := tx.SubscriberByEmail(ctx, w.Line, w.Email)
	if fault.Is(err, fault.NotFound) {
		return found, fault.New(fault.Invalid, "no subscriber has the e-mail address %q", w.Email).Entity(entity).Code("subscriberNotFound").Field("email")
	}
	return found, err
}

// Credential opens the portal for a customer: a link or a token.
type Credential struct {
	Customer  int64
	Value     string
	ExpiresAt time.Time
}

// NewLink makes a link that works once.
func (s *Service) NewLink(ctx context.Context, of shop.ID, who CustomerRef) (Credential, error) {
	if err := who.Check(); err != nil {
		return Credential{}, err
	}
	var made Credential
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		found, err := who.find(ctx, tx)
		if err != nil {
			return err
		}
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		made, _, err = s.link(ctx, tx, store, found)
		return err
	})
	return made, err
}

// link makes a link in a transaction.
func (s *Service) link(ctx context.Context, tx Tx, store shop.Shop, found Subscriber) (Credential, Link, error) {
	if s.PublicURL == "" {
		return Credential{}, Link{}, noPublicURL()
	}
	now := s.Clock.Now()
	value, hash := secret.New()
	l := Link{Hash: hash, Customer: found.Customer.ID, Contract: found.Contract, CreatedAt: now, ExpiresAt: now.Add(linkLife)}
	url := s.address(store, "/l/"+value)
	return Credential{l.Customer, url, l.ExpiresAt}, l, tx.AddLink(ctx, l)
}

// NewToken makes a token for the portal's interface.
func (s *Service) NewToken(ctx context.Context, of shop.ID, who CustomerRef) (Credential, error) {
	if err := who.Check(); err != nil {
		return Credential{}, err
	}
	var made Credential
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		found, err := who.find(ctx, tx)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		value, hash := secret.New()
		made = Credential{found.Customer.ID, value, now.Add(tokenLife)}
		return tx.AddSession(ctx, Session{Hash: hash, Customer: made.Customer, Via: ByToken, CreatedAt: now, SeenAt: now, ExpiresAt: made.ExpiresAt})
	})
	return made, err
}

// SendLink e-mails a link to the customer with an address, for a merchant.
func (s *Service) SendLink(ctx context.Context, of shop.ID, who CustomerRef, by activity.Actor) error {
	if err := notify.CheckAddress("email", who.Email); err != nil {
		return err
	}
	return s.Store.Update(ctx, of, func(tx Tx) error {
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if !store.Settings.Sends(notify.ManagementLink) {
			return fault.New(fault.FailedPrecondition, "the store does not send e-mails of the kind %s", notify.ManagementLink).Entity("emailTemplate").Code("templateDisabled")
		}
		found, err := who.find(ctx, tx)
		if err != nil {
			return err
		}
		if err := s.count(ctx, tx, addressKind, who.Email, perAddress); err != nil {
			return err
		}
		return s.mail(ctx, tx, store, found, by)
	})
}

// RequestLink e-mails a link to a visitor of the portal. Its answer does not reveal whether
// the address belongs to a subscriber: only a client that exceeds the rate limit gets a
// different one.
func (s *Service) RequestLink(ctx context.Context, of shop.ID, email, clientIP string) error {
	if err := notify.CheckAddress("email", email); err != nil {
		return err
	}
	return s.Store.Update(ctx, of, func(tx Tx) error {
		if err := s.count(ctx, tx, clientKind, clientIP, perClient); err != nil {
			return err
		}
		if err := s.count(ctx, tx, addressKind, email, perAddress); err != nil {
			return quiet(err, fault.RateLimited)
		}
		store, err := tx.Shop(ctx)
		if err != nil || !store.Settings.Sends(notify.ManagementLink) {
			return err
		}
		found, err := CustomerRef{Email: email}.find(ctx, tx)
		if err != nil {
			return quiet(err, fault.Invalid)
		}
		return s.mail(ctx, tx, store, found, Actor(clientIP))
	})
}

// quiet keeps a failure of a kind to itself.
func quiet(err error, kind fault.Kind) error {
	if fault.Is(err, kind) {
		return nil
	}
	return err
}

// count counts one more request, or refuses it.
func (s *Service) count(ctx context.Context, tx Tx, kind, value string, limit int) error {
	t, err := tx.Throttle(ctx, subjectOf(kind, value))
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	if err := t.take(limit, now); err != nil {
		return err
	}
	return tx.PutThrottle(ctx, t, now)
}

// mail makes a link and leaves the e-mail that holds it.
func (s *Service) mail(ctx context.Context, tx Tx, store shop.Shop, to Subscriber, by activity.Actor) error {
	made, l, err := s.link(ctx, tx, store, to)
	if err != nil {
		return err
	}
	m, err := notify.New(notify.Message{
		Kind: notify.ManagementLink, To: to.Customer.Email, Contract: l.Contract, Customer: l.Customer, Facts: notify.Facts{Link: &notify.Link{URL: made.Value, Expires: l.ExpiresAt}}, Actor: by,
		DedupeKey: dedupeKey(l, by), ExpiresAt: l.ExpiresAt,
	}, l.CreatedAt)
	if err != nil {
		return err
	}
	return notify.Queue(ctx, tx, store.ID, m)
}

// dedupeKey is the key of the e-mail that holds a link. A bulk job sends a customer one.
func dedupeKey(l Link, by activity.Actor) string {
	if by.Job != 0 {
		return fmt.Sprintf("%s:job:%d:%d", notify.ManagementLink, by.Job, l.Customer)
	}
	return string(notify.ManagementLink) + ":" + hex.EncodeToString(l.Hash[:])
}
