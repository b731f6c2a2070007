// Package partner connects applications of partners with stores: it keeps their
// register, carries out the handshake that a merchant approves, and gives out the
// tokens that follow from it.
package partner

import (
	"context"
	"crypto/subtle"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
)

const appEntity = "partnerApp"

// Status says whether an application is served.
type Status string

// The states of an application.
const (
	Live      Status = "LIVE"
	Suspended Status = "SUSPENDED" // its tokens and keys open nothing until it is live again
)

// App is an application of a partner.
type App struct {
	ID         access.AppID
	Name       string
	BaseURL    string // where it is called, without a slash at its end
	Contact    string
	About      string
	Scopes     []access.Scope // what its connections may ask for at most
	Status     Status
	Secret     Credential // proves the application when it calls its own operations
	Key        Credential // goes into X-App-Key; one for all merchants
	Signing    string     // signs what the application is sent: whsec_ and base64; stored encrypted
	LastUsedAt time.Time  // zero when never used
	CreatedAt  time.Time
	Version    int64
}

// actor is the application acting automatically, with its own credentials.
func (a App) actor(clientIP string) activity.Actor {
	return activity.Actor{Source: activity.MerchantExternalAPI, By: "partner app " + a.Name, ClientIP: clientIP}
}

// Credential is a secret that is kept as a hash. While it is exchanged the one
// before works too.
type Credential struct {
	Hash     access.Hash
	Old      access.Hash
	OldUntil time.Time // zero when there is no old one
}

// Opens reports whether a value is the secret.
func (c Credential) Opens(value string, now time.Time) bool {
	hash := access.HashOf(value)
	is := func(h access.Hash) bool { return subtle.ConstantTimeCompare(h[:], hash[:]) == 1 }
	return is(c.Hash) || now.Before(c.OldUntil) && is(c.Old)
}

// exchanged returns the credential with another value, beside which the present
// one works until an instant.
func (c Credential) exchanged(value string, until time.Time) Credential {
	return Credential{Hash: access.HashOf(value), Old: c.Hash, OldUntil: until}
}

// Prefixes of the two secrets, which tell them from keys.
const (
	secretPrefix = "prs_"
	appKeyPrefix = "pra_"
)

// Limits of an application's texts, in characters.
const (
	maxAppName = 100
	maxText    = 1000
	maxURL     = 500
)

