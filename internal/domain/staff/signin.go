package staff

import (
	"context"
	"encoding/hex"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Principal is a user who is signed in.
type Principal struct {
	User    User
	Session Session
}

// Acting returns the user as the author of a change.
func (p Principal) Acting(c Client) Acting { return Acting{User: p.User.ID, Client: c} }

// Actor is the user as the activity log names them.
func (p Principal) Actor(c Client) activity.Actor { return actor(p.User.Known(), c) }

// wrong is the answer to a wrong address, a wrong password, and a user without one.
func wrong() error {
	return fault.New(fault.Unauthenticated, "the e-mail address or the password is wrong").Entity(entity).Code("credentialsInvalid")
}

// SignedOut is the failure of a request without a session.
func signedOut() error {
	return fault.New(fault.Unauthenticated, "the user is not signed in").Entity(entity).Code("signedOut")
}

// SignIn begins a session. With pending, the user has to bring the second factor before the
// session opens anything. The answer and its time are the same for unknown users.
func (s *Service) SignIn(ctx context.Context, email, password string, c Client) (value string, pending bool, err error) {
	email, err = parseEmail(email)
	if err != nil {
		return "", false, wrong()
	}
	var found User
	err = s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		if err := s.count(ctx, tx, signInsOfClient, c.IP); err != nil {
			return err
		}
		if err := s.count(ctx, tx, signInsOfAccount, email); err != nil {
			return err
		}
		var err error
		found, err = tx.UserByEmail(ctx, email)
		return unless(err, fault.NotFound)
	})
	if err != nil {
		return "", false, err
	}
	if !found.Password.matches(password) {
		return "", false, wrong()
	}
	err = s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		u, err := tx.UserByID(ctx, found.ID)
		if err != nil {
			return err
		}
		if u.Password != found.Password { // it was changed meanwhile
			return wrong()
		}
		if err := s.forgive(ctx, tx, signInsOfAccount, email); err != nil {
			return err
		}
		pending = u.Factor.On()
		value, err = s.begin(ctx, tx, u, pending, c)
		return err
	})
	return value, pending, err
}

// unless returns nil for a failure of a kind.
func unless(err error, kind fault.Kind) error {
	if fault.Is(err, kind) {
		return nil
	}
	return err
}

// begin adds a session and returns its secret.
func (s *Service) begin(ctx context.Context, tx UserTx, u User, pending bool, c Client) (string, error) {
	value, hash := secret.New()
	now := s.RealClock.Now()
	life := sessionLife
	if pending {
		life = pendingLife
	}
	return value, tx.AddUserSession(ctx, Session{
		Hash: hash, User: u.ID, Pending: pending, Client: c.IP, Agent: c.agent(), CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(life),
	})
}

// Pending reports whether a session waits for the second factor.
func (s *Service) Pending(ctx context.Context, value string) (bool, error) {
	found, err := s.session(ctx, value)
	return found.Pending, unless(err, fault.Unauthenticated)
}

// session returns a session that has not ended, or Unauthenticated.
func (s *Service) session(ctx context.Context, value string) (Session, error) {
	if !secret.WellFormed(value) {
		return Session{}, signedOut()
	}
	found, err := s.Store.UserSession(ctx, secret.HashOf(value))
	if fault.Is(err, fault.NotFound) {
		return Session{}, signedOut()
	}
	if err != nil {
		return Session{}, err
	}
	if !found.alive(s.RealClock.Now()) {
		return Session{}, signedOut()
	}
	return found, nil
}

