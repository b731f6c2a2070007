package connection

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// holdToTake makes this process the one that replaces the tokens of a known store. It
// waits for one that refreshes them.
func (s *Service) holdToTake(ctx context.Context, id shop.ID, name AppName) (holder string, err error) {
	for waited := time.Duration(0); ; waited += s.policy().Poll {
		err := s.Store.Update(ctx, id, func(tx Tx) error {
			holder = ""
			c, err := tx.PlatformConnection(ctx, name)
			if err != nil {
				return err
			}
			now := s.Clock.Now()
			if c.held(now) && waited <= s.policy().Lease {
				return nil
			}
			holder = rand.Text()
			c.hold(holder, now.Add(s.policy().Lease))
			return tx.PutPlatformConnection(ctx, c)
		})
		if err != nil || holder != "" {
			return holder, err
		}
		if err := s.wait(ctx, s.policy().Poll); err != nil {
			return "", err
		}
	}
}

// notGranted releases what holdToTake has held, and returns the failure for the merchant.
func (s *Service) notGranted(ctx context.Context, id shop.ID, name AppName, holder string, cause error) error {
	if holder != "" {
		err := s.Store.Update(ctx, id, func(tx Tx) error {
			c, err := tx.PlatformConnection(ctx, name)
			if err != nil || c.Holder != holder {
				return err
			}
			c.release()
			return tx.PutPlatformConnection(ctx, c)
		})
		if err != nil {
			return err
		}
	}
	if refusedGrant(cause) {
		return fault.Because(fault.Unauthenticated, cause, "the platform does not accept the permission any more: open the app again").Entity("shop").Code("grantRefused")
	}
	return fault.Because(fault.Unavailable, cause, "the platform did not grant access now: try again").Entity("shop").Code("grantUnknown")
}

// Migrate exchanges the access token of a store that never expires for one that does. A
// process that dies meanwhile leaves the token, which the platform exchanges again for
// some days. A store whose tokens expire already is left alone.
func (s *Service) Migrate(ctx context.Context, of shop.Shop) error {
	err := s.Store.Update(ctx, of.ID, func(tx Tx) error {
		c, err := tx.PlatformConnection(ctx, Primary)
		if err != nil || c.Refresh != "" || c.Migrating {
			return err
		}
		if c.none() {
			current, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			c.Access, c.GrantedAt = current.Token, s.Clock.Now()
		}
		c.Migrating, c.RetryAt = true, time.Time{}
		return tx.PutPlatformConnection(ctx, c)
	})
	if err != nil {
		return err
	}
	s.cache.Delete(of.Domain)
	if _, err := s.Token(ctx, platform.Shop{Domain: of.Domain, Token: of.Token}); err != nil {
		return err
	}
	list, err := s.Store.Connections(ctx, of.ID)
	if err != nil {
		return err
	}
	for _, c := range list {
		switch {
		case c.App != Primary || c.Refresh != "":
		case c.Migrating:
			return fault.New(fault.Unavailable, "the platform does not exchange the token of %s now: it is tried again when the store is called", of.Domain).Entity("shop").Code("grantUnknown")
		default:
			return fault.New(fault.FailedPrecondition, "the platform does not exchange the token of %s: it is not one of this app. A custom app keeps its token", of.Domain).
				Entity("shop").Code("tokenKept")
		}
	}
	return nil
}
