package staff

import (
	"context"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Invite sends an e-mail with which its reader joins a store. It takes the place of an open
// invitation of the same address.
func (s *Service) Invite(ctx context.Context, of shop.ID, by Acting, email string, role Role) error {
	email, err := parseEmail(email)
	if err != nil {
		return err
	}
	return s.change(ctx, of, by, func(t *team) error {
		if err := t.manage(role); err != nil {
			return err
		}
		if err := s.count(ctx, t.tx, invitesOfStore, strconv.FormatInt(int64(of), 10)); err != nil {
			return err
		}
		known, err := t.tx.UserByEmail(ctx, email)
		if err := unless(err, fault.NotFound); err != nil {
			return err
		}
		if err == nil && t.member(known.ID) != nil {
			return fault.New(fault.Conflict, "the store has a user with the address %s already", email).Entity(entity).Code("userExists").Field("email")
		}
		store, err := t.shopTx.Shop(ctx)
		if err != nil {
			return err
		}
		now := s.RealClock.Now()
		if _, err := t.shopTx.EndInvitations(ctx, email, now); err != nil {
			return err
		}
		value, hash := secret.New()
		url, err := s.link("/invitation/" + login.Handle(store.Domain) + "/" + value)
		if err != nil {
			return err
		}
		i := Invitation{Email: email, Role: role, Hash: hash, InvitedBy: t.by.By, CreatedAt: now, ExpiresAt: now.Add(invitationLife)}
		if err := t.shopTx.AddInvitation(ctx, &i); err != nil {
			return err
		}
		if err := s.send(ctx, t.shopTx, of, letter{email, url, hash, i.ExpiresAt, role, t.by}); err != nil {
			return err
		}
		return s.record(ctx, t.shopTx, of, t.by, change{"USER_INVITED", email, role})
	})
}

// Withdraw ends the open invitations of an address.
func (s *Service) Withdraw(ctx context.Context, of shop.ID, by Acting, email string) error {
	email, err := parseEmail(email)
	if err != nil {
		return err
	}
	return s.change(ctx, of, by, func(t *team) error {
		if err := t.manage(Support); err != nil {
			return err
		}
		n, err := t.shopTx.EndInvitations(ctx, email, s.RealClock.Now())
		if err != nil || n == 0 {
			return err
		}
		return s.record(ctx, t.shopTx, of, t.by, change{Change: "INVITATION_WITHDRAWN", User: email})
	})
}

// Invitations returns the open invitations of a store, newest first.
func (s *Service) Invitations(ctx context.Context, of shop.ID) ([]Invitation, error) {
	return s.Store.OpenInvitations(ctx, of, s.RealClock.Now())
}

// Invited is what the page of an invitation shows.
type Invited struct {
	Shop  shop.Shop
	Email string
	Role  Role
}

func invitationEnded() error {
	return fault.New(fault.NotFound, "the invitation is not known, was used, or has expired: ask for a new one").Entity(entity).Code("invitationEnded")
}

// Invitation returns what an invitation is for, or NotFound.
func (s *Service) Invitation(ctx context.Context, handle, value string) (Invited, error) {
	if !secret.WellFormed(value) {
		return Invited{}, invitationEnded()
	}
	of, err := s.Store.ShopByDomain(ctx, login.Domain(handle))
	if fault.Is(err, fault.NotFound) {
		return Invited{}, invitationEnded()
	}
	if err != nil {
		return Invited{}, err
	}
	i, err := s.Store.InvitationByHash(ctx, of.ID, secret.HashOf(value))
	if fault.Is(err, fault.NotFound) || err == nil && !i.open(s.RealClock.Now()) {
		return Invited{}, invitationEnded()
	}
	return Invited{of, i.Email, i.Role}, err
}

// Accept uses an invitation. The password is a new user's new one, or that which the user
// with the address has already. It returns the address.
func (s *Service) Accept(ctx context.Context, handle, value, name, password string, c Client) (email string, err error) {
	i, err := s.Invitation(ctx, handle, value)
	if err != nil {
		return "", err
	}
	if name, err = parseName(name); err != nil {
		return "", err
	}
	var known User
	err = s.Store.UpdateUsers(ctx, func(tx UserTx) (err error) {
		if err := s.count(ctx, tx, signInsOfAccount, i.Email); err != nil {
			return err
		}
		known, err = tx.UserByEmail(ctx, i.Email)
		return unless(err, fault.NotFound)
	})
	if err != nil {
		return "", err
	}
	hash := known.Password
	if hash == "" {
		if err := checkPassword(password, i.Email); err != nil {
			return "", err
		}
		hash = s.hash(password)
	} else if !hash.matches(password) {
		return "", fault.New(fault.Unauthenticated, "there is an account with the address %s already, and it has another password", i.Email).Entity(entity).Code("credentialsInvalid")
	}
	err = s.change(ctx, i.Shop.ID, Acting{}, func(t *team) error {
		open, err := t.shopTx.Invitation(ctx, secret.HashOf(value))
		if fault.Is(err, fault.NotFound) || err == nil && !open.open(s.RealClock.Now()) {
			return invitationEnded()
		}
		if err != nil {
			return err
		}
		u, err := t.tx.UserByEmail(ctx, open.Email)
		if fault.Is(err, fault.NotFound) {
			u, err = User{Email: open.Email, CreatedAt: s.Clock.Now()}, nil
		}
		if err != nil {
			return err
		}
		if u.Password != known.Password {
			return fault.New(fault.Conflict, "the account was changed meanwhile: try again").Entity(entity)
		}
		u.Password = hash
		if u.Name == "" {
			u.Name = name
		}
		if err := t.tx.PutUser(ctx, &u); err != nil {
			return err
		}
		t.by = actor(u.Known(), c)
		if t.member(u.ID) == nil {
			if err := t.join(ctx, u.ID, open.Role, Member{CreatedAt: s.Clock.Now()}); err != nil {
				return err
			}
		}
		if _, err := t.shopTx.EndInvitations(ctx, open.Email, s.RealClock.Now()); err != nil {
			return err
		}
		if err := s.forgive(ctx, t.tx, signInsOfAccount, i.Email); err != nil {
			return err
		}
		return s.record(ctx, t.shopTx, t.shop, t.by, change{"USER_JOINED", u.Known(), open.Role})
	})
	return i.Email, err
}
