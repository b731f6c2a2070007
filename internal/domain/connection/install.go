package connection

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/platform"
)

// CallbackPath is where the platform sends browsers back to, below the public URL. An app
// other than the primary one has its name appended.
const CallbackPath = "/auth/callback"

// Redirect returns the address to which the platform sends browsers of an app back.
func Redirect(publicURL string, app AppName) string {
	address := publicURL + CallbackPath
	if app != Primary {
		address += "/" + string(app)
	}
	return address
}

// app returns an app, or NotFound when it has no credentials.
func (s *Service) app(name AppName) (platform.Authorizer, error) {
	app, ok := s.Apps[name]
	if !ok {
		return nil, fault.New(fault.NotFound, "the app %s is not set up here: set its client id and secret", name).Entity("shop").Code("appUnknown")
	}
	return app, nil
}

// Domain returns the domain of the store that a merchant has typed.
func Domain(shop string) (string, error) {
	domain, ok := platform.ParseDomain(strings.ToLower(strings.TrimSpace(shop)))
	if !ok {
		return "", fault.New(fault.Invalid, "%.64q is not a store's domain: it ends with .myshopify.com", shop).Entity("shop").Code("shopInvalid").Field("shop")
	}
	return domain, nil
}

// Begin starts an installation. It returns the consent page of the platform, and the value
// of a cookie that proves at the end that it is the same browser.
func (s *Service) Begin(name AppName, shop string) (consent, cookie string, err error) {
	app, err := s.app(name)
	if err != nil {
		return "", "", err
	}
	domain, err := Domain(shop)
	if err != nil {
		return "", "", err
	}
	state, cookie := s.newState(name, domain)
	return app.ConsentURL(domain, platform.ScopeNames(Scopes(name)), Redirect(s.PublicURL, name), state), cookie, nil
}

// AppURL returns the address of an app in a store's admin.
func (s *Service) AppURL(name AppName, domain string) (string, error) {
	app, err := s.app(name)
	if err != nil {
		return "", err
	}
	return app.AppURL(domain), nil
}

// Finish ends an installation that Begin has started: it exchanges the code and connects
// the store. It returns the store's domain.
func (s *Service) Finish(ctx context.Context, name AppName, query url.Values, cookie string) (domain string, err error) {
	app, err := s.app(name)
	if err != nil {
		return "", err
	}
	now := s.Clock.Now()
	back, err := app.OpenCallback(query, now)
	if err != nil {
		return "", err
	}
	expires, err := s.checkState(name, back, cookie, now)
	if err != nil {
		return "", err
	}
	first, err := s.Store.UseState(ctx, hashState(back.State), now, expires)
	if err != nil {
		return "", err
	}
	if !first {
		return "", fault.New(fault.Unauthenticated, "this installation was finished already: start it again").Entity("shop").Code("stateUsed")
	}
	_, err = s.take(ctx, name, back.Shop, platform.ScopeNames(Scopes(name)), func(ctx context.Context) (platform.Grant, error) {
		return app.ExchangeCode(ctx, back.Shop, back.Code)
	})
	return back.Shop, err
}

// Entry is a merchant who has the app open.
type Entry struct {
	platform.Session
	Connection Connection
	// Ask is whether scopes are missing that the merchant was not asked for: Begin starts
	// that.
	Ask bool
}

// Enter lets a merchant in with a session token, and connects the store when it is not
// connected, or when its tokens cannot be used any more.
func (s *Service) Enter(ctx context.Context, name AppName, token string) (Entry, error) {
	app, err := s.app(name)
	if err != nil {
		return Entry{}, err
	}
	session, err := app.OpenSession(token, s.Clock.Now())
	if err != nil {
		return Entry{}, err
	}
	c, good, err := s.known(ctx, name, session.Shop)
	if err != nil {
		return Entry{}, err
	}
	if !good {
		c, err = s.take(ctx, name, session.Shop, nil, func(ctx context.Context) (platform.Grant, error) { return app.ExchangeSession(ctx, session) })
		if err != nil {
			return Entry{}, err
		}
	}
	return Entry{Session: session, Connection: c, Ask: c.mustAsk()}, nil
}