// Confirm brings the second factor of a pending session, and returns the secret of the
// session that takes its place.
func (s *Service) Confirm(ctx context.Context, value, code string, c Client) (string, error) {
	found, err := s.session(ctx, value)
	if err != nil {
		return "", err
	}
	if !found.Pending {
		return "", signedOut()
	}
	var opened string
	err = s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		opened = ""
		if err := s.count(ctx, tx, codesOfUser, strconv.FormatInt(int64(found.User), 10)); err != nil {
			return err
		}
		u, err := tx.UserByID(ctx, found.User)
		if err != nil {
			return err
		}
		factor, right := u.Factor.check(code, s.RealClock.Now())
		if !right {
			return nil // the try is counted
		}
		u.Factor = factor
		if err := tx.PutUser(ctx, &u); err != nil {
			return err
		}
		if err := s.forgive(ctx, tx, codesOfUser, strconv.FormatInt(int64(u.ID), 10)); err != nil {
			return err
		}
		if err := tx.EndUserSession(ctx, found.Hash); err != nil {
			return err
		}
		opened, err = s.begin(ctx, tx, u, false, c)
		return err
	})
	if err == nil && opened == "" {
		err = fault.New(fault.Unauthenticated, "the code is wrong or was used already").Entity(entity).Code("codeInvalid")
	}
	return opened, err
}

// Authenticate returns the user of a session, or Unauthenticated.
func (s *Service) Authenticate(ctx context.Context, value string) (Principal, error) {
	found, err := s.session(ctx, value)
	if err != nil {
		return Principal{}, err
	}
	if found.Pending {
		return Principal{}, signedOut()
	}
	now := s.RealClock.Now()
	if now.Sub(found.SeenAt) >= lastUseResolution {
		if err := s.Store.UpdateUsers(ctx, func(tx UserTx) error { return tx.TouchUserSession(ctx, found.Hash, now) }); err != nil {
			return Principal{}, err
		}
	}
	u, err := s.Store.User(ctx, found.User)
	return Principal{User: u, Session: found}, err
}

// Stores returns the stores that the user may enter, by domain.
func (s *Service) Stores(ctx context.Context, p Principal) ([]Membership, error) {
	return s.Store.Memberships(ctx, p.User.ID)
}

// Enter returns a store, the user's role there, and how many stores the user may enter. A
// store that the user does not belong to is NotFound, as one that does not exist.
func (s *Service) Enter(ctx context.Context, p Principal, handle string) (of shop.Shop, role Role, stores int, err error) {
	list, err := s.Store.Memberships(ctx, p.User.ID)
	if err != nil {
		return shop.Shop{}, "", 0, err
	}
	for _, m := range list {
		if login.Handle(m.Domain) == handle {
			of, err := s.Store.ShopByDomain(ctx, m.Domain)
			return of, m.Role, len(list), err
		}
	}
	return shop.Shop{}, "", 0, fault.New(fault.NotFound, "store not found").Entity("shop").Code("shopNotFound")
}

// SignOut ends a session.
func (s *Service) SignOut(ctx context.Context, value string) error {
	if !secret.WellFormed(value) {
		return nil
	}
	return s.Store.UpdateUsers(ctx, func(tx UserTx) error { return tx.EndUserSession(ctx, secret.HashOf(value)) })
}

// Sessions returns the sessions of the user, the one that was used last first.
func (s *Service) Sessions(ctx context.Context, p Principal) ([]Session, error) {
	now := s.RealClock.Now()
	list, err := s.Store.UserSessions(ctx, p.User.ID, now)
	var alive []Session
	for _, one := range list {
		if one.alive(now) && !one.Pending {
			alive = append(alive, one)
		}
	}
	return alive, err
}

// Name returns how a session is named in a form. It does not open the session.
func (s Session) Name() string { return hex.EncodeToString(s.Hash[:]) }

// Revoke ends one of the user's sessions; with name "" all but the present one.
func (s *Service) Revoke(ctx context.Context, p Principal, name string, c Client) error {
	logs, err := s.logsOf(ctx, p.User.ID)
	if err != nil {
		return err
	}
	return s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		if name == "" {
			if err := tx.EndUserSessions(ctx, p.User.ID, p.Session.Hash); err != nil {
				return err
			}
		} else {
			list, err := s.Store.UserSessions(ctx, p.User.ID, s.RealClock.Now())
			if err != nil {
				return err
			}
			for _, one := range list {
				if one.Name() == name {
					if err := tx.EndUserSession(ctx, one.Hash); err != nil {
						return err
					}
				}
			}
		}
		return logs.record(ctx, s, tx, p.User, actor(p.User.Known(), c), "SESSION_REVOKED")
	})
}