var slug = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$`)

// check validates an application before its registration.
// Addresses without TLS are for installations that call into their own network.
func (a App) check(plainHTTP bool) error {
	wrong := func(param, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(appEntity).Field(param)
	}
	if !slug.MatchString(string(a.ID)) {
		return wrong("id", "%q is not an id: use 1 to 50 lower-case letters, digits and hyphens", a.ID)
	}
	if n := utf8.RuneCountInString(a.Name); n == 0 || n > maxAppName || strings.ContainsFunc(a.Name, func(c rune) bool { return c < ' ' }) {
		return wrong("name", "an application needs a name of 1 to %d characters", maxAppName)
	}
	if utf8.RuneCountInString(a.Contact) > maxText || utf8.RuneCountInString(a.About) > maxText {
		return wrong("description", "contact and description have at most %d characters each", maxText)
	}
	u, err := url.Parse(a.BaseURL)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || len(a.BaseURL) > maxURL ||
		u.Scheme != "https" && (u.Scheme != "http" || !plainHTTP) {
		return wrong("baseUrl", "%q is not an address such as https://app.example.com/perennial: TLS, without a query", a.BaseURL)
	}
	if len(a.Scopes) == 0 {
		return wrong("scopes", "say what the application may ask for: at least one scope")
	}
	if slices.Contains(a.Scopes, access.All) {
		return wrong("scopes", "an application cannot ask for %q: name the scopes", access.All)
	}
	return nil
}

// Secrets are an application's new credentials. Each is shown once.
type Secrets struct {
	Secret  string
	AppKey  string
	Signing string
}

// Add registers an application, which is live at once. An id that is taken is a
// Conflict.
func (s *Service) Add(ctx context.Context, a App) (App, Secrets, error) {
	a.BaseURL = strings.TrimRight(a.BaseURL, "/")
	if err := a.check(s.PlainHTTP); err != nil {
		return App{}, Secrets{}, err
	}
	made := Secrets{access.NewSecret(secretPrefix), access.NewSecret(appKeyPrefix), newSigning()}
	a.Status, a.CreatedAt, a.Signing = Live, s.Clock.Now(), made.Signing
	a.Secret, a.Key = Credential{Hash: access.HashOf(made.Secret)}, Credential{Hash: access.HashOf(made.AppKey)}
	if err := s.Store.AddApp(ctx, &a); err != nil {
		return App{}, Secrets{}, err
	}
	return a, made, nil
}

// Apps lists the applications, by id.
func (s *Service) Apps(ctx context.Context) ([]App, error) { return s.Store.Apps(ctx) }

// SetStatus suspends an application or lets it live again. Connections stay; the
// tokens of a suspended one open nothing.
func (s *Service) SetStatus(ctx context.Context, id access.AppID, to Status) (App, error) {
	return s.Store.ChangeApp(ctx, id, func(a *App) error {
		a.Status = to
		return nil
	})
}

// MaxAppGrace is the longest time that a secret may outlive its exchange.
const MaxAppGrace = 30 * 24 * time.Hour

// RotateApp exchanges the secrets of an application. The old secret and the old
// application key work for the grace; what is sent is signed with the new
// signing secret at once.
func (s *Service) RotateApp(ctx context.Context, id access.AppID, grace time.Duration) (Secrets, error) {
	if grace < 0 || grace > MaxAppGrace {
		return Secrets{}, fault.New(fault.Invalid, "the grace is at least 0 and at most %s", MaxAppGrace).Entity(appEntity).Field("grace")
	}
	made := Secrets{access.NewSecret(secretPrefix), access.NewSecret(appKeyPrefix), newSigning()}
	until := s.Clock.Now().Add(grace)
	_, err := s.Store.ChangeApp(ctx, id, func(a *App) error {
		a.Secret, a.Key, a.Signing = a.Secret.exchanged(made.Secret, until), a.Key.exchanged(made.AppKey, until), made.Signing
		return nil
	})
	if err != nil {
		return Secrets{}, err
	}
	return made, nil
}

// Authenticate returns the application that proves itself with its secret. A
// suspended one is Forbidden.
func (s *Service) Authenticate(ctx context.Context, id access.AppID, secret string) (App, error) {
	unknown := fault.New(fault.Unauthenticated, "the application's id or secret is not valid").Entity(appEntity).Code("partnerCredentialsInvalid")
	if !slug.MatchString(string(id)) {
		return App{}, unknown
	}
	a, err := s.Store.App(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return App{}, unknown
	}
	if err != nil {
		return App{}, err
	}
	if !a.Secret.Opens(secret, s.Clock.Now()) {
		return App{}, unknown
	}
	if a.Status != Live {
		return App{}, fault.New(fault.Forbidden, "the application %s is suspended", a.ID).Entity(appEntity).Code("partnerSuspended")
	}
	return a, nil
}

// ByKey returns the live application that an X-App-Key belongs to. Any other
// value is Unauthenticated.
func (s *Service) ByKey(ctx context.Context, value string) (App, error) {
	unknown := fault.New(fault.Unauthenticated, "the application key is not valid").Entity(appEntity).Code("appKeyInvalid")
	if !strings.HasPrefix(value, appKeyPrefix) || len(value) > 100 {
		return App{}, unknown
	}
	a, err := s.Store.AppByKey(ctx, access.HashOf(value))
	if fault.Is(err, fault.NotFound) {
		return App{}, unknown
	}
	if err != nil {
		return App{}, err
	}
	if a.Status != Live || !a.Key.Opens(value, s.Clock.Now()) {
		return App{}, unknown
	}
	return a, nil
}

// allowed reports the first scope that an application may not ask for.
func (a App) allowed(scopes []access.Scope) error {
	if len(scopes) == 0 {
		return fault.New(fault.Invalid, "name at least one scope").Entity(entity).Field("scopes")
	}
	for _, scope := range scopes {
		if scope == access.All || !access.Allows(a.Scopes, scope) {
			return fault.New(fault.Invalid, "the application %s may not ask for the scope %s", a.ID, scope).Entity(entity).Code("scopeNotAllowed").Field("scopes")
		}
	}
	return nil
}
