package login

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// maxContracts is how many contracts of one customer the portal shows.
const maxContracts = 200

// linkUnknown is the failure that a link does not exist.
func linkUnknown() error {
	return fault.New(fault.NotFound, "this link is not known").Code("linkUnknown")
}

// Shop returns the store that an address of the portal names, or NotFound.
func (s *Service) Shop(ctx context.Context, handle string) (shop.Shop, error) {
	return s.Store.ShopByDomain(ctx, Domain(handle))
}

// CheckLink returns why a link cannot be used, or nil. It does not use the link: mail
// programs open links before their readers do.
func (s *Service) CheckLink(ctx context.Context, of shop.ID, link string) error {
	if !secret.WellFormed(link) {
		return linkUnknown()
	}
	l, err := s.Store.LinkByHash(ctx, of, secret.HashOf(link))
	if fault.Is(err, fault.NotFound) {
		return linkUnknown()
	}
	if err != nil {
		return err
	}
	return l.usable(s.Clock.Now())
}

// Enter uses a link and returns the value of the new session.
func (s *Service) Enter(ctx context.Context, of shop.ID, link string) (string, error) {
	if !secret.WellFormed(link) {
		return "", linkUnknown()
	}
	var value string
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		l, err := tx.Link(ctx, secret.HashOf(link))
		if fault.Is(err, fault.NotFound) {
			return linkUnknown()
		}
		if err != nil {
			return err
		}
		if err := l.usable(now); err != nil {
			return err
		}
		if err := tx.UseLink(ctx, l.Hash, now); err != nil {
			return err
		}
		var hash Hash
		value, hash = secret.New()
		return tx.AddSession(ctx, l.session(hash, now))
	})
	if err != nil {
		return "", err
	}
	return value, nil
}

// Authenticate returns the subscriber of a session or token, or Unauthenticated.
func (s *Service) Authenticate(ctx context.Context, of shop.ID, value string, via Via) (Principal, error) {
	signedOut := fault.New(fault.Unauthenticated, "the subscriber is not signed in").Entity(entity).Code("signedOut")
	if !secret.WellFormed(value) {
		return Principal{}, signedOut
	}
	hash, now := secret.HashOf(value), s.Clock.Now()
	found, err := s.Store.SessionByHash(ctx, of, hash)
	if fault.Is(err, fault.NotFound) {
		return Principal{}, signedOut
	}
	if err != nil {
		return Principal{}, err
	}
	if via == ByLink && found.byCookie() {
		via = found.Via
	}
	if found.Via != via || !found.alive(now) {
		return Principal{}, signedOut
	}
	if (via == ByLink || via == ByAccount) && now.Sub(found.SeenAt) >= lastUseResolution {
		if err := s.Store.Update(ctx, of, func(tx Tx) error { return tx.TouchSession(ctx, hash, now) }); err != nil {
			return Principal{}, err
		}
	}
	who := Principal{Shop: of, Customer: found.Customer, Via: via, OpenedBy: found.OpenedBy}
	if via == BySupport {
		who.Until = found.ExpiresAt
	} else {
		who.Language = found.Language
	}
	return who, nil
}

// SignOut ends a session. It returns the address at which the customer signs out at the platform too;
// empty: they did not sign in there, or it does not answer now.
func (s *Service) SignOut(ctx context.Context, of shop.Shop, value string) (elsewhere string, err error) {
	if !secret.WellFormed(value) {
		return "", nil
	}
	hash := secret.HashOf(value)
	ended, err := s.Store.SessionByHash(ctx, of.ID, hash)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if err := s.Store.Update(ctx, of.ID, func(tx Tx) error { return tx.EndSession(ctx, hash) }); err != nil {
		return "", err
	}
	return s.accountSignOut(ctx, of, ended), nil
}

// Contracts returns the principal's contracts, newest first.
func (s *Service) Contracts(ctx context.Context, p Principal) ([]contract.Contract, error) {
	return s.Store.ContractsOf(ctx, p.Shop, p.Customer, maxContracts)
}
