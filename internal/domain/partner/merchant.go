package partner

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// List returns a page of a shop's connections, newest first, with their
// applications, and how many there are. An empty state means all.
func (s *Service) List(ctx context.Context, of shop.ID, state State, p page.Request) ([]View, int, error) {
	list, total, err := s.Store.Connections(ctx, of, state, p)
	if err != nil {
		return nil, 0, err
	}
	apps, err := s.Store.Apps(ctx)
	if err != nil {
		return nil, 0, err
	}
	views := make([]View, len(list))
	for i, c := range list {
		views[i] = View{Connection: c}
		if n := slices.IndexFunc(apps, func(a App) bool { return a.ID == c.App }); n >= 0 {
			views[i].App = apps[n]
		}
	}
	return views, total, nil
}

// View is a connection as a merchant sees it.
type View struct {
	Connection
	App   App
	Calls []Calls // by day, the newest first; only in a review
}

// reviewDays is how many days of calls a review shows.
const reviewDays = 30

// Review returns a connection with the calls of the last 30 days.
func (s *Service) Review(ctx context.Context, of shop.ID, id ConnectionID) (View, error) {
	c, err := s.connection(ctx, of, id)
	if err != nil {
		return View{}, err
	}
	return s.view(ctx, c)
}

func (s *Service) view(ctx context.Context, c Connection) (View, error) {
	a, err := s.Store.App(ctx, c.App)
	if err != nil {
		return View{}, err
	}
	since := s.Clock.Now().Truncate(24*time.Hour).AddDate(0, 0, 1-reviewDays)
	calls, err := s.Store.CallsOf(ctx, c.Shop, c.App, c.ID, since)
	return View{c, a, calls}, err
}

// decide runs fn on a connection of a shop and returns it as the merchant sees it.
func (s *Service) decide(ctx context.Context, of shop.ID, id ConnectionID, fn func(tx Tx, c Connection, now time.Time) (Connection, error)) (View, error) {
	c, err := s.change(ctx, of, func(tx Tx) (Connection, error) {
		c, err := tx.Connection(ctx, id)
		if err != nil {
			return c, err
		}
		now := s.Clock.Now()
		if err := expire(ctx, tx, &c, now); err != nil {
			return c, err
		}
		return fn(tx, c, now)
	})
	if err != nil {
		return View{}, err
	}
	return s.view(ctx, c)
}

// Request begins a connection from the merchant's side, which is as good as
// approving it. With no scopes the application gets all that it may ask for, or
// what it has requested already. An existing connection is granted the named scopes in
// addition to its own.
func (s *Service) Request(ctx context.Context, of shop.ID, app access.AppID, scopes []access.Scope, by activity.Actor) (View, error) {
	a, err := s.Store.App(ctx, app)
	if err == nil && a.Status != Live {
		err = fault.New(fault.NotFound, "there is no application %q", app).Entity(appEntity).Code("partnerNotFound")
	}
	if err != nil {
		return View{}, err
	}
	named := len(scopes) > 0
	if !named {
		scopes = a.Scopes
	}
	if err := a.allowed(scopes); err != nil {
		return View{}, err
	}
	c, err := s.change(ctx, of, func(tx Tx) (Connection, error) {
		now := s.Clock.Now()
		c, found, err := openOne(ctx, tx, app, now)
		if err != nil {
			return c, err
		}
		if found && named {
			return grant(ctx, tx, c, scopes, by, now)
		}
		if found {
			return approve(ctx, tx, c, by, now)
		}
		c = Connection{
			Shop: of, App: app, State: Connected, Direction: ByMerchant, Scopes: scopes,
			RequestedBy: by.By, RequestedAt: now, DecidedBy: by.By, DecidedAt: now,
		}
		c.notify(CallConnect, newCallID(), now)
		return c, put(ctx, tx, &c,
			func() activity.Entry { return c.entry(activity.PartnerConnectionRequested, by, now, scopes, "") },
			func() activity.Entry { return c.entry(activity.PartnerConnectionApproved, by, now, scopes, "") },
		)
	})
	if err != nil {
		return View{}, err
	}
	return s.view(ctx, c)
}

// Approve agrees to what an application asked for and lets it know. Approving a
// connection once more sends a new code while the application has no token, and
// otherwise changes nothing.
func (s *Service) Approve(ctx context.Context, of shop.ID, id ConnectionID, by activity.Actor) (View, error) {
	return s.decide(ctx, of, id, func(tx Tx, c Connection, now time.Time) (Connection, error) {
		return approve(ctx, tx, c, by, now)
	})
}

// approve grants what was asked for.
func approve(ctx context.Context, tx Tx, c Connection, by activity.Actor, now time.Time) (Connection, error) {
	if c.State == Connected {
		return grant(ctx, tx, c, c.Wanted, by, now)
	}
	return grant(ctx, tx, c, c.Scopes, by, now)
}

