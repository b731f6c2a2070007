// Package connection is how the service gets into stores and stays in: it takes a
// merchant's permission, keeps the tokens of it, and refreshes them before they expire.
package connection

import (
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// AppName names an app of the installation at the platform.
type AppName string

// The apps. All calls of the platform are made as the first: the platform shows an app
// its own contracts only. The second serves memberships at a path of its own at the
// store's domain, because an app has only one.
const (
	Primary     AppName = "subscriptions"
	Memberships AppName = "memberships"
)

// Connection is the permission that one store has given to one app. The zero value of the
// tokens has none.
type Connection struct {
	App AppName

	Access           platform.Token
	ExpiresAt        time.Time // of Access; zero: never
	Refresh          platform.Token
	RefreshExpiresAt time.Time // zero: not known
	// Previous is the refresh token from which this grant came. The platform accepts it
	// until Refresh is used, and so it is tried when Refresh is not accepted.
	Previous platform.Token
	// Migrating is whether Access never expires and will be exchanged for a grant that does.
	Migrating bool

	Scopes    []string // granted
	Asked     []string // scopes of the last consent page that were not all granted
	GrantedAt time.Time
	RenewedAt time.Time // when the tokens were issued

	// Holder refreshes the tokens until HeldUntil, alone. Empty: no process does.
	Holder    string
	HeldUntil time.Time
	// Failures counts the refreshes in a row that failed, and RetryAt is when the next may
	// begin.
	Failures int
	RetryAt  time.Time
	// Refused is why the platform does not accept the refresh tokens; empty: it does. A
	// merchant who opens the app repairs it.
	Refused string
}

// none reports whether no permission was ever given.
func (c Connection) none() bool { return c.Access == "" }

// fresh reports whether the access token can be used for a while.
func (c Connection) fresh(now time.Time, margin time.Duration) bool {
	return !c.Migrating && (c.ExpiresAt.IsZero() || now.Before(c.ExpiresAt.Add(-margin)))
}

// usable reports whether the platform accepts the access token now, as far as is known.
func (c Connection) usable(now time.Time) bool {
	return c.ExpiresAt.IsZero() || now.Before(c.ExpiresAt)
}

// keepFixed is how long a token that never expires is used before a merchant who opens the
// app replaces it by one that does, if the platform issues such tokens now.
const keepFixed = 24 * time.Hour

// current reports whether a merchant who opens the app needs to give no new grant.
func (c Connection) current(now time.Time) bool {
	return !c.none() && c.Refused == "" && (c.Refresh != "" || now.Sub(c.RenewedAt) < keepFixed)
}

// renewable reports whether there is something that gets new tokens.
func (c Connection) renewable() bool { return c.Refresh != "" || c.Migrating }

// held reports whether some process refreshes the tokens now.
func (c Connection) held(now time.Time) bool { return c.Holder != "" && now.Before(c.HeldUntil) }

// hold makes a process the one that refreshes.
func (c *Connection) hold(holder string, until time.Time) { c.Holder, c.HeldUntil = holder, until }

// release ends what hold began.
func (c *Connection) release() { c.Holder, c.HeldUntil = "", time.Time{} }

// replace takes over a grant. used is the refresh token from which it came; "": a
// merchant gave it.
func (c *Connection) replace(g platform.Grant, used platform.Token, now time.Time) {
	c.Access, c.ExpiresAt, c.Refresh, c.RefreshExpiresAt, c.Previous = g.Access, g.ExpiresAt, g.Refresh, g.RefreshExpiresAt, used
	c.Migrating, c.Failures, c.RetryAt, c.Refused, c.RenewedAt = false, 0, time.Time{}, "", now
	if len(g.Scopes) > 0 {
		c.Scopes = g.Scopes
	}
	c.release()
}

// Scopes returns the scopes that an app asks for.
func Scopes(app AppName) []platform.Scope {
	if app == Memberships {
		return platform.ProxyScopes()
	}
	return platform.Scopes()
}

// Missing returns the scopes that the app needs and the store has not granted.
func (c Connection) Missing() []platform.Scope {
	return platform.MissingScopes(Scopes(c.App), c.Scopes)
}

// mustAsk reports whether the merchant should see the consent page: scopes are missing
// that no page has asked for yet. What was asked for and not granted is not asked again,
// since the page would return to itself for ever.
func (c Connection) mustAsk() bool {
	return slices.ContainsFunc(c.Missing(), func(s platform.Scope) bool { return !slices.Contains(c.Asked, s.Name) })
}

// Require returns nil when the store has granted what a feature needs, and else a fault
// that says what is missing.
func (c Connection) Require(f platform.Feature) error {
	var names []string
	for _, s := range c.Missing() {
		if s.Feature == f {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fault.New(fault.FailedPrecondition, "%s: the store has not granted %s; open the app in the store's admin and agree to it", f, strings.Join(names, ", ")).
		Entity("shop").Code("scopeMissing")
}