// Authenticate returns who makes a request with a session token.
func (s *Service) Authenticate(name AppName, token string) (platform.Session, error) {
	app, err := s.app(name)
	if err != nil {
		return platform.Session{}, err
	}
	return app.OpenSession(token, s.Clock.Now())
}

// known returns the connection of a store, and whether it needs no new grant: its tokens
// expire and are accepted, and the store is served.
func (s *Service) known(ctx context.Context, name AppName, domain string) (c Connection, good bool, err error) {
	id, err := s.Store.IDOf(ctx, domain)
	if fault.Is(err, fault.NotFound) {
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	err = s.Store.View(ctx, id, func(tx ReadTx) error {
		if c, err = tx.PlatformConnection(ctx, name); err != nil {
			return err
		}
		of, err := tx.Shop(ctx)
		good = c.current(s.Clock.Now()) && (name != Primary || of.Connected) && len(c.Missing()) == 0
		return err
	})
	return c, good, err
}

// take gets a grant that a merchant gives, writes it, and connects the store. A new grant
// replaces earlier ones at the platform, and so no other process may refresh meanwhile.
func (s *Service) take(ctx context.Context, name AppName, domain string, asked []string, get func(context.Context) (platform.Grant, error)) (Connection, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.policy().Work)
	defer cancel()
	id, err := s.Store.IDOf(ctx, domain)
	unknown := fault.Is(err, fault.NotFound)
	if err != nil && !unknown {
		return Connection{}, err
	}
	if unknown && name != Primary {
		return Connection{}, fault.New(fault.FailedPrecondition, "%s must install the app for subscriptions first", domain).Entity("shop").Code("primaryAppMissing")
	}
	holder := ""
	if !unknown {
		if holder, err = s.holdToTake(ctx, id, name); err != nil {
			return Connection{}, err
		}
	}
	grant, err := get(ctx)
	if err != nil {
		return Connection{}, s.notGranted(ctx, id, name, holder, err)
	}
	at := platform.Shop{Domain: domain, Token: grant.Access}
	if unknown { // the merchant is here: opening the app again repairs what breaks now
		made, err := s.Registrar.Register(ctx, at)
		if err != nil {
			return Connection{}, err
		}
		id = made.ID
	}
	var c Connection
	err = s.Store.Update(ctx, id, func(tx Tx) error {
		if c, err = tx.PlatformConnection(ctx, name); err != nil {
			return err
		}
		now := s.Clock.Now()
		c.replace(grant, "", now)
		c.Scopes, c.GrantedAt = grant.Scopes, now
		if asked != nil {
			c.Asked = asked
		}
		if len(c.Missing()) == 0 {
			c.Asked = nil // what is taken back later is asked for again
		}
		if err := tx.PutPlatformConnection(ctx, c); err != nil {
			return err
		}
		return tx.Record(ctx, granted(int64(id), c, now))
	})
	if err != nil {
		return Connection{}, err
	}
	if name != Primary {
		return c, nil
	}
	s.keep(domain, c)
	if !unknown {
		_, err = s.Registrar.Register(ctx, at)
	}
	return c, err
}

// granted is the entry of a merchant's permission.
func granted(of int64, c Connection, now time.Time) activity.Entry {
	type note struct {
		Reason  string   `json:"reason"`
		Scopes  []string `json:"scopes"`
		Missing []string `json:"missingScopes,omitempty"`
	}
	return activity.Entry{
		EntityID: of, EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: activity.Platform, At: now,
		Info: activity.Details(note{
			Reason: fmt.Sprintf("the store has granted access to the app %s", c.App), Scopes: c.Scopes, Missing: platform.ScopeNames(c.Missing()),
		}),
	}
}