// grant gives a connection that waits the named scopes and no others, and one
// that stands those that it lacks. What else was asked for goes on waiting.
func grant(ctx context.Context, tx Tx, c Connection, scopes []access.Scope, by activity.Actor, now time.Time) (Connection, error) {
	more, waits := scopes, without(c.Wanted, scopes)
	if c.State == Connected {
		more = without(scopes, c.Scopes)
		if len(more) == 0 {
			if c.Token != 0 {
				return c, nil
			}
			c.notify(CallApproved, newCallID(), now)
			return c, put(ctx, tx, &c)
		}
		c.Scopes = joined(c.Scopes, more)
		if err := rescope(ctx, tx, &c); err != nil {
			return c, err
		}
	} else {
		if err := c.move(Connected); err != nil {
			return c, err
		}
		c.Scopes = slices.Clone(scopes)
	}
	until := c.ExpiresAt
	c.decided(by, now)
	if c.Wanted = waits; len(waits) > 0 {
		c.ExpiresAt = until
	}
	c.notify(CallApproved, newCallID(), now)
	return c, put(ctx, tx, &c, func() activity.Entry { return c.entry(activity.PartnerConnectionApproved, by, now, more, "") })
}

// rescope gives the token of a connection its scopes.
func rescope(ctx context.Context, tx Tx, c *Connection) error {
	key, err := tokenOf(ctx, tx, c)
	if err != nil || key == nil {
		return err
	}
	key.Scopes = slices.Clone(c.Scopes)
	return tx.PutKey(ctx, key)
}

// Reject refuses what an application asked for and lets it know. A connection
// that stands keeps what it has.
func (s *Service) Reject(ctx context.Context, of shop.ID, id ConnectionID, by activity.Actor) (View, error) {
	return s.decide(ctx, of, id, func(tx Tx, c Connection, now time.Time) (Connection, error) {
		asked := c.Scopes
		if c.State == Connected && len(c.Wanted) > 0 {
			asked, c.Wanted = c.Wanted, nil
		} else {
			if err := c.move(Rejected); err != nil {
				return c, err
			}
			c.end("rejected", now)
		}
		c.decided(by, now)
		c.notify(CallRejected, newCallID(), now)
		return c, put(ctx, tx, &c, func() activity.Entry { return c.entry(activity.PartnerConnectionRejected, by, now, asked, "") })
	})
}

// Disconnect ends a connection, and its token with it. One that has ended stays
// as it is.
func (s *Service) Disconnect(ctx context.Context, of shop.ID, id ConnectionID, by activity.Actor) (View, error) {
	return s.decide(ctx, of, id, func(tx Tx, c Connection, _ time.Time) (Connection, error) {
		return s.disconnect(ctx, tx, c, by, "by the merchant")
	})
}

func (s *Service) disconnect(ctx context.Context, tx Tx, c Connection, by activity.Actor, reason string) (Connection, error) {
	if c.State == Disconnected || c.State == Uninstalled {
		return c, nil
	}
	return c, finish(ctx, tx, &c, Disconnected, by, reason, s.Clock.Now())
}

// finish ends a connection and its token.
func finish(ctx context.Context, tx Tx, c *Connection, as State, by activity.Actor, reason string, now time.Time) error {
	if err := c.move(as); err != nil {
		return err
	}
	if err := revoke(ctx, tx, c, now); err != nil {
		return err
	}
	c.end(reason, now)
	return put(ctx, tx, c, func() activity.Entry { return c.entry(activity.PartnerDisconnected, by, now, c.Scopes, reason) })
}

// Reduce takes scopes away from a connection that stands, and from its token.
func (s *Service) Reduce(ctx context.Context, of shop.ID, id ConnectionID, to []access.Scope, by activity.Actor) (View, error) {
	if len(to) == 0 {
		return View{}, fault.New(fault.Invalid, "name the scopes that are left; to take all away, disconnect").Entity(entity).Field("scopes")
	}
	return s.decide(ctx, of, id, func(tx Tx, c Connection, now time.Time) (Connection, error) {
		if c.State != Connected {
			return c, fault.New(fault.FailedPrecondition, "the connection is %s", c.State).Entity(entity).Code("connectionState")
		}
		if more := without(to, c.Scopes); len(more) > 0 {
			return c, fault.New(fault.FailedPrecondition, "the connection does not have the scope %s: scopes can only be taken away", more[0]).Entity(entity).Code("scopeNotGranted").Field("scopes")
		}
		if len(without(c.Scopes, to)) == 0 {
			return c, nil // nothing is taken away
		}
		c.Scopes = slices.Clone(to)
		if err := rescope(ctx, tx, &c); err != nil {
			return c, err
		}
		return c, put(ctx, tx, &c, func() activity.Entry { return c.entry(activity.Updated, by, now, c.Scopes, "scopes were taken away") })
	})
}

// Uninstall ends every connection of a store that gave up the service, in the
// transaction in which the service learns of it.
func Uninstall(ctx context.Context, tx Tx, now time.Time) error {
	if err := tx.LockKeys(ctx); err != nil {
		return err
	}
	list, err := tx.OpenConnections(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		if err := finish(ctx, tx, &list[i], Uninstalled, activity.Platform, "the store gave up the service", now); err != nil {
			return err
		}
	}
	return nil
}
