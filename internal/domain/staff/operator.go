package staff

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Add makes a user of a store, for the operator. Without a password a user who has none sets
// one by a reset.
func (s *Service) Add(ctx context.Context, of shop.ID, email, name string, role Role, password string) error {
	email, err := parseEmail(email)
	if err != nil {
		return err
	}
	if name, err = parseName(name); err != nil {
		return err
	}
	var hash PasswordHash
	if password != "" {
		if err := checkPassword(password, email); err != nil {
			return err
		}
		hash = s.hash(password)
	}
	return s.change(ctx, of, Acting{}, func(t *team) error {
		u, err := t.tx.UserByEmail(ctx, email)
		if fault.Is(err, fault.NotFound) {
			u, err = User{Email: email, Name: name, CreatedAt: s.Clock.Now()}, nil
		}
		if err != nil {
			return err
		}
		if t.member(u.ID) != nil {
			return fault.New(fault.Conflict, "the store has a user with the address %s already", email).Entity(entity).Code("userExists").Field("email")
		}
		if hash != "" {
			if u.Password != "" {
				return fault.New(fault.Conflict, "the user %s has a password already: add the user without one", email).Entity(entity).Code("passwordExists").Field("password")
			}
			u.Password = hash
		}
		if err := t.tx.PutUser(ctx, &u); err != nil {
			return err
		}
		if err := t.join(ctx, u.ID, role, Member{CreatedAt: s.Clock.Now()}); err != nil {
			return err
		}
		return s.record(ctx, t.shopTx, of, t.by, change{"USER_ADDED", email, role})
	})
}

// Find returns a user of a store by the e-mail address, or NotFound.
func (s *Service) Find(ctx context.Context, of shop.ID, email string) (Person, error) {
	email, err := parseEmail(email)
	if err != nil {
		return Person{}, err
	}
	people, err := s.Store.People(ctx, of)
	if err != nil {
		return Person{}, err
	}
	for _, p := range people {
		if p.Email == email {
			return p, nil
		}
	}
	return Person{}, memberNotFound()
}

// Reset gives a user of a store another password, for the operator, turns the second factor
// off when asked to, and ends the user's sessions.
func (s *Service) Reset(ctx context.Context, id UserID, password string, factor bool) error {
	u, err := s.Store.User(ctx, id)
	if err != nil {
		return err
	}
	if err := checkPassword(password, u.Email); err != nil {
		return err
	}
	hash := s.hash(password)
	logs, err := s.logsOf(ctx, id)
	if err != nil {
		return err
	}
	return s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		u, err := tx.UserByID(ctx, id)
		if err != nil {
			return err
		}
		u.Password = hash
		what := "PASSWORD_RESET"
		if factor {
			u.Factor, what = SecondFactor{}, "PASSWORD_AND_TWO_FACTOR_RESET"
		}
		if err := tx.PutUser(ctx, &u); err != nil {
			return err
		}
		if err := tx.EndUserSessions(ctx, u.ID, Hash{}); err != nil {
			return err
		}
		if err := s.forgive(ctx, tx, signInsOfAccount, u.Email); err != nil {
			return err
		}
		return logs.record(ctx, s, tx, u, activity.Operator, what)
	})
}
