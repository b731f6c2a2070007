package staff

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
)

// SendReset is the task of sending an e-mail with which a user sets a new password.
type SendReset struct {
	Email string `json:"email"`
	IP    string `json:"ip"`
}

// Kind names the task.
func (SendReset) Kind() string { return "staff_send_reset" }

// RequestReset has an e-mail sent with which a user sets a new password. It does the same
// for every address: a task finds out whether a user has it.
func (s *Service) RequestReset(ctx context.Context, email string, c Client) error {
	email, err := parseEmail(email)
	if err != nil {
		return err
	}
	if _, err := s.link(""); err != nil {
		return err
	}
	return s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		if err := s.count(ctx, tx, resetsOfClient, c.IP); err != nil {
			return err
		}
		if err := s.count(ctx, tx, resetsOfAccount, email); err != nil {
			return unless(err, fault.RateLimited)
		}
		return tx.Enqueue(ctx, SendReset{Email: email, IP: c.IP})
	})
}

// SendReset carries out the task: nothing happens when no user of a store has the address.
func (s *Service) SendReset(ctx context.Context, t SendReset) error {
	var u User
	err := s.Store.UpdateUsers(ctx, func(tx UserTx) (err error) {
		u, err = tx.UserByEmail(ctx, t.Email)
		return unless(err, fault.NotFound)
	})
	if err != nil || u.ID == 0 {
		return err
	}
	stores, err := s.Store.Memberships(ctx, u.ID)
	if err != nil || len(stores) == 0 {
		return err
	}
	return s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		value, hash := secret.New()
		url, err := s.link("/reset/" + value)
		if err != nil {
			return err
		}
		r := Reset{Hash: hash, User: u.ID, ExpiresAt: s.RealClock.Now().Add(resetLife)}
		if err := tx.AddReset(ctx, r); err != nil {
			return err
		}
		of := stores[0].Shop
		by := actor(u.Known(), Client{IP: t.IP})
		part, err := tx.In(ctx, of)
		if err != nil {
			return err
		}
		return s.send(ctx, part, of, letter{to: u.Email, url: url, hash: hash, until: r.ExpiresAt, by: by})
	})
}

func resetEnded() error {
	return fault.New(fault.NotFound, "the link is not known, was used, or has expired: ask for a new one").Entity(entity).Code("resetEnded")
}

// CheckReset returns why a link cannot be used, or nil. It does not use the link: mail
// programs open links before their readers do.
func (s *Service) CheckReset(ctx context.Context, value string) error {
	_, err := s.reset(ctx, value)
	return err
}

func (s *Service) reset(ctx context.Context, value string) (Reset, error) {
	if !secret.WellFormed(value) {
		return Reset{}, resetEnded()
	}
	r, err := s.Store.ResetByHash(ctx, secret.HashOf(value))
	if fault.Is(err, fault.NotFound) || err == nil && !s.RealClock.Now().Before(r.ExpiresAt) {
		return Reset{}, resetEnded()
	}
	return r, err
}

// ResetPassword uses a link. It ends all sessions of the user; the second factor stays.
func (s *Service) ResetPassword(ctx context.Context, value, password string, c Client) error {
	r, err := s.reset(ctx, value)
	if err != nil {
		return err
	}
	u, err := s.Store.User(ctx, r.User)
	if err != nil {
		return err
	}
	if err := checkPassword(password, u.Email); err != nil {
		return err
	}
	hash := s.hash(password)
	logs, err := s.logsOf(ctx, u.ID)
	if err != nil {
		return err
	}
	return s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		if _, err := tx.UseReset(ctx, r.Hash); err != nil {
			if fault.Is(err, fault.NotFound) {
				return resetEnded()
			}
			return err
		}
		u, err := tx.UserByID(ctx, r.User)
		if err != nil {
			return err
		}
		return s.setPassword(ctx, tx, &u, hash, Hash{}, note{logs, c, "PASSWORD_RESET"})
	})
}

// note is what the activity logs say of a change that a user made.
type note struct {
	in     everywhere
	client Client
	what   string
}

func (n note) record(ctx context.Context, s *Service, tx UserTx, u User) error {
	return n.in.record(ctx, s, tx, u, actor(u.Known(), n.client), n.what)
}

// setPassword stores a password and ends the user's sessions except one.
func (s *Service) setPassword(ctx context.Context, tx UserTx, u *User, hash PasswordHash, except Hash, n note) error {
	u.Password = hash
	if err := tx.PutUser(ctx, u); err != nil {
		return err
	}
	if err := tx.EndUserSessions(ctx, u.ID, except); err != nil {
		return err
	}
	if err := s.forgive(ctx, tx, signInsOfAccount, u.Email); err != nil {
		return err
	}
	return n.record(ctx, s, tx, *u)
}
