package connection

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Token returns the access token with which a store is called now. It refreshes one that
// expires soon, and waits for it only when the old one cannot be used any more.
func (s *Service) Token(ctx context.Context, of platform.Shop) (platform.Token, error) {
	if kept, ok := s.cache.Load(of.Domain); ok {
		if k := kept.(cached); k.freshTill.IsZero() || s.Clock.Now().Before(k.freshTill) {
			if k.given {
				return of.Token, nil
			}
			return k.token, nil
		}
	}
	return s.shared(ctx, of, "")
}

// Replace returns the access token to use after the platform did not accept one.
func (s *Service) Replace(ctx context.Context, of platform.Shop, refused platform.Token) (platform.Token, error) {
	if kept, ok := s.cache.Load(of.Domain); ok && (kept.(cached).given || kept.(cached).token == refused) {
		s.cache.CompareAndDelete(of.Domain, kept)
	}
	return s.shared(ctx, of, refused)
}

// shared finds the token once for all callers of this process that wait for it. A caller
// whose context ends goes; the work does not end with it.
func (s *Service) shared(ctx context.Context, of platform.Shop, refused platform.Token) (platform.Token, error) {
	found := s.flights.DoChan(of.Domain+"\x00"+string(of.Token)+"\x00"+string(refused), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.policy().Lease+s.policy().Work)
		defer cancel()
		return s.find(ctx, of, refused)
	})
	select {
	case r := <-found:
		token, _ := r.Val.(platform.Token)
		return token, r.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// find reads the connection and refreshes it when it must.
func (s *Service) find(ctx context.Context, of platform.Shop, refused platform.Token) (platform.Token, error) {
	id, err := s.Store.IDOf(ctx, of.Domain)
	if fault.Is(err, fault.NotFound) {
		return given(of, refused)
	}
	if err != nil {
		return "", err
	}
	for waited := time.Duration(0); ; waited += s.policy().Poll {
		c, token, err := s.claim(ctx, id, of, refused)
		switch {
		case err != nil:
			return "", err
		case token != "":
			return token, nil
		case c.Holder == "":
			if waited > s.policy().Lease { // the clock of the lease may stand still, or differ
				return "", busy(of.Domain, "another process has not finished")
			}
			if err := s.wait(ctx, s.policy().Poll); err != nil {
				return "", err
			}
			continue
		}
		if err := s.renew(ctx, id, of.Domain, c); err != nil {
			return "", err
		}
	}
}

// given returns the token that the caller has, for a store without a connection.
func given(of platform.Shop, refused platform.Token) (platform.Token, error) {
	if of.Token == refused {
		return "", platform.ErrDisconnected
	}
	return of.Token, nil
}

// busy says that a store cannot be called now and that nothing was done. The cause is not
// wrapped: that a refresh has an unknown outcome says nothing of the call.
func busy(domain string, why any) error {
	return fmt.Errorf("%w: the access token of %s cannot be refreshed now: %v", platform.ErrThrottled, domain, why)
}

// claim returns the token when there is one to use. Otherwise this process has become the
// one that refreshes when the connection has a Holder, and must wait when it has none.
func (s *Service) claim(ctx context.Context, id shop.ID, of platform.Shop, refused platform.Token) (held Connection, token platform.Token, err error) {
	err = s.Store.Update(ctx, id, func(tx Tx) error {
		held, token = Connection{}, "" // it may be run again
		c, err := tx.PlatformConnection(ctx, Primary)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		if c.none() {
			if token, err = given(of, refused); err == nil {
				s.cache.Store(of.Domain, cached{given: true, freshTill: now.Add(keepGiven)})
			}
			return err
		}
		accepted := c.Access != refused
		switch {
		case accepted && c.fresh(now, s.policy().Margin):
			s.keep(of.Domain, c)
			token = c.Access
			return nil
		case !c.renewable():
			if !accepted {
				return platform.ErrDisconnected
			}
			token = c.Access
			return nil
		case c.held(now) || now.Before(c.RetryAt):
			if accepted && c.usable(now) && !(c.Migrating && c.held(now)) {
				token = c.Access
				return nil
			}
			if c.held(now) {
				return nil
			}
			if c.Refused != "" {
				return fmt.Errorf("%w: %s", platform.ErrDisconnected, c.Refused)
			}
			return busy(of.Domain, "it has failed and is tried again later")
		}
		c.hold(rand.Text(), now.Add(s.policy().Lease))
		held = c
		return tx.PutPlatformConnection(ctx, c)
	})
	return held, token, err
}

// keep remembers a fresh token.
func (s *Service) keep(domain string, c Connection) {
	k := cached{token: c.Access}
	if !c.ExpiresAt.IsZero() {
		k.freshTill = c.ExpiresAt.Add(-s.policy().Margin)
	}
	s.cache.Store(domain, k)
}

// renew gets the next grant of a connection that this process holds, and writes it before
// it is used. A process that dies between the two leaves the refresh token from which the
// grant came, which the platform accepts again until the lost one is used.
func (s *Service) renew(ctx context.Context, id shop.ID, domain string, c Connection) error {
	work, cancel := context.WithTimeout(ctx, s.policy().Work)
	defer cancel()
	app, ok := s.Apps[c.App]
	if !ok {
		return fault.New(fault.Internal, "the app %s of %s has no client id in the settings", c.App, domain)
	}
	next, used, failed := s.ask(work, app, domain, c)
	if failed != nil {
		s.Log.WarnContext(ctx, "the access token is not refreshed", "shop", domain, "error", failed)
	}
	return s.Store.Update(ctx, id, func(tx Tx) error {
		current, err := tx.PlatformConnection(ctx, c.App)
		if err != nil {
			return err
		}
		if current.Holder != c.Holder { // another process or a merchant has replaced it
			return nil
		}
		now := s.Clock.Now()
		if failed == nil {
			current.replace(next, used, now)
		} else {
			current.fail(failed, now, s.policy())
		}
		return tx.PutPlatformConnection(ctx, current)
	})
}

// ask asks the platform for the next grant, with each token that it may accept.
func (s *Service) ask(ctx context.Context, app platform.Authorizer, domain string, c Connection) (next platform.Grant, used platform.Token, err error) {
	if c.Refresh == "" {
		next, err = app.Migrate(ctx, domain, c.Access)
		return next, "", err
	}
	next, err = app.Refresh(ctx, domain, c.Refresh)
	if !refusedGrant(err) || c.Previous == "" {
		return next, c.Refresh, err
	}
	next, err = app.Refresh(ctx, domain, c.Previous)
	return next, c.Previous, err
}

// refusedGrant reports whether the platform said that it does not accept a token.
func refusedGrant(err error) bool {
	r, ok := errors.AsType[*platform.Refusal](err)
	return ok && r.Code == platform.CodeInvalidGrant
}

// fail notes a failed refresh and when it is tried again. Nothing is given up for good.
func (c *Connection) fail(cause error, now time.Time, p Policy) {
	c.release()
	c.Failures++
	pause := p.MaxPause
	if c.Failures < 16 {
		pause = min(pause, p.Backoff<<(c.Failures-1))
	}
	if refusedGrant(cause) {
		pause = p.MaxPause
		if c.Migrating {
			c.Migrating = false // the app is not one whose tokens expire
		} else {
			c.Refused = cause.Error()
		}
	}
	c.RetryAt = now.Add(pause)
}
