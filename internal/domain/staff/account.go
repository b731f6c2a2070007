package staff

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// prove refuses a user that cannot type the current password.
func (s *Service) prove(ctx context.Context, p Principal, password string) error {
	err := s.Store.UpdateUsers(ctx, func(tx UserTx) error { return s.count(ctx, tx, signInsOfAccount, p.User.Email) })
	if err != nil {
		return err
	}
	if !p.User.Password.matches(password) {
		return fault.New(fault.Unauthenticated, "the current password is wrong").Entity(entity).Code("credentialsInvalid").Field("current")
	}
	return nil
}

// alter changes a user who has proved to know the password.
func (s *Service) alter(ctx context.Context, p Principal, fn func(tx UserTx, u *User, logs everywhere) error) error {
	logs, err := s.logsOf(ctx, p.User.ID)
	if err != nil {
		return err
	}
	return s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		u, err := tx.UserByID(ctx, p.User.ID)
		if err != nil {
			return err
		}
		if u.Password != p.User.Password {
			return signedOut()
		}
		if err := s.forgive(ctx, tx, signInsOfAccount, u.Email); err != nil {
			return err
		}
		return fn(tx, &u, logs)
	})
}

// ChangePassword gives the user a new password and ends the user's other sessions.
func (s *Service) ChangePassword(ctx context.Context, p Principal, current, password string, c Client) error {
	if err := checkPassword(password, p.User.Email); err != nil {
		return err
	}
	if err := s.prove(ctx, p, current); err != nil {
		return err
	}
	hash := s.hash(password)
	return s.alter(ctx, p, func(tx UserTx, u *User, logs everywhere) error {
		return s.setPassword(ctx, tx, u, hash, p.Session.Hash, note{logs, c, "PASSWORD_CHANGED"})
	})
}

// StartTwoFactor returns what the user's authenticator app is given. Nothing is stored yet.
// With a secret it returns the same again.
func (s *Service) StartTwoFactor(p Principal, secret string) (Setup, error) {
	if secret == "" {
		secret = newTOTPSecret()
	}
	return setupOf(secret, p.User.Email)
}

// ConfirmTwoFactor turns the second factor on, after the app has shown a code for the
// secret. It returns the recovery codes, which are not shown again.
func (s *Service) ConfirmTwoFactor(ctx context.Context, p Principal, secret, code, password string, c Client) ([]string, error) {
	setup, err := setupOf(secret, p.User.Email)
	if err != nil {
		return nil, err
	}
	if err := s.prove(ctx, p, password); err != nil {
		return nil, err
	}
	factor, right := SecondFactor{Secret: setup.Secret}.check(code, s.RealClock.Now())
	if !right {
		return nil, fault.New(fault.Invalid, "the code is wrong: type the one that the app shows now").Entity(entity).Code("codeInvalid").Field("code")
	}
	var shown []string
	shown, factor.Recovery = newRecoveryCodes()
	return shown, s.alter(ctx, p, func(tx UserTx, u *User, logs everywhere) error {
		if u.Factor.On() {
			return fault.New(fault.Conflict, "two-step sign-in is on already").Entity(entity).Code("twoFactorOn")
		}
		u.Factor = factor
		return s.putFactor(ctx, tx, u, p, note{logs, c, "TWO_FACTOR_ENABLED"})
	})
}

// DisableTwoFactor turns the second factor off.
func (s *Service) DisableTwoFactor(ctx context.Context, p Principal, password string, c Client) error {
	if err := s.prove(ctx, p, password); err != nil {
		return err
	}
	return s.alter(ctx, p, func(tx UserTx, u *User, logs everywhere) error {
		u.Factor = SecondFactor{}
		return s.putFactor(ctx, tx, u, p, note{logs, c, "TWO_FACTOR_DISABLED"})
	})
}

func (s *Service) putFactor(ctx context.Context, tx UserTx, u *User, p Principal, n note) error {
	if err := tx.PutUser(ctx, u); err != nil {
		return err
	}
	if err := tx.EndUserSessions(ctx, u.ID, p.Session.Hash); err != nil {
		return err
	}
	return n.record(ctx, s, tx, *u)
}
