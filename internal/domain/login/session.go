package login

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// maxContracts is how many contracts of one customer the portal shows.
const maxContracts = 200

// linkUnknown is the failure that nobody made a link.
func linkUnknown() error {
	return fault.New(fault.NotFound, "this link is not known").Code("linkUnknown")
}

// Shop returns the store that an address of the portal names, or NotFound.
func (s *Service) Shop(ctx context.Context, handle string) (shop.Shop, error) {
	return s.Store.ShopByDomain(ctx, Domain(handle))
}

// CheckLink says why a link opens nothing, or nil. It uses nothing up: mail programs
// open links before people do.
func (s *Service) CheckLink(ctx context.Context, of shop.ID, link string) error {
	if !wellFormed(link) {
		return linkUnknown()
	}
	l, err := s.Store.LinkByHash(ctx, of, hashOf(link))
	if fault.Is(err, fault.NotFound) {
		return linkUnknown()
	}
	if err != nil {
		return err
	}
	return l.usable(s.Clock.Now())
}

// Enter uses a link up and returns the value that stands for the session which
// begins.
func (s *Service) Enter(ctx context.Context, of shop.ID, link string) (string, error) {
	if !wellFormed(link) {
		return "", linkUnknown()
	}
	var value string
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		l, err := tx.Link(ctx, hashOf(link))
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
		value, hash = newSecret()
		return tx.AddSession(ctx, Session{Hash: hash, Customer: l.Customer, Via: ByLink, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(sessionLife)})
	})
	if err != nil {
		return "", err
	}
	return value, nil
}

// Authenticate returns whom a session or a token stands for. Anything else is
// Unauthenticated.
func (s *Service) Authenticate(ctx context.Context, of shop.ID, value string, via Via) (Principal, error) {
	nobody := fault.New(fault.Unauthenticated, "nobody is signed in").Entity(entity).Code("signedOut")
	if !wellFormed(value) {
		return Principal{}, nobody
	}
	hash, now := hashOf(value), s.Clock.Now()
	found, err := s.Store.SessionByHash(ctx, of, hash)
	if fault.Is(err, fault.NotFound) {
		return Principal{}, nobody
	}
	if err != nil {
		return Principal{}, err
	}
	if found.Via != via || !found.alive(now) {
		return Principal{}, nobody
	}
	if via == ByLink && now.Sub(found.SeenAt) >= noteEvery {
		if err := s.Store.Update(ctx, of, func(tx Tx) error { return tx.TouchSession(ctx, hash, now) }); err != nil {
			return Principal{}, err
		}
	}
	return Principal{Shop: of, Customer: found.Customer, Via: via}, nil
}

// SignOut ends a session.
func (s *Service) SignOut(ctx context.Context, of shop.ID, value string) error {
	if !wellFormed(value) {
		return nil
	}
	return s.Store.Update(ctx, of, func(tx Tx) error { return tx.EndSession(ctx, hashOf(value)) })
}

// Contracts returns the principal's contracts, newest first.
func (s *Service) Contracts(ctx context.Context, p Principal) ([]contract.Contract, error) {
	return s.Store.ContractsOf(ctx, p.Shop, p.Customer, maxContracts)
}
