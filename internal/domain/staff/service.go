package staff

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Path is where the dashboard is, below the public URL.
const Path = "/admin"

// Service decides who may enter the dashboard.
type Service struct {
	Store Store
	// Clock says when changes are recorded.
	Clock clock.Clock
	// RealClock is the clock by which sessions, links and codes end. It differs from Clock only
	// where time is simulated: people and their authenticator apps live by real time.
	RealClock clock.Clock
	// PublicURL is the address below which links in e-mails lead to the dashboard; empty: no
	// link can be made.
	PublicURL string
	// LightHashes has new passwords hashed at a thousandth of the cost, for a sandbox and for
	// tests, where they protect nothing.
	LightHashes bool
}

// Acting is who changes users. The zero User is the operator of the service.
type Acting struct {
	User   UserID
	Client Client
}

// change is the additional information of an entry in the activity log.
type change struct {
	Change string `json:"change"`
	User   string `json:"user"`
	Role   Role   `json:"role,omitempty"`
}

// record writes an entry about a user into the activity log of a store.
func (s *Service) record(ctx context.Context, tx ShopTx, of shop.ID, by activity.Actor, c change) error {
	return tx.Record(ctx, activity.Entry{
		EntityID: int64(of), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: by, At: s.Clock.Now(), Info: activity.Details(c),
	})
}

// everywhere is the activity logs of all stores of a user.
type everywhere []Membership

// logsOf returns the activity logs of the stores of a user. Which these are is read before
// the transaction.
func (s *Service) logsOf(ctx context.Context, id UserID) (everywhere, error) {
	return s.Store.Memberships(ctx, id)
}

// record writes an entry about a user into each activity log.
func (e everywhere) record(ctx context.Context, s *Service, tx UserTx, u User, by activity.Actor, what string) error {
	for _, m := range e {
		part, err := tx.In(ctx, m.Shop)
		if err != nil {
			return err
		}
		if err := s.record(ctx, part, m.Shop, by, change{Change: what, User: u.Known()}); err != nil {
			return err
		}
	}
	return nil
}

// count counts one more try of something, or refuses it.
func (s *Service) count(ctx context.Context, tx UserTx, l limit, value string) error {
	t, err := tx.UserThrottle(ctx, l.subject(value))
	if err != nil {
		return err
	}
	now := s.RealClock.Now()
	if err := l.take(&t, now); err != nil {
		return err
	}
	return tx.PutUserThrottle(ctx, t, now)
}

// forgive forgets the tries that were counted.
func (s *Service) forgive(ctx context.Context, tx UserTx, l limit, value string) error {
	return tx.PutUserThrottle(ctx, Throttle{Subject: l.subject(value)}, s.RealClock.Now())
}

// link returns an address of the dashboard.
func (s *Service) link(path string) (string, error) {
	if s.PublicURL == "" {
		return "", fault.New(fault.FailedPrecondition, "the service has no public address that a link could lead to: set PERENNIAL_PUBLIC_URL").Entity(entity).Code("publicUrlMissing")
	}
	return s.PublicURL + Path + path, nil
}

// hash returns the hash of a new password.
func (s *Service) hash(password string) PasswordHash {
	if s.LightHashes {
		return hashPassword(password, lightCost)
	}
	return hashPassword(password, fullCost)
}
